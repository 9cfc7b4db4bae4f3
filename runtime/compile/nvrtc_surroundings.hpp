// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace kiln {

/// Keeps NVRTC away from process-wide state. By itself the first compilation of a
/// process replaces the handlers of SIGINT and SIGTERM by one that calls exit() in whatever thread
/// gets the signal, ignores SIGXFSZ, and restores what it had found with signal(), which breaks
/// handlers that were set with sigaction(). From here on it changes no signal's action, if it does
/// so by functions that it imports, which `sets_signals` receives. Takes the handle of the loaded
/// library; returns "", or why it cannot be done. Thread-safe.
[[nodiscard]] std::string shield_process_from_nvrtc(void* handle, bool& sets_signals);

/// Compares what NVRTC is known to change: the actions of SIGINT, SIGTERM and SIGXFSZ.
class SignalWatch {
 public:
  /// Until changed() is called, a thread also looks meanwhile, if `closely`: NVRTC restores most of
  /// what it changes.
  explicit SignalWatch(bool closely);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// "SIGINT, SIGTERM": whose action is another one than before, or was meanwhile; "" if none.
  [[nodiscard]] std::string changed();

 private:
  class Watcher;
  struct Actions;
  std::unique_ptr<Actions> before_;
  std::unique_ptr<Watcher> watcher_;
};

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
