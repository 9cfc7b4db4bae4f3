// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  friend bool operator==(const LaunchGeometry&, const LaunchGeometry&) = default;
  /// A launch whose `when` does not hold: nothing to do, and no blocks to do it.
  [[nodiscard]] bool left_out() const { return grid[0] == 0; }
};

/// What LaunchPlanner::plan() works out of launches: what their time depends on, or also what
/// kernels get.
enum class LaunchDetail : std::uint8_t { extents, arguments };

/// All that a candidate's template says of running it.
struct LaunchPlan {
  std::vector<LaunchGeometry> launches;
  std::vector<NamedValue> costs;  ///< of a block of the launch that does the work
  std::int64_t workspace_bytes = 0;
};

/// Blocks of a grid or cluster, threads of a block.
[[nodiscard]] constexpr std::uint64_t count_of(const std::array<std::uint32_t, 3>& extent) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

}  // namespace kiln
