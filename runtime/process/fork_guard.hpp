// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

namespace kiln::detail {

/// Raised in each child of fork(). The value that an object recorded says whether it belongs to
/// this process: locks that other threads had, open databases and CUDA are of no use to a child.
/// Hidden, so that reading it is one instruction.
[[gnu::visibility("hidden")]] extern std::atomic<std::uint32_t> fork_count;

/// The value for objects created by this process; neither locks nor allocates.
[[nodiscard]] inline std::uint32_t this_process() noexcept {
  return fork_count.load(std::memory_order_relaxed);
}

/// Throws Error(usage): an object of the parent process is used in a child.
[[noreturn]] void refuse_parents_object();

/// Throws Error(usage) in the child of a fork() that was made while another thread was at work:
/// locks of Kiln, SQLite or NVRTC may then be held for ever.
void require_whole_process();

/// While it lives, this thread may take such locks.
class LibraryWork {
 public:
  LibraryWork() noexcept;
  ~LibraryWork();
  LibraryWork(const LibraryWork&) = delete;
  LibraryWork& operator=(const LibraryWork&) = delete;
};

/// Leaks what belongs to the parent process, which must not be torn down here.
template <class Owner>
void abandon(Owner owner) noexcept {
  static_cast<void>(new (std::nothrow) Owner(std::move(owner)));
}

}  // namespace kiln::detail
