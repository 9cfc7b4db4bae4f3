// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/contest_time.hpp"

#include <algorithm>

namespace kiln::tools {
namespace {

/// What it takes on an H100: half of it loads cuBLASLt.
constexpr double kUsualSeconds = 1.8;
constexpr double kFewestSeconds = 5.0;
/// What closing the device takes of the second that a session may be late.
constexpr double kEndSeconds = 0.4;

}  // namespace

ContestTime::ContestTime(const Budget& budget, double before_s)
    : budget_s_(budget.seconds),
      begun_(std::chrono::steady_clock::now() -
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(before_s))) {}

bool ContestTime::fits() const {
  return budget_s_ <= 0.0 || budget_s_ >= kFewestSeconds;
}

double ContestTime::share_s() const {
  return budget_s_ <= 0.0 ? 0.0 : std::max(0.0, kUsualSeconds - spare_s());
}

GiveUp ContestTime::give_up() const {
  if (budget_s_ <= 0.0) return {};
  const std::chrono::duration<double> most(budget_s_ + spare_s());
  return [end = begun_ + most] { return std::chrono::steady_clock::now() >= end; };
}

/// How long after the budget it may end.
double ContestTime::spare_s() const {
  return 1.0 - kEndSeconds + 0.1 * budget_s_;
}

}  // namespace kiln::tools
