// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"

namespace kiln::test {

/// A small operation, for templates of kernels as they are.
inline constexpr std::string_view kRowOperation = R"(//@ operation  row_scale
//@ purpose    Every row times a number
//@ size       rows 1..65536
//@ size       cols 1..4096
//@ let        halves = ceil_div(cols, 2)
//@ type       x f32 f16
//@ type       y f32 f16
//@ scalar     scale f32 = 1.5
//@ operand    x in: rows, cols
//@ operand    y out: rows, cols
//@ right      y bound 4 of f32
//@ ragged     rows=3 cols=5
//@ flops      rows * cols
//@ reference  row_reference
//@   grid     rows
//@   block    32
//@   args     x.f64, y.f64, cols, scale

__global__ void row_reference(const double* x, double* y, int cols, float scale) {
  const long long row = blockIdx.x * static_cast<long long>(cols);
  for (int i = threadIdx.x; i < cols; i += 32) y[row + i] = x[row + i] * scale;
}
)";

/// Two kernels as they are: one has macros alone, the other template arguments as well.
inline constexpr std::string_view kRowTemplate = R"(//@ template   row_plain
//@ purpose    A block a row
//@ operation  row_scale
//@ tune       block_size = 64 128*     // threads of a block
//@              256
//@ let        warps = block_size / 32  // of a block
//@ tune       shift = -1* 0
//@ require    block_size <= device.max_threads
//@ workspace  4 * rows
//@ launch     fill_sums
//@   grid     1
//@   block    32
//@   when     cols > 1
//@   args     workspace + 4, {rows, (float) cols}
//@ launch     mine::scale_rows<x, y, block_size,
//@              block_size + shift>
//@   grid     rows
//@   block    block_size

struct Sizes {
  int rows;
  float cols;
};

extern "C" __global__ void fill_sums(int* sums, Sizes sizes) {
  if (threadIdx.x < warps) sums[threadIdx.x] = sizes.rows + shift;
}

namespace mine {

template <class X, class Y, int kThreads, int kMore>
__global__ void __launch_bounds__(kThreads)
    scale_rows(const X* x, Y* y, int rows, int cols, float scale) {
  static_assert(kThreads == 32 * warps && kMore == block_size + shift);
  const long long row = blockIdx.x * static_cast<long long>(cols);
  for (int i = threadIdx.x; i < cols; i += kThreads) {
    y[row + i] = static_cast<Y>(static_cast<float>(x[row + i]) * scale);
  }
}

}  // namespace mine
)";

/// Declares the operation, once for all tests of the process.
inline const Operation& row_operation() {
  declare_operation(Operation::parse("row_scale.cu", kRowOperation));
  return *find_operation("row_scale");
}

inline Problem row_problem(std::int64_t rows, std::int64_t cols, DType x = DType::f16,
                           DType y = DType::f32) {
  Problem problem;
  problem.operation = "row_scale";
  problem.sizes = {{"rows", rows}, {"cols", cols}};
  problem.types = {{"x", x}, {"y", y}};
  return problem;
}

}  // namespace kiln::test
