// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/compile/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"

namespace kiln::tools {

/// Measures what `device` can do at most, with kernels that `compiler` makes, in well under a
/// minute; nobody else should use the device meanwhile. `progress` hears what is measured next.
/// Throws Error(device) when a kernel fails or the compiler made another one than was written, and
/// Error(compiler) when one cannot be compiled.
[[nodiscard]] DeviceProfile measure_ceilings(
    Device& device, Compiler& compiler, const std::function<void(const std::string&)>& progress);

/// Why the figures cannot be right: one that exceeds what its device can issue by more than 5 %, or
/// contradicts another. Nothing when all of them are plausible.
[[nodiscard]] std::optional<std::string> why_implausible(const DeviceProfile& profile);

}  // namespace kiln::tools
