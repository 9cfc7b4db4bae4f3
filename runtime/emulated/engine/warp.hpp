// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/decode/report.hpp"
#include "runtime/emulated/engine/lane_groups.hpp"
#include "runtime/emulated/engine/warp_queues.hpp"

namespace kiln::emulated {

class Block;
struct Allocation;

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

/// 32 threads: their registers, and the instructions that they execute, by groups of lanes that
/// stand at the same place.
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
  [[nodiscard]] LaneMask live() const { return groups_.live(); }
  /// Lanes that execute together now.
  [[nodiscard]] LaneMask together() const { return groups_.mask(); }

  // Memory.
  /// For allocation_at(): two allocations that global accesses hit, the last one first; may be
  /// null.
  [[nodiscard]] std::array<const Allocation*, 2>& known_allocations() { return known_allocations_; }
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
  void jump(std::uint32_t target) { groups_.jump(target); }
  /// Sends the lanes of `taken` to the instruction's target and lets the others go on.
  void branch(const Instr& instr, LaneMask taken) { groups_.branch(instr, taken); }
  /// The lanes of `first` come to this instruction again, and then the others, until they meet
  /// behind it.
  void part(const Instr& instr, LaneMask first) { groups_.part(instr, first); }
  /// The same as branch() with a target for each lane, kept in `targets`.
  void branch_indirect(const Instr& instr, const std::uint32_t (&targets)[kLanes]) {
    groups_.branch_indirect(instr, targets);
  }
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
  void wait_at_barrier(int barrier, LaneMask lanes) { groups_.wait_at_barrier(barrier, lanes); }
  static constexpr int kClusterBarrier = 16;
  static constexpr int kGroupBarrier = 17;  ///< for wgmma operations of the warpgroup
  [[nodiscard]] ClusterArrivals& cluster_arrivals() { return cluster_arrivals_; }
  /// Of the barrier that the running group last waited at.
  [[nodiscard]] const Votes& votes() const { return groups_.votes(); }
  /// The group tried something in vain and would try again at once: others should run first.
  void yield() {
    turn_.yielded = true;
    turn_.tried = groups_.pc() - 1;
    groups_.stop();
  }
  /// The instruction may have taken as long as thousands of others: the clock is looked at.
  void take_long() {
    turn_.took_long = true;
    groups_.stop();
  }
  /// The group goes on later: it ends the warp's turn, but has tried nothing in vain.
  void rest() {
    turn_.rests = true;
    groups_.stop();
  }
  /// Called by the block when a barrier opens.
  void release(int barrier, Votes votes) { groups_.release(barrier, votes); }
  [[nodiscard]] bool waits_at(int barrier) const { return groups_.waits_at(barrier); }

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
  /// What instructions of the running group said about the warp's turn.
  struct Turn {
    bool took_long = false;
    bool yielded = false;
    bool rests = false;              ///< it ends the turn
    std::uint32_t tried = kUntried;  ///< the instruction that was last tried in vain
  };

  void fill_constants();
  void fill_specials(std::uint32_t first_thread);
  void report_early(const Instr& instr, LaneMask lanes, const char* what) const;
  void execute_group(std::uint64_t& steps);
  void let_groups_meet();
  void notify_synchronised(LaneMask lanes);
  [[nodiscard]] Report describe(const Instr& instr, LaneMask lanes, Finding finding,
                                std::string text, std::uint64_t address) const;

  Block& block_;
  const Program& program_;
  int index_;
  std::unique_ptr<WarpQueues> queues_;
  int register_limit_ = 0;
  LaneMask launch_waited_ = kAllLanes;  ///< all, if there is nothing to wait for
  std::unique_ptr<std::byte[]> registers_;
  LaneGroups groups_;
  Turn turn_;
  ClusterArrivals cluster_arrivals_;
  std::array<const Allocation*, 2> known_allocations_{};
};

}  // namespace kiln::emulated
