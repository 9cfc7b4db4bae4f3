// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/context.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/session.hpp"

namespace kiln::tools {

/// What measuring needs: a compiler, and an evaluator in a worker process (or, for debugging, in
/// this one).
struct Workbench {
  std::shared_ptr<CachingCompiler> compiler;
  std::unique_ptr<Evaluator> evaluator;
};
/// Throws Error(device) that also says what works without a device.
[[nodiscard]] Workbench open_workbench(Context& context, bool in_process);

/// One candidate verified, then timed in turns with cuBLASLt.
struct Contest {
  Outcome outcome = Outcome::ok;
  std::string message;  ///< why the outcome is not ok
  Verification verification;
  std::optional<ComparisonRow> ours;
  std::vector<ComparisonRow> baselines;  ///< fastest first
  std::string note;                      ///< why there is no baseline
};
struct ContestRules {
  bool against_cublaslt = true;
  int rounds = 15;
};
[[nodiscard]] Contest hold_contest(Context& context, Workbench& bench, const TuneRequest& request,
                                   const Candidate& candidate, const ContestRules& rules);

/// "0.632 +- 0.004 of cuBLASLt (196.1 us)", or why there is no ratio.
[[nodiscard]] std::string ratio_text(const Contest& contest);

}  // namespace kiln::tools
