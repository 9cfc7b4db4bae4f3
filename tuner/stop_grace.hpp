// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace kiln {

/// Decides when to give up on a running candidate once a session is stopped: most end within
/// the grace period, and their outcome is kept; one that does not is not waited for, because on an
/// emulated device it may take minutes. For one wait, on one thread.
class StopGrace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kGrace{500};

  explicit StopGrace(const std::atomic<bool>& stop) : stop_(&stop) {}

  bool operator()() {
    if (!*stop_) return false;
    if (!noticed_) noticed_ = Clock::now();
    return Clock::now() - *noticed_ >= kGrace;
  }

 private:
  const std::atomic<bool>* stop_;
  std::optional<Clock::time_point> noticed_;
};

}  // namespace kiln
