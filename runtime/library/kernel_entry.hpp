// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/types.hpp"
#include "runtime/compile/constant_arrays.hpp"
#include "runtime/device.hpp"
#include "templates/launch/argument_plan.hpp"

namespace kiln::detail {

class Workspaces;

/// A kernel that is loaded and ready for one problem: what those of all operations have. Immutable
/// once published.
struct KernelEntry {
  // First what a launch reads.
  std::uint32_t process = 0;  ///< this_process() of its library
  Device* device = nullptr;
  Workspaces* workspaces = nullptr;
  /// In order; arguments are filled in by each launch. None where no result has elements.
  std::vector<LaunchRequest> launches;
  /// What each launch gives its kernel; none where the operation's argument is one struct.
  std::vector<ArgumentPlan> arguments;
  std::vector<ConstantArray> constants;  ///< filled by each launch
  std::int64_t workspace_bytes = 0;

  std::shared_ptr<const LoadedModule> module;
  Match match = Match::none;
  std::string reason;
  std::string template_name;
  std::string config;
};

/// Reports a launch that the device refused: throws Error(device).
[[noreturn]] void fail_launch(const KernelEntry& entry, const DeviceStatus& status);

}  // namespace kiln::detail
