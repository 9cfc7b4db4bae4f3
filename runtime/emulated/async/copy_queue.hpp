// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;

/// The cp.async copies of one warp that have not been waited for. A copy happens when a wait
/// demands it and not before, so that a kernel which forgets to wait reads old data. Groups are
/// each thread's own; the records of an instruction serve all its lanes. If a warp waits for none
/// of very many, the oldest happen, as they may at any time. When a copy happens says nothing of
/// who knows of it: the observer is told that apart, by numbers in the order of the instructions.
class CopyQueue {
 public:
  struct Copy {
    LaneMask lanes = 0;  ///< whose copies are still to come
    int bytes = 0;
    std::array<std::byte*, kLanes> to{};
    std::array<const std::byte*, kLanes> from{};
    std::array<std::uint8_t, kLanes> source_bytes{};  ///< the rest is zero
    std::uint64_t token = 0;                          ///< of lane 0; each lane has the next
    std::uint32_t number = 0;                         ///< given by start(), from 1 on
  };

  explicit CopyQueue(Warp& warp) : warp_(warp) {}

  /// Adds a copy to the open groups of its lanes.
  void start(Copy copy);
  /// Closes the lanes' groups.
  void commit(LaneMask lanes);
  /// Does the lanes' copies but for those of the `pending` newest closed groups.
  void wait(LaneMask lanes, std::uint32_t pending);
  /// Does all the lanes' copies, of open groups too.
  void wait_all(LaneMask lanes);
  /// The number of the newest copy.
  [[nodiscard]] std::uint32_t newest() const { return newest_; }
  /// Does the lane's copies up to a number. Who acquires `object`, as observers name an mbarrier,
  /// knows of them, and of those that were done before.
  void notify(int lane, std::uint32_t number, std::uint64_t object);

 private:
  /// More than fill all of a block's shared memory.
  static constexpr std::ptrdiff_t kMostCopies = 4096;
  static constexpr std::ptrdiff_t kMostCommits = 4096;

  struct Commit {
    LaneMask lanes = 0;
    std::uint32_t newest = 0;  ///< copy by then
  };
  /// What a wait is for: lanes, and up to which number.
  using Limits = std::array<std::uint32_t, kLanes>;

  void complete(LaneMask lanes, const Limits& limits);
  void complete_lane(Copy& copy, int lane);
  void wait_until(LaneMask lanes, const Limits& limits);

  Warp& warp_;
  std::vector<Copy> copies_;
  std::uint32_t newest_ = 0;
  std::vector<Commit> commits_;
  /// Of each lane, the newest copy of the commits that are forgotten because they are so many.
  Limits forgotten_{};
};

}  // namespace kiln::emulated
