// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/measure/device_buffer.hpp"

namespace kiln {

/// How a kernel of an operation's file is run once.
struct JudgeRun {
  std::size_t function = 0;  ///< in the order of judge_kernels()
  std::string_view place;    ///< of the kernel, as errors begin
  const LaunchGeometry& geometry;
  const ArgumentPlan& argument;
  const std::vector<ConstantFill>& constants;
  const Problem& problem;  ///< that it is run for
};

/// The kernels of an operation's file on the device. Used by one thread.
class JudgeModule {
 public:
  /// Throws Error(device) if the device refuses them.
  JudgeModule(Device& device, const EvaluationSetup& setup);
  /// Fills constant memory, runs the kernel and waits. Throws Error(template_) if an array cannot
  /// be filled, and Error(fault) if the kernel does not run to its end.
  void run(const JudgeRun& of, const ArgumentValues& values, ErrorKind fault) const;
  [[nodiscard]] std::size_t count() const { return module_->functions().size(); }

 private:
  Device& device_;
  std::string operation_;
  std::unique_ptr<LoadedModule> module_;
};

}  // namespace kiln
