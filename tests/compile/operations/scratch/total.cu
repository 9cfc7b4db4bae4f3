// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ operation  total
//@ purpose    The sum of numbers, which kernels may overwrite
//@ size       n 1..16777216
//@ type       x f32
//@ type       y f32
//@ operand    x in: n; scratch
//@ operand    y out: 1
//@ right      y bound 16 + log2(n) of f32
//@ integers   4
//@ ragged     n=1
//@ ragged     n=1037
//@ flops      n
//@ reference  total_reference
//@   grid     1
//@   block    1
//@   args     x.f64, y.f64, y.magnitude, n

__global__ void total_reference(const double* x, double* y, double* magnitude, int n) {
  for (int i = 0; i < n; ++i) {
    y[0] += x[i];
    magnitude[0] += fabs(x[i]);
  }
}
