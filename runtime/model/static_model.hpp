// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cache/records.hpp"
#include "runtime/model/device_profile.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/launch_planner.hpp"

namespace kiln {

/// Roughly how long configurations of one template take for one problem, from only its cost lines:
/// nothing is rendered, compiled or run. Good for ordering configurations, not for their times.
///
/// As many blocks as fit on a multiprocessor (threads, shared memory, stated registers) make a
/// wave. A wave lasts as long as the busiest unit needs for all of them, or as one block needs by
/// itself if that is longer: its work on its own share of the units and its waits one after
/// another, or its trips to memory if nothing else held it up; small shares of what overlaps are
/// added, and what nothing overlaps: its first trip and its tail. Clusters leave multiprocessors
/// idle (resident_blocks()). Waves follow each other, the last with what is left over; no launch
/// beats the DRAM traffic of its operands. Every launch adds its start, and several the workspace
/// that one writes and the next reads.
class StaticModel {
 public:
  /// All must outlive it. Works out what all configurations share.
  StaticModel(const KernelTemplate& kernel_template, const Problem& problem,
              const DeviceProfile& profile);

  /// In ns. Nothing if the template states no costs; infinity for a launch that the device cannot
  /// do. Throws Error(template_) if a cost is undefined. Precondition: `config` is valid.
  /// `bindings`: as of LaunchPlanner::plan(). LaunchDetail::extents takes less time; it is for
  /// configurations of which another one that differs in values at launch was timed before: what
  /// kernels get is not looked at again.
  [[nodiscard]] std::optional<double> time_ns(const Config& config,
                                              std::span<const std::int64_t> bindings = {},
                                              LaunchDetail detail = LaunchDetail::arguments) const;

 private:
  const KernelTemplate& kernel_template_;
  LaunchPlanner planner_;
  const DeviceProfile& profile_;
  DeviceProfile under_load_;
  DType factor_type_;     // of what tensor cores multiply
  double touched_bytes_;  // fewest that the problem moves; 0: nothing is known of its operation
  std::size_t main_at_;   // the launch that costs describe
};

/// StaticModel::time_ns() of a single configuration.
[[nodiscard]] std::optional<double> static_time_ns(const KernelTemplate& kernel_template,
                                                   const Config& config, const Problem& problem,
                                                   const DeviceProfile& profile);

}  // namespace kiln
