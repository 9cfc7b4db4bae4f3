// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>

namespace kiln::tools {

/// Thrown where a stop was requested and there is nothing to return.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// While it lives, SIGINT, SIGTERM and SIGHUP (unless that was ignored) set `requested()` instead
/// of ending the program, so that a run can end cleanly and keep what it has; a second signal, a
/// tenth of a second later or more, ends it at once with exit code 130. A request ends with it. One
/// at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  [[nodiscard]] static const std::atomic<bool>& requested();
};

}  // namespace kiln::tools
