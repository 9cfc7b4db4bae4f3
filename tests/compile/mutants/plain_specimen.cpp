// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/mutants/plain_specimen.hpp"

#include <gtest/gtest.h>

#include <utility>

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

Bench::Bench(std::vector<std::byte> ptx, const std::string& kernel) : device_("h200", checked()) {
  DeviceStatus status;
  module_ = device_.load(ptx, {kernel}, status);
  EXPECT_TRUE(status.ok()) << status.message;
}

bool Bench::launch_bytes(const LaunchGeometry& geometry, const void* arguments) {
  if (!module_) return false;
  const DeviceStatus status =
      device_.launch({module_->functions().front(), geometry, arguments}, nullptr);
  EXPECT_TRUE(status.ok() || status.code == DeviceStatus::Code::faulted) << status.message;
  return status.ok();
}

Observed PlainSpecimen::run(const std::string& source) {
  CompileRequest request;
  request.source = source;
  request.plain_names = {kernel_};
  request.arch = "sm_90a";
  request.code = CodeKind::ptx;
  CompileResult compiled = nvrtc()->compile(request);
  Observed observed;
  EXPECT_TRUE(compiled.ok) << compiled.log;
  if (!compiled.ok) return observed;
  Bench bench(std::move(compiled.cubin), kernel_);
  run_(bench, observed);
  observed.reports = bench.take_reports();
  return observed;
}

}  // namespace kiln::testing
