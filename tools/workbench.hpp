// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/context.hpp"
#include "tools/device_lock.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln::tools {

/// What measuring needs: a compiler, and an evaluator in a worker process (or, for debugging, in
/// this one).
struct Workbench {
  std::shared_ptr<CachingCompiler> compiler;
  std::unique_ptr<Evaluator> evaluator;
  DeviceLock lock;
  double opening_s = 0.0;  ///< seconds that it took, but for waiting until others were done
};
struct WorkbenchOptions {
  bool in_process = false;
  bool no_wait = false;     ///< refuse, rather than wait, while another run measures on the device
  bool times = true;        ///< what runs is timed, so that others would spoil it
  int early_compilers = 0;  ///< see Context::compiler()
};
/// Reserves the device, and warns when something else would spoil times. Throws Error(device) that
/// also says what works without a device. When a signal asks to stop meanwhile (see StopSignal) the
/// device may not be reserved: nothing should be measured then. Throws Interrupted if it is not
/// even open.
[[nodiscard]] Workbench open_workbench(Context& context, const WorkbenchOptions& options);

/// One candidate verified, then timed in alternation with cuBLASLt.
struct Contest {
  Outcome outcome = Outcome::ok;
  std::string message;  ///< why the outcome is not ok
  Verification verification;
  std::optional<ComparisonRow> ours;
  std::vector<ComparisonRow> baselines;  ///< fastest first, then those that failed
  std::string note;                      ///< why there is no baseline

  /// Whether the candidate succeeded and was timed.
  [[nodiscard]] bool measured() const;
  [[nodiscard]] std::size_t timed_baselines() const;
  /// Whether there is a ratio: the candidate and at least one algorithm were timed.
  [[nodiscard]] bool compared() const {
    return measured() && ours->ratio > 0.0 && timed_baselines() > 0;
  }
  /// Whether that ratio is against a right result. If not, it says how much time the fastest
  /// algorithm takes, but nothing about which library is faster.
  [[nodiscard]] bool compared_with_right() const {
    return compared() && baselines.front().outcome == Outcome::ok;
  }
};
struct ContestRules {
  bool against_cublaslt = true;
  int rounds = 15;
  GiveUp give_up = {};  ///< besides a signal that asks to stop
};
[[nodiscard]] Contest hold_contest(Context& context, Workbench& bench, const TuneRequest& request,
                                   const Candidate& candidate, const ContestRules& rules);

/// Geometric mean of the ratios against right baselines.
struct RatioMean {
  double value = 0.0;  ///< 0 if there is none
  int counted = 0;
  int against_wrong = 0;  ///< left out: the fastest algorithm's result is wrong
};
[[nodiscard]] RatioMean mean_ratio(const std::vector<const Contest*>& contests);

/// Whether cuBLASLt has the problem's operation.
[[nodiscard]] bool has_baseline(const Problem& problem);

/// Why it was not measured: "wrong_result: row 1 ...".
[[nodiscard]] std::string failure_text(const Contest& contest);
/// "0.632 +- 0.004 of cuBLASLt's speed, timed in turns: Kiln 310.3 us, cuBLASLt 196.1 us (its
/// fastest of 8)", or why there is no ratio; and complaints about cuBLASLt's algorithms.
[[nodiscard]] std::string ratio_text(const Contest& contest);
/// What is to be said against them: that some failed, or that the fastest computes wrongly.
[[nodiscard]] std::string baseline_complaint(const Contest& contest);

}  // namespace kiln::tools
