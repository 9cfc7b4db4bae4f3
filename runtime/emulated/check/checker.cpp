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
#include "runtime/emulated/memory/global_memory.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {
namespace {

std::uint32_t flat(const Extent& place, const Extent& grid) {
  return place.x + grid.x * (place.y + grid.y * place.z);
}

const VectorClock& clock_of(const std::unordered_map<std::uint64_t, VectorClock>& clocks,
                            std::uint64_t object) {
  static const VectorClock kNothing;
  const auto at = clocks.find(object);
  return at == clocks.end() ? kNothing : at->second;
}

}  // namespace

Checker::Checker(std::shared_ptr<GlobalShadow> shadow) : shadow_(std::move(shadow)) {}
Checker::~Checker() = default;

void Checker::begin(Cluster& cluster) {
  cluster_ = &cluster;
  const auto& blocks = cluster.blocks();
  warps_per_block_ = blocks.front()->warps().size();
  const std::size_t agents = blocks.size() * warps_per_block_;
  clocks_.assign(agents, {});
  fenced_ = async_clocks_ = clocks_;
  for (std::size_t agent = 0; agent < agents; ++agent) clocks_[agent].set(agent, 1);
  news_.assign(agents, {});
  synced_.assign(agents, 1);
  copies_.assign(agents, {});
  fences_.assign(agents, {});
  happened_.assign(agents, {});
  issuing_.assign(agents, 0);
  barriers_.assign(blocks.size() * 16 + 1, {});
  async_barriers_ = barriers_;
  phases_.begin(blocks.size(), warps_per_block_, barriers_.size());
  for (const auto& block : blocks) {
    cells_.emplace_back(block->shared_bytes());
    local_written_.emplace_back();
    GlobalShadow::BlockState state;
    state.block = flat(block->place(), cluster.launch().grid);
    blocks_.push_back(std::move(state));
  }
  busy_.assign(blocks.size(), false);
}

std::size_t Checker::agent_of(Warp& warp) const {
  return warp.block().rank() * warps_per_block_ + static_cast<std::size_t>(warp.index());
}

std::size_t Checker::barrier_index(Block& block, int barrier) const {
  return barrier == Warp::kClusterBarrier
             ? barriers_.size() - 1
             : block.rank() * std::size_t{16} + static_cast<std::size_t>(barrier);
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
    if (const auto place = shared_place(access.host[lane])) {
      // Asynchronous operations end later, and look then whether the other block is still there.
      if (place->first != warp.block().rank() && instr.unit != Unit::async_copy) {
        note_visit(warp, instr, place->first);
      }
      // Reductions of the asynchronous proxy own nothing: many may be on their way to one place.
      if ((access.token == 0 || !access.synchronises) &&
          !leaves_variable(by, place->second, access.bytes)) {
        touch(by, place->first, place->second, static_cast<std::uint32_t>(access.bytes));
      }
      continue;
    }
    if (warp.block().local_offset(access.host[lane])) {
      check_local(warp, instr, access, by.lanes);
      continue;
    }
    const bool elsewhere = access.space == ptx::Space::local || access.space == ptx::Space::param ||
                           (access.address[lane] & kWindowMask) != 0;
    if (!elsewhere) check_global(warp, instr, access, lane, by.lanes);
  }
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

void Checker::note_visit(Warp& warp, const Instr& instr, std::size_t block) {
  const std::size_t agent = agent_of(warp);
  visits_[{block, agent, instr.index}] = clocks_[agent][agent];
}

/// The shared memory of a block whose threads have all exited is another block's by then: whoever
/// used it from outside must have told one of them before.
void Checker::end(Cluster& cluster) {
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    const Extent& place = cluster.blocks()[i]->place();
    if (busy_[i]) shadow_->count_busy({place.x, place.y, place.z});
  }
  for (const auto& [visit, clock] : visits_) {
    const Block& owner = *cluster.blocks()[visit.block];
    if (owner.live_threads() > 0) continue;
    const std::size_t first = visit.block * warps_per_block_;
    bool known = false;
    for (std::size_t warp = first; warp < first + warps_per_block_; ++warp) {
      known |= std::max(clocks_[warp][visit.agent], happened_[warp][visit.agent]) >= clock;
    }
    if (known) continue;
    Block& from = *cluster.blocks()[visit.agent / warps_per_block_];
    const Warp& warp = *from.warps()[visit.agent % warps_per_block_];
    warp.report(warp.program().code[visit.instruction], kAllLanes, Finding::missing_wait,
                fmt::format("uses shared memory of block rank {}, whose threads may all have "
                            "exited by then: nothing makes them wait for it",
                            visit.block));
  }
}

