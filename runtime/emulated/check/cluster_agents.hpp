// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/decode/report.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {

/// Numbers the agents that access memory in one cluster: first its warps, block by block, then the
/// asynchronous copies.
class ClusterAgents {
 public:
  void begin(std::size_t blocks, std::size_t warps_per_block) {
    blocks_ = blocks;
    warps_per_block_ = warps_per_block;
  }
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  [[nodiscard]] std::size_t warps_per_block() const { return warps_per_block_; }
  [[nodiscard]] std::size_t warps() const { return blocks_ * warps_per_block_; }
  [[nodiscard]] std::size_t of(Warp& warp) const {
    return warp.block().rank() * warps_per_block_ + static_cast<std::size_t>(warp.index());
  }
  [[nodiscard]] bool is_async(std::size_t agent) const { return agent >= warps(); }
  /// The asynchronous proxy is an agent for each thing that its operations report to, so that
  /// waiting for one of these says nothing about the others. Phases of an mbarrier count as one.
  [[nodiscard]] std::size_t proxy(std::uint64_t object) {
    const auto [at, fresh] = proxies_.try_emplace(object / 2, steps_.size());
    if (fresh) steps_.push_back(0);
    return warps() + at->second;
  }
  /// The next step of a proxy.
  [[nodiscard]] std::uint32_t next_step(std::size_t proxy) { return ++steps_[proxy - warps()]; }
  /// The first of 32 new agents, one for each thread of a warp that copies by cp.async. They have a
  /// group of clocks of their own: most places have nothing to do with them.
  [[nodiscard]] std::size_t make_copiers() {
    static_assert(VectorClock::kGroup == kLanes);
    const std::size_t first = (warps() + steps_.size() + kLanes - 1) / kLanes * kLanes;
    steps_.resize(first + kLanes - warps(), 0);
    return first;
  }
  /// What holds a warp and another agent.
  [[nodiscard]] Reach reach(std::size_t warp, std::size_t agent) const {
    if (is_async(agent)) return Reach::none;
    if (agent == warp) return Reach::warp;
    return agent / warps_per_block_ == warp / warps_per_block_ ? Reach::block : Reach::cluster;
  }

 private:
  std::size_t blocks_ = 1;
  std::size_t warps_per_block_ = 1;
  std::unordered_map<std::uint64_t, std::size_t> proxies_;
  std::vector<std::uint32_t> steps_;  ///< of each asynchronous agent
};

}  // namespace kiln::emulated
