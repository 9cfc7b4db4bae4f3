// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the examples do not have, in one operation: an operand in place whose reference works in its
// own type, a second result, one operand that is not always there, every kind of scalar and fill.

//@ operation  mix_rows
//@ purpose    Rows of y, weighted, each plus a row of u that a list names; and their sums
//@ size       rows 1..65536
//@ size       cols 1..65536
//@ let        elements = rows * cols
//@ type       y f32 f64
//@ type       u f32 f16
//@ type       weight f32
//@ type       bias f32
//@ type       list s32
//@ type       total f32 f64
//@ trait      has_bias 0 1
//@ scalar     factor f32 = 1
//@ scalar     offset f64 = 0.5
//@ scalar     step s32 = -1
//@ scalar     most u32 = 4000000000
//@ scalar     down s64 = -5000000000
//@ scalar     up u64 = 5000000000
//@ operand    y inout: rows, cols
//@ operand    u in: rows, cols; fill uniform
//@ operand    weight in: cols; fill positive
//@ operand    bias in: cols; when has_bias
//@ operand    list in: rows; fill sorted 0 (rows - 1)
//@ operand    total out: rows
//@ right      y bound 16 of f32
//@ right      total within 1e-4 1e-3
//@ ragged     rows=1 cols=1
//@ ragged     rows=7 cols=33
//@ ragged     rows=40 cols=70
//@ flops      4 * elements
//@ reference  mix_rows_reference<y>
//@   grid     rows
//@   block    1
//@   args     y, y.magnitude, u.f64, weight.f64, bias, list, total.f64, {cols, (size_t) elements},
//@            factor, offset, step, {most, down, up}

struct MixExtents {
  int cols;
  size_t elements;
};

struct MixNumbers {
  unsigned most;
  long long down;
  unsigned long long up;
};

template <class Y>
__global__ void mix_rows_reference(Y* y, double* magnitude, const double* u, const double* weight,
                                   const float* bias, const int* list, double* total,
                                   MixExtents extents, float factor, double offset, int step,
                                   MixNumbers numbers) {
  const int row = blockIdx.x;
  double sum = 0.0;
  for (int col = 0; col < extents.cols; ++col) {
    const size_t at = row * static_cast<size_t>(extents.cols) + col;
    const double own = factor * weight[col] * y[at];
    const double other = u[list[row] * static_cast<size_t>(extents.cols) + col];
    const double more = offset + step + (bias == nullptr ? 0.0 : bias[col]);
    if (at < extents.elements) y[at] = static_cast<Y>(own + other + more);
    magnitude[at] = fabs(own) + fabs(other) + fabs(offset) + abs(step) + fabs(more);
    sum += own + other + more;
  }
  const bool whole =
      numbers.most == 4000000000U && numbers.down == -5000000000LL && numbers.up == 5000000000ULL;
  total[row] = whole ? sum : 1e30;
}
