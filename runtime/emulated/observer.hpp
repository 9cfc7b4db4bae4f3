// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/access.hpp"
#include "runtime/emulated/report.hpp"

namespace kiln::emulated {

class Block;
class Cluster;
class Warp;

enum class Proxy : std::uint8_t { generic, async };
enum class Order : std::uint8_t { acquire, release, both };

/// Watches a cluster of blocks run. Checks and fact counters are observers; the engine works the
/// same without. One observer serves one cluster at a time, on one host thread.
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
  /// The asynchronous proxy reads or writes `bytes` of shared memory of a block, on behalf of an
  /// instruction of `warp` that was issued earlier.
  virtual void async_access(Warp&, const Instr&, Block& /*owner*/, std::uint32_t /*offset*/,
                            std::uint32_t /*bytes*/, AccessKind) {}
  /// Bytes of shared memory that an asynchronous operation will write (or, for a store's source and
  /// wgmma's operands, still reads) until `async_end` is called with the same token.
  virtual void async_begin(Warp&, const Instr&, Block& /*owner*/, std::uint32_t /*offset*/,
                           std::uint32_t /*bytes*/, AccessKind, std::uint64_t /*token*/) {}
  virtual void async_end(std::uint64_t /*token*/) {}
  /// Lanes of a warp have synchronised with each other (bar.warp.sync).
  virtual void warp_sync(Warp&, LaneMask) {}
  /// Lanes have arrived at a synchronising object (a barrier of the block or cluster, an mbarrier
  /// or atomic at an address) or have been let through by it. `object` tells objects apart.
  virtual void synchronise(Warp&, std::uint64_t /*object*/, LaneMask, Order) {}
  /// A memory fence; for Proxy::async it orders generic before asynchronous accesses.
  virtual void fence(Warp&, LaneMask, Proxy) {}
};

}  // namespace kiln::emulated
