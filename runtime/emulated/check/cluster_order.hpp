// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/check/cluster_agents.hpp"
#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/check/warp_knowledge.hpp"
#include "runtime/emulated/engine/observer.hpp"

namespace kiln::emulated {

/// What the warps of one cluster tell each other by barriers, mbarriers and atomics: the order of
/// what they do to shared memory and, within a block, to global memory. An access is ordered behind
/// another of the same thread; behind another of the same warp once its lanes have synchronised
/// (bar.warp.sync, any barrier); behind another warp's if the vector clocks say so.
///
/// The functions are named as those of Observer that call them.
class ClusterOrder {
 public:
  void begin(std::size_t blocks, std::size_t warps_per_block);

  [[nodiscard]] const ClusterAgents& agents() const { return agents_; }
  [[nodiscard]] const WarpKnowledge& of(std::size_t warp) const { return warps_[warp].knows; }
  [[nodiscard]] const WarpKnowledge& of(Warp& warp) const { return of(agents_.of(warp)); }
  /// What a warp has fenced for the asynchronous proxy.
  [[nodiscard]] const VectorClock& async_clock(std::size_t warp) const {
    return warps_[warp].async;
  }
  /// Whether a warp knows that a step of an agent is over, if only by relaxed arrivals.
  [[nodiscard]] bool is_over(std::size_t warp, std::size_t agent, std::uint32_t step) const;

  void warp_sync(Warp& warp, LaneMask lanes);

  // Barriers by their index: 16 for each block, then the cluster's.
  [[nodiscard]] std::size_t barriers() const { return barriers_.size(); }
  [[nodiscard]] std::size_t barrier_index(Block& block, int barrier) const;
  void barrier_arrive(Warp& warp, std::size_t barrier, LaneMask lanes, bool relaxed);
  void barrier_pass(Warp& warp, std::size_t barrier);

  /// `near`: the object is an mbarrier of the warp's own block, or there is no other block.
  void synchronise(Warp& warp, std::uint64_t object, LaneMask lanes, Order order, bool near);
  void fence(Warp& warp, LaneMask lanes, FenceKind kind);

  /// An asynchronous operation has reported to an object: the agent that did it, at a step.
  struct Done {
    std::size_t agent = 0;
    std::uint32_t step = 0;
  };
  [[nodiscard]] Done async_end(std::uint64_t object);
  [[nodiscard]] std::size_t copier(Warp& warp, int lane);
  void copies_known(Warp& warp, int lane, std::uint32_t number, std::uint64_t object);

 private:
  /// What makes a warp's relaxed arrivals release and its relaxed waits acquire: `near` within its
  /// block, for which its narrowest fences are enough.
  struct Fences {
    VectorClock near_released;  ///< what it knew at its last fence
    VectorClock released;       ///< and at the last that was wider than its block
    VectorClock near_seen;  ///< what its block told it by mbarriers, known from its next fence on
    VectorClock seen;       ///< the same of all blocks and wider fences
  };
  struct WarpState {
    explicit WarpState(std::size_t agent) : knows(agent) {}
    WarpKnowledge knows;
    Fences fences;
    VectorClock fenced;  ///< what it knew at its last wide fence
    VectorClock async;   ///< what it has fenced for the other proxy
    /// What it knows to be over, relaxed arrivals and what came before them included; asked only
    /// whether a block has outlived those that use its memory.
    VectorClock happened;
  };
  /// What an object tells those who acquire it.
  struct Told {
    VectorClock clock;
    VectorClock near;      ///< what warps of its own block told, if there are other blocks
    VectorClock async;     ///< what they have fenced for the asynchronous proxy
    VectorClock happened;  ///< the arrivals at it
  };
  struct Barrier {
    VectorClock clock;
    VectorClock async;
  };

  /// What has happened is known to who waits, whatever the orders say of what it may read.
  void pass_on(WarpState& state, std::uint64_t object, Order order);
  void learn(Warp& warp, WarpState& state, LaneMask lanes, const VectorClock& clock,
             const VectorClock& async);
  void acquire(Warp& warp, WarpState& state, std::uint64_t object, LaneMask lanes, bool relaxed);
  void release(WarpState& state, std::uint64_t object, LaneMask lanes, bool relaxed, bool near);
  void fence_relaxed(Warp& warp, WarpState& state, LaneMask lanes, bool wide);
  [[nodiscard]] const Told& told_by(std::uint64_t object) const;
  [[nodiscard]] bool is_alone() const { return agents_.blocks() == 1; }

  ClusterAgents agents_;
  std::vector<WarpState> warps_;
  std::unordered_map<std::uint64_t, Told> objects_;
  std::vector<Barrier> barriers_;
};

}  // namespace kiln::emulated
