// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace kiln {

/// While it lives, what this thread writes beyond the limit on file sizes (`ulimit -f`) fails with
/// EFBIG and nothing else: SIGXFSZ, which by default ends the process, is blocked and consumed.
/// The kernel sends it to the thread that writes, so the process's action for it stays unchanged.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() noexcept;
  ~FileSizeSignalHeld();
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t signal_;
  bool was_blocked_ = false;
  bool was_pending_ = false;  ///< beforehand: then it is not ours to consume
};

}  // namespace kiln
