// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/matrix/wgmma_queue.hpp"

namespace kiln::emulated {

Checker::Checker(std::shared_ptr<GlobalShadow> shadow)
    : shared_(order_), global_(order_, std::move(shadow)) {}
Checker::~Checker() = default;

void Checker::begin(Cluster& cluster) {
  cluster_ = &cluster;
  const std::size_t blocks = cluster.blocks().size();
  const std::size_t warps_per_block = cluster.blocks().front()->warps().size();
  order_.begin(blocks, warps_per_block);
  issuing_.assign(blocks * warps_per_block, 0);
  phases_.begin(blocks, warps_per_block, order_.barriers());
  shared_.begin(cluster);
  local_.begin(blocks);
  global_.begin(cluster);
}

void Checker::end(Cluster& cluster) {
  global_.end(cluster);
  remote_.report(cluster, order_);
}

void Checker::issue(Warp& warp, const Instr& instr, LaneMask active) {
  issuing_[order_.agents().of(warp)] = active;
  if (active != 0 && warp.wgmma().unfinished()) warp.wgmma().check_use(instr, active);
}

void Checker::access(Warp& warp, const Instr& instr, const WarpAccess& access) {
  Toucher by;
  by.warp = &warp;
  by.instr = &instr;
  by.reads = access.kind == AccessKind::load || access.kind == AccessKind::atomic;
  by.writes = access.kind != AccessKind::load;
  by.synchronises = access.synchronises;
  by.lockstep = access.is_volatile && !std::has_single_bit(access.lanes);
  by.access = &access;
  LaneMask left = access.lanes;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    by.lane = lane;
    by.lanes = LaneMask{1} << lane;
    // Lanes that read the same bytes are looked at together: broadcasts are frequent.
    for (LaneMask others = left & (left - 1); !by.writes && others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (access.host[other] == access.host[lane]) by.lanes |= LaneMask{1} << other;
    }
    left &= ~by.lanes;
    by.token = access.token == 0 ? 0 : access.token + static_cast<std::uint64_t>(lane);
    check_place(by);
  }
}

void Checker::check_place(const Toucher& by) {
  Warp& warp = *by.warp;
  const Instr& instr = *by.instr;
  const WarpAccess& access = *by.access;
  const std::byte* const host = access.host[by.lane];
  if (const auto place = shared_place(host)) {
    // Asynchronous operations end later, and look then whether the other block is still there.
    if (place->first != warp.block().rank() && instr.unit != Unit::async_copy) {
      remote_.note(warp, instr, place->first, order_);
    }
    // Reductions of the asynchronous proxy own nothing: many may be on their way to one place.
    if ((access.token == 0 || !access.synchronises) &&
        !shared_.leaves_variable(by, place->second, access.bytes)) {
      shared_.touch(by, place->first, place->second, static_cast<std::uint32_t>(access.bytes));
    }
    return;
  }
  if (warp.block().local_offset(host)) {
    local_.check(warp, instr, access, by.lanes);
    return;
  }
  const bool elsewhere = access.space == ptx::Space::local || access.space == ptx::Space::param ||
                         (access.address[by.lane] & kWindowMask) != 0;
  if (!elsewhere) global_.check(warp, instr, access, by.lane, by.lanes);
}

std::optional<std::pair<std::size_t, std::uint32_t>> Checker::shared_place(
    const std::byte* host) const {
  const auto& blocks = cluster_->blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::byte* const begin = blocks[i]->shared(kSharedBase);
    if (host >= begin && host < begin + blocks[i]->shared_bytes()) {
      return std::pair(i, static_cast<std::uint32_t>(host - begin));
    }
  }
  return std::nullopt;
}

bool Checker::is_shared(std::uint64_t address) const {
  const auto& blocks = cluster_->blocks();
  return std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block->shared(kSharedBase));
    return address - begin < block->shared_bytes();
  });
}

