// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/host_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace kiln::emulated {
namespace {

/// Less comes from the heap: a process can have some ten thousand mappings and no more.
constexpr std::size_t kLeastMapped = std::size_t{1} << 20;

}  // namespace

void HostPages::Release::operator()(void* start) const noexcept {
  if (bytes < kLeastMapped) {
    std::free(start);
  } else {
    munmap(start, bytes);
  }
}

void* HostPages::reserve(std::size_t bytes, Room room) {
  void* start = nullptr;
  if (bytes < kLeastMapped) {
    start = std::calloc(bytes > 0 ? bytes : 1, 1);
  } else {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (room == Room::none ? MAP_NORESERVE : 0);
    start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (start == MAP_FAILED) start = nullptr;
  }
  if (start == nullptr) throw std::bad_alloc();
  return start;
}

void HostPages::clear(std::byte* start, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t first = (from + page - 1) / page * page;
  const std::uintptr_t last = (from + bytes) / page * page;
  // Only pieces with pages of their own are that long.
  const bool whole = bytes >= kLeastMapped && first < last &&
                     madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) == 0;
  if (!whole) {
    std::memset(start, 0, bytes);
    return;
  }
  std::memset(start, 0, first - from);
  std::memset(reinterpret_cast<void*>(last), 0, from + bytes - last);
}

}  // namespace kiln::emulated
