// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/file_size_signal.hpp"

#include <cerrno>
#include <ctime>

namespace kiln {

FileSizeSignalHeld::FileSizeSignalHeld() noexcept {
  sigemptyset(&signal_);
  sigaddset(&signal_, SIGXFSZ);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signal_, &before);
  was_blocked_ = sigismember(&before, SIGXFSZ) == 1;
  if (was_blocked_) {
    sigset_t pending;
    sigemptyset(&pending);
    ::sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  }
}

FileSizeSignalHeld::~FileSizeSignalHeld() {
  const int error = errno;  // the work's error has not been examined yet
  const timespec at_once{};
  while (!was_pending_ && ::sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  if (!was_blocked_) ::pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
  errno = error;
}

}  // namespace kiln