bool Checker::is_near(Warp& warp, std::uint64_t object) const {
  if (cluster_->blocks().size() == 1) return true;
  const auto place = shared_place(reinterpret_cast<const std::byte*>(object / 2));
  return place && place->first == warp.block().rank();
}

void Checker::async_begin(Warp& warp, const Instr& instr, Block& owner, std::uint32_t offset,
                          std::uint32_t bytes, AccessKind kind, std::uint64_t token) {
  Toucher by;
  by.warp = &warp;
  by.instr = &instr;
  by.lanes = std::max<LaneMask>(issuing_[order_.agents().of(warp)], 1);
  by.lane = std::countr_zero(by.lanes);
  by.async = true;
  by.reads = kind == AccessKind::load;
  by.writes = !by.reads;
  by.token = token;
  shared_.touch(by, owner.rank(), offset - kSharedBase, bytes);
}

void Checker::async_issue(Warp& warp, std::uint64_t token, std::uint64_t count) {
  phases_.issue(warp, token, count);
}

void Checker::async_end(std::uint64_t token, std::uint64_t object) {
  phases_.finish(token, object);
  if (shared_.is_pending(token)) shared_.finish(token, order_.async_end(object));
}

void Checker::copy_end(Warp& warp, int lane, std::uint64_t token, std::uint32_t number) {
  shared_.finish(token, {order_.copier(warp, lane), number});
}

void Checker::copies_known(Warp& warp, int lane, std::uint32_t number, std::uint64_t object) {
  // Nothing was copied, or nothing of it is meant.
  if (number != 0) order_.copies_known(warp, lane, number, object);
}

void Checker::warp_sync(Warp& warp, LaneMask lanes) {
  order_.warp_sync(warp, lanes);
}

void Checker::barrier_arrive(Warp& warp, int barrier, LaneMask lanes, bool relaxed) {
  const std::size_t at = order_.barrier_index(warp.block(), barrier);
  phases_.arrive(warp, at);
  order_.barrier_arrive(warp, at, lanes, relaxed);
}

void Checker::barrier_open(Block& block, int barrier) {
  const std::size_t at = order_.barrier_index(block, barrier);
  if (barrier == Warp::kClusterBarrier) global_.order_blocks();
  for (const auto& warp : block.warps()) {
    if (!warp->waits_at(barrier)) continue;
    pass(*warp, at);
    const std::uint32_t left = barrier == Warp::kClusterBarrier ? 0 : block.left_without(barrier);
    if (left > 0) {
      warp->report(warp->standing_at(), warp->live(), Finding::barrier_mismatch,
                   fmt::format("waits at a barrier, but {} of the block's {} threads exited before "
                               "they reached this barrier",
                               left, block.threads()));
    }
  }
}

void Checker::barrier_pass(Warp& warp, int barrier) {
  pass(warp, order_.barrier_index(warp.block(), barrier));
}

void Checker::pass(Warp& warp, std::size_t barrier) {
  order_.barrier_pass(warp, barrier);
  phases_.leave(warp, barrier);
}

void Checker::synchronise(Warp& warp, const Instr& instr, std::uint64_t object, LaneMask lanes,
                          Order order) {
  if (acquires(order)) phases_.acquire(warp, instr, object, lanes);
  if (releases(order)) phases_.release(warp, object);
  order_.synchronise(warp, object, lanes, order, releases(order) && is_near(warp, object));
  if (is_shared(object) || is_shared(object / 2)) {
    global_.tell_cluster(warp, object, order);
  } else {
    global_.tell_all(warp, object, order);
  }
}

void Checker::fence(Warp& warp, LaneMask lanes, FenceKind kind) {
  if (kind == FenceKind::generic || kind == FenceKind::access) global_.fence(warp);
  order_.fence(warp, lanes, kind);
}

void Checker::begin_phase(Warp& warp, const Instr& instr, int lane, std::uint64_t object,
                          std::uint32_t phase) {
  phases_.begin_phase(warp, instr, lane, object, phase);
}

}  // namespace kiln::emulated
