// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/check/cluster_order.hpp"
#include "runtime/emulated/check/global_shadow.hpp"
#include "runtime/emulated/decode/access.hpp"

namespace kiln::emulated {

struct Allocation;

/// Finds what accesses of one cluster to global memory do wrong: reads of what nobody wrote, races
/// with threads of any block of the launch, accesses beyond an array.
class GlobalChecks {
 public:
  /// `shadow` is shared by all clusters of one launch.
  GlobalChecks(const ClusterOrder& order, std::shared_ptr<GlobalShadow> shadow);
  void begin(Cluster& cluster);
  void end(Cluster& cluster);

  /// Lanes access the bytes that `lane`, one of them, does.
  void check(Warp& warp, const Instr& instr, const WarpAccess& access, int lane, LaneMask lanes);

  // What orders blocks.
  void fence(Warp& warp);
  /// An atomic operation on global memory.
  void tell_all(Warp& warp, std::uint64_t object, Order order);
  /// The same on shared memory, or an mbarrier in it: it speaks to the blocks of the cluster alone.
  void tell_cluster(Warp& warp, std::uint64_t object, Order order);
  /// The cluster's barrier orders what its blocks did to global memory, too.
  void order_blocks();

 private:
  /// Whether the bytes are part of an array and were written, if need be. False: there is no use in
  /// looking for races.
  [[nodiscard]] bool check_contents(Warp& warp, const Instr& instr, const WarpAccess& access,
                                    std::uint64_t address, LaneMask lanes,
                                    const Allocation& at) const;
  struct Place {
    std::uint64_t address = 0;
    LaneMask lanes = 0;
    const Allocation* allocation = nullptr;
  };
  void report_race(Warp& warp, const Instr& instr, const WarpAccess& access, const Place& place,
                   const GlobalShadow::Conflict& conflict) const;

  const ClusterOrder& order_;
  std::shared_ptr<GlobalShadow> shadow_;
  const LaunchState* launch_ = nullptr;
  std::vector<GlobalShadow::BlockState> blocks_;
  std::vector<bool> busy_;  ///< of each block: it accessed memory that the kernel got
  /// What the cluster's blocks told each other through shared memory, by its address.
  std::unordered_map<std::uint64_t, GlobalShadow::Clocks> exchanged_;
};

}  // namespace kiln::emulated
