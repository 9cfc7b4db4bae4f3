// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kiln::emulated {
namespace {

/// A warp runs so long before the next of its block has its turn.
constexpr std::uint64_t kWarpQuantum = 1 << 16;
/// So many rounds in which every warp tried in vain, nothing changed and nothing is pending mean
/// that it never will.
constexpr int kIdleRounds = 3;
/// After so many rounds in which warps ran without anything happening that others wait for, they
/// may be spinning on memory that only a pending operation leads to.
constexpr int kSpinningRounds = 8;
/// How often the clock is looked at.
constexpr std::uint64_t kRoundsBetweenLooks = 64;
/// So many promises may be open, which take so many bytes; one more and the oldest is kept.
constexpr std::size_t kMostPromises = 1 << 14;
constexpr std::size_t kMostPromisedBytes = std::size_t{64} << 20;

}  // namespace

Block::Block(Cluster& cluster, const LaunchState& launch, std::uint32_t rank, Extent place)
    : cluster_(cluster),
      launch_(launch),
      rank_(rank),
      place_(place),
      threads_(static_cast<std::uint32_t>(launch.block.count())),
      live_threads_(threads_),
      shared_(launch.program->static_smem_bytes + launch.dynamic_smem_bytes, launch.fresh) {
  const int warps = static_cast<int>((threads_ + kLanes - 1) / kLanes);
  warps_.reserve(static_cast<std::size_t>(warps));
  for (int i = 0; i < warps; ++i)
    warps_.push_back(std::make_unique<Warp>(*this, i, *launch.program));
}

std::byte* Block::local(std::uint32_t thread) {
  if (local_.empty()) {
    local_.resize(std::size_t{threads_} * launch_.program->local_bytes, launch_.fresh);
  }
  return local_.data() + std::size_t{thread} * launch_.program->local_bytes;
}

std::string Block::arrive(Warp& warp, int barrier, std::uint32_t threads, LaneMask lanes,
                          bool waits, LaneMask vote) {
  Barrier& at = barriers_[index(barrier)];
  const bool all = threads == 0;
  const std::uint32_t expected = all ? threads_ : threads;
  const auto arriving = static_cast<std::uint32_t>(std::popcount(lanes));
  if (!all && expected % kLanes != 0) {
    return fmt::format(
        "uses barrier {} with {} threads, but the number of threads must be a multiple of {}",
        barrier, expected, kLanes);
  }
  if (at.arrived != 0 && at.expected != expected) {
    return fmt::format(
        "uses barrier {} with a thread count of {}, but earlier arrivals used a thread count of {}",
        barrier, expected, at.expected);
  }
  at.expected = expected;
  at.all = all || (at.arrived != 0 && at.all);
  at.lanes.resize(warps_.size());
  LaneMask& present = at.lanes[static_cast<std::size_t>(warp.index())];
  at.arrived += arriving;
  // The hardware counts warps: lanes that a warp does not have any more come with the others.
  if (!all && present == 0) at.arrived += static_cast<std::uint32_t>(std::popcount(~warp.live()));
  present |= lanes;
  at.votes.yes += static_cast<std::uint32_t>(std::popcount(vote));
  at.votes.all += arriving;
  if (!all && at.arrived > expected) {
    return fmt::format("is executed by too many threads: barrier {} expects {} threads", barrier,
                       expected);
  }
  if (Observer* observer = cluster_.observer())
    observer->barrier_arrive(warp, barrier, lanes, false);
  if (waits) warp.wait_at_barrier(barrier, lanes);
  open_if_complete(barrier);
  return {};
}

void Block::open_if_complete(int barrier) {
  Barrier& at = barriers_[index(barrier)];
  if (at.arrived == 0 || at.arrived < (at.all ? live_threads_ : at.expected)) return;
  if (at.all && missing(at) != 0) return;
  const Votes votes = std::exchange(at.votes, Votes{});
  at.arrived = 0;
  if (Observer* observer = cluster_.observer()) observer->barrier_open(*this, barrier);
  std::fill(at.lanes.begin(), at.lanes.end(), LaneMask{0});
  for (const auto& warp : warps_) warp->release(barrier, votes);
  cluster_.progress();
}

std::uint32_t Block::missing(const Barrier& at) const {
  // Neither sum of arrivals says it: that of counted ones has lanes which are gone, and who only
  // arrives may exit before the others come.
  int threads = 0;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    threads += std::popcount(warps_[i]->live() & ~at.lanes[i]);
  }
  return static_cast<std::uint32_t>(threads);
}

std::uint32_t Block::left_without(int barrier) const {
  const Barrier& at = barriers_[index(barrier)];
  if (!at.all) return 0;
  int gone = 0;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    gone += std::popcount(at.lanes[i] & ~warps_[i]->live());
  }
  return threads_ - live_threads_ - static_cast<std::uint32_t>(gone);
}

