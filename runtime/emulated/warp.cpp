// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "runtime/emulated/cluster.hpp"

namespace kiln::emulated {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffffU;
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
  int join = join_;
  if (instr.reconverge != kNowhere && join_pc_ != instr.reconverge) {
    join = make_join(instr.reconverge, join_, mask_);
  }
  groups_.push_back({taken, instr.target, join, Wait::none, 0, 0});
  enter({rest, pc_, join, Wait::none, 0, 0});
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
  int join = join_;
  if (instr.reconverge != kNowhere && join_pc_ != instr.reconverge) {
    join = make_join(instr.reconverge, join_, mask_);
  }
  groups_.push_back({mask_ & ~same, instr.index, join, Wait::none, 0, 0});
  enter({same, targets[first], join, Wait::none, 0, 0});
}

void Warp::retire(LaneMask lanes) {
  live_ &= ~lanes;
  mask_ &= ~lanes;
  block_.exited(static_cast<std::uint32_t>(std::popcount(lanes)));
  drop_lanes(join_, -1, lanes);
  if (mask_ == 0) stop_ = true;
  // Lanes that wait for the ones that have gone need not any more.
  for (Group& group : groups_) {
    if (group.wait == Wait::lanes || group.wait == Wait::gather) group.wanted &= live_;
  }
}

bool Warp::gather(const Instr& instr, LaneMask wanted) {
  wanted &= live_;
  if ((mask_ & wanted) == wanted) return true;
  groups_.push_back({mask_, instr.index, join_, Wait::gather, wanted, 0});
  leave();
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

void Warp::sync_lanes(LaneMask members) {
  members &= live_;
  if ((mask_ & members) == members) return;
  groups_.push_back({mask_, pc_, join_, Wait::lanes, members, 0});
  leave();
}

void Warp::wait_at_barrier(int barrier) {
  groups_.push_back({mask_, pc_, join_, Wait::barrier, 0, barrier});
  leave();
}

bool Warp::release(int barrier) {
  bool any = false;
  for (Group& group : groups_) {
    if (group.wait == Wait::barrier && group.barrier == barrier) {
      group.wait = Wait::none;
      any = true;
    }
  }
  return any;
}

bool Warp::waits_at(int barrier) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.wait == Wait::barrier && group.barrier == barrier;
  });
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
  set_join(group.join);
}

void Warp::leave() {
  mask_ = 0;
  stop_ = true;
}

void Warp::set_join(int join) {
  join_ = join;
  join_pc_ = join < 0 ? kNowhere : joins_[static_cast<std::size_t>(join)].pc;
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
  if (at.arrived != 0) groups_.push_back({at.arrived, at.pc, at.parent, Wait::none, 0, 0});
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

bool Warp::merge_waiting() {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& first = groups_[i];
    if (first.wait != Wait::gather && first.wait != Wait::lanes) continue;
    // Whoever waits for the same lanes: at the same instruction, or anywhere for bar.warp.sync.
    LaneMask present = 0;
    for (const Group& group : groups_) {
      if (group.wait == first.wait && (group.wait == Wait::lanes || group.pc == first.pc)) {
        present |= group.mask;
      }
    }
    if ((present & first.wanted) != first.wanted) continue;
    if (first.wait == Wait::lanes) {
      const LaneMask wanted = first.wanted;
      for (Group& group : groups_) {
        if (group.wait == Wait::lanes && (group.mask & wanted) != 0) group.wait = Wait::none;
      }
      return true;
    }
    Group merged = first;
    merged.wait = Wait::none;
    const std::uint32_t pc = first.pc;
    std::vector<Group> parts;
    std::erase_if(groups_, [&](const Group& group) {
      const bool part = group.wait == Wait::gather && group.pc == pc;
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
  for (;;) {
    auto best = groups_.end();
    for (auto group = groups_.begin(); group != groups_.end(); ++group) {
      if (group->wait == Wait::none && (best == groups_.end() || group->pc < best->pc))
        best = group;
    }
    if (best != groups_.end()) {
      const Group group = *best;
      groups_.erase(best);
      enter(group);
      return true;
    }
    if (!merge_waiting()) return false;
  }
}

Warp::State Warp::run(std::uint64_t& budget) {
  const Instr* const code = program_.code.data();
  Observer* const observer = block_.cluster().observer();
  yielded_ = false;
  tried_ = kUntried;
  std::uint64_t quantum = kGroupQuantum;
  while (budget > 0) {
    if (mask_ == 0) {
      if (live_ == 0) return State::exited;
      if (!pick()) return State::waiting;
      quantum = kGroupQuantum;
    }
    stop_ = false;
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
    if (steps == 0 && std::chrono::steady_clock::now() > block_.launch().deadline) break;
    quantum -= std::min(quantum, granted - steps);
    if (mask_ != 0 && (yielded_ || quantum == 0)) {
      // The group goes behind the others of its warp that can run.
      const auto ready = [](const Group& group) { return group.wait == Wait::none; };
      const Group own{mask_, pc_, join_, Wait::none, 0, 0};
      const auto other = std::find_if(groups_.begin(), groups_.end(), ready);
      if (other != groups_.end()) {
        const Group next = *other;
        groups_.erase(other);
        groups_.push_back(own);
        enter(next);
        yielded_ = false;
      } else if (yielded_) {
        return State::yielded;
      }
      quantum = kGroupQuantum;
    }
  }
  return State::ready;
}

std::string Warp::waiting_text() const {
  std::string text;
  const auto add = [&](LaneMask lanes, std::uint32_t pc, std::string_view what) {
    text += fmt::format("{}warp {} lanes {:08x} {} {}", text.empty() ? "" : "; ", index_, lanes,
                        what, program_.place_of(pc));
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