/// What lanes of a warp know of the threads of their block.
class Checker::GlobalOrder : public GlobalShadow::ThreadOrder {
 public:
  GlobalOrder(const Checker& checker, std::size_t warp, LaneMask lanes)
      : checker_(checker), warp_(warp), lanes_(lanes) {}

  [[nodiscard]] bool follows(const GlobalShadow::Threads& others) const override {
    return late_behind(others) == 0;
  }
  /// Those that do not come behind the others.
  [[nodiscard]] LaneMask late_behind(const GlobalShadow::Threads& others) const {
    const std::size_t first = warp_ / checker_.warps_per_block_ * checker_.warps_per_block_;
    return checker_.unordered(warp_, lanes_, first + others.warp, others.lanes, others.step);
  }

 private:
  const Checker& checker_;
  std::size_t warp_;
  LaneMask lanes_;
};

void Checker::check_global(Warp& warp, const Instr& instr, const WarpAccess& access, int lane,
                           LaneMask lanes) {
  const Allocation* at = warp.allocation();
  const std::uint64_t address = access.address[lane];
  if (at == nullptr || !at->holds(address, access.bytes))
    at = cluster_->launch().memory->find(address);
  if (at == nullptr) return;
  if (at->name.empty()) busy_[warp.block().rank()] = true;
  if (access.issuer >= 0) lanes = LaneMask{1} << access.issuer;
  if (const auto gap = at->reached_gap(address, access.bytes)) {
    warp.report(instr, lanes, Finding::out_of_bounds,
                fmt::format("{} {} bytes past the end of array {} of {}",
                            access.kind == AccessKind::load ? "reads" : "writes", gap->first,
                            gap->second, at->describe()),
                address);
    return;
  }
  if (access.kind != AccessKind::store && !at->read_only && at->name.empty() &&
      !allows(Allowed::uninitialised_unused)) {
    for (int i = 0; i < access.bytes; ++i) {
      if (at->is_written(address + static_cast<std::uint64_t>(i))) continue;
      warp.report(instr, lanes, Finding::uninitialised,
                  fmt::format("reads uninitialised global memory ({})",
                              at->place_text(address + static_cast<std::uint64_t>(i),
                                             access.element_bytes)),
                  address);
      break;
    }
  }
  if (access.synchronises || at->read_only) return;
  GlobalShadow::Touch touch;
  touch.address = address;
  touch.bytes = access.bytes;
  touch.writes = access.kind == AccessKind::store;
  touch.instruction = instr.index;
  const std::size_t agent = agent_of(warp);
  // A thread's step does not say when a copy that it began has read. Those of its block that wait
  // for the copy may overwrite the source, although they do not come behind that step.
  const bool reads_later = instr.unit == Unit::async_copy && !touch.writes;
  touch.by = {static_cast<std::uint32_t>(warp.index()), lanes,
              reads_later ? GlobalShadow::kKnownStep : clocks_[agent][agent]};
  const GlobalOrder order(*this, agent, lanes);
  const auto& state = blocks_[warp.block().rank()];
  GlobalShadow::Conflict conflict;
  if (!shadow_->access(state, touch, order, conflict)) return;
  std::string other = fmt::format("block {}", conflict.block);
  Reach reach = Reach::grid;
  const bool own = conflict.block == state.block;
  if (touch.writes && conflict.wrote && (own || allows(Allowed::race_same_value))) {
    // All threads may set one flag; of other blocks, too, where that is allowed.
    const bool at_once = own && conflict.instruction == instr.index &&
                         conflict.threads.warp == static_cast<std::uint32_t>(warp.index());
    const int of_lane = at_once ? std::countr_zero(conflict.threads.lanes) : -1;
    if (writes_alike(warp, instr, access, lane, of_lane)) return;
  }
  if (own) {
    const GlobalShadow::Threads& threads = conflict.threads;
    lanes = order.late_behind(threads);
    const bool own_warp = threads.warp == touch.by.warp;
    reach = own_warp ? Reach::warp : Reach::block;
    const LaneMask others = own_warp ? threads.lanes & ~lanes : threads.lanes;
    other = fmt::format("warp {} lane {} of the block", threads.warp, std::countr_zero(others));
  }
  warp.report_race(
      instr, lanes, {conflict.instruction, reach},
      fmt::format("{} global memory that {} {} at {}, and nothing orders the two ({})",
                  touch.writes ? "writes" : "reads", other, conflict.wrote ? "writes" : "reads",
                  warp.program().site_of(conflict.instruction),
                  at->place_text(address, access.element_bytes)),
      address);
}

