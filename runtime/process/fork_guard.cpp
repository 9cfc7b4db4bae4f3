// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process/fork_guard.hpp"

#include <pthread.h>

#include "kiln/error.hpp"

namespace kiln::detail {

std::atomic<std::uint32_t> fork_count{0};

namespace {

std::atomic<int> threads_at_work{0};
thread_local int depth_of_this_thread = 0;
std::atomic<bool> torn{false};

/// Runs in the child, whose only thread is the copy of the one that forked.
void on_fork() {
  fork_count.fetch_add(1);
  if (threads_at_work > 0) torn = true;
  threads_at_work = depth_of_this_thread;
}

/// As soon as the library is loaded: no call could be early enough for all threads.
[[maybe_unused]] const int kRegistered = ::pthread_atfork(nullptr, nullptr, on_fork);

}  // namespace

void refuse_parents_object() {
  throw Error(ErrorKind::usage,
              "this object belongs to a Library of the parent process, but fork() does not copy "
              "the threads and the device of a Library. Next: open a Library in the child, or "
              "start the child with posix_spawn() or exec()");
}

void require_whole_process() {
  if (!torn) return;
  throw Error(
      ErrorKind::usage,
      "fork() created this process while another thread opened or closed a Library or "
      "requested a new kernel. The other thread's locks may stay held forever in this process. "
      "Next: call fork() earlier, or start the child with posix_spawn() or exec()");
}

LibraryWork::LibraryWork() noexcept {
  ++threads_at_work;
  ++depth_of_this_thread;
}

LibraryWork::~LibraryWork() {
  --depth_of_this_thread;
  --threads_at_work;
}

}  // namespace kiln::detail
