// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  transpose
//@ purpose    A matrix with rows and columns exchanged: y[j][i] = x[i][j]
//@ size       rows 1..2147483647   // of x
//@ size       cols 1..2147483647
//@ size       ldx = cols           // elements between the starts of two rows of x; may exceed cols
//@ size       ldy = rows           // likewise of y
//@ type       x f32 f16 bf16 f64
//@ type       y f32 f16 bf16 f64
//@ trait      align_x 16 8 4 2     // alignment of x's address, in bytes
//@ trait      align_y 16 8 4 2     // alignment of y's address, in bytes
//@ operand    x in: rows, cols; ld ldx; align align_x; fill normal
//@ operand    y out: cols, rows; ld ldy; align align_y
//@ right      y exact
//@ integers   2
//@ ragged     rows=1 cols=1
//@ ragged     rows=33 cols=65 ldx=70 ldy=40
//@ ragged     rows=136 cols=72 ldx=80 ldy=144
//@ ragged     rows=100 cols=260
//@ ragged     rows=1 cols=333
//@ ragged     rows=136 cols=7
//@ flops      0
//@ reference  transpose_reference<x>
//@   grid     min(ceil_div(rows * cols, 256), 65536)
//@   block    256
//@   args     x, y, rows, cols, (long long) ldx, (long long) ldy

template <class T>
__global__ void transpose_reference(const T* x, T* y, int rows, int cols, long long ldx,
                                    long long ldy) {
  const long long elements = static_cast<long long>(rows) * cols;
  for (long long at = blockIdx.x * 256LL + threadIdx.x; at < elements; at += gridDim.x * 256LL) {
    y[at % cols * ldy + at / cols] = x[at / cols * ldx + at % cols];
  }
}
