// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "runtime/emulated/memory/host_pages.hpp"

namespace kiln::emulated {

/// One piece of device memory. `address` is what kernels see; it is the host's address too.
struct Allocation {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t charged_bytes = 0;     ///< of the device's memory, red zones and all
  bool read_only = false;             ///< a __constant__ variable
  std::string name;                   ///< of a module's variable; "" for plain memory
  std::string purpose;                ///< of plain memory, for messages; may be ""
  std::int64_t gap_bytes = 0;         ///< that are free of other memory on both sides, at least
  HostPages::Piece<std::byte> block;  ///< with the gaps around the memory
  /// One byte for each byte of memory: not 0 once it was written. Bytes and not bits, because
  /// blocks on several host threads write neighbours at the same time. None where memory is sparse.
  HostPages::Piece<std::uint8_t> written;

  /// Rows that may be used, with gaps between them that may not; a pitch of 0: all of it may.
  struct Rows {
    std::int64_t bytes = 0;
    std::int64_t pitch = 0;
  };
  Rows rows;

  /// "an allocation of 64 bytes", or the purpose and the size.
  [[nodiscard]] std::string describe() const;
  /// place_within() it, of an address that it holds.
  [[nodiscard]] std::string place_text(std::uint64_t at, int element_bytes) const;
  [[nodiscard]] bool holds(std::uint64_t at, std::int64_t length) const {
    return at >= address && length <= bytes &&
           at - address <= static_cast<std::uint64_t>(bytes - length);
  }
  /// If bytes that it holds reach into a gap: how far into it the first of them or, if they begin
  /// in a row, its end; and the row before the gap.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> reached_gap(
      std::uint64_t at, std::int64_t length) const {
    if (rows.pitch == 0) return std::nullopt;
    const auto offset = static_cast<std::int64_t>(at - address);
    const std::int64_t in_row = offset % rows.pitch;
    if (in_row + length <= rows.bytes) return std::nullopt;
    return std::pair(std::max<std::int64_t>(in_row - rows.bytes, 0), offset / rows.pitch);
  }
  /// Notes that bytes within are written, and asks so. Thread-safe.
  void mark_written(std::uint64_t at, std::uint64_t length) const;
  /// As if nobody had written them. Not while kernels use the memory.
  void forget_writes(std::uint64_t at, std::uint64_t length) const;
  /// From outside of a launch: sets bytes, which then are written.
  void fill(std::uint64_t at, std::uint8_t value, std::int64_t length) const;
  /// The first byte within that nobody has written; nothing if all are written. Thread-safe.
  [[nodiscard]] std::optional<std::uint64_t> first_unwritten(std::uint64_t at,
                                                             std::uint64_t length) const;
  [[nodiscard]] std::byte* host(std::uint64_t at) const {
    return block.get() + (at - reinterpret_cast<std::uintptr_t>(block.get()));
  }
};

/// What a piece of memory is to be like.
struct AllocationWish {
  std::int64_t bytes = 0;
  std::int64_t alignment = 256;  ///< of its address: a power of two
  /// Its address is of no larger alignment, as far as `alignment` is below 256; and it lies far
  /// from all other memory, so that wrong rows and tiles do not reach any.
  bool exact = false;
  bool unbacked = false;  ///< as if Backing::sparse, and against no limit
  bool read_only = false;
  std::string name;     ///< see Allocation
  std::string purpose;  ///< likewise
};

/// What fresh memory is like.
enum class Backing : std::uint8_t {
  painted,  ///< a pattern that shows, and it is remembered what was written
  sparse,   ///< zeros, given by the host where they are touched; nothing is remembered
};

/// The device memory of an emulated GPU: the host's memory, in pieces with gaps between them, so
/// that an access just outside one never lies in the next. Thread-safe.
class GlobalMemory {
 public:
  /// The least distance kept free on both sides of an allocation.
  static constexpr std::int64_t kRedZoneBytes = 4096;

  explicit GlobalMemory(std::int64_t limit_bytes, Backing backing = Backing::painted)
      : limit_bytes_(limit_bytes), backing_(backing) {}

  /// Uninitialised for checks (and filled as the backing says). The least gaps and alignment
  /// count against the limit, too, so that many small pieces reach it. Throws Error(device) when
  /// the limit or the host's memory is reached.
  const Allocation& allocate(const AllocationWish& wish);
  const Allocation& allocate(std::int64_t bytes);
  void free(std::uint64_t address) noexcept;
  /// Of the allocation that begins there; not while kernels use it.
  void guard_gaps(std::uint64_t address, const Allocation::Rows& rows);
  /// The allocation that holds the address, or null. It stays valid until it is freed.
  [[nodiscard]] const Allocation* find(std::uint64_t address) const;
  /// The nearest allocation below or at the address, or null.
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;
  /// Where an access lies that no allocation holds as a whole, for messages: "4 bytes past the end
  /// of an allocation of 64 bytes".
  [[nodiscard]] std::string place_text(std::uint64_t address, std::uint64_t bytes) const;
  [[nodiscard]] std::int64_t free_bytes() const;

 private:
  std::int64_t limit_bytes_;
  Backing backing_;
  std::int64_t used_bytes_ = 0;
  std::map<std::uint64_t, Allocation> allocations_;
  mutable std::shared_mutex mutex_;
};

}  // namespace kiln::emulated
