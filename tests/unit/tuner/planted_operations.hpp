// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fake_device.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/problem_case.hpp"

namespace kiln::testing {

// Operations that declare their references, whose kernels are host functions: what an author of an
// operation might write, and with one fault each what an author of its kernels might get wrong.

/// y = scale * x for a matrix, f32: a bound, integers, a scalar.
inline constexpr std::string_view kScaleRows = R"(//@ operation  scale_rows
//@ purpose    Every element times a number
//@ size       rows 1..4096
//@ size       cols 0..4096
//@ type       x f32
//@ type       y f32
//@ scalar     scale f32 = 1.5
//@ operand    x in: rows, cols
//@ operand    y out: rows, cols
//@ right      y bound 4 of f32
//@ integers   1000
//@ ragged     rows=3 cols=5
//@ ragged     rows=2 cols=0
//@ ragged     rows=1 cols=1
//@ flops      rows * cols
//@ reference  scale_rows_reference
//@   grid     rows
//@   block    32
//@   args     x.f64, y.f64, (long long) rows * cols, scale

__global__ void scale_rows_reference(const double* x, double* y, long long count, float scale) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (long long i = 0; i < count; ++i) y[i] = x[i] * scale;
}
)";

/// y += alpha * x, in place, and how often it was; results within a distance.
inline constexpr std::string_view kAddTo = R"(//@ operation  add_to
//@ purpose    Adds to what is there
//@ size       n 1..4096
//@ type       x f32
//@ type       y f32
//@ scalar     alpha f32 = 0.5
//@ operand    x in: n
//@ operand    y inout: n; fill uniform
//@ right      y within 0 1e-3
//@ integers   100
//@ ragged     n=7
//@ flops      2 * n
//@ reference  add_to_reference
//@   grid     1
//@   block    1

__global__ void add_to_reference(const float* x, float* y, int n, float alpha) {
  for (int i = 0; i < n; ++i) y[i] += alpha * x[i];
}
)";

/// Of each row of x the least and where it is, and if asked for the row's sum of magnitudes.
inline constexpr std::string_view kLeastOfRows = R"(//@ operation  least_of_rows
//@ purpose    The least of each row and its place
//@ size       rows 1..4096
//@ size       cols 1..4096
//@ type       x f32
//@ type       least f32
//@ type       place s32
//@ type       sum f32
//@ trait      with_sum 0 1
//@ operand    x in: rows, cols
//@ operand    least out: rows
//@ operand    place out: rows
//@ operand    sum out: rows; when with_sum
//@ right      least exact
//@ right      place exact
//@ right      sum bound 8 + log2(cols) of f32
//@ ragged     rows=3 cols=5
//@ flops      rows * cols
//@ reference  least_of_rows_reference
//@   grid     1
//@   block    1
//@   args     x, least, place, sum.f64, sum.magnitude, rows, cols

__global__ void least_of_rows_reference(const float* x, float* least, int* place, double* sum,
                                        double* magnitude, int rows, int cols) {
  for (int row = 0; row < rows; ++row) {
    const float* from = x + row * cols;
    place[row] = 0;
    for (int i = 0; i < cols; ++i) {
      if (from[i] < from[place[row]]) place[row] = i;
    }
    least[row] = from[place[row]];
    for (int i = 0; sum != nullptr && i < cols; ++i) {
      sum[row] += from[i];
      magnitude[row] += fabs(from[i]);
    }
  }
}
)";

/// y[i] = x[index[i]], the rows of x ordered by `first`, which ascends; nothing is computed.
inline constexpr std::string_view kGather = R"(//@ operation  gather
//@ purpose    Copies chosen elements
//@ size       n 1..4096
//@ size       m 1..4096
//@ type       x f16
//@ type       index s32
//@ type       first s32
//@ type       y f16
//@ operand    x in: n; fill positive
//@ operand    index in: m; fill integers 0 (n - 1)
//@ operand    first in: m; fill sorted 0 n
//@ operand    y out: m
//@ right      y exact
//@ ragged     n=5 m=9
//@ flops      m
//@ reference  gather_reference
//@   grid     1
//@   block    1

__global__ void gather_reference(const unsigned short* x, const int* index, const int* first,
                                 unsigned short* y, int n, int m) {
  for (int i = 0; i < m; ++i) y[i] = x[index[i]];
}
)";

/// The declaration, once for all of the process.
const Operation& planted_operation(std::string_view source);

/// The references of these operations and kernels for each, by name; see planted_operations.cpp.
void register_planted_operations(FakeDevice& device);

/// A problem with these sizes and traits, and the types that come first.
[[nodiscard]] Problem problem_of(const Operation& operation, std::vector<NamedValue> sizes,
                                 std::vector<NamedValue> traits = {});

/// As a session sets it up, with a compiler that compiles nothing.
[[nodiscard]] EvaluationSetup declared_setup(const ProblemCase& tuned);

/// One launch of kernel `name` for every case, which gets what it gets by default: operands, sizes,
/// scalars.
[[nodiscard]] EvaluationJob declared_job(const EvaluationSetup& setup, const std::string& name);

}  // namespace kiln::testing
