// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "tuner/session/budget.hpp"

namespace kiln {

/// Decides when to give up on a running candidate once a session is stopped, or its budget is over:
/// most end within a grace period, and their outcome is kept; one that does not is not waited
/// for, because on an emulated device it may take minutes. For one wait, on one thread.
class StopGrace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kGrace{500};
  /// Who gives a budget of time wants the answer by then.
  static constexpr std::chrono::milliseconds kBudgetGrace{250};

  /// Without a `budget` only `stop` ends the wait.
  explicit StopGrace(const std::atomic<bool>& stop, const BudgetClock* budget = nullptr)
      : stop_(&stop), budget_(budget) {}

  bool operator()() {
    if (!*stop_ && (budget_ == nullptr || budget_->left_s() > 0.0)) return false;
    if (!noticed_) noticed_ = Clock::now();
    return Clock::now() - *noticed_ >= (*stop_ ? kGrace : kBudgetGrace);
  }

 private:
  const std::atomic<bool>* stop_;
  const BudgetClock* budget_;
  std::optional<Clock::time_point> noticed_;
};

}  // namespace kiln
