// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/emulated/model/facts.hpp"
#include "runtime/emulated/model/instruction_cost.hpp"
#include "runtime/emulated/model/trace.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "templates/launch/launch_plan.hpp"

namespace kiln::emulated {

/// A launch as the model wants to know it: one cluster of it was run for its facts and the trace of
/// its first block, and some more for what blocks share. Its program says how many registers a
/// thread has (Program::registers).
struct ModelInput {
  const FactSheet& facts;
  const BlockTrace& trace;
  LaunchGeometry geometry;
  ReadSharing sharing;  ///< by blocks that run together
};

struct Prediction {
  double time_ns = 0.0;  ///< one launch among others in a CUDA graph, operands in DRAM before
  int blocks_per_sm = 0;
  double rounds = 0.0;  ///< of blocks, one after the other on each multiprocessor
  /// Share of the time of a full multiprocessor for which each resource is busy, by Resource; the
  /// last is DRAM's share of the whole launch.
  std::array<double, kResources + 1> busy{};
  /// What bounds it: the busiest resource's name, or "latency" where none is busy for most of it.
  std::string bound;
};

/// The names of Prediction::busy.
[[nodiscard]] std::vector<std::string> resource_names();

/// How long a launch takes on the profile's GPU, if blocks are alike: the time that a
/// multiprocessor takes for as many of them as fit on it (run_blocks), as often as it takes to do
/// all, plus what is left over for the last round, and at least what DRAM needs for everything that
/// is touched. docs/explanation/emulator.md says how far to trust it. Throws what run_blocks()
/// throws.
[[nodiscard]] Prediction predict(const ModelInput& input, const DeviceProfile& profile);

}  // namespace kiln::emulated
