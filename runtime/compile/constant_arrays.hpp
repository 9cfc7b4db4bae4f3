// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device.hpp"
#include "templates/front_matter/constant_spec.hpp"

namespace kiln {

/// An array of a loaded module that holds an operand in every run.
struct ConstantArray {
  DevicePtr address = 0;
  std::int64_t bytes = 0;     ///< of the operand
  std::uint16_t operand = 0;  ///< in the operation's order
};

/// Finds what `fills` names in a module. A status that is not ok says which array is not there or
/// has too little room; then `arrays` is left as it was.
[[nodiscard]] DeviceStatus find_constant_arrays(Device& device, const LoadedModule& module,
                                                std::span<const ConstantFill> fills,
                                                std::vector<ConstantArray>& arrays);

/// Enqueues the copies on `stream`, ahead of the launches that read them. Runs of one module that
/// have different data in these arrays must not overlap. Neither locks nor allocates.
[[nodiscard]] DeviceStatus fill_constant_arrays(Device& device,
                                                std::span<const ConstantArray> arrays,
                                                std::span<const std::uintptr_t> operands,
                                                void* stream) noexcept;

}  // namespace kiln
