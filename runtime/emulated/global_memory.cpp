// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/global_memory.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "kiln/error.hpp"

namespace kiln::emulated {
namespace {

/// What fresh memory holds: a signalling pattern in most types, so that results made from it show.
constexpr int kFreshByte = 0xcd;

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

void Allocation::fill(std::uint64_t at, std::uint8_t value, std::int64_t length) const {
  const auto count = static_cast<std::size_t>(length);
  if (value == 0 && !written) {
    HostPages::clear(host(at), count);
    return;
  }
  std::memset(host(at), value, count);
  if (written) std::memset(written.get() + (at - address), 1, count);
}

bool Allocation::is_written(std::uint64_t at) const {
  if (!written) return true;
  const std::atomic_ref<std::uint8_t> flag(written[at - address]);
  return flag.load(std::memory_order_relaxed) != 0;
}

const Allocation& GlobalMemory::allocate(std::int64_t bytes, std::int64_t alignment,
                                         const std::string& name, bool read_only) {
  const std::unique_lock lock(mutex_);
  const std::int64_t around = 2 * kRedZoneBytes + alignment;
  const std::int64_t left = limit_bytes_ - used_bytes_;
  if (bytes < 0 || around > left || bytes > left - around) {
    throw Error(ErrorKind::device,
                fmt::format("the emulated GPU has {} of {} bytes left, {} are wanted. Next: use a "
                            "smaller problem, or an emulated device with more memory.",
                            left, limit_bytes_, bytes));
  }
  Allocation piece;
  piece.bytes = bytes;
  piece.read_only = read_only;
  piece.name = name;
  piece.charged_bytes = bytes + around;
  const auto total = static_cast<std::size_t>(piece.charged_bytes);
  try {
    piece.block = HostPages::make<std::byte>(total);
    if (backing_ == Backing::painted) {
      piece.written = HostPages::make<std::uint8_t>(static_cast<std::size_t>(bytes));
      std::memset(piece.block.get(), kFreshByte, total);
    }
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::device,
                fmt::format("the host has no {} bytes left for the emulated GPU. Next: use a "
                            "smaller problem.",
                            bytes));
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(piece.block.get()) +
                     static_cast<std::uintptr_t>(kRedZoneBytes);
  const auto step = static_cast<std::uintptr_t>(alignment);
  piece.address = (begin + step - 1) / step * step;
  used_bytes_ += piece.charged_bytes;
  const std::uint64_t address = piece.address;
  return allocations_.emplace(address, std::move(piece)).first->second;
}

void GlobalMemory::free(std::uint64_t address) noexcept {
  const std::unique_lock lock(mutex_);
  const auto at = allocations_.find(address);
  if (at == allocations_.end()) return;
  used_bytes_ -= at->second.charged_bytes;
  allocations_.erase(at);
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

std::int64_t GlobalMemory::free_bytes() const {
  const std::shared_lock lock(mutex_);
  return limit_bytes_ - used_bytes_;
}

}  // namespace kiln::emulated
