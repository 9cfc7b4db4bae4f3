// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/engine/joins.hpp"

namespace kiln::emulated {

/// What bar.red gives: how many of those who came to the barrier voted for it.
struct Votes {
  std::uint32_t yes = 0;
  std::uint32_t all = 0;
};

/// Where the lanes of one warp stand. Lanes that stand at the same place are a *group* and execute
/// together; one group runs, the others wait for something or for their turn. Where lanes part, a
/// join notes who has to meet where again. This is how GPUs since Volta work: every group makes
/// progress independently, and compilers place the meeting points at the nearest place that all
/// paths lead to (the immediate post-dominator).
class LaneGroups {
 public:
  enum class Wait : std::uint8_t { none, gather, lanes, barrier };
  struct Group {
    LaneMask mask = 0;
    std::uint32_t pc = 0;
    int join = Joins::kNone;
    Wait wait = Wait::none;
    LaneMask wanted = 0;  ///< of gather and lanes, those that have exited included
    int barrier = 0;
    Votes votes = {};  ///< of the barrier that it has waited at
  };

  /// All lanes stand at the first instruction, and none runs.
  explicit LaneGroups(LaneMask lanes);

  /// Lanes that have not exited.
  [[nodiscard]] LaneMask live() const { return live_; }

  // The running group.
  /// Its lanes; none if no group runs.
  [[nodiscard]] LaneMask mask() const { return mask_; }
  [[nodiscard]] std::uint32_t pc() const { return pc_; }
  /// Of the barrier that it last waited at.
  [[nodiscard]] const Votes& votes() const { return votes_; }
  void step() { ++pc_; }
  void jump(std::uint32_t target) { pc_ = target; }
  /// Whether it has come to its join, where arrive() makes it wait for the others.
  [[nodiscard]] bool at_join() const { return pc_ == join_pc_; }
  void arrive();
  /// Set as soon as no lane is left in it, or something else calls for attention.
  [[nodiscard]] bool stopped() const { return stop_; }
  void stop() { stop_ = true; }
  void go_on() { stop_ = false; }

  // What divides it.
  /// Sends the lanes of `taken` to the instruction's target and lets the others go on.
  void branch(const Instr& instr, LaneMask taken);
  /// The same with a target for each lane.
  void branch_indirect(const Instr& instr, const std::uint32_t (&targets)[kLanes]);
  /// The lanes of `first` come to this instruction again, and then the others, until they meet
  /// behind it.
  void part(const Instr& instr, LaneMask first);
  /// Some of its lanes have exited.
  void retire(LaneMask lanes);
  /// It comes to the instruction again once the live ones of `wanted` have come there, too.
  void wait_to_gather(const Instr& instr, LaneMask wanted);
  /// Lanes of it wait until all of `members` wait like this, wherever they stand.
  void wait_for_lanes(LaneMask lanes, LaneMask members);
  /// Lanes of it wait until that barrier is released.
  void wait_at_barrier(int barrier, LaneMask lanes);

  // The others.
  [[nodiscard]] const std::vector<Group>& others() const { return others_; }
  void release(int barrier, Votes votes);
  [[nodiscard]] bool waits_at(int barrier) const;
  enum class Meeting : std::uint8_t {
    none,      ///< nobody has what it waits for
    gathered,  ///< groups at one instruction have become one
    synced     ///< groups that waited for lanes go on where they stand
  };
  /// Ends the wait of groups that wait for each other, if all have come that they wait for. `lanes`
  /// are those that have synchronised.
  [[nodiscard]] Meeting let_meet(LaneMask& lanes);
  /// Makes a group run that can; the lowest place first, where the others will come, too. False if
  /// all wait.
  [[nodiscard]] bool pick();
  /// The running group goes behind the others that can run.
  void rotate();

 private:
  void enter(const Group& group);
  void leave();
  void leave(const Group& waiting);
  [[nodiscard]] int join_at(std::uint32_t pc);
  void settle(int join);
  void drop_lanes(int join, int until, LaneMask lanes);
  [[nodiscard]] static bool wait_together(const Group& left, const Group& right);
  void gather(const Group& waiting);

  LaneMask live_;
  LaneMask mask_ = 0;
  std::uint32_t pc_ = 0;
  int join_ = Joins::kNone;
  std::uint32_t join_pc_ = Joins::kNowhere;
  bool stop_ = false;
  Votes votes_;
  std::vector<Group> others_;
  Joins joins_;
};

}  // namespace kiln::emulated