void Checker::async_begin(Warp& warp, const Instr& instr, Block& owner, std::uint32_t offset,
                          std::uint32_t bytes, AccessKind kind, std::uint64_t token) {
  Toucher by;
  by.warp = &warp;
  by.instr = &instr;
  by.lanes = std::max<LaneMask>(issuing_[agent_of(warp)], 1);
  by.lane = std::countr_zero(by.lanes);
  by.async = true;
  by.reads = kind == AccessKind::load;
  by.writes = !by.reads;
  by.token = token;
  touch(by, owner.rank(), offset - kSharedBase, bytes);
}

std::size_t Checker::async_agent(std::uint64_t object) {
  const auto [at, fresh] = async_agents_.try_emplace(object / 2, async_steps_.size());
  if (fresh) async_steps_.push_back(0);
  return clocks_.size() + at->second;
}

std::size_t Checker::copy_agent(std::size_t warp, int lane) {
  std::size_t& first = copies_[warp].first;
  if (first == 0) {
    // A group of clocks of their own: most places have nothing to do with them.
    static_assert(VectorClock::kGroup == kLanes);
    first = (clocks_.size() + async_steps_.size() + kLanes - 1) / kLanes * kLanes;
    async_steps_.resize(first + kLanes - clocks_.size(), 0);
  }
  return first + static_cast<std::size_t>(lane);
}

void Checker::async_issue(Warp& warp, std::uint64_t token, std::uint64_t count) {
  phases_.issue(warp, token, count);
}

void Checker::async_end(std::uint64_t token, std::uint64_t object) {
  phases_.finish(token, object);
  if (pending_.find(token) == pending_.end()) return;
  const std::size_t proxy = async_agent(object);
  const std::uint32_t step = ++async_steps_[proxy - clocks_.size()];
  finish_pending(token, proxy, step);
  objects_[object].set(proxy, step);
  if (blocks_.size() > 1) near_objects_[object].set(proxy, step);
}

void Checker::finish_pending(std::uint64_t token, std::size_t agent, std::uint32_t clock) {
  const auto [first, last] = pending_.equal_range(token);
  for (auto at = first; at != last; ++at) {
    const Pending& pending = at->second;
    const auto lane = static_cast<unsigned>(pending.by.lane);
    const auto finish = [&](ShadowCell& cell, std::uint32_t) {
      if (pending.by.reads) {
        if (cell.sources > 0) --cell.sources;
        // The agent has no lanes that could know of each other or not: its last reading counts.
        readers_.add(cell.readers,
                     {clock, LaneMask{1} << lane, pending.by.instr->index,
                      static_cast<std::uint16_t>(agent), false},
                     ~std::uint32_t{0});
        return true;
      }
      cell.owner = 0;
      cell.writer = static_cast<std::uint16_t>(agent + 1);
      cell.write_lane = static_cast<std::uint8_t>(pending.by.lane);
      cell.write_clock = clock;
      cell.write_instruction = pending.by.instr->index;
      cell.write_synchronises = pending.by.synchronises;
      cell.write_async = pending.by.async;
      cell.write_lockstep = false;
      readers_.clear(cell.readers);
      return true;
    };
    cells_[pending.block].visit(readers_, pending.offset, pending.bytes, finish);
  }
  pending_.erase(first, last);
}

void Checker::copy_end(Warp& warp, int lane, std::uint64_t token, std::uint32_t number) {
  finish_pending(token, copy_agent(agent_of(warp), lane), number);
}

