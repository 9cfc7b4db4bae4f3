// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/cluster_order.hpp"

#include <algorithm>

namespace kiln::emulated {

void ClusterOrder::begin(std::size_t blocks, std::size_t warps_per_block) {
  agents_.begin(blocks, warps_per_block);
  warps_.clear();
  for (std::size_t agent = 0; agent < agents_.warps(); ++agent) warps_.emplace_back(agent);
  barriers_.assign(blocks * 16 + 1, {});
}

bool ClusterOrder::is_over(std::size_t warp, std::size_t agent, std::uint32_t step) const {
  const WarpState& state = warps_[warp];
  return std::max(state.knows.clock()[agent], state.happened[agent]) >= step;
}

void ClusterOrder::warp_sync(Warp& warp, LaneMask lanes) {
  warps_[agents_.of(warp)].knows.sync_lanes(lanes, (warp.live() & ~lanes) == 0);
}

std::size_t ClusterOrder::barrier_index(Block& block, int barrier) const {
  return barrier == Warp::kClusterBarrier
             ? barriers_.size() - 1
             : block.rank() * std::size_t{16} + static_cast<std::size_t>(barrier);
}

void ClusterOrder::barrier_arrive(Warp& warp, std::size_t barrier, LaneMask lanes, bool relaxed) {
  WarpState& state = warps_[agents_.of(warp)];
  Barrier& at = barriers_[barrier];
  at.async.join(state.async);
  if (relaxed) {
    at.clock.join(state.fenced);
    return;
  }
  state.knows.add_to(at.clock, lanes);
  state.knows.sync();
}

void ClusterOrder::barrier_pass(Warp& warp, std::size_t barrier) {
  const Barrier& at = barriers_[barrier];
  learn(warp, warps_[agents_.of(warp)], kAllLanes, at.clock, at.async);
}

void ClusterOrder::learn(Warp& warp, WarpState& state, LaneMask lanes, const VectorClock& clock,
                         const VectorClock& async) {
  state.async.join(async);
  state.knows.learn(lanes, (warp.live() & ~lanes) == 0, clock);
}

void ClusterOrder::synchronise(Warp& warp, std::uint64_t object, LaneMask lanes, Order order,
                               bool near) {
  WarpState& state = warps_[agents_.of(warp)];
  const bool relaxed = is_relaxed(order);
  if (!is_alone()) pass_on(state, object, order);
  if (acquires(order)) acquire(warp, state, object, lanes, relaxed);
  if (releases(order)) release(state, object, lanes, relaxed, near);
}

void ClusterOrder::pass_on(WarpState& state, std::uint64_t object, Order order) {
  if (acquires(order)) state.happened.join(told_by(object).happened);
  if (!releases(order)) return;
  VectorClock& before = objects_[object].happened;
  before.join(state.happened);
  before.join(state.knows.clock());
}

void ClusterOrder::acquire(Warp& warp, WarpState& state, std::uint64_t object, LaneMask lanes,
                           bool relaxed) {
  const Told& told = told_by(object);
  if (!relaxed) {
    learn(warp, state, lanes, told.clock, told.async);
    return;
  }
  state.fences.seen.join(told.clock);
  state.fences.near_seen.join(told.near);
  // A warp that does not know of an access does not ask what was fenced for it.
  state.async.join(told.async);
}

void ClusterOrder::release(WarpState& state, std::uint64_t object, LaneMask lanes, bool relaxed,
                           bool near) {
  const auto release_to = [&](VectorClock& to) {
    if (relaxed) {
      to.join(near ? state.fences.near_released : state.fences.released);
    } else {
      state.knows.add_to(to, lanes);
    }
  };
  Told& told = objects_[object];
  release_to(told.clock);
  if (near && !is_alone()) release_to(told.near);
  told.async.join(state.async);
  if (!relaxed) state.knows.tick();
}

const ClusterOrder::Told& ClusterOrder::told_by(std::uint64_t object) const {
  static const Told kNothing;
  const auto at = objects_.find(object);
  return at == objects_.end() ? kNothing : at->second;
}

void ClusterOrder::fence(Warp& warp, LaneMask lanes, FenceKind kind) {
  WarpState& state = warps_[agents_.of(warp)];
  if (kind == FenceKind::generic || kind == FenceKind::block) {
    fence_relaxed(warp, state, lanes, kind == FenceKind::generic);
  }
  // For the cluster's barrier. A fence for mbarriers orders only their initialisations; here it
  // stands for everything before it: a kernel that tells other data by it goes unnoticed.
  if (kind != FenceKind::block) {
    state.knows.add_to(kind == FenceKind::async ? state.async : state.fenced, lanes);
  }
  state.knows.tick();
}

void ClusterOrder::fence_relaxed(Warp& warp, WarpState& state, LaneMask lanes, bool wide) {
  Fences& fences = state.fences;
  const bool reaches_all = wide || is_alone();
  // Other lanes that waited may fence later.
  learn(warp, state, lanes, reaches_all ? fences.seen : fences.near_seen, {});
  state.knows.add_to(fences.near_released, lanes);
  if (reaches_all) state.knows.add_to(fences.released, lanes);
}

ClusterOrder::Done ClusterOrder::async_end(std::uint64_t object) {
  const std::size_t proxy = agents_.proxy(object);
  const std::uint32_t step = agents_.next_step(proxy);
  Told& told = objects_[object];
  told.clock.set(proxy, step);
  if (!is_alone()) told.near.set(proxy, step);
  return {proxy, step};
}

std::size_t ClusterOrder::copier(Warp& warp, int lane) {
  WarpKnowledge& knows = warps_[agents_.of(warp)].knows;
  if (knows.copiers() == 0) knows.begin_copies(agents_.make_copiers());
  return knows.copiers() + static_cast<std::size_t>(lane);
}

void ClusterOrder::copies_known(Warp& warp, int lane, std::uint32_t number, std::uint64_t object) {
  const std::size_t agent = copier(warp, lane);
  if (object == 0) {
    warps_[agents_.of(warp)].knows.learn_copies(agent, number);
    return;
  }
  Told& told = objects_[object];
  told.clock.raise(agent, number);
  if (!is_alone()) told.near.raise(agent, number);
}

}  // namespace kiln::emulated
