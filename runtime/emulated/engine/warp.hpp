// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/decode/report.hpp"
#include "runtime/emulated/engine/warp_queues.hpp"

namespace kiln::emulated {

class Block;
struct Allocation;

/// What bar.red gives: how many of those who came to the barrier voted for it.
struct Votes {
  std::uint32_t yes = 0;
  std::uint32_t all = 0;
};

/// Lanes of a warp at the barrier of its cluster.
struct ClusterArrivals {
  LaneMask arrived = 0;  ///< in the phase that goes on
  LaneMask owed = 0;     ///< have arrived and not waited since
};

/// Element `lane` of a row.
template <class T>
[[nodiscard]] inline T get(const std::byte* row, int lane) {
  T value;
  std::memcpy(&value, row + static_cast<std::size_t>(lane) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
inline void put(std::byte* row, int lane, T value) {
  std::memcpy(row + static_cast<std::size_t>(lane) * sizeof(T), &value, sizeof(T));
}

/// 32 threads. Lanes that stand at the same place are a *group* and execute together; where they
/// part, a *join* notes who has to meet where again. This is how GPUs since Volta work: every group
/// makes progress by itself, and compilers place the meeting points at the nearest place that all
/// paths lead to (the immediate post-dominator).
class Warp {
 public:
  Warp(Block& block, int index, const Program& program);

  // Operands.
  [[nodiscard]] std::byte* row(std::uint32_t offset) { return registers_.get() + offset; }
  [[nodiscard]] LaneMask predicate(std::uint32_t offset) const {
    LaneMask mask = 0;
    std::memcpy(&mask, registers_.get() + offset, sizeof mask);
    return mask;
  }
  void set_predicate(std::uint32_t offset, LaneMask value, LaneMask active) {
    const LaneMask merged = (predicate(offset) & ~active) | (value & active);
    std::memcpy(registers_.get() + offset, &merged, sizeof merged);
  }
  [[nodiscard]] Block& block() { return block_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] int index() const { return index_; }
  /// Lanes that have not exited.
  [[nodiscard]] LaneMask live() const { return live_; }
  /// Lanes that execute together now.
  [[nodiscard]] LaneMask together() const { return mask_; }

  // Memory.
  /// The allocation that the last global access of a lane hit; may be null.
  [[nodiscard]] const Allocation* allocation() const { return last_; }
  /// Keeps an allocation for allocation(), which most accesses that follow hit as well.
  void remember(const Allocation* hit) { last_ = hit; }
  [[nodiscard]] WarpQueues& queues() { return *queues_; }
  [[nodiscard]] CopyQueue& copies() { return queues_->copies; }
  [[nodiscard]] BulkGroups& bulk() { return queues_->bulk; }
  [[nodiscard]] WgmmaQueue& wgmma() { return queues_->wgmma; }
  /// Registers per thread as setmaxnreg left them; 0: as the launch gave them.
  [[nodiscard]] int register_limit() const { return register_limit_; }
  void set_register_limit(int registers) { register_limit_ = registers; }
  /// Lanes that have waited for the launch before this one.
  void note_launch_wait(LaneMask lanes) { launch_waited_ |= lanes; }
  /// In a launch that overlaps: a finding if some of `lanes` have not waited for the launch before
  /// it and yet do what `what` says.
  void require_launch_wait(const Instr& instr, LaneMask lanes, const char* what) const {
    if ((lanes & ~launch_waited_) != 0) report_early(instr, lanes & ~launch_waited_, what);
  }

  // What instructions that decide about control call.
  void jump(std::uint32_t target) { pc_ = target; }
  /// Sends the lanes of `taken` to the instruction's target and lets the others go on.
  void branch(const Instr& instr, LaneMask taken);
  /// The lanes of `first` come to this instruction again, and then the others, until they meet
  /// behind it.
  void part(const Instr& instr, LaneMask first);
  /// The same as branch() with a target for each lane, kept in `targets`.
  void branch_indirect(const Instr& instr, const std::uint32_t (&targets)[kLanes]);
  void retire(LaneMask lanes);
  /// Whether all of `wanted` that have not exited execute this instruction together. If not, the
  /// group waits here for the others, and the instruction comes again.
  [[nodiscard]] bool gather(const Instr& instr, LaneMask wanted);
  /// The same for an instruction that the whole warp has to execute: all lanes that have not
  /// exited, with one guard. Throws KernelFault if the guard parts them.
  [[nodiscard]] bool gather_all(const Instr& instr, LaneMask active);
  /// bar.warp.sync: the lanes of `active` wait until all of `members` are at one, wherever it
  /// stands.
  void sync_lanes(LaneMask members, LaneMask active);
  /// Lanes of the group wait for a barrier of the block (0 to 15) or, with kClusterBarrier, of the
  /// cluster.
  void wait_at_barrier(int barrier, LaneMask lanes);
  static constexpr int kClusterBarrier = 16;
  static constexpr int kGroupBarrier = 17;  ///< for wgmma operations of the warpgroup
  [[nodiscard]] ClusterArrivals& cluster_arrivals() { return cluster_arrivals_; }
  /// Of the barrier that the running group last waited at.
  [[nodiscard]] const Votes& votes() const { return votes_; }
  /// The group tried something in vain and would try again at once: others should run first.
  void yield() {
    yielded_ = stop_ = true;
    tried_ = pc_ - 1;
  }
  /// The instruction may have taken as long as thousands of others: the clock is looked at.
  void take_long() { long_ = stop_ = true; }
  /// The group goes on later: it ends the warp's turn, but has tried nothing in vain.
  void rest() { rests_ = stop_ = true; }
  /// Called by the block when a barrier opens.
  void release(int barrier, Votes votes);
  [[nodiscard]] bool waits_at(int barrier) const;

  enum class State : std::uint8_t { ready, rested, waiting, yielded, exited };
  /// Runs until nothing can go on, all exited, it yields, or `budget` instructions are done; the
  /// budget is reduced by what was executed.
  State run(std::uint64_t& budget);

  /// Ends the launch with a finding about the first lane of `lanes`.
  [[noreturn]] void fail(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
                         std::uint64_t address = 0) const;
  /// A finding that does not end the launch.
  void report(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
              std::uint64_t address = 0) const;
  /// A race with another access.
  void report_race(const Instr& instr, LaneMask lanes, Rival rival, std::string text,
                   std::uint64_t address) const;
  /// What the groups wait for, for the report of a deadlock: "lanes ffff0000 at kernel.cu:12 ...".
  [[nodiscard]] std::string waiting_text() const;
  /// If lanes wait for others of their warp at a warp-wide instruction: that instruction and those
  /// lanes. Else null.
  [[nodiscard]] const Instr* gathering(LaneMask& lanes) const;
  /// The instruction at which one of its groups waits or tried in vain, or where it stands.
  [[nodiscard]] const Instr& standing_at() const;

 private:
  static constexpr std::uint32_t kUntried = 0xffffffffU;
  enum class Wait : std::uint8_t { none, gather, lanes, barrier };
  struct Group {
    LaneMask mask = 0;
    std::uint32_t pc = 0;
    int join = -1;
    Wait wait = Wait::none;
    LaneMask wanted = 0;  ///< of gather and lanes, those that have exited included
    int barrier = 0;
    Votes votes = {};  ///< of the barrier that it has waited at
  };
  struct Join {
    std::uint32_t pc = 0;
    int parent = -1;
    LaneMask expected = 0;
    LaneMask arrived = 0;
    bool used = false;
  };

  void report_early(const Instr& instr, LaneMask lanes, const char* what) const;
  [[nodiscard]] int make_join(std::uint32_t pc, int parent, LaneMask expected);
  void enter(const Group& group);
  void leave();
  void leave(const Group& waiting);
  [[nodiscard]] int join_at(std::uint32_t pc);
  void set_join(int join);
  void arrive();
  void settle(int join);
  void drop_lanes(int join, int until, LaneMask lanes);
  [[nodiscard]] bool pick();
  void rotate();
  [[nodiscard]] static bool wait_together(const Group& left, const Group& right);
  [[nodiscard]] bool merge_waiting();
  void notify_synchronised(LaneMask lanes);
  [[nodiscard]] int common_join(int left, int right) const;
  [[nodiscard]] Report describe(const Instr& instr, LaneMask lanes, Finding finding,
                                std::string text, std::uint64_t address) const;

  Block& block_;
  const Program& program_;
  int index_;
  std::unique_ptr<WarpQueues> queues_;
  int register_limit_ = 0;
  LaneMask launch_waited_ = kAllLanes;  ///< all, if there is nothing to wait for
  std::unique_ptr<std::byte[]> registers_;
  LaneMask live_ = 0;

  // The group that runs; the others lie in groups_.
  LaneMask mask_ = 0;
  std::uint32_t pc_ = 0;
  int join_ = -1;
  std::uint32_t join_pc_ = 0xffffffffU;
  bool stop_ = false;  ///< the running group has to leave its place, or look at the clock
  bool long_ = false;
  bool yielded_ = false;
  std::uint32_t tried_ = kUntried;  ///< the instruction that the running group last tried in vain
  bool rests_ = false;              ///< the running group ends the warp's turn
  ClusterArrivals cluster_arrivals_;
  Votes votes_;                       ///< of the running group's last barrier
  const Allocation* last_ = nullptr;  ///< that a global access hit
  std::vector<Group> groups_;
  std::vector<Join> joins_;
};

}  // namespace kiln::emulated
