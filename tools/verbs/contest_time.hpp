// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "tuner/evaluator.hpp"
#include "tuner/session/budget.hpp"

namespace kiln::tools {

/// The time of the comparison with cuBLASLt that ends a session: a session with a budget of time
/// promises to end a second and a tenth of it after that at the latest, comparison included. The
/// session gets what is left of the budget when the comparison has what it usually takes; one that
/// takes longer is given up.
class ContestTime {
 public:
  /// The time of the budget began `before_s` seconds ago.
  ContestTime(const Budget& budget, double before_s);

  /// False for budgets of which it would take the better part.
  [[nodiscard]] bool fits() const;
  /// What the session must leave of its budget, in seconds.
  [[nodiscard]] double share_s() const;
  /// Never, without a limit.
  [[nodiscard]] GiveUp give_up() const;

 private:
  [[nodiscard]] double spare_s() const;

  double budget_s_;  ///< 0: no limit
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace kiln::tools
