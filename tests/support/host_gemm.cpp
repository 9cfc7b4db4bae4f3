// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "common/gemm_args.cuh"
#include "templates/render/renderer.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/host_element.hpp"
#include "tests/support/host_kernels.hpp"

namespace kiln::testing {
namespace {

struct GemmTypes {
  DType a = DType::f32, b = DType::f32, c = DType::f32, d = DType::f32;
};

DType type_of(std::string_view spelling) {
  while (spelling.starts_with(' ')) spelling.remove_prefix(1);
  while (spelling.ends_with(' ')) spelling.remove_suffix(1);
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (device_type_name(static_cast<DType>(i)) == spelling) return static_cast<DType>(i);
  }
  return DType::f32;
}

/// "gemm_x<Config{...}, __half, __half, float, float, float>": the types follow the brace.
GemmTypes types_of(std::string_view name) {
  std::array<DType, 5> types{DType::f32, DType::f32, DType::f32, DType::f32, DType::f32};
  std::size_t at = name.rfind('}');
  for (DType& type : types) {
    if (at == std::string_view::npos) break;
    at = name.find(',', at);
    if (at == std::string_view::npos) break;
    const std::size_t end = name.find_first_of(",>", at + 1);
    type = type_of(name.substr(at + 1, end - at - 1));
    at = end;
  }
  return {types[0], types[1], types[2], types[3]};
}

/// A plain rows x cols array of a matrix in memory, transposed if stored so.
std::vector<double> gather(DType type, const void* data, std::int64_t rows, std::int64_t cols,
                           std::int64_t ld, bool transposed) {
  std::vector<double> out(static_cast<std::size_t>(rows * cols));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      out[static_cast<std::size_t>(r * cols + c)] =
          load_element(type, data, transposed ? c * ld + r : r * ld + c);
    }
  }
  return out;
}

}  // namespace

void host_gemm(const FakeLaunch& launch) {
  const auto& args = *static_cast<const GemmArgs*>(launch.arguments);
  const std::string name(launch.name);
  const GemmTypes types = types_of(name);
  const std::int64_t m = args.m, n = args.n, k = args.k;
  const auto a = gather(types.a, args.a, m, k, args.lda, config_value(name, "k_major_a") == 0);
  const auto b = gather(types.b, args.b, k, n, args.ldb, config_value(name, "k_major_b") != 0);
  std::vector<double> row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::int64_t l = 0; l < k; ++l) {
      const double factor = a[static_cast<std::size_t>(i * k + l)];
      const double* from = &b[static_cast<std::size_t>(l * n)];
      for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] += factor * from[j];
    }
    for (std::int64_t j = 0; j < n; ++j) {
      double value = args.alpha * row[static_cast<std::size_t>(j)];
      if (args.beta != 0.0) value += args.beta * load_element(types.c, args.c, i * args.ldc + j);
      const bool middle = i == m / 2 && j == n / 2;
      if (middle && launch.behaviour == kBehaveWrongResult) value += 1.0 + std::fabs(value);
      // One unit in the last place of a float, only for inexact values: what a race in the order of
      // additions looks like, and integers do not show.
      const bool odd_run = launch.index % 2 == 1;
      if (launch.behaviour == kBehaveUnstable && odd_run && value != std::nearbyint(value)) {
        value *= 1.0 + std::ldexp(1.0, -23);
      }
      store_element(types.d, args.d, i * args.ldd + j, value);
    }
  }
  if (launch.behaviour == kBehaveWritesOutside) {
    store_element(types.d, args.d, (m - 1) * args.ldd + n, 1.0);
  }
}

}  // namespace kiln::testing
