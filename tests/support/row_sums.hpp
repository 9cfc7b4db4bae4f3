// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "kiln/operation.hpp"
#include "templates/catalog.hpp"
#include "tests/support/fake_device.hpp"

namespace kiln::testing {

/// y = scale * (sum of a row of x) + bias + steps: an operation with what an operation can have.
inline constexpr std::string_view kRowSumsOperation = R"(//@ operation  row_sums
//@ purpose    The sum of every row, scaled
//@ size       rows 0..65536
//@ size       cols 0..4096
//@ type       x f32 f16
//@ type       bias f32
//@ type       y f32
//@ scalar     scale f32 = 1.5
//@ scalar     steps s32 = 2
//@ trait      biased 0 1
//@ operand    x in: rows, cols
//@ operand    bias in: rows; when biased
//@ operand    y out: rows
//@ right      y bound 8 of f32
//@ ragged     rows=3 cols=5
//@ flops      rows * cols
//@ reference  row_sums_reference
//@   grid     rows
//@   block    1
//@   args     x.f64, y.f64, cols, scale

__global__ void row_sums_reference(const double* x, double* y, int cols, float scale) {
  double sum = 0.0;
  for (int i = 0; i < cols; ++i) sum += x[blockIdx.x * static_cast<long long>(cols) + i];
  y[blockIdx.x] = scale * sum;
}
)";

/// Two launches that share a workspace; host kernels stand in for what the file has of kernels.
inline constexpr std::string_view kRowSumsTemplate = R"(//@ template   row_sums_twice
//@ purpose    Sums, then what is made of them
//@ operation  row_sums
//@ tune       block_size = 64 128* 256
//@ workspace  4 * rows
//@ launch     row_sums_first<x>
//@   grid     rows
//@   block    block_size
//@   args     x, workspace, rows, cols
//@ launch     row_sums_second
//@   grid     1
//@   block    block_size
//@   args     workspace, bias, y, rows, scale, steps

template <class X>
__global__ void row_sums_first(const X* x, float* sums, int rows, int cols) {}
__global__ void row_sums_second(const float* sums, const float* bias, float* y, int rows,
                                float scale, int steps) {}
)";

/// A catalog with both, of files in `folder`.
[[nodiscard]] inline Catalog row_sums_catalog(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/row_sums.cu") << kRowSumsOperation;
  std::ofstream(folder + "/row_sums_twice.cu") << kRowSumsTemplate;
  return Catalog::with_directories({folder});
}

[[nodiscard]] inline OperationProblem row_sums(std::int64_t rows, std::int64_t cols,
                                               std::int64_t biased = 0, DType x = DType::f32) {
  return {"row_sums",
          {{"rows", rows}, {"cols", cols}},
          {{"x", x}, {"bias", DType::f32}, {"y", DType::f32}},
          {{"biased", biased}}};
}

template <class Parameter>
[[nodiscard]] Parameter parameter_at(const FakeLaunch& launch, std::size_t index) {
  Parameter value;
  std::memcpy(&value, static_cast<const char*>(launch.arguments) + launch.parameters[index],
              sizeof(value));
  return value;
}

/// The template's kernels, for x of f32.
inline void register_row_sums(FakeDevice& device) {
  device.register_kernel(
      "row_sums_first",
      [](const FakeLaunch& launch) {
        const auto* const x = parameter_at<const float*>(launch, 0);
        auto* const sums = parameter_at<float*>(launch, 1);
        const int cols = parameter_at<int>(launch, 3);
        for (int row = 0; row < parameter_at<int>(launch, 2); ++row) {
          sums[row] = 0.0F;
          for (int i = 0; i < cols; ++i) sums[row] += x[row * cols + i];
        }
      },
      FakeParameters{{0, 8, 16, 20}, 24});
  device.register_kernel(
      "row_sums_second",
      [](const FakeLaunch& launch) {
        const auto* const sums = parameter_at<const float*>(launch, 0);
        const auto* const bias = parameter_at<const float*>(launch, 1);
        auto* const y = parameter_at<float*>(launch, 2);
        const auto steps = static_cast<float>(parameter_at<int>(launch, 5));
        for (int row = 0; row < parameter_at<int>(launch, 3); ++row) {
          const float added = bias != nullptr ? bias[row] : 0.0F;
          y[row] = parameter_at<float>(launch, 4) * sums[row] + added + steps;
        }
      },
      FakeParameters{{0, 8, 16, 24, 28, 32}, 36});
}

}  // namespace kiln::testing
