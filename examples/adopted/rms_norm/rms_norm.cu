// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ operation  rms_norm
//@ purpose    Each row divided by the root of its mean square, times a weight for each column
//@ size       rows 1..2147483647
//@ size       cols 1..2147483647
//@ type       y f32
//@ type       x f32
//@ type       w f32
//@ scalar     eps f32 = 1e-5
//@ operand    y out: rows, cols
//@ operand    x in: rows, cols
//@ operand    w in: cols
//@ right      y within 1e-4 1e-5
//@ ragged     rows=1 cols=1
//@ ragged     rows=33 cols=17
//@ ragged     rows=19 cols=1045
//@ flops      4 * rows * cols
//@ reference  rms_norm_reference
//@   grid     ceil_div(rows, 256)
//@   block    256
//@   args     y.f64, x.f64, w.f64, rows, cols, eps

// A thread computes a row: slow, and easy to check by eye.
__global__ void rms_norm_reference(double* y, const double* x, const double* w, int rows, int cols,
                                   float eps) {
  const long long first = (blockIdx.x * 256LL + threadIdx.x) * cols;
  if (first >= static_cast<long long>(rows) * cols) return;
  double sum = 0.0;
  for (int j = 0; j < cols; ++j) sum += x[first + j] * x[first + j];
  for (int j = 0; j < cols; ++j) y[first + j] = x[first + j] / sqrt(sum / cols + eps) * w[j];
}
