// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/device/make_device.hpp"

#include "runtime/emulated/device/emulated_device.hpp"

namespace kiln::emulated {
namespace {

/// Of one launch. A whole problem of an application takes its time; a tuning run has time-outs of
/// its own.
constexpr double kLaunchSeconds = 3600.0;

}  // namespace

std::unique_ptr<Device> make_device(const std::string& model) {
  EmulationOptions options;
  options.timeout_s = kLaunchSeconds;
  return std::make_unique<EmulatedDevice>(model, options);
}

}  // namespace kiln::emulated
