// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/warp_knowledge.hpp"

#include <algorithm>
#include <bit>

namespace kiln::emulated {

void WarpKnowledge::sync() {
  tick();
  synced_ = step();
  if (copiers_ == 0) return;
  for (std::size_t lane = 0; lane < kLanes; ++lane) copies_synced_[lane] = clock_[copiers_ + lane];
}

void WarpKnowledge::sync_lanes(LaneMask lanes, bool all) {
  if (all) {
    news_.add_to(clock_, kAllLanes);
    news_.clear();
  } else {
    news_.share(lanes);
  }
  sync();
}

void WarpKnowledge::learn(LaneMask lanes, bool all, const VectorClock& clock) {
  if (!all) {
    news_.learn(lanes, clock);
    return;
  }
  clock_.join(clock);
  // Of the own warp comes what one lane released and all of them have now acquired.
  synced_ = std::max(synced_, clock[agent_] + 1);
  for (std::size_t lane = 0; copiers_ != 0 && lane < kLanes; ++lane) {
    copies_synced_[lane] = std::max(copies_synced_[lane], clock[copiers_ + lane]);
  }
  if (!news_.empty()) news_.forget(common());
}

VectorClock WarpKnowledge::common() const {
  VectorClock common = clock_;
  common.set(agent_, synced_ - 1);
  for (std::size_t lane = 0; copiers_ != 0 && lane < kLanes; ++lane) {
    common.set(copiers_ + lane, copies_synced_[lane]);
  }
  return common;
}

void WarpKnowledge::add_to(VectorClock& clock, LaneMask lanes) const {
  clock.join(clock_);
  news_.add_to(clock, lanes);
}

bool WarpKnowledge::is_news(std::size_t agent, std::uint32_t step) const {
  if (agent == agent_) return step >= synced_;
  const bool copied = copiers_ != 0 && agent >= copiers_ && agent < copiers_ + kLanes;
  return copied && step > copies_synced_[agent - copiers_];
}

LaneMask WarpKnowledge::unordered(LaneMask lanes, std::size_t agent, LaneMask others,
                                  std::uint32_t step) const {
  if (agent == agent_ || clock_[agent] >= step) {
    if (!is_news(agent, step)) return 0;
    // A thread comes behind itself.
    if (std::has_single_bit(others)) lanes &= ~others;
  }
  if (lanes == 0 || news_.empty()) return lanes;
  return lanes & ~news_.knowing(agent, step);
}

}  // namespace kiln::emulated
