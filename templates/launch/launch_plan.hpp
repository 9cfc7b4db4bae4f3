// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/operation.hpp"
#include "templates/launch/tensor_map_plan.hpp"

namespace kiln {

/// The fields of a template's launch struct, in the order of their declaration: what a kernel
/// gets by value after its first argument. Of fixed size, because launches copy it.
inline constexpr std::size_t kMostLaunchValues = 24;
struct LaunchValues {
  std::array<std::int32_t, kMostLaunchValues> items{};
  std::uint32_t count = 0;  ///< 0: the kernel has no such parameter
  friend bool operator==(const LaunchValues&, const LaunchValues&) = default;
};

/// The geometry of one launch for a given problem, ready for the device.
struct LaunchGeometry {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t smem_bytes = 0;
  LaunchValues values = {};
  TensorMapPlans maps = {};
  bool overlaps = false;     ///< may begin while the launch before it on the stream ends
  bool cooperative = false;  ///< all blocks run at once, and may wait for each other
  std::uint8_t allowed = 0;  ///< what checks may find: Allowed, put together
  /// Which of the template's launches it is an instance of; -1: the one at its own place. Templates
  /// with launches that repeat have as many instances of them as there are repetitions.
  std::int32_t kernel = -1;
  friend bool operator==(const LaunchGeometry&, const LaunchGeometry&) = default;
  /// A launch whose `when` does not hold: nothing to do, and no blocks to do it.
  [[nodiscard]] bool left_out() const { return grid[0] == 0; }
  /// Which of the template's launches it is, where it is number `place` of all.
  [[nodiscard]] std::size_t kernel_at(std::size_t place) const {
    return kernel < 0 ? place : static_cast<std::size_t>(kernel);
  }
};

/// Of one run, with all repetitions: each takes its time on the host.
inline constexpr std::int64_t kMostLaunches = 16384;

/// A scratch array of a run.
struct ScratchPlan {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;  ///< in a workspace that has room for all
  friend bool operator==(const ScratchPlan&, const ScratchPlan&) = default;
};

/// What LaunchPlanner::plan() works out of launches: what their time depends on, or also what
/// kernels get.
enum class LaunchDetail : std::uint8_t { extents, arguments };

/// All that a candidate's template says of running it.
struct LaunchPlan {
  /// In the template's order, of launches that repeat the first repetition.
  std::vector<LaunchGeometry> launches;
  std::vector<std::int64_t> times;  ///< how often each of them runs
  std::vector<NamedValue> costs;    ///< of a block of the launch that does the work
  std::int64_t workspace_bytes = 0;
};

/// Blocks of a grid or cluster, threads of a block.
[[nodiscard]] constexpr std::uint64_t count_of(const std::array<std::uint32_t, 3>& extent) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

}  // namespace kiln
