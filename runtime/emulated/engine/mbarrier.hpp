// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

/// The state of one mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions:
/// mbarrier"). A phase is complete when no arrivals and no bytes are missing; the next one begins
/// at once. Operations return what is wrong with them, or "".
class Mbarrier {
 public:
  /// Counts and byte counts have 20 bits.
  static constexpr std::uint32_t kMost = (1U << 20U) - 1;

  explicit Mbarrier(std::uint32_t count) : expected_(count), pending_(count) {}

  /// `drop`: the phases after this one expect `count` fewer. `completes` false: the caller has
  /// promised that this arrival does not complete the phase.
  [[nodiscard]] std::string arrive(std::uint32_t count, bool drop, bool completes);
  /// One more arrival is needed in this phase.
  [[nodiscard]] std::string expect_arrival();
  [[nodiscard]] std::string expect_bytes(std::uint32_t bytes);
  [[nodiscard]] std::string complete_bytes(std::uint32_t bytes);

  /// How many phases are complete.
  [[nodiscard]] std::uint32_t phase() const { return phase_; }
  [[nodiscard]] std::uint32_t parity() const { return phase_ & 1U; }
  [[nodiscard]] std::uint32_t pending() const { return pending_; }
  /// Whether a fence after its initialisation has let asynchronous copies see it.
  [[nodiscard]] bool published() const { return published_; }
  void publish() { published_ = true; }
  /// "phase 3 (parity 1) misses 2 of 4 arrivals and 512 bytes"
  [[nodiscard]] std::string text() const;

 private:
  void settle();

  std::uint32_t expected_;
  std::uint32_t pending_;
  std::int32_t bytes_ = 0;  ///< missing in this phase; below 0 when they came before expect-tx
  std::uint32_t phase_ = 0;
  bool published_ = false;
};

/// The mbarriers of one block's shared memory. Memory itself holds a token in their places, so that
/// overwriting one is noticed.
class MbarrierTable {
 public:
  static constexpr std::uint64_t kToken = 0x6d62617272696572;

  [[nodiscard]] Mbarrier* find(std::uint32_t offset);
  void init(std::uint32_t offset, std::uint32_t count);
  void erase(std::uint32_t offset) { barriers_.erase(offset); }
  /// A fence for initialisations or for the asynchronous proxy.
  void publish() {
    for (auto& [offset, barrier] : barriers_) barrier.publish();
  }

  // Who waits, for the report of a deadlock.
  void note_wait(int warp, LaneMask lanes, std::uint32_t offset, std::uint32_t parity);
  void forget_wait(int warp, LaneMask lanes);
  /// "warp 0, 2 wait for parity 1 of the mbarrier at offset 64, whose phase ..."
  [[nodiscard]] std::string waiting_text() const;

 private:
  struct Waiter {
    int warp = 0;
    LaneMask lanes = 0;
    std::uint32_t offset = 0;
    std::uint32_t parity = 0;
  };
  std::map<std::uint32_t, Mbarrier> barriers_;
  std::vector<Waiter> waiters_;
};

}  // namespace kiln::emulated
