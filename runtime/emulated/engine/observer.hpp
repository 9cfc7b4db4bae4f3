// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/report.hpp"

namespace kiln::emulated {

class Block;
class Cluster;
class Warp;

enum class FenceKind : std::uint8_t {
  block,         ///< between threads of a block
  generic,       ///< wider than that
  access,        ///< as wide, but part of an access that acquires or releases
  async,         ///< orders generic before asynchronous accesses
  barrier_init,  ///< orders initialisations of mbarriers
};
/// The relaxed orders count together with fences alone: what came before the last fence is
/// released, what is acquired is known behind the next one.
enum class Order : std::uint8_t { acquire, release, both, relaxed_acquire, relaxed_release };
[[nodiscard]] constexpr bool acquires(Order order) {
  return order == Order::acquire || order == Order::both || order == Order::relaxed_acquire;
}
[[nodiscard]] constexpr bool releases(Order order) {
  return order == Order::release || order == Order::both || order == Order::relaxed_release;
}
[[nodiscard]] constexpr bool is_relaxed(Order order) {
  return order == Order::relaxed_acquire || order == Order::relaxed_release;
}

/// Watches a cluster of blocks run. Checks and fact counters are observers; the engine works the
/// same without. One observer serves one cluster, on one host thread at a time.
class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// A cluster begins; its blocks' shared memory is unwritten.
  virtual void begin(Cluster&) {}
  /// Every warp of the cluster has exited, or a fault ended it.
  virtual void end(Cluster&) {}
  /// An instruction is issued for the lanes of `active`, which may be empty (guarded off).
  virtual void issue(Warp&, const Instr&, LaneMask /*active*/) {}
  /// Memory is about to be read or written by a warp; `host` is filled.
  virtual void access(Warp&, const Instr&, const WarpAccess&) {}
  /// An operation of the asynchronous proxy begins that writes bytes of a block's shared memory
  /// (a bulk copy; kind store) or reads them (a bulk store's source, wgmma's operands; kind load),
  /// any time until `async_end` with the same token.
  virtual void async_begin(Warp&, const Instr&, Block& /*owner*/, std::uint32_t /*offset*/,
                           std::uint32_t /*bytes*/, AccessKind, std::uint64_t /*token*/) {}
  /// The operation, or the part of one lane in it, has ended. `object` is what it reports to, as
  /// for synchronise().
  virtual void async_end(std::uint64_t /*token*/, std::uint64_t /*object*/) {}
  /// The warp issues operations that end with async_end() of this token and of those behind it,
  /// `count` in all. Not told of all operations, but also of some that have no async_begin().
  virtual void async_issue(Warp&, std::uint64_t /*token*/, std::uint64_t /*count*/) {}
  /// A thread's copy by cp.async has ended, its warp's `number`th from 1 on. This tells nobody of
  /// it, the thread neither.
  virtual void copy_end(Warp&, int /*lane*/, std::uint64_t /*token*/, std::uint32_t /*number*/) {}
  /// The thread knows now, or, if `object` is not 0, who acquires that will know what the thread's
  /// copies up to this number did.
  virtual void copies_known(Warp&, int /*lane*/, std::uint32_t /*number*/,
                            std::uint64_t /*object*/) {}
  /// Lanes of a warp have synchronised with each other (bar.warp.sync).
  virtual void warp_sync(Warp&, LaneMask) {}
  /// Lanes have arrived at a barrier of their block (0 to 15) or of the cluster (kClusterBarrier).
  /// A relaxed arrival orders what came before the warp's last fence.
  virtual void barrier_arrive(Warp&, int /*barrier*/, LaneMask, bool /*relaxed*/) {}
  /// A barrier has opened; warps that wait at it go on. A warp that waits for the cluster's barrier
  /// after it opened goes on at once, and is told here alone.
  virtual void barrier_open(Block&, int /*barrier*/) {}
  virtual void barrier_pass(Warp&, int /*barrier*/) {}
  /// An atomic operation, or a load that acquires or store that releases, at a global or shared
  /// address; `object` is that address and for mbarriers the parity of the phase.
  virtual void synchronise(Warp&, const Instr&, std::uint64_t /*object*/, LaneMask, Order) {}
  virtual void fence(Warp&, LaneMask, FenceKind) {}
  /// An mbarrier comes to a phase: to 0 by its initialisation, to others when a lane, or what it
  /// began, completes the one before. `object` is that of the phase before.
  virtual void begin_phase(Warp&, const Instr&, int /*lane*/, std::uint64_t /*object*/,
                           std::uint32_t /*phase*/) {}
};

}  // namespace kiln::emulated
