// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/evaluator.hpp"
#include "tuner/worker/process.hpp"

namespace kiln {

/// Runs candidates in a child process. The set-up is kept as the bytes of its frame and sent to
/// every new child, which then has to compute the references again: proof that the device still
/// works after whatever ended the previous child.
class WorkerEvaluator : public Evaluator {
 public:
  explicit WorkerEvaluator(std::vector<std::string> command, const GiveUp& give_up = {});

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  void set_up(const EvaluationSetup& setup) override;
  [[nodiscard]] bool make_ready(const GiveUp& give_up) override;
  using Evaluator::compare;
  using Evaluator::evaluate;
  [[nodiscard]] std::optional<Evaluation> evaluate(const EvaluationJob& job, const GiveUp& give_up,
                                                   const Meanwhile& meanwhile) override;
  [[nodiscard]] std::optional<Comparison> compare(const ComparisonRequest& request,
                                                  const GiveUp& give_up) override;

  /// How often a child had to be replaced.
  [[nodiscard]] int restarts() const { return restarts_; }

 private:
  /// How a request ended: with an answer, or with the end of the child.
  struct Exchange {
    Outcome outcome = Outcome::ok;
    std::string message;  ///< why there is no answer
    std::string payload;  ///< of the answer
    bool given_up = false;
    bool from_outside = false;  ///< the child was killed from outside
  };

  [[nodiscard]] bool await_hello(const GiveUp& give_up);
  [[nodiscard]] bool tell_set_up(const GiveUp& give_up);
  [[nodiscard]] Exchange ask(FrameType type, std::string_view payload, FrameType answer,
                             double timeout_s, const GiveUp& give_up,
                             const Meanwhile& meanwhile = {});
  [[nodiscard]] Exchange exchange(const std::string& frame, FrameType answer,
                                  const WorkerProcess::Patience& patience,
                                  const Meanwhile& meanwhile = {});
  [[nodiscard]] Exchange expect(FrameType answer, const WorkerProcess::Patience& patience);
  [[nodiscard]] Exchange ended(WorkerProcess::Result result);
  void replace();

  std::vector<std::string> command_;
  std::unique_ptr<WorkerProcess> process_;
  bool greeted_ = false;      ///< the current child has sent its hello
  bool set_up_done_ = false;  ///< and answered the set-up
  std::string setup_frame_;
  DeviceInfo info_;
  int restarts_ = 0;
};

}  // namespace kiln
