// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "runtime/emulated/engine/cluster.hpp"

namespace kiln::emulated {
namespace {

/// After so many instructions another group of the warp has its turn, so that lanes which wait for
/// each other in loops all advance.
constexpr std::uint64_t kGroupQuantum = 4096;
/// How often the clock is looked at.
constexpr std::uint64_t kStepsBetweenLooks = 256;

}  // namespace

void Warp::retire(LaneMask lanes) {
  groups_.retire(lanes);
  if (live() == 0) queues_->abandon();
  block_.exited(*this, lanes);
  // Lanes that wait for the ones that have gone need not any more.
  let_groups_meet();
}

void Warp::report_early(const Instr& instr, LaneMask lanes, const char* what) const {
  report(instr, lanes, Finding::missing_wait,
         fmt::format("{} before griddepcontrol.wait, but the previous launch on the stream may "
                     "still be running",
                     what));
}

bool Warp::gather(const Instr& instr, LaneMask wanted) {
  if ((wanted & live() & ~together()) == 0) return true;
  groups_.wait_to_gather(instr, wanted);
  return false;
}

bool Warp::gather_all(const Instr& instr, LaneMask active) {
  if (const LaneMask skipping = together() & ~active; active != together()) {
    fail(instr, skipping, Finding::divergent,
         fmt::format(
             "is not executed by lanes {:08x}, but the whole warp must execute this instruction",
             skipping));
  }
  return gather(instr, kAllLanes);
}

void Warp::sync_lanes(LaneMask members, LaneMask active) {
  if ((members & live() & ~active) == 0) {
    notify_synchronised(members & live());
    return;
  }
  groups_.wait_for_lanes(active, members);
}

void Warp::notify_synchronised(LaneMask lanes) {
  if (Observer* observer = block_.cluster().observer()) observer->warp_sync(*this, lanes);
}

void Warp::let_groups_meet() {
  LaneMask lanes = 0;
  for (;;) {
    switch (groups_.let_meet(lanes)) {
      case LaneGroups::Meeting::none:
        return;
      case LaneGroups::Meeting::gathered:
        break;
      case LaneGroups::Meeting::synced:
        notify_synchronised(lanes);
        break;
    }
  }
}

/// Executes instructions of the running group, at most `steps`, until it stops. What is left of
/// `steps` is what it did not execute.
void Warp::execute_group(std::uint64_t& steps) {
  const Instr* const code = program_.code.data();
  Observer* const observer = block_.cluster().observer();
  std::uint64_t left = steps;
  while (left > 0) {
    if (groups_.at_join()) {
      groups_.arrive();
      break;
    }
    const Instr& instr = code[groups_.pc()];
    LaneMask active = groups_.mask();
    if (instr.guard != kNoRow) {
      const LaneMask guard = predicate(instr.guard);
      active &= instr.guard_negated ? ~guard : guard;
    }
    groups_.step();
    --left;
    if (observer != nullptr) observer->issue(*this, instr, active);
    if (active != 0) {
      instr.execute(*this, instr, active);
      if (groups_.stopped()) break;
    }
  }
  steps = left;
}

Warp::State Warp::run(std::uint64_t& budget) {
  turn_.tried = kUntried;
  LaneMask vain = 0;  // lanes that tried in vain since any of the warp got on
  std::uint64_t quantum = kGroupQuantum;
  while (budget > 0) {
    if (together() == 0) {
      if (live() == 0) return State::exited;
      let_groups_meet();
      if (!groups_.pick()) return State::waiting;
      quantum = kGroupQuantum;
    }
    groups_.go_on();
    turn_.yielded = turn_.rests = turn_.took_long = false;
    const std::uint64_t granted = std::min({budget, quantum, kStepsBetweenLooks});
    std::uint64_t steps = granted;
    execute_group(steps);
    budget -= granted - steps;
    // Some instructions take as long as thousands of others.
    const bool look = steps == 0 || turn_.took_long;
    if (look && std::chrono::steady_clock::now() > block_.launch().deadline) break;
    quantum -= std::min(quantum, granted - steps);
    vain = turn_.yielded ? vain | together() : 0;
    if (together() != 0 && (turn_.yielded || turn_.rests || quantum == 0)) {
      groups_.rotate();
      if (turn_.rests) return State::rested;
      if (turn_.yielded && (together() & ~vain) == 0) return State::yielded;
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
  using Wait = LaneGroups::Wait;
  if (together() != 0) add(together(), groups_.pc(), "run at");
  for (const LaneGroups::Group& group : groups_.others()) {
    switch (group.wait) {
      case Wait::none:
        add(group.mask, group.pc, "run at");
        break;
      case Wait::gather:
        add(group.mask, group.pc, "wait for the other lanes of their warp at");
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
  using Wait = LaneGroups::Wait;
  const std::vector<Instr>& code = program_.code;
  for (const LaneGroups::Group& group : groups_.others()) {
    if (group.wait == Wait::gather) return code[group.pc];
    if (group.wait != Wait::none) return code[group.pc - 1];
  }
  if (turn_.tried != kUntried) return code[turn_.tried];
  return code[together() != 0 ? groups_.pc() : groups_.others().front().pc];
}

const Instr* Warp::gathering(LaneMask& lanes) const {
  using Wait = LaneGroups::Wait;
  for (const LaneGroups::Group& group : groups_.others()) {
    if (group.wait != Wait::gather && group.wait != Wait::lanes) continue;
    lanes = group.mask;
    return &program_.code[group.wait == Wait::gather ? group.pc : group.pc - 1];
  }
  return nullptr;
}

}  // namespace kiln::emulated
