// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/emulated/check/lane_news.hpp"
#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

/// What the lanes of one warp know of the steps of all agents. Most of it all lanes know; what an
/// mbarrier or an atomic told some of them, the others learn when they synchronise.
class WarpKnowledge {
 public:
  /// `agent` is the warp's own number.
  explicit WarpKnowledge(std::size_t agent) : agent_(agent) { clock_.set(agent, 1); }

  /// What all lanes know; of the warp itself, what has happened.
  [[nodiscard]] const VectorClock& clock() const { return clock_; }
  /// The step that the warp is at.
  [[nodiscard]] std::uint32_t step() const { return clock_[agent_]; }
  /// What its lanes did before this step of its own, all its lanes know of.
  [[nodiscard]] std::uint32_t synced() const { return synced_; }
  void tick() { clock_.tick(agent_); }

  /// All lanes know of each other now.
  void sync();
  /// So do some of them: `all` if those are all that live.
  void sync_lanes(LaneMask lanes, bool all);
  /// Lanes learn what a clock says.
  void learn(LaneMask lanes, bool all, const VectorClock& clock);
  /// Adds what these lanes know.
  void add_to(VectorClock& clock, LaneMask lanes) const;
  /// Its threads have copied by cp.async from now on; see ClusterAgents::make_copiers(). The steps
  /// of these agents are the numbers of the copies: what a thread waits for and what its arrivals
  /// tell are copies up to one of them.
  void begin_copies(std::size_t first) { copiers_ = first; }
  /// The agent of lane 0's copies; 0: there were none.
  [[nodiscard]] std::size_t copiers() const { return copiers_; }
  /// A thread knows of its own copies.
  void learn_copies(std::size_t copier, std::uint32_t number) { clock_.raise(copier, number); }

  /// It was the warp that did this, or copies of its threads, and not all its lanes know of it.
  [[nodiscard]] bool is_news(std::size_t agent, std::uint32_t step) const;
  /// Those of the lanes that do not come behind what `others`, lanes of an agent, did at a step of
  /// its own.
  [[nodiscard]] LaneMask unordered(LaneMask lanes, std::size_t agent, LaneMask others,
                                   std::uint32_t step) const;

 private:
  /// What all lanes know, of each other and of their copies, too.
  [[nodiscard]] VectorClock common() const;

  std::size_t agent_;
  VectorClock clock_;
  LaneNews news_;  ///< what only some of the lanes know
  std::uint32_t synced_ = 1;
  std::size_t copiers_ = 0;
  /// Of each lane, up to which number all lanes know of its copies.
  std::array<std::uint32_t, kLanes> copies_synced_{};
};

}  // namespace kiln::emulated
