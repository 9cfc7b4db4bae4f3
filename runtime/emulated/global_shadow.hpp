// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/observer.hpp"

namespace kiln::emulated {

/// What blocks did to global memory in one launch: who wrote each place last, and who the last two
/// blocks are that have read it since. A place is as large as the smallest access so far in its
/// page: words where all access words, bytes where somebody accesses bytes. Blocks are ordered only
/// by what they tell each other through atomic operations between fences. One object serves all
/// host threads of a launch.
class GlobalShadow {
 public:
  using Clocks = std::map<std::uint32_t, std::uint32_t>;  ///< by block; absent: 0

  /// One block's knowledge, kept by its checker.
  struct BlockState {
    std::uint32_t block = 0;  ///< flat index in the grid
    std::uint32_t clock = 1;
    std::uint32_t published = 0;  ///< its clock at its last fence
    Clocks known;                 ///< what others had published when it last fenced
    Clocks seen;                  ///< what atomics told it since
  };

  struct Conflict {
    std::uint32_t block = 0;  ///< of the earlier access
    std::uint32_t instruction = 0;
    bool wrote = false;
  };

  /// Notes an access of at least one byte, within a page of 4,096 bytes as every aligned one is;
  /// true and the conflict if an unordered access of another block was there.
  [[nodiscard]] bool access(const BlockState& state, std::uint64_t address, int bytes, bool writes,
                            std::uint32_t instruction, Conflict& conflict);
  static void fence(BlockState& state);
  /// A synchronising access at an address: takes what others published there (acquire), publishes
  /// what the block had done before its last fence (release), or both.
  void atomic(BlockState& state, std::uint64_t object, Order order);
  /// The same where others write down what they publish.
  static void exchange(BlockState& state, Clocks& at, Order order);

 private:
  struct Cell {
    std::uint32_t writer = 0;  ///< block + 1
    std::uint32_t write_clock = 0;
    std::uint32_t write_instruction = 0;
    std::uint32_t reader = 0;  ///< block + 1 of the last reader
    std::uint32_t read_clock = 0;
    std::uint32_t read_instruction = 0;
    std::uint32_t other_reader = 0;  ///< the same of the last that is another block
    std::uint32_t other_clock = 0;
  };
  static constexpr std::uint64_t kPage = 4096;
  struct Page {
    std::uint32_t place_bytes = 0;  ///< a power of two; 0: nobody was here
    std::vector<Cell> cells;        ///< one for each place
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Page> pages;
  };
  static void divide(Page& page, std::uint32_t place_bytes);
  static bool ordered(const BlockState& state, std::uint32_t block, std::uint32_t clock);

  std::array<Shard, 64> shards_;
  std::mutex objects_mutex_;
  std::unordered_map<std::uint64_t, Clocks> objects_;
};

}  // namespace kiln::emulated
