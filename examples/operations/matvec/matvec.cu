// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  matvec
//@ purpose    Many small products of a matrix and a vector: y[b][i] = sum of a[b][i][j] * x[b][j]
//@ size       batch 1..2147483647
//@ size       rows 1..65536
//@ size       cols 1..65536
//@ type       a f32 f16 bf16
//@ type       x f32 f16 bf16
//@ type       y f32 f16 bf16
//@ operand    a in: batch, rows, cols; fill normal
//@ operand    x in: batch, cols; fill normal
//@ operand    y out: batch, rows
//@ right      y bound (8 + cols / 16) of f32   // of the sum of absolute products: they may cancel
//@ integers   2
//@ ragged     batch=1 rows=1 cols=1
//@ ragged     batch=7 rows=5 cols=33
//@ ragged     batch=3 rows=17 cols=40
//@ ragged     batch=2 rows=3 cols=1000
//@ flops      2 * batch * rows * cols
//@ reference  matvec_reference
//@   grid     min(ceil_div(batch * rows, 8), 1048576)
//@   block    256
//@   args     a.f64, x.f64, y.f64, y.magnitude, batch, rows, cols

// One warp a row.
__global__ void matvec_reference(const double* a, const double* x, double* y, double* magnitude,
                                 int batch, int rows, int cols) {
  const long long all = static_cast<long long>(batch) * rows;
  for (long long row = blockIdx.x * 8LL + threadIdx.x / 32; row < all; row += gridDim.x * 8LL) {
    double sum = 0.0;
    double of_sizes = 0.0;
    for (int j = threadIdx.x % 32; j < cols; j += 32) {
      const double product = a[row * cols + j] * x[row / rows * cols + j];
      sum += product;
      of_sizes += fabs(product);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(0xffffffffU, sum, distance);
      of_sizes += __shfl_xor_sync(0xffffffffU, of_sizes, distance);
    }
    if (threadIdx.x % 32 == 0) {
      y[row] = sum;
      magnitude[row] = of_sizes;
    }
  }
}
