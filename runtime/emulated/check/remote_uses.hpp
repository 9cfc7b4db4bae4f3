// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "runtime/emulated/check/cluster_order.hpp"

namespace kiln::emulated {

/// Finds uses of another block's shared memory that may come too late: the shared memory of a block
/// whose threads have all exited is another block's by then, so whoever used it from outside must
/// have told one of them before.
class RemoteUses {
 public:
  /// A warp uses shared memory of the block of that rank.
  void note(Warp& warp, const Instr& instr, std::size_t block, const ClusterOrder& order);
  /// Reports those that may have come too late, once the cluster has ended.
  void report(Cluster& cluster, const ClusterOrder& order) const;

 private:
  /// Each place that uses a block's memory counts once.
  struct Use {
    std::size_t block = 0;
    std::size_t agent = 0;
    std::uint32_t instruction = 0;
    auto operator<=>(const Use&) const = default;
  };
  std::map<Use, std::uint32_t> uses_;  ///< with the step of the last one
};

}  // namespace kiln::emulated
