// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/lane_groups.hpp"

#include <algorithm>
#include <bit>

namespace kiln::emulated {

LaneGroups::LaneGroups(LaneMask lanes) : live_(lanes) {
  others_.push_back({lanes});
}

void LaneGroups::branch(const Instr& instr, LaneMask taken) {
  if (taken == mask_) {
    pc_ = instr.target;
    return;
  }
  const LaneMask rest = mask_ & ~taken;
  const int join = join_at(instr.reconverge);
  others_.push_back({taken, instr.target, join});
  enter({rest, pc_, join});
}

void LaneGroups::part(const Instr& instr, LaneMask first) {
  const LaneMask others = mask_ & ~first;
  const int join = join_at(pc_);
  others_.push_back({others, instr.index, join});
  enter({first, instr.index, join});
}

void LaneGroups::branch_indirect(const Instr& instr, const std::uint32_t (&targets)[kLanes]) {
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
  others_.push_back({mask_ & ~same, instr.index, join});
  enter({same, targets[first], join});
}

void LaneGroups::retire(LaneMask lanes) {
  live_ &= ~lanes;
  mask_ &= ~lanes;
  drop_lanes(join_, Joins::kNone, lanes);
  if (mask_ == 0) stop_ = true;
}

void LaneGroups::wait_to_gather(const Instr& instr, LaneMask wanted) {
  leave({mask_, instr.index, join_, Wait::gather, wanted});
}

void LaneGroups::wait_for_lanes(LaneMask lanes, LaneMask members) {
  leave({lanes, pc_, join_, Wait::lanes, members});
}

void LaneGroups::wait_at_barrier(int barrier, LaneMask lanes) {
  leave({lanes, pc_, join_, Wait::barrier, 0, barrier});
}

void LaneGroups::release(int barrier, Votes votes) {
  for (Group& group : others_) {
    if (group.wait != Wait::barrier || group.barrier != barrier) continue;
    group.wait = Wait::none;
    group.votes = votes;
  }
}

bool LaneGroups::waits_at(int barrier) const {
  return std::any_of(others_.begin(), others_.end(), [&](const Group& group) {
    return group.wait == Wait::barrier && group.barrier == barrier;
  });
}

/// The join at a place for the running group and those that part from it now.
int LaneGroups::join_at(std::uint32_t pc) {
  return pc == Joins::kNowhere || pc == join_pc_ ? join_ : joins_.make(pc, join_, mask_);
}

void LaneGroups::enter(const Group& group) {
  mask_ = group.mask;
  pc_ = group.pc;
  votes_ = group.votes;
  join_ = group.join;
  join_pc_ = joins_.pc(join_);
}

void LaneGroups::leave() {
  mask_ = 0;
  stop_ = true;
}

/// Lanes of the running group wait; its other lanes, if there are any, go on.
void LaneGroups::leave(const Group& waiting) {
  others_.push_back(waiting);
  mask_ &= ~waiting.mask;
  if (mask_ == 0) stop_ = true;
}

void LaneGroups::arrive() {
  const int join = join_;
  joins_.arrive(join, mask_);
  leave();
  settle(join);
}

/// If everybody has come to a join, they go on together from there.
void LaneGroups::settle(int join) {
  LaneMask met = 0;
  if (joins_.close_if_complete(join, met) && met != 0) {
    others_.push_back({met, joins_.pc(join), joins_.parent(join)});
  }
}

/// Takes lanes out of a join and those around it, up to but without `until`.
void LaneGroups::drop_lanes(int join, int until, LaneMask lanes) {
  while (join >= 0 && join != until) {
    const int parent = joins_.parent(join);
    joins_.drop(join, lanes);
    settle(join);
    join = parent;
  }
}

/// Whether two groups wait for each other: for the same lanes, at the same instruction or, for
/// bar.warp.sync, anywhere.
bool LaneGroups::wait_together(const Group& left, const Group& right) {
  return left.wait == right.wait && left.wanted == right.wanted &&
         (left.wait == Wait::lanes || (left.wait == Wait::gather && left.pc == right.pc));
}

LaneGroups::Meeting LaneGroups::let_meet(LaneMask& lanes) {
  for (const Group& first : others_) {
    if (first.wait != Wait::gather && first.wait != Wait::lanes) continue;
    LaneMask present = 0;
    for (const Group& group : others_) {
      if (wait_together(first, group)) present |= group.mask;
    }
    if ((first.wanted & live_ & ~present) != 0) continue;
    const Group waiting = first;
    if (waiting.wait == Wait::gather) {
      gather(waiting);
      return Meeting::gathered;
    }
    for (Group& group : others_) {
      if (wait_together(waiting, group)) group.wait = Wait::none;
    }
    lanes = waiting.wanted & live_;
    return Meeting::synced;
  }
  return Meeting::none;
}

/// Groups that wait like this one become one group that can run.
void LaneGroups::gather(const Group& waiting) {
  Group merged = waiting;
  merged.wait = Wait::none;
  std::vector<Group> parts;
  std::erase_if(others_, [&](const Group& group) {
    const bool part = wait_together(waiting, group);
    if (part) parts.push_back(group);
    return part;
  });
  for (const Group& part : parts) {
    merged.mask |= part.mask;
    merged.join = joins_.common(merged.join, part.join);
  }
  // They met earlier than the compiler said: the joins between no longer wait for them.
  for (const Group& part : parts) drop_lanes(part.join, merged.join, merged.mask);
  others_.push_back(merged);
}

bool LaneGroups::pick() {
  auto best = others_.end();
  for (auto group = others_.begin(); group != others_.end(); ++group) {
    if (group->wait == Wait::none && (best == others_.end() || group->pc < best->pc)) best = group;
  }
  if (best == others_.end()) return false;
  const Group group = *best;
  others_.erase(best);
  enter(group);
  return true;
}

void LaneGroups::rotate() {
  const auto other = std::find_if(others_.begin(), others_.end(),
                                  [](const Group& group) { return group.wait == Wait::none; });
  if (other == others_.end()) return;
  const Group next = *other;
  others_.erase(other);
  others_.push_back({mask_, pc_, join_});
  enter(next);
}

}  // namespace kiln::emulated