void Checker::copies_known(Warp& warp, int lane, std::uint32_t number, std::uint64_t object) {
  // Nothing was copied, or nothing of it is meant.
  if (number == 0) return;
  const std::size_t agent = agent_of(warp);
  VectorClock& clock = object == 0 ? clocks_[agent] : objects_[object];
  const std::size_t proxy = copy_agent(agent, lane);
  clock.raise(proxy, number);
  if (object != 0 && blocks_.size() > 1) near_objects_[object].raise(proxy, number);
}

void Checker::issue(Warp& warp, const Instr& instr, LaneMask active) {
  issuing_[agent_of(warp)] = active;
  if (active != 0 && warp.wgmma().unfinished()) warp.wgmma().check_use(instr, active);
}

void Checker::warp_sync(Warp& warp, LaneMask lanes) {
  const std::size_t agent = agent_of(warp);
  if ((warp.live() & ~lanes) == 0) {
    news_[agent].add_to(clocks_[agent], kAllLanes);
    news_[agent].clear();
  } else {
    news_[agent].share(lanes);
  }
  sync_lanes(agent);
}

void Checker::sync_lanes(std::size_t warp) {
  VectorClock& clock = clocks_[warp];
  clock.tick(warp);
  synced_[warp] = clock[warp];
  Copies& copies = copies_[warp];
  if (copies.first == 0) return;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    copies.synced[lane] = clock[copies.first + lane];
  }
}

void Checker::barrier_arrive(Warp& warp, int barrier, LaneMask lanes, bool relaxed) {
  const std::size_t agent = agent_of(warp);
  const std::size_t at = barrier_index(warp.block(), barrier);
  async_barriers_[at].join(async_clocks_[agent]);
  phases_.arrive(warp, at);
  if (relaxed) {
    barriers_[at].join(fenced_[agent]);
    return;
  }
  add_known(barriers_[at], agent, lanes);
  sync_lanes(agent);
}

void Checker::barrier_open(Block& block, int barrier) {
  const std::size_t at = barrier_index(block, barrier);
  if (barrier == Warp::kClusterBarrier) order_blocks();
  for (const auto& warp : block.warps()) {
    if (!warp->waits_at(barrier)) continue;
    pass(*warp, at);
    const std::uint32_t left = barrier == Warp::kClusterBarrier ? 0 : block.left_without(barrier);
    if (left > 0) {
      warp->report(warp->standing_at(), warp->live(), Finding::barrier_mismatch,
                   fmt::format("opens although {} of the block's {} threads have exited", left,
                               block.threads()));
    }
  }
}

void Checker::barrier_pass(Warp& warp, int barrier) {
  pass(warp, barrier_index(warp.block(), barrier));
}

void Checker::pass(Warp& warp, std::size_t barrier) {
  acquire(warp, kAllLanes, barriers_[barrier], async_barriers_[barrier]);
  phases_.leave(warp, barrier);
}

void Checker::acquire(Warp& warp, LaneMask lanes, const VectorClock& clock,
                      const VectorClock& async_clock) {
  const std::size_t agent = agent_of(warp);
  async_clocks_[agent].join(async_clock);
  if ((warp.live() & ~lanes) != 0) {
    news_[agent].learn(lanes, clock);
    return;
  }
  clocks_[agent].join(clock);
  // Of the own warp comes what one lane released and all of them have now acquired.
  synced_[agent] = std::max(synced_[agent], clock[agent] + 1);
  Copies& copies = copies_[agent];
  for (std::size_t lane = 0; copies.first != 0 && lane < kLanes; ++lane) {
    copies.synced[lane] = std::max(copies.synced[lane], clock[copies.first + lane]);
  }
  if (!news_[agent].empty()) news_[agent].forget(common_knowledge(agent));
}

VectorClock Checker::common_knowledge(std::size_t warp) const {
  VectorClock common = clocks_[warp];
  common.set(warp, synced_[warp] - 1);
  const Copies& copies = copies_[warp];
  for (std::size_t lane = 0; copies.first != 0 && lane < kLanes; ++lane) {
    common.set(copies.first + lane, copies.synced[lane]);
  }
  return common;
}

void Checker::add_known(VectorClock& clock, std::size_t warp, LaneMask lanes) const {
  clock.join(clocks_[warp]);
  news_[warp].add_to(clock, lanes);
}

