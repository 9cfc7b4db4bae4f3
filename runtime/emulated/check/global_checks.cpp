// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/global_checks.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "runtime/emulated/check/toucher.hpp"
#include "runtime/emulated/memory/global_memory.hpp"
#include "runtime/emulated/memory/resolve.hpp"

namespace kiln::emulated {
namespace {

std::uint32_t flat(const Extent& place, const Extent& grid) {
  return place.x + grid.x * (place.y + grid.y * place.z);
}

/// What lanes of a warp know of the threads of their block.
class LanesOrder : public GlobalShadow::ThreadOrder {
 public:
  LanesOrder(const ClusterOrder& order, Warp& warp, LaneMask lanes)
      : knows_(order.of(warp)),
        first_(warp.block().rank() * order.agents().warps_per_block()),
        lanes_(lanes) {}

  [[nodiscard]] bool follows(const GlobalShadow::Threads& others) const override {
    return late_behind(others) == 0;
  }
  /// Those that do not come behind the others.
  [[nodiscard]] LaneMask late_behind(const GlobalShadow::Threads& others) const {
    return knows_.unordered(lanes_, first_ + others.warp, others.lanes, others.step);
  }

 private:
  const WarpKnowledge& knows_;
  std::size_t first_;  ///< warp of the block
  LaneMask lanes_;
};

}  // namespace

GlobalChecks::GlobalChecks(const ClusterOrder& order, std::shared_ptr<GlobalShadow> shadow)
    : order_(order), shadow_(std::move(shadow)) {}

void GlobalChecks::begin(Cluster& cluster) {
  launch_ = &cluster.launch();
  for (const auto& block : cluster.blocks()) {
    GlobalShadow::BlockState state;
    state.block = flat(block->place(), launch_->grid);
    blocks_.push_back(std::move(state));
  }
  busy_.assign(blocks_.size(), false);
}

void GlobalChecks::end(Cluster& cluster) {
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    const Extent& place = cluster.blocks()[i]->place();
    if (busy_[i]) shadow_->count_busy({place.x, place.y, place.z});
  }
}

void GlobalChecks::check(Warp& warp, const Instr& instr, const WarpAccess& access, int lane,
                         LaneMask lanes) {
  const std::uint64_t address = access.address[lane];
  const Allocation* const at = allocation_at(warp, address, access.bytes);
  if (at == nullptr) return;
  if (at->name.empty()) busy_[warp.block().rank()] = true;
  if (access.issuer >= 0) lanes = LaneMask{1} << access.issuer;
  if (!check_contents(warp, instr, access, address, lanes, *at)) return;
  if (access.synchronises || at->read_only) return;
  GlobalShadow::Touch touch;
  touch.address = address;
  touch.bytes = access.bytes;
  touch.writes = access.kind == AccessKind::store;
  touch.instruction = instr.index;
  // A thread's step does not say when a copy that it began has read. Those of its block that wait
  // for the copy may overwrite the source, although they do not come behind that step.
  const bool reads_later = instr.unit == Unit::async_copy && !touch.writes;
  touch.by = {static_cast<std::uint32_t>(warp.index()), lanes,
              reads_later ? GlobalShadow::kKnownStep : order_.of(warp).step()};
  const auto& state = blocks_[warp.block().rank()];
  GlobalShadow::Conflict conflict;
  if (!shadow_->access(state, touch, LanesOrder(order_, warp, lanes), conflict)) return;
  const bool own = conflict.block == state.block;
  if (touch.writes && conflict.wrote &&
      (own || allows(launch_->allowed, Allowed::race_same_value))) {
    // All threads may set one flag; of other blocks, too, where that is allowed.
    const bool at_once = own && conflict.instruction == instr.index &&
                         conflict.threads.warp == static_cast<std::uint32_t>(warp.index());
    const int of_lane = at_once ? std::countr_zero(conflict.threads.lanes) : -1;
    if (writes_alike(warp, instr, access, lane, of_lane)) return;
  }
  report_race(warp, instr, access, {address, lanes, at}, conflict);
}

bool GlobalChecks::check_contents(Warp& warp, const Instr& instr, const WarpAccess& access,
                                  std::uint64_t address, LaneMask lanes,
                                  const Allocation& at) const {
  if (const auto gap = at.reached_gap(address, access.bytes)) {
    warp.report(
        instr, lanes, Finding::out_of_bounds,
        fmt::format(
            "{} memory {} bytes past the end of array {} of {}; the arrays are numbered from 0",
            access.kind == AccessKind::load ? "reads" : "writes", gap->first, gap->second,
            at.describe()),
        address);
    return false;
  }
  if (access.kind != AccessKind::store && !at.read_only && at.name.empty() &&
      !allows(launch_->allowed, Allowed::uninitialised_unused)) {
    const auto length = static_cast<std::uint64_t>(access.bytes);
    if (const auto first = at.first_unwritten(address, length)) {
      warp.report(instr, lanes, Finding::uninitialised,
                  fmt::format("reads uninitialised global memory ({})",
                              at.place_text(*first, access.element_bytes)),
                  address);
    }
  }
  return true;
}

void GlobalChecks::report_race(Warp& warp, const Instr& instr, const WarpAccess& access,
                               const Place& place, const GlobalShadow::Conflict& conflict) const {
  LaneMask lanes = place.lanes;
  std::string other = fmt::format("block {}", conflict.block);
  Reach reach = Reach::grid;
  if (conflict.block == blocks_[warp.block().rank()].block) {
    const GlobalShadow::Threads& threads = conflict.threads;
    lanes = LanesOrder(order_, warp, lanes).late_behind(threads);
    const bool own_warp = threads.warp == static_cast<std::uint32_t>(warp.index());
    reach = own_warp ? Reach::warp : Reach::block;
    const LaneMask others = own_warp ? threads.lanes & ~lanes : threads.lanes;
    other = fmt::format("warp {} lane {} of the block", threads.warp, std::countr_zero(others));
  }
  warp.report_race(
      instr, lanes, {conflict.instruction, reach},
      fmt::format("{} global memory that {} {} at {}, and nothing orders the two accesses ({})",
                  access.kind == AccessKind::store ? "writes" : "reads", other,
                  conflict.wrote ? "writes" : "reads", warp.program().site_of(conflict.instruction),
                  place.allocation->place_text(place.address, access.element_bytes)),
      place.address);
}

void GlobalChecks::fence(Warp& warp) {
  GlobalShadow::fence(blocks_[warp.block().rank()]);
}

void GlobalChecks::tell_all(Warp& warp, std::uint64_t object, Order order) {
  if (launch_->memory->find(object) == nullptr) return;
  shadow_->atomic(blocks_[warp.block().rank()], object, order);
}

void GlobalChecks::tell_cluster(Warp& warp, std::uint64_t object, Order order) {
  if (blocks_.size() == 1) return;
  auto& state = blocks_[warp.block().rank()];
  const bool relaxed = is_relaxed(order);
  if (releases(order) && !relaxed) GlobalShadow::fence(state);
  GlobalShadow::exchange(state, exchanged_[object], order);
  if (acquires(order) && !relaxed) GlobalShadow::fence(state);
}

void GlobalChecks::order_blocks() {
  if (blocks_.size() == 1) return;
  GlobalShadow::Clocks all;
  for (auto& state : blocks_) {
    GlobalShadow::fence(state);
    GlobalShadow::exchange(state, all, Order::release);
  }
  for (auto& state : blocks_) {
    GlobalShadow::exchange(state, all, Order::acquire);
    GlobalShadow::fence(state);
  }
}

}  // namespace kiln::emulated
