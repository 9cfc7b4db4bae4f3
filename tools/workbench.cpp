// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/workbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "kiln/error.hpp"
#include "runtime/device.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {
namespace {

/// A comparison is this long at least, however short its kernels: a worker that is silent for
/// longer is taken to hang.
constexpr double kComparisonTimeoutSeconds = 60.0;

std::unique_ptr<Evaluator> open_evaluator(Context& context, bool in_process) {
  const auto device = context.device().value;
  if (in_process) return make_local_evaluator(open_device(device));
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  return make_worker_evaluator({program, "worker", "--device", device});
}

}  // namespace

Workbench open_workbench(Context& context, bool in_process) {
  Workbench bench;
  try {
    bench.evaluator = open_evaluator(context, in_process);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    throw Error(ErrorKind::device,
                fmt::format("{}\nkiln: `kiln doctor` checks the machine; `kiln tune --compile-only "
                            "--arch sm_90a` needs no device",
                            error.what()));
  }
  bench.compiler = context.compiler();
  return bench;
}

Contest hold_contest(Context& context, Workbench& bench, const TuneRequest& request,
                     const Candidate& candidate, const ContestRules& rules) {
  const Catalog& catalog = context.catalog();
  const DeviceInfo& info = bench.evaluator->info();
  const EvaluationSetup setup = make_setup(request, catalog, *bench.compiler, info);
  Contest contest;
  auto prepared = prepare_candidate(candidate, catalog, *bench.compiler, info.limits, setup.cases);
  contest.outcome = prepared.outcome;
  contest.message = prepared.message;
  if (prepared.outcome != Outcome::ok) return contest;

  bench.evaluator->set_up(setup);
  prepared.job.timeout_s = request.candidate_timeout_s;
  prepared.job.time_it = false;
  const Evaluation checked = bench.evaluator->evaluate(prepared.job);
  contest.outcome = checked.outcome;
  contest.message = checked.message;
  contest.verification = checked.verification;
  if (checked.outcome != Outcome::ok) return contest;

  ComparisonRequest comparison;
  comparison.jobs = {prepared.job};
  comparison.against_cublaslt = rules.against_cublaslt;
  comparison.rounds = rules.rounds;
  comparison.timeout_s = std::max(kComparisonTimeoutSeconds, request.candidate_timeout_s);
  Comparison result = bench.evaluator->compare(comparison);
  if (!result.jobs.empty()) {
    contest.ours = std::move(result.jobs.front());
    contest.outcome = contest.ours->outcome;
    contest.message = contest.ours->message;
  }
  contest.baselines = std::move(result.baselines);
  contest.note = std::move(result.note);
  return contest;
}

std::string ratio_text(const Contest& contest) {
  if (contest.outcome != Outcome::ok) {
    return fmt::format("none: {}: {}", to_string(contest.outcome), contest.message);
  }
  if (contest.baselines.empty() || !contest.ours) {
    return contest.note.empty() ? "no baseline" : fmt::format("no baseline: {}", contest.note);
  }
  const auto& fastest = contest.baselines.front();
  return fmt::format("{:.3f} +- {:.3f} of cuBLASLt ({}, the fastest of {})", contest.ours->ratio,
                     contest.ours->ratio_spread, time_text(fastest.timing.median_ns),
                     contest.baselines.size());
}

}  // namespace kiln::tools
