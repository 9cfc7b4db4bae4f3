// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"

namespace kiln::emulated {
namespace {

constexpr std::uint32_t kNoJoin = 0xffffffffU;
/// After so many instructions another group of the warp has its turn, so that lanes which wait for
/// each other in loops all advance.
constexpr std::uint64_t kGroupQuantum = 4096;
/// How often the clock is looked at.
constexpr std::uint64_t kStepsBetweenLooks = 256;

}  // namespace

void Warp::branch(const Instr& instr, LaneMask taken) {
  if (taken == mask_) {
    pc_ = instr.target;
    return;
  }
  const LaneMask rest = mask_ & ~taken;
  const int join = join_at(instr.reconverge);
  groups_.push_back({taken, instr.target, join});
  enter({rest, pc_, join});
}

void Warp::part(const Instr& instr, LaneMask first) {
  const LaneMask others = mask_ & ~first;
  const int join = join_at(pc_);
  groups_.push_back({others, instr.index, join});
  enter({first, instr.index, join});
}

void Warp::branch_indirect(const Instr& instr, const std::uint32_t (&targets)[kLanes]) {
  const auto first = static_cast<std::size_t>(std::countr_zero(mask_));
  LaneMask same = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask_ >> lane & 1U) != 0 && targets[lane] == targets[first]) same |= LaneMask{1} << lane;
  }
  if (same == mask_) {
    pc_ = targets[first];
    return;
  }
  // One target parts from the rest, which come to this instruction again.
  const int join = join_at(instr.reconverge);
  groups_.push_back({mask_ & ~same, instr.index, join});
  enter({same, targets[first], join});
}

void Warp::retire(LaneMask lanes) {
  live_ &= ~lanes;
  mask_ &= ~lanes;
  if (live_ == 0) queues_->abandon();
  block_.exited(*this, lanes);
  drop_lanes(join_, -1, lanes);
  if (mask_ == 0) stop_ = true;
  // Lanes that wait for the ones that have gone need not any more.
  while (merge_waiting()) {
  }
}

void Warp::report_early(const Instr& instr, LaneMask lanes, const char* what) const {
  report(instr, lanes, Finding::missing_wait,
         fmt::format("{} before griddepcontrol.wait, while the launch before may still run", what));
}

bool Warp::gather(const Instr& instr, LaneMask wanted) {
  if ((wanted & live_ & ~mask_) == 0) return true;
  leave({mask_, instr.index, join_, Wait::gather, wanted});
  return false;
}

bool Warp::gather_all(const Instr& instr, LaneMask active) {
  if (active != mask_) {
    fail(
        instr, mask_ & ~active, Finding::divergent,
        fmt::format("lanes {:08x} skip it, but the whole warp has to execute it", mask_ & ~active));
  }
  return gather(instr, kAllLanes);
}

void Warp::sync_lanes(LaneMask members, LaneMask active) {
  if ((members & live_ & ~active) == 0) {
    notify_synchronised(members & live_);
    return;
  }
  leave({active, pc_, join_, Wait::lanes, members});
}

void Warp::notify_synchronised(LaneMask lanes) {
  if (Observer* observer = block_.cluster().observer()) observer->warp_sync(*this, lanes);
}

void Warp::wait_at_barrier(int barrier, LaneMask lanes) {
  leave({lanes, pc_, join_, Wait::barrier, 0, barrier});
}

void Warp::release(int barrier, Votes votes) {
  for (Group& group : groups_) {
    if (group.wait != Wait::barrier || group.barrier != barrier) continue;
    group.wait = Wait::none;
    group.votes = votes;
  }
}

bool Warp::waits_at(int barrier) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.wait == Wait::barrier && group.barrier == barrier;
  });
}

/// The join at a place for the running group and those that part from it now.
int Warp::join_at(std::uint32_t pc) {
  return pc == kNoJoin || pc == join_pc_ ? join_ : make_join(pc, join_, mask_);
}

