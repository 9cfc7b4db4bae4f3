// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"

namespace kiln::testing {

/// NVRTC, loaded once; null where there is none.
[[nodiscard]] Compiler* nvrtc();

/// A test that is skipped where there is no NVRTC.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvrtc() == nullptr) GTEST_SKIP() << "no NVRTC here";
  }
};

/// A module's kernels on an emulated H200 with all checks on, and their buffers.
class Bench {
 public:
  Bench(std::vector<std::byte> ptx, const std::vector<std::string>& kernels);

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
  /// True if it ran to its end. `arguments` are the kernel's parameters, packed; `kernel` is its
  /// number among those of the constructor.
  template <class Arguments>
  bool launch(const LaunchGeometry& geometry, const Arguments& arguments, std::size_t kernel = 0) {
    // Tensor maps follow behind the argument, wherever that ends.
    const std::size_t bytes = geometry.maps.count > 0 ? sizeof(arguments) : 0;
    return launch_bytes(geometry, &arguments, bytes, kernel);
  }
  template <class Arguments>
  bool launch(std::array<std::uint32_t, 3> grid, std::uint32_t threads, const Arguments& arguments,
              std::uint32_t cluster = 1) {
    return launch({grid, {threads, 1, 1}, {cluster, 1, 1}, 0}, arguments);
  }
  /// Runs it once more, without checks, and counts the wavefronts of shared memory that would not
  /// be needed if no bank were wanted twice.
  template <class Arguments>
  [[nodiscard]] std::uint64_t conflicts(const LaunchGeometry& geometry, const Arguments& arguments,
                                        std::size_t kernel = 0) {
    return count_conflicts(geometry, &arguments, kernel);
  }
  [[nodiscard]] std::vector<emulated::Report> take_reports() { return device_.take_reports(); }

 private:
  bool launch_bytes(const LaunchGeometry& geometry, const void* arguments, std::size_t bytes,
                    std::size_t kernel);
  std::uint64_t count_conflicts(const LaunchGeometry& geometry, const void* arguments,
                                std::size_t kernel);

  EmulatedDevice device_;
  std::unique_ptr<LoadedModule> module_;
};

}  // namespace kiln::testing
