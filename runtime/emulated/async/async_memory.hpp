// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/observer.hpp"
#include "runtime/emulated/engine/warp.hpp"

/// \file
/// Memory as instructions see it that move more than a warp's access: addresses of whole pieces,
/// and what observers are told of them. Functions with a lane end the launch with a finding about
/// that lane when an address is bad.

namespace kiln::emulated {

/// A place in the shared memory of a block of the cluster.
struct SharedSpot {
  Block* owner = nullptr;
  std::uint32_t offset = 0;  ///< from kSharedBase on

  [[nodiscard]] std::byte* host() const { return owner->shared(offset); }
  /// Its offset as people count it, from the beginning of the block's shared memory.
  [[nodiscard]] std::uint32_t shown() const { return offset - kSharedBase; }
};

/// Finds `bytes` bytes of shared memory at an address of the shared space or a generic one.
[[nodiscard]] SharedSpot shared_spot(Warp& warp, const Instr& instr, int lane,
                                     std::uint64_t address, std::uint64_t bytes,
                                     std::uint32_t alignment);

/// Finds `bytes` bytes of global memory. Stores do not count as done yet; see mark_written().
[[nodiscard]] std::byte* global_spot(Warp& warp, const Instr& instr, int lane,
                                     std::uint64_t address, std::uint64_t bytes, AccessKind kind);

/// Notes that global memory has its contents now.
void mark_written(Warp& warp, std::uint64_t address, std::uint64_t bytes);

/// Tells the observer of global memory in the order in which a copy touches it, as accesses of a
/// full warp where it can.
class GlobalTraffic {
 public:
  /// `lane` is the one that began the copy.
  GlobalTraffic(Warp& warp, const Instr& instr, int lane, AccessKind kind);
  ~GlobalTraffic() = default;
  GlobalTraffic(const GlobalTraffic&) = delete;
  GlobalTraffic& operator=(const GlobalTraffic&) = delete;

  void add(std::uint64_t address, std::byte* host, std::uint64_t bytes);
  /// Tells what has not been told yet; the last call.
  void flush();

 private:
  Warp& warp_;
  const Instr& instr_;
  WarpAccess access_;
  int lanes_ = 0;
};

/// Bytes of shared memory next to each other.
struct SharedRun {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// Tells the observer that the asynchronous proxy begins to write (store) or read (load) these
/// bytes under one token. `runs` come in any order.
void begin_async(Warp& warp, const Instr& instr, Block& owner, std::vector<SharedRun> runs,
                 AccessKind kind, std::uint64_t token);

/// A finding of kind missing_wait if the threads of a block have all exited while an operation
/// still needs its shared memory: on a GPU the memory is another block's by then.
void check_owner_lives(Warp& warp, const Instr& instr, int lane, const Block& owner);

}  // namespace kiln::emulated