int Warp::make_join(std::uint32_t pc, int parent, LaneMask expected) {
  const auto free =
      std::find_if(joins_.begin(), joins_.end(), [](const Join& j) { return !j.used; });
  const Join join{pc, parent, expected, 0, true};
  if (free != joins_.end()) {
    *free = join;
    return static_cast<int>(free - joins_.begin());
  }
  joins_.push_back(join);
  return static_cast<int>(joins_.size()) - 1;
}

void Warp::enter(const Group& group) {
  mask_ = group.mask;
  pc_ = group.pc;
  votes_ = group.votes;
  set_join(group.join);
}

void Warp::leave() {
  mask_ = 0;
  stop_ = true;
}

/// Lanes of the running group wait; the others, if there are any, go on.
void Warp::leave(const Group& waiting) {
  groups_.push_back(waiting);
  mask_ &= ~waiting.mask;
  if (mask_ == 0) stop_ = true;
}

void Warp::set_join(int join) {
  join_ = join;
  join_pc_ = join < 0 ? kNoJoin : joins_[static_cast<std::size_t>(join)].pc;
}

void Warp::arrive() {
  const int join = join_;
  joins_[static_cast<std::size_t>(join)].arrived |= mask_;
  leave();
  settle(join);
}

/// If everybody has come to a join, they go on together from there.
void Warp::settle(int join) {
  Join& at = joins_[static_cast<std::size_t>(join)];
  if (!at.used || at.arrived != at.expected) return;
  at.used = false;
  if (at.arrived != 0) groups_.push_back({at.arrived, at.pc, at.parent});
}

/// Takes lanes out of a join and those around it, up to but without `until`.
void Warp::drop_lanes(int join, int until, LaneMask lanes) {
  while (join >= 0 && join != until) {
    Join& at = joins_[static_cast<std::size_t>(join)];
    const int parent = at.parent;
    at.expected &= ~lanes;
    at.arrived &= ~lanes;
    settle(join);
    join = parent;
  }
}

int Warp::common_join(int left, int right) const {
  std::vector<int> above;
  for (int join = left; join >= 0; join = joins_[static_cast<std::size_t>(join)].parent) {
    above.push_back(join);
  }
  for (int join = right; join >= 0; join = joins_[static_cast<std::size_t>(join)].parent) {
    if (std::find(above.begin(), above.end(), join) != above.end()) return join;
  }
  return -1;
}

/// Whether two groups wait for each other: for the same lanes, at the same instruction or, for
/// bar.warp.sync, anywhere.
bool Warp::wait_together(const Group& left, const Group& right) {
  return left.wait == right.wait && left.wanted == right.wanted &&
         (left.wait == Wait::lanes || (left.wait == Wait::gather && left.pc == right.pc));
}

bool Warp::merge_waiting() {
  for (const Group& first : groups_) {
    if (first.wait != Wait::gather && first.wait != Wait::lanes) continue;
    LaneMask present = 0;
    for (const Group& group : groups_) {
      if (wait_together(first, group)) present |= group.mask;
    }
    if ((first.wanted & live_ & ~present) != 0) continue;
    const Group waiting = first;
    if (waiting.wait == Wait::lanes) {
      for (Group& group : groups_) {
        if (wait_together(waiting, group)) group.wait = Wait::none;
      }
      notify_synchronised(waiting.wanted & live_);
      return true;
    }
    Group merged = waiting;
    merged.wait = Wait::none;
    std::vector<Group> parts;
    std::erase_if(groups_, [&](const Group& group) {
      const bool part = wait_together(waiting, group);
      if (part) parts.push_back(group);
      return part;
    });
    for (const Group& part : parts) {
      merged.mask |= part.mask;
      merged.join = common_join(merged.join, part.join);
    }
    // They met earlier than the compiler said: the joins between no longer wait for them.
    for (const Group& part : parts) drop_lanes(part.join, merged.join, merged.mask);
    groups_.push_back(merged);
    return true;
  }
  return false;
}

/// Makes a group run that can; the lowest place first, where the others will come, too.
bool Warp::pick() {
  while (merge_waiting()) {
  }
  auto best = groups_.end();
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    if (group->wait == Wait::none && (best == groups_.end() || group->pc < best->pc)) best = group;
  }
  if (best == groups_.end()) return false;
  const Group group = *best;
  groups_.erase(best);
  enter(group);
  return true;
}

