// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/bench.hpp"

#include "kiln/error.hpp"

namespace kiln::testing {
namespace {

/// Blocks one after another on one host thread, so that each run finds the same.
EmulationOptions checked() {
  EmulationOptions options;
  options.checks = true;
  options.host_threads = 1;
  options.timeout_s = 20.0;
  options.memory_bytes = std::int64_t{1} << 28;
  return options;
}

}  // namespace

Compiler* nvrtc() {
  static const std::unique_ptr<Compiler> compiler = []() -> std::unique_ptr<Compiler> {
    try {
      return make_nvrtc_compiler();
    } catch (const Error&) {
      return nullptr;
    }
  }();
  return compiler.get();
}

Bench::Bench(std::vector<std::byte> ptx, const std::vector<std::string>& kernels)
    : device_("h200", checked()) {
  DeviceStatus status;
  module_ = device_.load(ptx, kernels, status);
  EXPECT_TRUE(status.ok()) << status.message;
}

bool Bench::launch_bytes(const LaunchGeometry& geometry, const void* arguments, std::size_t bytes,
                         std::size_t kernel) {
  if (!module_) return false;
  const DeviceStatus status =
      device_.launch({module_->functions()[kernel], geometry, arguments, bytes}, nullptr);
  EXPECT_TRUE(status.ok() || status.code == DeviceStatus::Code::faulted) << status.message;
  return status.ok();
}

std::uint64_t Bench::count_conflicts(const LaunchGeometry& geometry, const void* arguments,
                                     std::size_t kernel) {
  if (!module_) return 0;
  DeviceStatus status;
  const emulated::FactSheet facts =
      device_.count({module_->functions()[kernel], geometry, arguments}, 0, status);
  EXPECT_TRUE(status.ok()) << status.message;
  const emulated::InstructionFacts total = facts.total();
  EXPECT_GT(total.shared_requests, 0U) << "nothing went through shared memory";
  return total.shared_wavefronts - total.shared_fewest;
}

}  // namespace kiln::testing
