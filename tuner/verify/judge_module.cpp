// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/judge_module.hpp"

#include <fmt/format.h>

#include "runtime/compile/constant_arrays.hpp"

namespace kiln {

JudgeModule::JudgeModule(Device& device, const EvaluationSetup& setup)
    : device_(device), operation_(setup.cases.front().problem.operation) {
  DeviceStatus status;
  module_ = device.load(setup.reference.cubin, setup.reference.names, status);
  if (module_ && !module_->functions().empty()) return;
  const ReferencePlan& plan = setup.reference_plans.front();
  throw Error(ErrorKind::device,
              fmt::format("{} cannot be loaded on the device: {}",
                          plan.place.empty() ? plan.checker_place : plan.place, status.message));
}

void JudgeModule::run(const JudgeRun& of, const ArgumentValues& values, ErrorKind fault) const {
  if (!of.constants.empty()) {
    std::vector<ConstantArray> arrays;
    DeviceStatus status = find_constant_arrays(device_, *module_, of.constants, arrays);
    if (status.ok()) {
      status = fill_constant_arrays(device_, arrays, values.operands, device_.own_stream());
    }
    if (!status.ok()) {
      throw Error(ErrorKind::template_, fmt::format("{}: {}", of.place, status.message));
    }
  }
  std::vector<std::byte> argument(of.argument.image.size());
  fill_argument(of.argument, values, argument.data());
  LaunchRequest request;
  request.function = module_->functions()[of.function];
  request.geometry = of.geometry;
  request.arguments = argument.data();
  request.argument_bytes = argument.size();
  request.parameters = of.argument.parameters;
  DeviceStatus status = device_.launch(request, device_.own_stream());
  if (const DeviceStatus end = device_.synchronize(); status.ok()) status = end;
  if (status.ok()) return;
  throw Error(
      fault,
      fmt::format(
          "{} {} for {}: {}. Next: correct this kernel. Until then, Kiln cannot verify any kernel "
          "of {}",
          of.place, status.found ? "has an error" : "does not run", of.problem.sizes_text(),
          status.message, operation_));
}

}  // namespace kiln
