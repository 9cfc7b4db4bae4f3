// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/ledger.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// Cases that the configuration is not valid for need no reference either, and of the `deep` last
/// ones the first that it is valid for is enough. Returns which are left.
std::vector<std::size_t> leave_out_needless(EvaluationSetup& setup, EvaluationJob& job,
                                            std::size_t deep);

/// Looks closer at the best candidate of a session on an emulated device, before it is told: as
/// `kiln verify` does, with the device's checks and a deep case. One that is found wrong gets a
/// trial that says so, and the next best is looked at, until one is clean or time is up. Results
/// alone do not show a race there, because threads are executed in one order. From then on a
/// configuration of the same template that nothing checked is never the best (able_trials()).
class WinnerChecks {
 public:
  WinnerChecks(const SessionContext& context, const SearchSpace& space, SessionLedger& ledger,
               const BudgetClock& clock)
      : context_(context), space_(space), ledger_(ledger), clock_(clock) {}

  /// Sets the evaluator up anew if anything is left to be looked at.
  void run(Evaluator& evaluator, Compiler& compiler);
  /// In place of run(), in a session that was stopped.
  void leave_out() { unchecked_ = "the run was stopped before the checks began"; }

  /// Why the last candidate was not looked at, or not to the end; "" if all was.
  [[nodiscard]] const std::string& unchecked() const { return unchecked_; }
  [[nodiscard]] bool ran_out_of_time() const { return ran_out_of_time_; }
  [[nodiscard]] bool was_stopped() const { return was_stopped_; }

  /// The trial in which the candidate of `best`, or its code, was checked; nothing if none is.
  [[nodiscard]] std::optional<Trial> checked_twin(const Trial& best) const;

 private:
  enum class Step : std::uint8_t { clean, found, not_checked };
  [[nodiscard]] Step look_at(const Trial& best, Evaluator& evaluator, Compiler& compiler);
  [[nodiscard]] Step not_checked(const std::string& why);
  [[nodiscard]] Step ended();
  [[nodiscard]] bool time_is_up() const { return clock_.left_s() <= 0.0; }

  const SessionContext& context_;
  const SearchSpace& space_;
  SessionLedger& ledger_;
  const BudgetClock& clock_;
  bool found_any_ = false;
  bool ran_out_of_time_ = false;
  bool was_stopped_ = false;
  std::string unchecked_;
};

}  // namespace kiln
