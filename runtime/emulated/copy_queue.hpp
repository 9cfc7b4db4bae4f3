// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/emulated/program.hpp"

namespace kiln::emulated {

class Warp;

/// The cp.async copies of one warp that nobody has waited for yet. A copy happens when a wait
/// demands it and not before, so that a kernel which forgets to wait reads old data. Groups are
/// each thread's own; the records of an instruction serve all its lanes. If a warp waits for none
/// of very many, the oldest happen, as they may at any time.
class CopyQueue {
 public:
  struct Copy {
    LaneMask lanes = 0;  ///< whose copies are still to come
    int bytes = 0;
    std::array<std::byte*, kLanes> to{};
    std::array<const std::byte*, kLanes> from{};
    std::array<std::uint8_t, kLanes> source_bytes{};  ///< the rest is zero
    std::array<std::uint32_t, kLanes> group{};
    std::uint64_t token = 0;  ///< of lane 0; each lane has the next
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
  /// Does the lane's copies that began before `token` was given out. They report to `object`, as
  /// observers name an mbarrier; a later wait of the lane is for them, too.
  void complete_before(int lane, std::uint64_t token, std::uint64_t object);

 private:
  /// More than fill all of a block's shared memory.
  static constexpr std::ptrdiff_t kMostCopies = 4096;

  void complete(Copy& copy, LaneMask lanes);
  void complete_lane(Copy& copy, int lane, std::uint64_t object = 0);
  void forget_done();
  void wait_for_reported(LaneMask lanes);

  Warp& warp_;
  std::vector<Copy> copies_;
  std::array<std::uint32_t, kLanes> closed_{};  ///< how many groups each lane has closed
  /// What the lanes' copies have reported to since they last waited.
  std::map<std::uint64_t, LaneMask> reported_;
};

}  // namespace kiln::emulated
