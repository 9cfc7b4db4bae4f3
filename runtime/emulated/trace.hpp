// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/emulated/observer.hpp"
#include "runtime/emulated/program.hpp"

namespace kiln::emulated {

/// One instruction that a warp issued, with what its memory access asked for.
struct TraceEntry {
  std::uint32_t instruction = 0;  ///< index into Program::code
  std::uint16_t wavefronts = 0;   ///< of shared memory, as shared_clocks()
  std::uint16_t lookups = 0;      ///< of the first-level cache for global memory
  std::uint16_t lines = 0;        ///< of 128 bytes that they touch
  std::uint16_t returns = 0;      ///< of up to 128 bytes that it gives or takes
  std::uint16_t fresh = 0;        ///< sectors of 32 bytes that the block had not touched before
};

/// What the warps of one block did, each in its own order.
struct BlockTrace {
  std::vector<std::vector<TraceEntry>> warps;
};

/// Writes down what the first block of a cluster does. Serves one cluster, on one host thread.
/// Everything is passed on to `next`, which may be null. `trace` must outlive the observer.
[[nodiscard]] std::unique_ptr<Observer> trace_block(BlockTrace& trace,
                                                    std::unique_ptr<Observer> next = nullptr);

}  // namespace kiln::emulated
