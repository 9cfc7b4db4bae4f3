// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "runtime/emulated/device/emulated_device.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// What verbs that look into a kernel run it on by default: not even a GPU shows as much.
inline constexpr const char* kDefaultEmulated = "emulated:h200";

/// The device that was asked for, kDefaultEmulated when none was.
[[nodiscard]] std::string emulated_by_default(const Context& context);

/// After which a candidate is killed: what takes a GPU a moment takes an emulated one seconds.
[[nodiscard]] double default_candidate_timeout_s(const std::string& device);

/// How candidates are sought: a GPU tries so many that chance does well; an emulated one should
/// begin with the likely ones.
[[nodiscard]] std::string default_strategy(const std::string& device);

/// `spec` is "emulated:...". Throws as open_device() does.
[[nodiscard]] std::unique_ptr<EmulatedDevice> open_emulated(const std::string& spec,
                                                            const EmulationOptions& options);

/// "emulated NVIDIA H200, sm_90a, 132 SMs", or without the word.
[[nodiscard]] std::string full_device_text(const DeviceInfo& info);

}  // namespace kiln::tools
