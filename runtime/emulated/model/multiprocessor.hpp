// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "runtime/emulated/model/instruction_cost.hpp"
#include "runtime/emulated/model/trace.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"

namespace kiln::emulated {

/// What a multiprocessor did while it ran some blocks.
struct Occupation {
  double clocks = 0.0;                           ///< until all results are there and stored
  std::array<double, kResources> busy_clocks{};  ///< of parts: of the busiest one
};

/// Where what is read comes from; shares between 0 and 1.
struct MemoryMix {
  double dram_share = 0.0;    ///< of what the second level is asked for
  double shared_reads = 0.0;  ///< of what loads read, which one of the other blocks reads, too
};

/// The time that one multiprocessor takes for `blocks` equal blocks that run together, each doing
/// what the trace says.
///
/// A warp's instructions between two branches or barriers are issued in the order in which their
/// operands are ready, as the assembler would have sorted them; nothing moves across a branch, and
/// a branch waits until everything before it is issued, not until it is done. Every instruction
/// takes issue slots and time of its pipe on its quarter of the multiprocessor; memory takes
/// wavefronts, sectors and bytes of what all quarters share. Loads take the latency of the place
/// that serves them: sectors that the block touched before come from the first level, and so does
/// the share that other blocks read, too, once they have arrived for the first of these. Groups of
/// cp.async are done when the last of their copies is. Throws Error(device) when the blocks take
/// more clocks than ResourceCalendar can hold.
[[nodiscard]] Occupation run_blocks(const Program& program,
                                    const std::vector<InstructionCost>& costs,
                                    const BlockTrace& trace, int blocks,
                                    const DeviceProfile& profile, const MemoryMix& mix);

}  // namespace kiln::emulated
