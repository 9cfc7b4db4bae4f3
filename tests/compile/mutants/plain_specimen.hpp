// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/compile/mutants/mutants.hpp"

namespace kiln::testing {

/// One kernel on an emulated H200 with all checks on, and its buffers.
class Bench {
 public:
  explicit Bench(std::vector<std::byte> ptx, const std::string& kernel);

  template <class T>
  [[nodiscard]] DevicePtr upload(const std::vector<T>& values) {
    const DevicePtr at = fresh(static_cast<std::int64_t>(values.size() * sizeof(T)));
    device_.copy_to_device(at, values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)));
    return at;
  }
  /// Unwritten memory.
  [[nodiscard]] DevicePtr fresh(std::int64_t bytes) { return device_.allocate(bytes); }
  template <class T>
  [[nodiscard]] std::vector<T> download(DevicePtr from, std::size_t count) {
    std::vector<T> values(count);
    device_.copy_to_host(values.data(), from, static_cast<std::int64_t>(count * sizeof(T)));
    return values;
  }
  /// True if it ran to its end. `arguments` are the kernel's parameters, packed.
  template <class Arguments>
  bool launch(std::array<std::uint32_t, 3> grid, std::uint32_t threads, const Arguments& arguments,
              std::uint32_t cluster = 1) {
    return launch({grid, {threads, 1, 1}, {cluster, 1, 1}, 0}, arguments);
  }
  template <class Arguments>
  bool launch(const LaunchGeometry& geometry, const Arguments& arguments) {
    return launch_bytes(geometry, &arguments);
  }
  [[nodiscard]] std::vector<emulated::Report> take_reports() { return device_.take_reports(); }

 private:
  bool launch_bytes(const LaunchGeometry& geometry, const void* arguments);

  EmulatedDevice device_;
  std::unique_ptr<LoadedModule> module_;
};

/// A kernel of its own text, an extern "C" function.
class PlainSpecimen : public Specimen {
 public:
  /// Fills buffers, launches, and compares: fills all of Observed but the reports.
  using Run = std::function<void(Bench&, Observed&)>;

  PlainSpecimen(std::string source, std::string kernel, Run run)
      : source_(std::move(source)), kernel_(std::move(kernel)), run_(std::move(run)) {}
  [[nodiscard]] const std::string& source() const override { return source_; }
  [[nodiscard]] Observed run(const std::string& source) override;

 private:
  std::string source_;
  std::string kernel_;
  Run run_;
};

/// Notes the first element of a matrix of `cols` columns that differs from the expected one.
template <class T, class Expected>
void compare(const std::vector<T>& values, int cols, const Expected& expected, Observed& observed) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int row = static_cast<int>(i) / cols;
    const int col = static_cast<int>(i) % cols;
    const auto wanted = static_cast<T>(expected(row, col));
    if (values[i] == wanted) continue;
    observed.row = row;
    observed.col = col;
    observed.wrong = "row " + std::to_string(row) + " column " + std::to_string(col) + ": " +
                     std::to_string(values[i]) + ", expected " + std::to_string(wanted);
    return;
  }
}

}  // namespace kiln::testing
