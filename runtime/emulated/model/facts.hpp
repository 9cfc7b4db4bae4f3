// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/engine/observer.hpp"
#include "runtime/emulated/memory/global_memory.hpp"

namespace kiln::emulated {

/// What one instruction did, summed over all warps that were watched.
struct InstructionFacts {
  /// By warps, those guarded off for all lanes included. Groups of lanes that reach a warp-wide
  /// instruction one after the other count once each, and once more when they do it together.
  std::uint64_t issues = 0;
  std::uint64_t lanes = 0;  ///< likewise
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t shared_fewest = 0;  ///< wavefronts if no bank were wanted twice
  std::uint64_t global_requests = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t global_fewest = 0;  ///< sectors if the lanes' bytes lay side by side
  std::uint64_t global_bytes = 0;   ///< that lanes read or wrote

  InstructionFacts& operator+=(const InstructionFacts& other);
};

/// A profile without a GPU: what a launch, or some of its blocks, executed.
struct FactSheet {
  std::shared_ptr<const Program> program;
  std::vector<InstructionFacts> instructions;  ///< as in Program::code
  std::uint64_t blocks = 0;                    ///< that were watched
  /// Pieces of 32 bytes of global memory that were read and written, each counted once for each
  /// cluster: what a first-level cache without limits would ask the second level for.
  std::uint64_t distinct_reads = 0;
  std::uint64_t distinct_writes = 0;
  /// Those of distinct_reads that loads read: copies do not share what the first level keeps.
  std::uint64_t distinct_loads = 0;
  /// Bytes of all allocations that were touched: the least that whole operands cost in DRAM.
  std::uint64_t touched_bytes = 0;

  [[nodiscard]] InstructionFacts total() const;
  /// Issues by unit.
  [[nodiscard]] std::array<std::uint64_t, kUnits> issues_by_unit() const;
};

/// Collects the facts of a launch; its observers add to it. Thread-safe.
class FactCollector {
 public:
  explicit FactCollector(std::shared_ptr<const Program> program);
  /// Watches one cluster, and passes everything on to `next`, which may be null.
  [[nodiscard]] std::unique_ptr<Observer> watch(std::unique_ptr<Observer> next = nullptr);
  [[nodiscard]] FactSheet take();
  /// What one cluster did; `touched` are allocations of the launch.
  void add(const FactSheet& cluster, const std::set<const Allocation*>& touched);

 private:
  std::mutex mutex_;
  FactSheet sheet_;
  std::set<const Allocation*> touched_;
};

}  // namespace kiln::emulated
