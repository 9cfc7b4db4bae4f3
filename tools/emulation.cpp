// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/emulation.hpp"

#include "runtime/device.hpp"
#include "tools/output/trial_text.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln::tools {

std::string emulated_by_default(const Context& context) {
  const Located device = context.device();
  return device.origin == "default" ? kDefaultEmulated : device.value;
}

double default_candidate_timeout_s(const std::string& device) {
  return names_emulated_device(device) ? 120.0 : 10.0;
}

std::string default_strategy(const std::string& device) {
  return names_emulated_device(device) ? "model" : std::string(kGuided);
}

std::unique_ptr<EmulatedDevice> open_emulated(const std::string& spec,
                                              const EmulationOptions& options) {
  return std::make_unique<EmulatedDevice>(spec.substr(spec.find(':') + 1), options);
}

std::string full_device_text(const DeviceInfo& info) {
  return (info.provenance == Provenance::modelled ? "emulated " : "") +
         device_text(info.device_class);
}

}  // namespace kiln::tools
