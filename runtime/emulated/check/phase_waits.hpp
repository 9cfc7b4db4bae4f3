// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;

/// Finds waits at an mbarrier that may come too late. A wait names its phase by a parity, so it
/// must not be two phases behind: once the phase after its own is complete, too, the mbarrier looks
/// as it did before both, and a warp that comes only then waits for ever. So whatever completes a
/// phase has to come behind all waits that passed the phase before.
///
/// Behind in time, which is more than memory knows of: a relaxed arrival comes behind the wait
/// before it, and products of a warpgroup are over when all its warps have begun them. Hence clocks
/// of its own, which order no memory. They begin with the first mbarrier, before which nobody
/// waits.
class PhaseWaits {
 public:
  /// A cluster begins. `barriers`: how many there are that are no mbarriers.
  void begin(std::size_t blocks, std::size_t warps_per_block, std::size_t barriers);

  /// What warps tell and learn through an object, as for Observer::synchronise(). One that acquires
  /// an mbarrier's has passed a wait.
  void release(Warp& warp, std::uint64_t object);
  void acquire(Warp& warp, const Instr& instr, std::uint64_t object, LaneMask lanes);
  /// The same through a barrier.
  void arrive(Warp& warp, std::size_t barrier);
  void leave(Warp& warp, std::size_t barrier);
  /// An asynchronous operation ends behind what its warp did before it.
  void issue(Warp& warp, std::uint64_t token, std::uint64_t count);
  void finish(std::uint64_t token, std::uint64_t object);

  /// An mbarrier comes to a phase by what a lane of the warp did or began; `object` is that of the
  /// phase before. Reports the waits for an earlier one that may have come too late for it.
  void begin_phase(Warp& warp, const Instr& instr, int lane, std::uint64_t object,
                   std::uint32_t phase);

 private:
  /// The last of a warp for the phase before the current one.
  struct Wait {
    Warp* warp = nullptr;
    const Instr* instr = nullptr;
    LaneMask lanes = 0;
    std::uint32_t step = 0;
  };
  struct Mbarrier {
    /// By the parity of a phase, what has happened before it is complete.
    std::array<VectorClock, 2> told;
    std::vector<Wait> waits;
  };
  static void report(const Wait& wait, std::uint64_t object, std::uint32_t phase,
                     const std::string& completer);
  [[nodiscard]] std::size_t agent_of(Warp& warp) const;
  [[nodiscard]] VectorClock& told_to(std::uint64_t object);
  /// Adds what the warp knows. What it does from now on is not among it.
  void tell(Warp& warp, VectorClock& clock);
  [[nodiscard]] bool idle() const { return mbarriers_.empty(); }

  std::size_t warps_per_block_ = 1;
  std::vector<VectorClock> clocks_;  ///< of each warp of the cluster
  std::vector<VectorClock> barriers_;
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;  ///< by object / 2
  std::unordered_map<std::uint64_t, VectorClock> objects_;
  std::unordered_map<std::uint64_t, VectorClock> issued_;  ///< by the operation's token
};

}  // namespace kiln::emulated
