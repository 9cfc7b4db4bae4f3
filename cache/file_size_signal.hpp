// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace kiln {

/// While it lives, what this thread writes beyond the limit on file sizes (`ulimit -f`) fails with
/// EFBIG and nothing else: SIGXFSZ, which by default ends the process, is held back and taken away.
/// The kernel sends it to the thread that writes, so the process's action for it stays as it is.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() noexcept;
  ~FileSizeSignalHeld();
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t signal_;
  bool was_blocked_ = false;
  bool was_pending_ = false;  ///< before: it is not ours to take away
};

}  // namespace kiln
