// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/constant_arrays.hpp"

#include <fmt/format.h>

#include <optional>

#include "templates/front_matter/constant_line.hpp"

namespace kiln {

DeviceStatus find_constant_arrays(Device& device, const LoadedModule& module,
                                  std::span<const ConstantFill> fills,
                                  std::vector<ConstantArray>& arrays) {
  const auto refused = [](std::string why) {
    return DeviceStatus{DeviceStatus::Code::launch_failed, std::move(why), false};
  };
  std::vector<ConstantArray> found;
  for (const ConstantFill& fill : fills) {
    const std::string place = fill.place.empty() ? "" : fill.place + ": ";
    std::optional<DeviceVariable> variable;
    device.with_current([&] {
      variable = module.variable(variable_symbol(fill.array));
      // Of extern "C" in a namespace.
      const auto last = fill.array.rfind(':');
      if (!variable && last != std::string::npos) {
        variable = module.variable(fill.array.substr(last + 1));
      }
    });
    if (!variable) {
      return refused(fmt::format(
          "{}the compiled code has no array {}. Next: check the array's name in the "
          "\"constant\" line; the name needs all namespaces (for example phys::coeff). The array "
          "must not be static or in an unnamed namespace",
          place, fill.array));
    }
    if (variable->bytes < fill.bytes) {
      return refused(fmt::format(
          "{}the array {} has {} bytes, but the operand for this array has {} bytes. Next: declare "
          "a larger array, or add a \"require\" line that excludes problems with larger operands",
          place, fill.array, variable->bytes, fill.bytes));
    }
    found.push_back({variable->address, fill.bytes, fill.operand});
  }
  arrays = std::move(found);
  return {};
}

DeviceStatus fill_constant_arrays(Device& device, std::span<const ConstantArray> arrays,
                                  std::span<const std::uintptr_t> operands, void* stream) noexcept {
  for (const ConstantArray& array : arrays) {
    if (DeviceStatus status =
            device.copy_on_device(array.address, operands[array.operand], array.bytes, stream);
        !status.ok()) {
      return status;
    }
  }
  return {};
}

}  // namespace kiln
