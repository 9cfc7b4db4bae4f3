// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_device.hpp"
#include "tuner/evaluator.hpp"

namespace kiln::testing {

/// A successful evaluation, with as many samples as requested.
[[nodiscard]] inline Evaluation passed_in(double time_ns, int samples = 15) {
  Evaluation evaluation;
  evaluation.verification = {true, 0.5, ""};
  Timing timing;
  timing.samples_ns.assign(static_cast<std::size_t>(samples), time_ns);
  timing.median_ns = time_ns;
  timing.spread_ns = time_ns * 0.001;
  evaluation.timing = timing;
  return evaluation;
}

[[nodiscard]] inline Evaluation failed_with(Outcome outcome, std::string message) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.message = std::move(message);
  if (outcome == Outcome::wrong_result) evaluation.verification.evidence = "row 1 column 2";
  return evaluation;
}

/// Runs nothing: a script decides the outcome of each candidate. Counts its requests.
class ScriptedEvaluator : public Evaluator {
 public:
  using Script = std::function<Evaluation(const EvaluationJob&)>;
  explicit ScriptedEvaluator(Script script) : script_(std::move(script)) {}

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  void set_up(const EvaluationSetup& setup) override { setups_.push_back(setup); }
  /// Ready when `ready` says so, which is polled; at once if it is empty.
  [[nodiscard]] bool make_ready(const GiveUp& give_up) override {
    while (ready && !ready()) {
      if (give_up()) return false;
    }
    return true;
  }
  using Evaluator::compare;
  using Evaluator::evaluate;
  [[nodiscard]] std::optional<Evaluation> evaluate(const EvaluationJob& job, const GiveUp& give_up,
                                                   const Meanwhile& meanwhile) override {
    if (meanwhile) meanwhile();
    evaluated_.push_back(job.label);
    best_ns_.push_back(job.best_ns);
    if (hangs && hangs(job)) {
      while (!give_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return std::nullopt;
    }
    return script_(job);
  }
  /// Each competitor takes what the script says.
  [[nodiscard]] std::optional<Comparison> compare(const ComparisonRequest& request,
                                                  const GiveUp&) override {
    comparisons_.push_back(request);
    Comparison comparison;
    comparison.note = compare_note;
    for (const auto& job : request.jobs) {
      const Evaluation evaluation = compare_script ? compare_script(job) : script_(job);
      ComparisonRow row{job.label, evaluation.outcome, evaluation.message, {}, 1.0, 0.0};
      if (evaluation.timing) {
        row.timing = *evaluation.timing;
        const double first_ns =
            comparison.jobs.empty() ? row.timing.median_ns : comparison.jobs[0].timing.median_ns;
        row.ratio = first_ns / row.timing.median_ns;
        row.ratio_spread = row.ratio * row.timing.spread_ns / row.timing.median_ns;
      }
      comparison.jobs.push_back(row);
    }
    return comparison;
  }

  [[nodiscard]] const std::vector<EvaluationSetup>& setups() const { return setups_; }
  /// Labels in the order of evaluation.
  [[nodiscard]] const std::vector<std::string>& evaluated() const { return evaluated_; }
  /// The best time that was passed with each job.
  [[nodiscard]] const std::vector<double>& best_ns() const { return best_ns_; }
  [[nodiscard]] const std::vector<ComparisonRequest>& comparisons() const { return comparisons_; }

  Script compare_script;     ///< for compare(); the script of evaluate() if empty
  std::string compare_note;  ///< what compare() notes
  std::function<bool()> ready;
  std::function<bool(const EvaluationJob&)> hangs;  ///< these run until they are abandoned
  DeviceInfo info_ = fake_device_info();

 private:
  Script script_;
  std::vector<EvaluationSetup> setups_;
  std::vector<std::string> evaluated_;
  std::vector<double> best_ns_;
  std::vector<ComparisonRequest> comparisons_;
};

}  // namespace kiln::testing
