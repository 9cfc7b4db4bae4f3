// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;

/// A bulk copy out of shared memory. It reads its source and writes its destination as two steps,
/// because a thread may wait for the first alone.
struct BulkStore {
  std::function<void()> read;  ///< into a buffer
  std::function<void()> write;
  std::uint64_t token = 0;  ///< of the promise that does both
  bool has_read = false;

  void read_once() {
    if (!has_read) read();
    has_read = true;
  }
};

/// The bulk copies that the threads of a warp wait for in groups (cp.async.bulk.commit_group and
/// wait_group). Groups are each thread's own. Of very many that nobody waits for, or for whose
/// sources alone, the oldest are done, as they may be at any time.
class BulkGroups {
 public:
  explicit BulkGroups(Warp& warp) : warp_(warp) {}

  void start(int lane, std::shared_ptr<BulkStore> store);
  void commit(LaneMask lanes);
  /// Until at most `pending` of the closed groups are unfinished; `reads` looks at the sources
  /// alone.
  void wait(const Instr& instr, LaneMask lanes, std::uint32_t pending, bool reads);
  /// What observers are told that these copies report to.
  [[nodiscard]] std::uint64_t object() const { return reinterpret_cast<std::uintptr_t>(this); }

 private:
  using Group = std::deque<std::shared_ptr<BulkStore>>;
  struct Lane {
    Group open;
    std::deque<Group> closed;
    std::size_t read = 0;  ///< so many of the oldest closed groups have read their sources
  };
  /// Does all of the oldest closed groups but `left`.
  void finish(Lane& lane, std::size_t left);

  Warp& warp_;
  std::map<int, Lane> lanes_;  ///< few lanes copy in bulk
};

}  // namespace kiln::emulated
