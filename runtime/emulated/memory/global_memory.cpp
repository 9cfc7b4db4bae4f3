// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/global_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/emulated/decode/report.hpp"

namespace kiln::emulated {
namespace {

/// What fresh memory holds: a signalling pattern in most types, so that results made from it show.
constexpr int kFreshByte = 0xcd;

/// That allocations of a GPU have, whatever is asked for.
constexpr std::int64_t kAlignment = 256;

/// Around exact memory: as far as it is long, so that an index of a wrong row, or one that is twice
/// as large as it should be, stays between.
constexpr std::int64_t kLeastExactGap = 1 << 20;
constexpr std::int64_t kMostExactGap = 64 << 20;

}  // namespace

void Allocation::mark_written(std::uint64_t at, std::uint64_t length) const {
  if (!written) return;
  std::uint8_t* const flags = written.get() + (at - address);
  for (std::uint64_t i = 0; i < length; ++i) {
    // Mostly they are set, and stores would take the line from other processors.
    const std::atomic_ref<std::uint8_t> flag(flags[i]);
    if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
  }
}

void Allocation::forget_writes(std::uint64_t at, std::uint64_t length) const {
  if (written) std::memset(written.get() + (at - address), 0, length);
}

std::string Allocation::describe() const {
  if (!name.empty()) return fmt::format("variable '{}' of {} bytes", name, bytes);
  if (purpose.empty()) return fmt::format("an allocation of {} bytes", bytes);
  return fmt::format("{} ({} bytes)", purpose, bytes);
}

std::string Allocation::place_text(std::uint64_t at, int element_bytes) const {
  const std::string array = name.empty() && !purpose.empty() ? purpose : describe();
  return place_within(array, static_cast<std::int64_t>(at - address), element_bytes);
}

void Allocation::fill(std::uint64_t at, std::uint8_t value, std::int64_t length) const {
  const auto count = static_cast<std::size_t>(length);
  if (value == 0 && !written) {
    HostPages::clear(host(at), count);
    return;
  }
  std::memset(host(at), value, count);
  if (written) std::memset(written.get() + (at - address), 1, count);
}

std::optional<std::uint64_t> Allocation::first_unwritten(std::uint64_t at,
                                                         std::uint64_t length) const {
  if (!written) return std::nullopt;
  std::uint8_t* const flags = written.get() + (at - address);
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::atomic_ref<std::uint8_t> flag(flags[i]);
    if (flag.load(std::memory_order_relaxed) == 0) return at + i;
  }
  return std::nullopt;
}

const Allocation& GlobalMemory::allocate(const AllocationWish& wish) {
  const std::unique_lock lock(mutex_);
  const std::int64_t bytes = wish.bytes;
  // Room to move the address to where its alignment is as wished, and no larger.
  const std::int64_t step = wish.exact ? std::max(wish.alignment, kAlignment) : wish.alignment;
  const std::int64_t room = wish.exact ? 2 * step : step;
  const std::int64_t around = 2 * kRedZoneBytes + room;
  const std::int64_t left = limit_bytes_ - used_bytes_;
  if (bytes < 0 || (!wish.unbacked && (around > left || bytes > left - around))) {
    throw Error(
        ErrorKind::device,
        fmt::format("the emulated GPU has {} of {} bytes left, but the program requests {} bytes. "
                    "Next: use a smaller problem, or an emulated device with more memory.",
                    left, limit_bytes_, bytes));
  }
  Allocation piece;
  piece.bytes = bytes;
  piece.read_only = wish.read_only;
  piece.name = wish.name;
  piece.purpose = wish.purpose;
  piece.charged_bytes = wish.unbacked ? 0 : bytes + around;
  piece.gap_bytes = wish.exact ? std::clamp(bytes, kLeastExactGap, kMostExactGap) : kRedZoneBytes;
  const bool painted = backing_ == Backing::painted && !wish.unbacked;
  try {
    // The host gives pages to what is touched, which gaps never are.
    piece.block =
        HostPages::make<std::byte>(static_cast<std::size_t>(bytes + 2 * piece.gap_bytes + room),
                                   painted ? HostPages::Room::whole : HostPages::Room::none);
    if (painted) {
      piece.written =
          HostPages::make<std::uint8_t>(static_cast<std::size_t>(bytes), HostPages::Room::whole);
    }
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::device, fmt::format("the host has less than {} bytes of free memory for "
                                               "the emulated GPU. Next: use a smaller problem.",
                                               bytes));
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(piece.block.get()) +
                     static_cast<std::uintptr_t>(piece.gap_bytes);
  const auto multiple = static_cast<std::uintptr_t>(step);
  piece.address = (begin + multiple - 1) / multiple * multiple;
  if (wish.exact && wish.alignment < kAlignment) {
    piece.address += static_cast<std::uint64_t>(wish.alignment);
  }
  if (painted) {
    std::memset(piece.host(piece.address), kFreshByte, static_cast<std::size_t>(bytes));
  }
  used_bytes_ += piece.charged_bytes;
  const std::uint64_t address = piece.address;
  return allocations_.emplace(address, std::move(piece)).first->second;
}

const Allocation& GlobalMemory::allocate(std::int64_t bytes) {
  AllocationWish wish;
  wish.bytes = bytes;
  return allocate(wish);
}

void GlobalMemory::free(std::uint64_t address) noexcept {
  const std::unique_lock lock(mutex_);
  const auto at = allocations_.find(address);
  if (at == allocations_.end()) return;
  used_bytes_ -= at->second.charged_bytes;
  allocations_.erase(at);
}

void GlobalMemory::guard_gaps(std::uint64_t address, const Allocation::Rows& rows) {
  const std::unique_lock lock(mutex_);
  const auto at = allocations_.find(address);
  if (at != allocations_.end()) at->second.rows = rows;
}

const Allocation* GlobalMemory::find(std::uint64_t address) const {
  const Allocation* near = nearest(address);
  return near != nullptr && near->holds(address, 1) ? near : nullptr;
}

const Allocation* GlobalMemory::nearest(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto above = allocations_.upper_bound(address);
  return above == allocations_.begin() ? nullptr : &std::prev(above)->second;
}

std::string GlobalMemory::place_text(std::uint64_t address, std::uint64_t bytes) const {
  if (address < static_cast<std::uint64_t>(kRedZoneBytes)) return "a null pointer";
  const std::shared_lock lock(mutex_);
  const auto above = allocations_.upper_bound(address);
  if (above != allocations_.begin()) {
    const Allocation& near = std::prev(above)->second;
    const auto size = static_cast<std::uint64_t>(near.bytes);
    const std::uint64_t offset = address - near.address;
    if (offset < size) return "across the end of " + near.describe();
    if (offset - size < static_cast<std::uint64_t>(near.gap_bytes)) {
      if (offset == size) return "directly past the end of " + near.describe();
      return fmt::format("{} bytes past the end of {}", offset - size, near.describe());
    }
  }
  if (above != allocations_.end()) {
    const Allocation& near = above->second;
    const std::uint64_t distance = near.address - address;
    if (distance < bytes) return "across the beginning of " + near.describe();
    if (distance <= static_cast<std::uint64_t>(near.gap_bytes)) {
      return fmt::format("{} bytes before {}", distance, near.describe());
    }
  }
  return "which lies in no allocation";
}

std::int64_t GlobalMemory::free_bytes() const {
  const std::shared_lock lock(mutex_);
  return limit_bytes_ - used_bytes_;
}

}  // namespace kiln::emulated