/// The running group goes behind the others of its warp that can run.
void Warp::rotate() {
  const auto other = std::find_if(groups_.begin(), groups_.end(),
                                  [](const Group& group) { return group.wait == Wait::none; });
  if (other == groups_.end()) return;
  const Group next = *other;
  groups_.erase(other);
  groups_.push_back({mask_, pc_, join_});
  enter(next);
}

Warp::State Warp::run(std::uint64_t& budget) {
  const Instr* const code = program_.code.data();
  Observer* const observer = block_.cluster().observer();
  tried_ = kUntried;
  LaneMask vain = 0;  // lanes that tried in vain since any of the warp got on
  std::uint64_t quantum = kGroupQuantum;
  while (budget > 0) {
    if (mask_ == 0) {
      if (live_ == 0) return State::exited;
      if (!pick()) return State::waiting;
      quantum = kGroupQuantum;
    }
    stop_ = yielded_ = rests_ = long_ = false;
    std::uint64_t steps = std::min({budget, quantum, kStepsBetweenLooks});
    const std::uint64_t granted = steps;
    while (steps > 0) {
      if (pc_ == join_pc_) {
        arrive();
        break;
      }
      const Instr& instr = code[pc_];
      LaneMask active = mask_;
      if (instr.guard != kNoRow) {
        const LaneMask guard = predicate(instr.guard);
        active &= instr.guard_negated ? ~guard : guard;
      }
      ++pc_;
      --steps;
      if (observer != nullptr) observer->issue(*this, instr, active);
      if (active != 0) {
        instr.execute(*this, instr, active);
        if (stop_) break;
      }
    }
    budget -= granted - steps;
    // Some instructions take as long as thousands of others.
    if ((steps == 0 || long_) && std::chrono::steady_clock::now() > block_.launch().deadline) break;
    quantum -= std::min(quantum, granted - steps);
    vain = yielded_ ? vain | mask_ : 0;
    if (mask_ != 0 && (yielded_ || rests_ || quantum == 0)) {
      rotate();
      if (rests_) return State::rested;
      if (yielded_ && (mask_ & ~vain) == 0) return State::yielded;
      quantum = kGroupQuantum;
    }
  }
  return State::ready;
}

std::string Warp::waiting_text() const {
  std::string text;
  const auto add = [&](LaneMask lanes, std::uint32_t pc, std::string_view what) {
    text += fmt::format("{}warp {} lanes {:08x} {} {}", text.empty() ? "" : "; ", index_, lanes,
                        what, program_.site_of(pc));
  };
  if (mask_ != 0) add(mask_, pc_, "run at");
  for (const Group& group : groups_) {
    switch (group.wait) {
      case Wait::none:
        add(group.mask, group.pc, "run at");
        break;
      case Wait::gather:
        add(group.mask, group.pc, "wait for the rest of their warp at");
        break;
      case Wait::lanes:
        add(group.mask, group.pc - 1, "wait at a warp barrier at");
        break;
      case Wait::barrier:
        add(group.mask, group.pc - 1,
            group.barrier == kClusterBarrier ? "wait at the cluster's barrier at"
            : group.barrier == kGroupBarrier ? "wait for the wgmma operations of their warpgroup at"
                                             : fmt::format("wait at barrier {} at", group.barrier));
        break;
    }
  }
  return text;
}

const Instr& Warp::standing_at() const {
  const std::vector<Instr>& code = program_.code;
  for (const Group& group : groups_) {
    if (group.wait == Wait::gather) return code[group.pc];
    if (group.wait != Wait::none) return code[group.pc - 1];
  }
  if (tried_ != kUntried) return code[tried_];
  return code[mask_ != 0 ? pc_ : groups_.front().pc];
}

const Instr* Warp::gathering(LaneMask& lanes) const {
  for (const Group& group : groups_) {
    if (group.wait != Wait::gather && group.wait != Wait::lanes) continue;
    lanes = group.mask;
    return &program_.code[group.wait == Wait::gather ? group.pc : group.pc - 1];
  }
  return nullptr;
}

}  // namespace kiln::emulated
