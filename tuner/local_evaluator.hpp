// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tuner/candidate.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/measure/comparison.hpp"
#include "tuner/verify/verifier.hpp"

namespace kiln {

/// Runs candidates on a device of this process. Nothing protects it from a candidate that hangs or
/// faults; WorkerEvaluator does.
class LocalEvaluator : public Evaluator {
 public:
  LocalEvaluator(std::unique_ptr<Device> device, BaselineSource baselines);
  ~LocalEvaluator() override;

  [[nodiscard]] const DeviceInfo& info() const override { return device_->info(); }
  void set_up(const EvaluationSetup& setup) override;
  [[nodiscard]] bool make_ready(const GiveUp&) override { return true; }
  using Evaluator::compare;
  using Evaluator::evaluate;
  [[nodiscard]] std::optional<Evaluation> evaluate(const EvaluationJob& job, const GiveUp&,
                                                   const Meanwhile& meanwhile) override;
  [[nodiscard]] std::optional<Comparison> compare(const ComparisonRequest& request,
                                                  const GiveUp&) override;

  /// Whether a sticky fault has made the device useless.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Workbench;
  void require_ready() const;
  /// Verifies; true if the subject may be timed. Otherwise outcome and message are filled.
  [[nodiscard]] bool judge(const Subject& subject, Outcome& outcome, std::string& message,
                           Verification& verification);
  [[nodiscard]] bool is_hopeless(Workbench& bench, LoadedCandidate& candidate,
                                 const EvaluationJob& job, Evaluation& evaluation);
  void evaluate_on(Workbench& bench, const EvaluationJob& job, Evaluation& evaluation);
  [[nodiscard]] Comparison compare_on(Workbench& bench, const ComparisonRequest& request);
  void note(const DeviceStatus& status) { lost_ = lost_ || status.sticky; }

  std::unique_ptr<Device> device_;
  BaselineSource baselines_;
  std::unique_ptr<Workbench> bench_;
  bool lost_ = false;
};

}  // namespace kiln