void Block::exited(Warp& warp, LaneMask lanes) {
  live_threads_ -= static_cast<std::uint32_t>(std::popcount(lanes));
  for (int i = 0; i < static_cast<int>(barriers_.size()); ++i) {
    Barrier& at = barriers_[index(i)];
    if (at.arrived == 0) continue;
    const LaneMask present = at.lanes[static_cast<std::size_t>(warp.index())];
    if (!at.all && present != 0) {
      at.arrived += static_cast<std::uint32_t>(std::popcount(lanes & ~present));
    }
    open_if_complete(i);
  }
  cluster_.cluster_exited(warp, lanes);
  cluster_.progress();
}

std::string Block::barrier_text() const {
  std::string text;
  for (std::size_t i = 0; i < barriers_.size(); ++i) {
    const Barrier& at = barriers_[i];
    if (at.arrived == 0) continue;
    const std::uint32_t needed = at.all ? live_threads_ : at.expected;
    text += fmt::format("{}barrier {} has {} of {} arrivals", text.empty() ? "" : "; ", i,
                        at.all ? needed - missing(at) : at.arrived, needed);
  }
  if (grid_arrival_.waits) {
    text +=
        fmt::format("{}some blocks have not reached the grid's barrier", text.empty() ? "" : "; ");
  }
  const std::string waiters = mbarriers_.waiting_text();
  if (!waiters.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", waiters);
  return text;
}

Cluster::Cluster(const LaunchState& launch, Extent first, Observer* observer)
    : launch_(launch), observer_(observer) {
  std::uint32_t rank = 0;
  for (std::uint32_t z = 0; z < launch.cluster.z; ++z) {
    for (std::uint32_t y = 0; y < launch.cluster.y; ++y) {
      for (std::uint32_t x = 0; x < launch.cluster.x; ++x) {
        const Extent place{first.x + x, first.y + y, first.z + z};
        blocks_.push_back(std::make_unique<Block>(*this, launch, rank++, place));
        cluster_missing_ += blocks_.back()->threads();
      }
    }
  }
  if (observer_ != nullptr) observer_->begin(*this);
}

Cluster::~Cluster() {
  if (observer_ != nullptr) observer_->end(*this);
}

bool Cluster::run_round(std::uint64_t& budget) {
  const std::size_t warps = blocks_.front()->warps().size();
  for (; round_.at < blocks_.size() * warps; ++round_.at) {
    Warp& warp = *blocks_[round_.at / warps]->warps()[round_.at % warps];
    if (warp.live() == 0) continue;
    if (budget == 0) return false;
    round_.alive = true;
    std::uint64_t turn = std::min(budget, kWarpQuantum);
    const std::uint64_t granted = turn;
    const Warp::State state = warp.run(turn);
    budget -= granted - turn;
    round_.ran |= state == Warp::State::ready || state == Warp::State::exited;
    round_.rested |= state == Warp::State::rested;
  }
  return true;
}

Cluster::Turn Cluster::judge_round(const Round& round) {
  if (!round.alive) {
    // Copies that nobody waited for still reach global memory.
    while (!pending_.empty()) {
      if (std::chrono::steady_clock::now() > launch_.deadline) return Turn::more;
      fulfil_oldest();
    }
    return Turn::done;
  }
  const bool advanced = progress_ != round.progress;
  spinning_ = advanced ? 0 : spinning_ + 1;
  if (round.ran || round.rested || advanced) {
    idle_ = 0;
    if (spinning_ >= kSpinningRounds && !pending_.empty()) fulfil_oldest();
  } else if (!pending_.empty()) {
    fulfil_oldest();
  } else if (++idle_ >= kIdleRounds) {
    idle_ = 0;
    return Turn::idle;
  }
  return Turn::more;
}

Cluster::Turn Cluster::run(std::uint64_t& budget) {
  bool got_on = false;
  while (run_round(budget)) {
    const Turn turn = judge_round(round_);
    const bool advanced = round_.ran || progress_ != round_.progress;
    const bool rested = round_.rested;
    got_on |= advanced || rested;
    round_ = Round{};
    round_.progress = progress_;
    // What this turn has changed may be what other clusters wait for.
    if (turn == Turn::idle && got_on) return Turn::more;
    if (turn != Turn::more) return turn;
    if (rested && !advanced) return Turn::more;
    const bool looks = ++rounds_ % kRoundsBetweenLooks == 0;
    if (looks && std::chrono::steady_clock::now() > launch_.deadline) break;
  }
  return Turn::more;
}

std::uint64_t Cluster::promise(std::function<void()> complete, std::size_t bytes) {
  while (!pending_.empty() &&
         (pending_.size() >= kMostPromises || promised_bytes_ + bytes > kMostPromisedBytes)) {
    fulfil_oldest();
  }
  promised_bytes_ += bytes;
  pending_.emplace(next_token_, Promise{std::move(complete), bytes});
  return next_token_++;
}

void Cluster::fulfil(std::uint64_t token) {
  const auto promise = pending_.extract(token);
  if (promise.empty()) return;
  promised_bytes_ -= promise.mapped().bytes;
  promise.mapped().complete();
  progress();
}

std::string Cluster::cluster_arrive(Warp& warp, LaneMask lanes, bool relaxed) {
  auto& [arrived, owed] = warp.cluster_arrivals();
  if ((arrived & lanes) != 0) {
    return fmt::format(
        "is executed again by lanes {:08x}, which must execute barrier.cluster.wait first",
        arrived & lanes);
  }
  if (observer_ != nullptr) {
    observer_->barrier_arrive(warp, Warp::kClusterBarrier, lanes, relaxed);
  }
  arrived |= lanes;
  owed |= lanes;
  cluster_missing_ -= static_cast<std::uint32_t>(std::popcount(lanes));
  cluster_arrived_ = true;
  open_cluster_barrier();
  return {};
}

std::string Cluster::cluster_wait(Warp& warp, LaneMask lanes) {
  auto& [arrived, owed] = warp.cluster_arrivals();
  if ((lanes & ~owed) != 0) {
    return fmt::format(
        "is executed by lanes {:08x}, which must execute barrier.cluster.arrive first",
        lanes & ~owed);
  }
  owed &= ~lanes;
  const LaneMask waiting = lanes & arrived;
  if (waiting != lanes && observer_ != nullptr) {
    observer_->barrier_pass(warp, Warp::kClusterBarrier);
  }
  if (waiting != 0) warp.wait_at_barrier(Warp::kClusterBarrier, waiting);
  return {};
}

void Cluster::cluster_exited(Warp& warp, LaneMask lanes) {
  const LaneMask missing = lanes & ~warp.cluster_arrivals().arrived;
  cluster_missing_ -= static_cast<std::uint32_t>(std::popcount(missing));
  open_cluster_barrier();
}

/// Opens the cluster's barrier if no live thread is missing.
void Cluster::open_cluster_barrier() {
  if (!cluster_arrived_ || cluster_missing_ != 0) return;
  cluster_arrived_ = false;
  for (const auto& block : blocks_) {
    cluster_missing_ += block->live_threads();
    if (observer_ != nullptr) observer_->barrier_open(*block, Warp::kClusterBarrier);
    for (const auto& warp : block->warps()) {
      warp->cluster_arrivals().arrived = 0;
      warp->release(Warp::kClusterBarrier, {});
    }
  }
  progress();
}

void Cluster::deadlock(const std::string& note) {
  for (const auto& block : blocks_) {
    for (const auto& warp : block->warps()) {
      LaneMask lanes = 0;
      const Instr* instr = warp->gathering(lanes);
      if (instr == nullptr) continue;
      warp->fail(*instr, lanes, Finding::divergent,
                 fmt::format("is reached by lanes {:08x}, but the other lanes of the warp never "
                             "reach this instruction",
                             lanes));
    }
  }
  for (const auto& block : blocks_) {
    for (const auto& warp : block->warps()) {
      if (warp->waits_at(Warp::kGroupBarrier)) warp->queues().abandon_group();
    }
  }
  fail_anywhere(Finding::deadlock, "waits forever, because no warp of the cluster can continue: " +
                                       waiting_text() + note);
}

void Cluster::time_out(const std::string& limit, const std::string& note) {
  fail_anywhere(Finding::timed_out,
                fmt::format("still runs after {}: {}{}", limit, waiting_text(), note));
}

std::string Cluster::waiting_text() const {
  constexpr std::size_t kLongest = 1000;
  std::string text;
  for (const auto& block : blocks_) {
    for (const auto& warp : block->warps()) {
      if (warp->live() == 0 || text.size() > kLongest) continue;
      text += fmt::format("{}{}", text.empty() ? "" : "; ", warp->waiting_text());
    }
    const std::string barriers = block->barrier_text();
    if (!barriers.empty()) text += fmt::format("; {}", barriers);
  }
  return text;
}

void Cluster::fail_anywhere(Finding finding, const std::string& text) {
  for (const auto& block : blocks_) {
    for (const auto& warp : block->warps()) {
      if (warp->live() == 0) continue;
      warp->fail(warp->standing_at(), warp->live(), finding, text);
    }
  }
  // No thread is left here, but blocks are that have not begun.
  const std::string& name = launch_.program->name;
  throw KernelFault({finding, name, {}, {}, 0, 0, name, text, 1, {}, true, {}, {}, Reach::none});
}

}  // namespace kiln::emulated
