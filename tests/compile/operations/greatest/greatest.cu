// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// An operation of which many results are right, so that a checker judges them, row by row.

//@ operation  greatest
//@ purpose    A place of the greatest number of each row: any of several equal ones
//@ size       rows 1..1000000
//@ size       cols 1..65536
//@ size       ldx = cols
//@ type       x f32 f16
//@ type       place s32
//@ operand    x in: rows, cols; ld ldx; fill integers 0 3
//@ operand    place out: rows
//@ right      place checker
//@ deterministic 0
//@ independent rows
//@ ragged     rows=1 cols=1
//@ ragged     rows=7 cols=33 ldx=40
//@ flops      rows * cols
//@ checker    greatest_checker<x>
//@   grid     ceil_div(rows, 64)
//@   block    64
//@   args     x, place, rows, cols, ldx, wrong, first_wrong

template <class X>
__global__ void greatest_checker(const X* x, const int* place, int rows, int cols, int ldx,
                                 unsigned long long* wrong, unsigned long long* first_wrong) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  const X* from = x + row * static_cast<long long>(ldx);
  // A candidate may have written anything.
  bool is_right = place[row] >= 0 && place[row] < cols;
  for (int i = 0; is_right && i < cols; ++i) {
    is_right = static_cast<float>(from[i]) <= static_cast<float>(from[place[row]]);
  }
  if (is_right) return;
  atomicAdd(wrong, 1ULL);
  atomicMin(first_wrong, static_cast<unsigned long long>(row));
}
