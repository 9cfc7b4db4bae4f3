// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// Keeps NVRTC away from process-wide state. By itself the first compilation of a
/// process replaces the handlers of SIGINT and SIGTERM by one that calls exit() in whatever thread
/// gets the signal, ignores SIGXFSZ, and restores what it had found with signal(), which breaks
/// handlers that were set with sigaction(). From here on it changes no signal's action. Takes the
/// handle of the loaded library; returns "", or why it cannot be done. Thread-safe.
[[nodiscard]] std::string shield_process_from_nvrtc(void* handle);

/// While it lives, compilations of this thread create their temporary files in `folder` instead of
/// $TMPDIR, where anyone could guess their names. The text must live as long; null changes
/// nothing.
class NvrtcTemporaries {
 public:
  explicit NvrtcTemporaries(const char* folder);
  ~NvrtcTemporaries();
  NvrtcTemporaries(const NvrtcTemporaries&) = delete;
  NvrtcTemporaries& operator=(const NvrtcTemporaries&) = delete;
};

}  // namespace kiln
