// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/context.hpp"

namespace kiln::tools {

/// `kiln doctor --save-profile`: measures the ceilings of the device that the flags name and writes
/// its profile to `path`, complete or not at all. Returns the exit code. Throws Error(usage) for an
/// emulated device, Error(device) when there is none or the figures cannot be right.
int save_profile(Context& context, const std::string& path);

/// The device that a profile in that file describes: "emulated:./mine" for "mine", which would name
/// a built-in one.
[[nodiscard]] std::string device_of_profile(const std::string& path);

}  // namespace kiln::tools
