// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/check/cluster_order.hpp"
#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/check/shared_shadow.hpp"
#include "runtime/emulated/check/toucher.hpp"
#include "runtime/emulated/decode/report.hpp"

namespace kiln::emulated {

/// Finds what accesses to shared memory of a cluster's blocks do wrong: reads of what nobody wrote,
/// races, use of bytes that an asynchronous operation owns, accesses that leave their variable.
/// Each byte remembers its last writer and, since then, its readers.
class SharedChecks {
 public:
  explicit SharedChecks(const ClusterOrder& order) : order_(order) {}
  void begin(Cluster& cluster);

  /// An access to bytes of a block's shared memory, `offset` from its beginning. Reports what is
  /// wrong with it, and notes it.
  void touch(const Toucher& by, std::size_t block, std::uint32_t offset, std::uint32_t bytes);
  /// Reports an access that leaves the variable which its address is computed from.
  [[nodiscard]] bool leaves_variable(const Toucher& by, std::uint32_t offset, int bytes) const;
  /// Whether an operation that touched memory with this token has yet to end.
  [[nodiscard]] bool is_pending(std::uint64_t token) const {
    return pending_.find(token) != pending_.end();
  }
  /// Its accesses end now: they count as done by that agent.
  void finish(std::uint64_t token, ClusterOrder::Done done);

 private:
  struct Pending {
    Toucher by;
    std::size_t block = 0;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  struct Fault {
    Finding finding{};
    std::string text;
    LaneMask lanes = 0;  ///< that it is about
    Rival rival;         ///< of a race
  };
  /// What is wrong with this access to the cell, if anything is.
  [[nodiscard]] std::optional<Fault> fault_of(const Toucher& by, const ShadowCell& cell) const;
  [[nodiscard]] std::optional<Fault> fault_with_writer(const Toucher& by,
                                                       const ShadowCell& cell) const;
  [[nodiscard]] std::optional<Fault> fault_with_readers(const Toucher& by,
                                                        const ShadowCell& cell) const;
  void report(const Toucher& by, Fault fault, std::uint32_t offset) const;
  void note(const Toucher& by, ShadowCell& cell);
  /// Whether it stores what is in the cell already, by whoever wrote that.
  [[nodiscard]] bool stores_alike(const Toucher& by, const ShadowCell& cell) const;
  /// Lanes that race with what `others`, lanes of an agent, did. Operations that several lanes
  /// begin at once come behind what any of them comes behind.
  [[nodiscard]] LaneMask racing(const Toucher& by, std::size_t agent, LaneMask others,
                                std::uint32_t step) const;
  [[nodiscard]] bool fenced(const Toucher& by, const ShadowCell& cell) const;
  [[nodiscard]] const Reader* unordered_reader(const Toucher& by, const ShadowCell& cell) const;
  [[nodiscard]] std::size_t agent_of(const Toucher& by) const {
    return order_.agents().of(*by.warp);
  }
  [[nodiscard]] std::string agent_text(std::size_t agent, int lane,
                                       std::uint32_t instruction) const;

  const ClusterOrder& order_;
  const LaunchState* launch_ = nullptr;
  std::vector<SharedShadow> cells_;  ///< of each block
  ReaderLists readers_;
  std::unordered_multimap<std::uint64_t, Pending> pending_;  ///< by their operations' tokens
};

}  // namespace kiln::emulated
