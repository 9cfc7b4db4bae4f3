// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/workbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kiln/error.hpp"
#include "runtime/device.hpp"
#include "tools/command_line/examples.hpp"
#include "tools/output/units.hpp"
#include "tools/stop_signal.hpp"
#include "tuner/session/compiler.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/session/stop_grace.hpp"

namespace kiln::tools {
namespace {

/// A comparison may be this long at least, however short its kernels: a worker that is silent for
/// longer is taken to hang. Half of it is for rounds (ComparisonRequest::timeout_s).
constexpr double kComparisonTimeoutSeconds = 60.0;

/// That, and what long turns take: each competitor has some at first, to find how many runs make
/// one, and then one in each round. Rounds beyond the usual are held as far as there is time.
double comparison_timeout_s(const TuneRequest& request, const ContestRules& rules) {
  constexpr int kCompetitors = 9;  // cuBLASLt usually has eight algorithms
  constexpr int kTurnsBefore = 4;
  const double turns_s = request.policy.batch_ms * 1e-3 * kCompetitors;
  return std::max(kComparisonTimeoutSeconds, request.candidate_timeout_s) +
         2.0 * turns_s * (std::min(rules.rounds, ContestRules().rounds) + kTurnsBefore);
}

std::unique_ptr<Evaluator> open_evaluator(Context& context, bool in_process) {
  const auto device = context.device().value;
  if (in_process) return make_local_evaluator(open_device(device));
  return make_worker_evaluator(Context::child_command({"worker", "--device", device}),
                               [] { return StopSignal::requested().load(); });
}

bool is_timed(const ComparisonRow& row) {
  return row.timing.median_ns > 0.0;
}

}  // namespace

Workbench open_workbench(Context& context, const WorkbenchOptions& options) {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  Workbench bench;
  try {
    bench.evaluator = open_evaluator(context, options.in_process);
  } catch (const Error& error) {
    if (StopSignal::requested()) throw Interrupted();
    if (error.kind() != ErrorKind::device) throw;
    throw Error(ErrorKind::device,
                fmt::format("{}\nkiln: `{}` checks the machine. Without a GPU, use --device "
                            "emulated:h200 or `kiln tune {} ... --compile-only --arch sm_90a`",
                            error.what(), context.command("doctor"), example("operation")));
  }
  const DeviceInfo& info = bench.evaluator->info();
  const auto opened = std::chrono::steady_clock::now();
  bench.lock = lock_device(context, info, options.no_wait ? IfTaken::refuse : IfTaken::wait);
  if (bench.lock.holds() && options.times) warn_if_busy(context, info);
  const auto others_done = std::chrono::steady_clock::now();
  bench.compiler = context.compiler(options.early_compilers);
  bench.opening_s = Seconds(std::chrono::steady_clock::now() - start).count() -
                    Seconds(others_done - opened).count();
  return bench;
}

Contest hold_contest(Context& context, Workbench& bench, const TuneRequest& request,
                     const Candidate& candidate, const ContestRules& rules) {
  const Catalog& catalog = context.catalog();
  const DeviceInfo& info = bench.evaluator->info();
  const GiveUp ended = [&] {
    return StopSignal::requested() || (rules.give_up && rules.give_up());
  };
  // What runs has a grace period once a signal came; time that was limited is over.
  const auto wait = [&] {
    return [stopped = StopGrace(StopSignal::requested()), &rules]() mutable {
      return stopped() || (rules.give_up && rules.give_up());
    };
  };
  SessionCompiler compiler(*bench.compiler, ended);
  Contest contest;
  const auto given_up = [&](const char* when) {
    contest.note =
        fmt::format("{} {}", StopSignal::requested() ? "interrupted" : "out of time", when);
    return contest;
  };
  EvaluationSetup setup;
  try {
    setup = make_setup(request, compiler, info);
  } catch (const Error&) {
    if (!ended()) throw;
    return given_up("while the reference was compiled");
  }
  auto prepared = prepare_candidate(candidate, catalog, compiler, info.limits, setup.cases,
                                    Admission::runnable, info.code);
  if (prepared.compiled.given_up) return given_up("while the kernel was compiled");
  contest.outcome = prepared.outcome;
  contest.message = prepared.message;
  if (prepared.outcome != Outcome::ok) return contest;

  bench.evaluator->set_up(setup);
  if (!bench.evaluator->make_ready(ended)) return given_up("before the device was ready");
  prepared.job.timeout_s = request.candidate_timeout_s;
  prepared.job.time_it = false;
  const auto evaluation = bench.evaluator->evaluate(prepared.job, wait());
  if (!evaluation) return given_up("while the kernel was verified");
  const Evaluation& checked = *evaluation;
  contest.outcome = checked.outcome;
  contest.message = checked.message;
  contest.verification = checked.verification;
  if (checked.outcome != Outcome::ok) return contest;

  ComparisonRequest comparison;
  comparison.jobs = {prepared.job};
  comparison.against_cublaslt = rules.against_cublaslt;
  comparison.rounds = rules.rounds;
  comparison.timeout_s = comparison_timeout_s(request, rules);
  auto result = bench.evaluator->compare(comparison, wait());
  if (!result) return given_up("while the kernel was timed");
  if (!result->jobs.empty()) {
    contest.ours = std::move(result->jobs.front());
    contest.outcome = contest.ours->outcome;
    contest.message = contest.ours->message;
  }
  contest.baselines = std::move(result->baselines);
  contest.note = std::move(result->note);
  return contest;
}

RatioMean mean_ratio(const std::vector<const Contest*>& contests) {
  RatioMean mean;
  double log_sum = 0.0;
  for (const Contest* contest : contests) {
    if (!contest->compared()) continue;
    if (contest->compared_with_right()) {
      log_sum += std::log(contest->ours->ratio);
      ++mean.counted;
    } else {
      ++mean.against_wrong;
    }
  }
  if (mean.counted > 0) mean.value = std::exp(log_sum / mean.counted);
  return mean;
}

bool has_baseline(const Problem& problem) {
  return !find_operation(problem.operation)->is_declared();
}

bool Contest::measured() const {
  return outcome == Outcome::ok && ours && is_timed(*ours);
}

std::size_t Contest::timed_baselines() const {
  return static_cast<std::size_t>(std::count_if(baselines.begin(), baselines.end(), is_timed));
}

std::string failure_text(const Contest& contest) {
  if (contest.outcome != Outcome::ok) {
    return fmt::format("{}: {}", to_string(contest.outcome), contest.message);
  }
  const std::string complaint = baseline_complaint(contest);
  return fmt::format("not timed: {}", complaint.empty() ? contest.note : complaint);
}

std::string baseline_complaint(const Contest& contest) {
  std::string text;
  const auto& rows = contest.baselines;
  if (!rows.empty() && is_timed(rows.front()) && rows.front().outcome != Outcome::ok) {
    text = fmt::format("cuBLASLt's fastest algorithm has the outcome {}: {}",
                       to_string(rows.front().outcome), rows.front().message);
  }
  const auto failed = [](const ComparisonRow& row) {
    return !is_timed(row) && row.outcome != Outcome::ok;
  };
  const auto first = std::find_if(rows.begin(), rows.end(), failed);
  if (first != rows.end()) {
    text += fmt::format("{}{} of {} cuBLASLt algorithms failed; the first failure is {}: {}",
                        text.empty() ? "" : "; ", std::count_if(rows.begin(), rows.end(), failed),
                        rows.size(), to_string(first->outcome), first->message);
  }
  return text;
}

std::string ratio_text(const Contest& contest) {
  if (!contest.measured()) return "none: " + failure_text(contest);
  if (contest.baselines.empty()) {
    return contest.note.empty() ? "no baseline" : fmt::format("no baseline: {}", contest.note);
  }
  const std::string complaint = baseline_complaint(contest);
  if (!contest.compared()) return "none, because cuBLASLt was not timed: " + complaint;
  return fmt::format(
      "{:.3f} +- {:.3f} of cuBLASLt's speed, timed in turns: Kiln {}, cuBLASLt {} (its fastest of "
      "{}){}",
      contest.ours->ratio, contest.ours->ratio_spread, time_text(contest.ours->timing.median_ns),
      time_text(contest.baselines.front().timing.median_ns), contest.timed_baselines(),
      complaint.empty() ? "" : "; " + complaint);
}

}  // namespace kiln::tools
