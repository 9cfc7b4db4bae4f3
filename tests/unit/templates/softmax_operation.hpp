// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"

namespace kiln::test {

/// An operation with everything that one can declare.
inline constexpr const char* kSoftmaxOperation = R"(// Softmax.
//@ operation  soft
//@ purpose    Softmax of every row
//@ size       rows 1..65536      // rows
//@ size       cols 1..4096       // numbers in a row
//@ let        halves = ceil_div(cols, 2)
//@ let        quarters = ceil_div(halves, 2)
//@ type       x f32 f16 bf16     // of the input
//@ type       y f32 f16 bf16
//@ type       i s32
//@ type       m f32
//@ scalar     scale f32 = 1.5    // of the exponent
//@ scalar     skipped s64 = -3
//@ trait      masked 0 1
//@ operand    x in: rows, cols; fill uniform
//@ operand    y out: rows, cols
//@ operand    i in: rows; fill sorted 0 (cols - 1); when masked
//@ operand    m inout: rows
//@ right      y bound 16 + log2(cols) of f32
//@ right      m within 1e-5 1e-6
//@ integers   2
//@ ragged     rows=1 cols=1
//@ ragged     cols=33
//@              rows=7
//@ deterministic 0
//@ flops      5 * rows * cols
//@ reference  soft_reference<x, float>
//@   grid     rows
//@   block    256, quarters > 0 ? 1 : 1
//@   args     x.f64, {y.f64, y.magnitude}, i, m, rows,
//@            (long long) cols, scale, skipped

template <class X, class T>
__global__ void soft_reference(const double* x) {}
)";

inline Problem softmax_problem(std::int64_t rows, std::int64_t cols) {
  Problem problem;
  problem.operation = "soft";
  problem.sizes = {{"rows", rows}, {"cols", cols}};
  problem.types = {{"x", DType::f16}, {"y", DType::f32}, {"i", DType::s32}, {"m", DType::f32}};
  problem.traits = {{"masked", 1}};
  return problem;
}

/// `text` with one part in place of another, which must be there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) return "no \"" + from + "\" in the text";
  return text.replace(at, from.size(), to);
}

}  // namespace kiln::test