/// The cluster's barrier orders what its blocks did to global memory, too.
void Checker::order_blocks() {
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

void Checker::synchronise(Warp& warp, const Instr& instr, std::uint64_t object, LaneMask lanes,
                          Order order) {
  if (acquires(order)) phases_.acquire(warp, instr, object, lanes);
  if (releases(order)) phases_.release(warp, object);
  const std::size_t agent = agent_of(warp);
  const bool relaxed = is_relaxed(order);
  Fences& fences = fences_[agent];
  if (blocks_.size() > 1) pass_on(agent, object, order);
  if (acquires(order)) {
    const VectorClock& clock = clock_of(objects_, object);
    const VectorClock& async_clock = clock_of(async_objects_, object);
    if (relaxed) {
      fences.seen.join(clock);
      fences.near_seen.join(clock_of(near_objects_, object));
      // Who does not know of an access does not ask what was fenced for it.
      async_clocks_[agent].join(async_clock);
    } else {
      acquire(warp, lanes, clock, async_clock);
    }
  }
  if (releases(order)) {
    const bool near = is_near(warp, object);
    const auto release_to = [&](VectorClock& to) {
      if (relaxed) {
        to.join(near ? fences.near_released : fences.released);
      } else {
        add_known(to, agent, lanes);
      }
    };
    release_to(objects_[object]);
    if (near && blocks_.size() > 1) release_to(near_objects_[object]);
    async_objects_[object].join(async_clocks_[agent]);
    if (!relaxed) clocks_[agent].tick(agent);
  }
  const auto is_shared = [&](std::uint64_t address) {
    const auto& blocks = cluster_->blocks();
    return std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
      const auto begin = reinterpret_cast<std::uintptr_t>(block->shared(kSharedBase));
      return address - begin < block->shared_bytes();
    });
  };
  auto& state = blocks_[warp.block().rank()];
  if (is_shared(object) || is_shared(object / 2)) {
    // Shared memory, or an mbarrier in it, speaks to the blocks of the cluster alone.
    if (blocks_.size() == 1) return;
    if (releases(order) && !relaxed) GlobalShadow::fence(state);
    GlobalShadow::exchange(state, exchanged_[object], order);
    if (acquires(order) && !relaxed) GlobalShadow::fence(state);
    return;
  }
  if (cluster_->launch().memory->find(object) != nullptr) shadow_->atomic(state, object, order);
}

void Checker::pass_on(std::size_t agent, std::uint64_t object, Order order) {
  if (acquires(order)) happened_[agent].join(clock_of(happened_before_, object));
  if (!releases(order)) return;
  VectorClock& before = happened_before_[object];
  before.join(happened_[agent]);
  before.join(clocks_[agent]);
}

void Checker::fence(Warp& warp, LaneMask lanes, FenceKind kind) {
  const std::size_t agent = agent_of(warp);
  if (kind == FenceKind::generic || kind == FenceKind::access) {
    GlobalShadow::fence(blocks_[warp.block().rank()]);
  }
  if (kind == FenceKind::generic || kind == FenceKind::block) {
    fence_relaxed(warp, lanes, kind == FenceKind::generic);
  }
  // For the cluster's barrier. A fence for mbarriers orders their initialisations alone; here it
  // stands for everything before it: a kernel that tells other data by it goes unnoticed.
  if (kind != FenceKind::block) {
    add_known((kind == FenceKind::async ? async_clocks_ : fenced_)[agent], agent, lanes);
  }
  clocks_[agent].tick(agent);
}

void Checker::begin_phase(Warp& warp, const Instr& instr, int lane, std::uint64_t object,
                          std::uint32_t phase) {
  phases_.begin_phase(warp, instr, lane, object, phase);
}

void Checker::fence_relaxed(Warp& warp, LaneMask lanes, bool wide) {
  const std::size_t agent = agent_of(warp);
  Fences& fences = fences_[agent];
  const bool reaches_all = wide || blocks_.size() == 1;
  // Other lanes that waited may fence later.
  acquire(warp, lanes, reaches_all ? fences.seen : fences.near_seen, {});
  add_known(fences.near_released, agent, lanes);
  if (reaches_all) add_known(fences.released, agent, lanes);
}

bool Checker::is_near(Warp& warp, std::uint64_t object) const {
  if (blocks_.size() == 1) return true;
  const auto place = shared_place(reinterpret_cast<const std::byte*>(object / 2));
  return place && place->first == warp.block().rank();
}

}  // namespace kiln::emulated
