// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/compile/mutants/plain_specimen.hpp"
#include "tests/support/gemm_arguments.hpp"
#include "tests/support/host_element.hpp"

namespace kiln::testing {

/// A template with one configuration for one problem. Buffers end where the matrices do.
class CatalogSpecimen : public Specimen {
 public:
  /// `config` is canonical text, and valid for the problem. `sms`: how many multiprocessors a
  /// kernel whose blocks stay is launched for, if not as many as an H200 has.
  CatalogSpecimen(const std::string& kernel, const std::string& config, const Gemm& gemm,
                  int sms = 132)
      : gemm_(gemm), limits_(*limits_of_arch("sm_90a")) {
    limits_.sm_count = sms;
    const Problem problem = to_problem(gemm);
    const KernelTemplate& from = Catalog::builtin().at(kernel);
    rendered_ = render(Catalog::builtin(), from, Config::parse(config), problem, limits_);
    const auto launches = LaunchPlanner(from, problem, limits_).geometry(rendered_.config);
    while (launches.at(kernel_).left_out()) ++kernel_;
    geometry_ = launches.at(kernel_);
  }

  [[nodiscard]] const std::string& source() const override { return rendered_.text; }
  [[nodiscard]] Observed run(const std::string& source) override {
    CompileRequest request = request_of(rendered_, limits_.arch, CodeKind::ptx);
    request.source = source;
    CompileResult compiled = nvrtc()->compile(request);
    Observed observed;
    EXPECT_TRUE(compiled.ok) << compiled.log;
    if (!compiled.ok) return observed;
    Bench bench(std::move(compiled.cubin), compiled.lowered_names);
    launch(bench, observed);
    observed.reports = bench.take_reports();
    return observed;
  }

 private:
  using At = int (*)(int, int);
  static int a_at(int row, int k) { return (row * 7 + k * 3) % 5 - 2; }
  static int b_at(int k, int col) { return (k * 5 + col * 11) % 7 % 3 - 1; }
  /// A matrix as stored in memory, transposed or not.
  DevicePtr matrix(Bench& bench, DType type, int rows, int cols, Storage storage, At at) const {
    const int bytes = size_bytes(type);
    std::vector<std::byte> values(static_cast<std::size_t>(rows * cols * bytes));
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const int index = storage == Storage::n ? row * cols + col : col * rows + row;
        store_element(type, values.data(), index, at(row, col));
      }
    }
    return bench.upload(values);
  }

  void launch(Bench& bench, Observed& observed) const {
    const int m = static_cast<int>(gemm_.m);
    const int n = static_cast<int>(gemm_.n);
    const int k = static_cast<int>(gemm_.k);
    const auto count = static_cast<std::size_t>(m * n);
    const auto bytes = count * static_cast<std::size_t>(size_bytes(gemm_.d));
    const DevicePtr d = bench.fresh(static_cast<std::int64_t>(bytes));
    GemmArgs args =
        plain_arguments(gemm_, matrix(bench, gemm_.a, m, k, gemm_.storage_a, a_at),
                        matrix(bench, gemm_.b, k, n, gemm_.storage_b, b_at), DevicePtr{0}, d);
    args.alpha = 2.0;
    if (!bench.launch(geometry_, args, kernel_)) return;
    const auto stored = bench.download<std::byte>(d, bytes);
    std::vector<int> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(
          static_cast<int>(load_element(gemm_.d, stored.data(), static_cast<std::int64_t>(i))));
    }
    compare(
        values, n,
        [&](int row, int col) {
          int sum = 0;
          for (int i = 0; i < k; ++i) sum += a_at(row, i) * b_at(i, col);
          return 2 * sum;
        },
        observed);
  }

  Gemm gemm_;
  DeviceLimits limits_;
  RenderedKernel rendered_;
  std::size_t kernel_ = 0;  ///< the only one that is launched
  LaunchGeometry geometry_;
};

/// The types with layouts, and every operand aligned to `alignment` bytes.
inline Gemm problem(const Gemm& types, Storage a, Storage b, int alignment) {
  Gemm gemm = types;
  gemm.storage_a = a;
  gemm.storage_b = b;
  gemm.alignment_a = gemm.alignment_b = gemm.alignment_c = gemm.alignment_d = alignment;
  return gemm;
}

}  // namespace kiln::testing
