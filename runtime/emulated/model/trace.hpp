// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/engine/observer.hpp"
#include "runtime/emulated/model/sector_set.hpp"

namespace kiln::emulated {

/// One instruction that a warp issued, with what its memory access asked for.
struct TraceEntry {
  std::uint32_t instruction = 0;  ///< index into Program::code
  std::uint16_t wavefronts = 0;   ///< of shared memory, as shared_clocks()
  std::uint16_t lookups = 0;      ///< of the first-level cache, for global and local memory
  std::uint16_t lines = 0;        ///< of 128 bytes that they touch
  std::uint16_t returns = 0;      ///< of up to 128 bytes that it gives or takes
  std::uint16_t sectors = 0;      ///< of 32 bytes that the second level has to serve
};

/// What the warps of one block did, each in its own order.
struct BlockTrace {
  std::vector<std::vector<TraceEntry>> warps;
};

/// Instructions of a block that are written down: 16 bytes each, so that a kernel that loops for
/// ever does not take all memory before its time is up.
inline constexpr std::size_t kLongestTrace = 50'000'000;

/// Writes down what the first block of a cluster does. Serves one cluster, on one host thread.
/// `trace` must outlive the observer, which throws Error(device) when the block executes more than
/// `longest` instructions.
///
/// The second level serves what loads read that the block had not touched before, and everything
/// that is stored or done by atomics: the first level writes through. Local memory stays in it.
[[nodiscard]] std::unique_ptr<Observer> trace_block(BlockTrace& trace,
                                                    std::size_t longest = kLongestTrace);

/// How much of what the blocks of a multiprocessor read others of them read, too.
struct ReadSharing {
  double share = 0.0;  ///< of the sectors that loads read, when `blocks` blocks run together
  int blocks = 1;
  /// The same for another number of blocks: the sectors that they read are taken to grow as a power
  /// of their number.
  [[nodiscard]] double among(int count) const;
};

/// How much of what blocks read is the same, so that the first-level cache of a multiprocessor that
/// runs them together asks for it once. Watches clusters of one launch, on one host thread.
class SharedReads {
 public:
  /// Watches the first block of a cluster. Must not outlive this.
  [[nodiscard]] std::unique_ptr<Observer> watch();
  /// Of all blocks that were watched: 0 for one, near 1 for many that read alike. Copies to shared
  /// memory do not count.
  [[nodiscard]] ReadSharing sharing() const;

 private:
  class Watcher;
  SectorSet all_;
  std::uint64_t each_ = 0;  ///< the same sectors, counted for each block
  int blocks_ = 0;
};

}  // namespace kiln::emulated
