// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/engine/observer.hpp"

namespace kiln::emulated {

/// What threads did to global memory in one launch: which wrote each place last, and the last two
/// warps of the last block, and the last other block, that have read it since. A place is as large
/// as the smallest access so far in its page: words where all access words, bytes where any access
/// is of bytes. Blocks are ordered only by what they tell each other through atomic operations
/// between fences; of its threads each block knows the order itself. One object serves all host
/// threads of a launch.
class GlobalShadow {
 public:
  /// Up to which clock of a block everything that it did is known.
  struct Known {
    std::uint32_t direct = 0;   ///< from itself
    std::uint32_t relayed = 0;  ///< from another block, which knew it
  };
  /// By block; absent: zeros. All blocks of a cooperative launch know of all others, so this is a
  /// sorted list: they exchange it at every barrier.
  class Clocks {
   public:
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    void clear() { entries_.clear(); }
    [[nodiscard]] Known of(std::uint32_t block) const;
    /// Calls `take(block, mine, theirs)` for each block that the others have.
    template <class Take>
    void take_from(const Clocks& others, Take take);
    /// What is known from a block itself, at least.
    void raise_direct(std::uint32_t block, std::uint32_t clock);

   private:
    struct Entry {
      std::uint32_t block = 0;
      Known known;
    };
    /// Adds zeros for blocks that only the others have.
    void add_blocks_of(const Clocks& others);

    std::vector<Entry> entries_;
  };

  /// One block's knowledge, kept by its checker.
  struct BlockState {
    std::uint32_t block = 0;  ///< flat index in the grid
    std::uint32_t clock = 1;
    std::uint32_t published = 0;  ///< its clock at its last fence
    Clocks known;                 ///< what others had published when it last fenced
    Clocks seen;                  ///< what atomics told it since
  };

  /// A step that all threads of the block come behind.
  static constexpr std::uint32_t kKnownStep = 0;
  /// Lanes of a warp of the block at one of its steps.
  struct Threads {
    std::uint32_t warp = 0;
    LaneMask lanes = 1;
    std::uint32_t step = kKnownStep;
  };
  /// An access of at least one byte, within a page of 4,096 bytes as every aligned one is. Several
  /// threads at once only read.
  struct Touch {
    std::uint64_t address = 0;
    int bytes = 0;
    bool writes = false;
    std::uint32_t instruction = 0;
    Threads by;
  };
  /// What the accessing threads know of others of their block.
  class ThreadOrder {
   public:
    virtual ~ThreadOrder() = default;
    /// Whether they come behind what those threads did, or are those.
    [[nodiscard]] virtual bool follows(const Threads& others) const = 0;
  };

  struct Conflict {
    std::uint32_t block = 0;  ///< of the earlier access
    Threads threads;          ///< of it, if that is the same block
    std::uint32_t instruction = 0;
    bool wrote = false;
  };

  /// Notes an access; true and the conflict if an unordered access of another thread was there.
  [[nodiscard]] bool access(const BlockState& state, const Touch& touch, const ThreadOrder& order,
                            Conflict& conflict);
  /// A block that accessed memory which the kernel got has ended. Thread-safe.
  void count_busy(const std::array<std::uint32_t, 3>& place);
  struct Busy {
    std::uint64_t blocks = 0;
    std::array<std::uint32_t, 3> end{};  ///< in each dimension, behind the last of them
  };
  /// Once the launch is over.
  [[nodiscard]] Busy busy() const;
  static void fence(BlockState& state);
  /// A synchronising access at an address: takes what others published there (acquire), publishes
  /// what the block had done before its last fence (release), or both.
  void atomic(BlockState& state, std::uint64_t object, Order order);
  /// The same where others write down what they publish.
  static void exchange(BlockState& state, Clocks& at, Order order);

 private:
  /// An instruction and a thread of the block. Programs have fewer than 2^22 instructions, blocks
  /// 32 warps at most.
  class Site {
   public:
    Site() = default;
    Site(std::uint32_t instruction, std::uint32_t warp, std::uint32_t lane)
        : bits_(instruction << 10U | warp << 5U | lane) {}
    [[nodiscard]] std::uint32_t instruction() const { return bits_ >> 10U; }
    [[nodiscard]] std::uint32_t warp() const { return bits_ >> 5U & 31U; }
    [[nodiscard]] std::uint32_t lane() const { return bits_ & 31U; }

   private:
    std::uint32_t bits_ = 0;
  };
  struct Reading {
    std::uint32_t clock = 0;  ///< of the block
    std::uint32_t step = 0;
    LaneMask lanes = 0;  ///< 0: there was none
    Site site;
  };
  struct Cell {
    std::uint32_t writer = 0;  ///< block + 1
    std::uint32_t write_clock = 0;
    std::uint32_t write_step = 0;
    Site write_site;
    std::uint32_t reader = 0;         ///< block + 1 of the last reader
    std::array<Reading, 2> readings;  ///< of two warps of that block, the last one first
    std::uint32_t other_reader = 0;   ///< block + 1 of the last that is another block
    std::uint32_t other_clock = 0;

    void note_write(const BlockState& state, const Touch& touch);
    void note_read(const BlockState& state, const Touch& touch);
  };
  static constexpr std::uint64_t kPage = 4096;
  struct Page {
    std::uint32_t place_bytes = 0;  ///< a power of two; 0: nobody was here
    std::vector<Cell> cells;        ///< one for each place
  };
  /// Held for some nanoseconds, by one of few host threads.
  class SpinLock {
   public:
    void lock() {
      while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { taken_.clear(std::memory_order_release); }

   private:
    std::atomic_flag taken_;
  };
  struct Shard {
    SpinLock lock;
    std::unordered_map<std::uint64_t, Page> pages;
  };
  static void divide(Page& page, std::uint32_t place_bytes);
  static bool ordered(const BlockState& state, std::uint32_t block, std::uint32_t clock);
  [[nodiscard]] static bool conflicts(const BlockState& state, const Touch& touch,
                                      const ThreadOrder& order, const Cell& cell,
                                      Conflict& conflict);

  std::array<Shard, 64> shards_;
  std::mutex objects_mutex_;
  std::unordered_map<std::uint64_t, Clocks> objects_;
  std::atomic<std::uint64_t> busy_blocks_ = 0;
  std::array<std::atomic<std::uint32_t>, 3> busy_end_{};
};

}  // namespace kiln::emulated
