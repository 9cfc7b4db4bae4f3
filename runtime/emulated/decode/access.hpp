// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/emulated/decode/program.hpp"

/// \file
/// Addresses and accesses. Global and constant addresses are the host's. The windows of the other
/// spaces lie where no host address can: above the canonical half of the address space.

namespace kiln::emulated {

inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 56;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{3} << 56;
inline constexpr std::uint64_t kWindowMask = std::uint64_t{0xff} << 56;

/// Where a block's shared memory begins within the shared space, as on the hardware, which keeps
/// the first KiB; so a null pointer is outside.
inline constexpr std::uint32_t kSharedBase = 1024;
/// Within a shared-space address of 32 bits: the low bits are an offset, and above them stands 0
/// for the own block or 1 + rank for a block of the cluster.
inline constexpr int kSharedRankShift = 24;

/// An async_store begins with the instruction and ends when Observer::async_end is told its token.
enum class AccessKind : std::uint8_t { load, store, atomic, async_store };

/// A copy from global to shared memory (cp.async) as a whole: what its two accesses cost depends on
/// both of its ends.
struct AsyncCopy {
  const std::uint64_t (&from)[kLanes];
  const std::uint64_t (&to)[kLanes];
  LaneMask zeros = 0;     ///< lanes that read nothing and write zeros
  bool sized = false;     ///< how many bytes are read is known at run time only
  bool bypasses = false;  ///< the first-level cache (cp.async.cg)
};

/// The memory that one instruction of one warp touches: up to 32 pieces of `bytes` bytes.
/// An access wider than 16 bytes never occurs.
struct WarpAccess {
  ptx::Space space = ptx::Space::generic;
  AccessKind kind = AccessKind::load;
  int bytes = 0;              ///< per lane
  int element_bytes = 0;      ///< of one element of a lane's vector; 0: nobody knows
  int alignment = 0;          ///< that addresses need; 0: `bytes`
  LaneMask lanes = 0;         ///< that take part
  bool in_cluster = false;    ///< addresses of `space` shared may be of other blocks
  bool matrix_rows = false;   ///< rows of 16 bytes that ldmatrix or stmatrix move
  bool is_volatile = false;   ///< which synchronises, but no lanes of a warp that run together
  bool synchronises = false;  ///< has acquire or release semantics, or is volatile: no data race
  std::uint64_t token = 0;    ///< of lane 0 of an async_store; each lane has the next
  std::uint64_t address[kLanes] = {};
  int issuer = -1;  ///< the lane that all pieces are of; -1: each piece is of its own
  const AsyncCopy* copy = nullptr;  ///< the access is one end of it; valid for the call only
  /// Filled by Warp::resolve: where the bytes lie in the host's memory.
  std::byte* host[kLanes] = {};
};

/// Where an access really goes: generic addresses say it themselves, one lane speaks for all.
enum class AccessSpace : std::uint8_t { shared, global, other };
[[nodiscard]] inline AccessSpace space_of(const WarpAccess& access) {
  if (access.space == ptx::Space::shared) return AccessSpace::shared;
  if (access.space == ptx::Space::global) return AccessSpace::global;
  if (access.space != ptx::Space::generic || access.lanes == 0) return AccessSpace::other;
  const std::uint64_t window = access.address[std::countr_zero(access.lanes)] & kWindowMask;
  if (window == kSharedWindow) return AccessSpace::shared;
  return window == 0 ? AccessSpace::global : AccessSpace::other;
}

/// Whether it reads global memory through the first-level cache, where later loads find it. Copies
/// are taken to leave nothing there, cp.async.ca neither.
[[nodiscard]] inline bool is_cached_load(const Instr& instr, const WarpAccess& access) {
  return access.kind == AccessKind::load && instr.unit != Unit::async_copy &&
         space_of(access) == AccessSpace::global;
}

}  // namespace kiln::emulated
