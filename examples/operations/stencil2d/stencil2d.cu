// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  stencil2d
//@ purpose    Weighted sum of every number and its eight neighbours, zeros around the edge
//@ size       rows 1..2147483647
//@ size       cols 1..2147483647
//@ type       x f32 f16 bf16
//@ type       y f32 f16 bf16
//@ scalar     centre f32 = 0.5      // weight of the number itself
//@ scalar     side f32 = 0.1        // of those above, below, to the left and to the right
//@ scalar     corner f32 = 0.025    // of those diagonally
//@ operand    x in: rows, cols; fill normal
//@ operand    y out: rows, cols
//@ right      y bound 16 of f32     // of the sum of absolute products: they may cancel
//@ integers   0                     // the weights are not whole
//@ ragged     rows=1 cols=1
//@ ragged     rows=33 cols=65
//@ ragged     rows=5 cols=1000
//@ ragged     rows=70 cols=132
//@ ragged     rows=100 cols=3
//@ flops      11 * rows * cols      // 3 multiplications and 8 additions
//@ metric     points_per_s = rows * cols / time_s
//@ metric     points_per_j = rows * cols / energy_j
//@ reference  stencil2d_reference
//@   grid     min(ceil_div(rows * cols, 256), 1048576)
//@   block    256
//@   args     x.f64, y.f64, y.magnitude, rows, cols, centre, side, corner

__global__ void stencil2d_reference(const double* x, double* y, double* magnitude, int rows,
                                    int cols, float centre, float side, float corner) {
  const long long elements = static_cast<long long>(rows) * cols;
  for (long long at = blockIdx.x * 256LL + threadIdx.x; at < elements; at += gridDim.x * 256LL) {
    const long long row = at / cols;
    const long long col = at % cols;
    double sum = 0.0;
    double of_sizes = 0.0;
    for (int down = -1; down <= 1; ++down) {
      for (int right = -1; right <= 1; ++right) {
        if (row + down < 0 || row + down >= rows) continue;
        if (col + right < 0 || col + right >= cols) continue;
        const int steps = (down != 0) + (right != 0);
        const double weight = steps == 0 ? centre : steps == 1 ? side : corner;
        const double product = weight * x[at + down * static_cast<long long>(cols) + right];
        sum += product;
        of_sizes += fabs(product);
      }
    }
    y[at] = sum;
    magnitude[at] = of_sizes;
  }
}
