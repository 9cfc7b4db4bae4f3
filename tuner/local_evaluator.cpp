// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/local_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "kiln/error.hpp"
#include "tuner/measure/benchmark.hpp"
#include "tuner/measure/cublaslt_baselines.hpp"
#include "tuner/measure/energy.hpp"
#include "tuner/verify/support_kernels.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {
namespace {

std::int64_t memory_limit(Device& device, const EvaluationSetup& setup) {
  if (setup.memory_limit_bytes > 0) return setup.memory_limit_bytes;
  return device.free_memory_bytes() / 4;
}

/// Predictions neither vary nor depend on what an earlier run left in a cache.
MeasurementPolicy policy_for(const Device& device, MeasurementPolicy policy) {
  if (device.info().provenance != Provenance::modelled) return policy;
  policy.cold = false;
  policy.samples = 1;
  policy.batch_ms = 0.0;
  return policy;
}

std::int64_t rotation_bytes(const Device& device, const MeasurementPolicy& policy) {
  if (!policy.cold) return 0;
  return static_cast<std::int64_t>(policy.l2_multiple *
                                   static_cast<double>(device.info().limits.l2_bytes));
}

/// Launches of a device with its checks on.
class CheckedLaunches {
 public:
  CheckedLaunches(Device& device, bool wanted)
      : device_(device), on_(wanted && device.use_checks(true)) {
    if (on_) static_cast<void>(device_.take_remark());  // on what another candidate did
  }
  ~CheckedLaunches() {
    if (on_) device_.use_checks(false);
  }
  CheckedLaunches(const CheckedLaunches&) = delete;
  CheckedLaunches& operator=(const CheckedLaunches&) = delete;
  /// With what the device remarks on them.
  void note(Verification& verification) const {
    verification.checked = on_;
    const std::string remark = on_ ? device_.take_remark() : "";
    if (remark.empty()) return;
    verification.evidence += (verification.evidence.empty() ? "" : "; ") + remark;
  }

 private:
  Device& device_;
  bool on_;
};

}  // namespace

/// Everything that one set-up puts on the device. The members depend on those before them.
struct LocalEvaluator::Workbench {
  Workbench(Device& device, const EvaluationSetup& setup)
      : tuned(setup.cases.at(0)),
        epilogue(setup.epilogue),
        policy(policy_for(device, setup.policy)),
        ledger(device, memory_limit(device, setup)),
        kernels(ledger, setup.support),
        verifier(ledger, kernels, setup),
        sets(ledger, kernels, verifier.tuned_operands(), rotation_bytes(device, policy), setup.seed,
             &verifier.tuned_inputs()) {}

  /// How a subject is timed on the tuned problem.
  [[nodiscard]] TimedRun timed(std::function<DeviceStatus(const RunArguments&, void*)> run,
                               DevicePtr workspace) const {
    return [run = std::move(run), workspace, scalars = tuned.scalars](const OperandSet& operands,
                                                                      void* stream) {
      return run(operands.arguments(scalars, workspace), stream);
    };
  }
  [[nodiscard]] TimedRun timed(const LoadedCandidate& candidate) const {
    return timed([&candidate](const RunArguments& arguments,
                              void* stream) { return candidate.run(0, arguments, stream); },
                 candidate.workspace());
  }

  ProblemCase tuned;
  CompiledUnit epilogue;
  MeasurementPolicy policy;
  MemoryLedger ledger;
  SupportKernels kernels;
  Verifier verifier;
  RotatingSets sets;
};

LocalEvaluator::LocalEvaluator(std::unique_ptr<Device> device, BaselineSource baselines)
    : device_(std::move(device)), baselines_(std::move(baselines)) {}

LocalEvaluator::~LocalEvaluator() = default;

void LocalEvaluator::set_up(const EvaluationSetup& setup) {
  if (setup.cases.empty()) {
    throw Error(ErrorKind::internal,
                "the evaluation request has no problem; please report this bug in Kiln");
  }
  if (setup.policy.energy) {
    const std::string why = why_no_energy(*device_);
    if (!why.empty()) throw Error(ErrorKind::device, "Kiln cannot measure energy: " + why);
  }
  bench_.reset();  // its memory is needed for the next one
  bench_ = std::make_unique<Workbench>(*device_, setup);
}

void LocalEvaluator::require_ready() const {
  if (!bench_) {
    throw Error(ErrorKind::internal,
                "the evaluator ran before its setup; please report this bug in Kiln");
  }
  if (lost_) {
    throw Error(ErrorKind::device,
                "an earlier kernel failed and made the device unusable for this process. Next: "
                "start the program again");
  }
}

std::optional<Evaluation> LocalEvaluator::evaluate(const EvaluationJob& job, const GiveUp&,
                                                   const Meanwhile& meanwhile) {
  require_ready();
  if (meanwhile) meanwhile();
  Evaluation evaluation;
  try {
    evaluate_on(*bench_, job, evaluation);
  } catch (const Error& error) {
    // With a candidate on the device, an unexpected failure is the candidate's fault.
    if (error.kind() != ErrorKind::device) throw;
    lost_ = true;
    evaluation.outcome = Outcome::crashed;
    evaluation.message = error.what();
  }
  return evaluation;
}

bool LocalEvaluator::judge(const Subject& subject, Outcome& outcome, std::string& message,
                           Verification& verification) {
  const Verdict verdict = bench_->verifier.judge(subject);
  note(verdict.status);
  verification = verdict.verification;
  if (!verdict.status.ok()) {
    outcome = outcome_of(verdict.status);
    message = fmt::format("{}: {}", verdict.place, verdict.status.message);
    if (outcome == Outcome::wrong_result)
      verification = {false, 0.0, message, verdict.status.found};
    return false;
  }
  if (!verdict.judged) {
    outcome = Outcome::rejected;
    message = fmt::format(
        "Kiln cannot verify the candidate on {}: all sizes that meet the template's requirements "
        "are too large for this device",
        device_->info().spec);
    return false;
  }
  if (!verification.passed) {
    outcome = Outcome::wrong_result;
    message = verification.evidence;
    return false;
  }
  outcome = Outcome::ok;
  return true;
}

void LocalEvaluator::evaluate_on(Workbench& bench, const EvaluationJob& job,
                                 Evaluation& evaluation) {
  LoadedCandidate candidate(bench.ledger, job);
  note(candidate.status());
  if (!candidate.status().ok()) {
    evaluation.outcome = outcome_of(candidate.status());
    evaluation.message = candidate.status().message;
    return;
  }
  {
    const CheckedLaunches checks(*device_, job.check);
    Subject subject = candidate.subject();
    // Ragged sizes are small. At the tuned size a slow candidate costs the others their time.
    if (job.time_it && job.best_ns >= kWorthFirstRunNs && subject.cases.size() > 1) {
      Subject ragged = subject;
      ragged.cases.pop_back();
      if (!judge(ragged, evaluation.outcome, evaluation.message, evaluation.verification)) return;
      if (is_hopeless(bench, candidate, job, evaluation)) return;
      subject.cases = {subject.cases.back()};
    }
    const double ragged_ratio = evaluation.verification.worst_ratio;
    if (!judge(subject, evaluation.outcome, evaluation.message, evaluation.verification)) return;
    evaluation.verification.worst_ratio =
        std::max(evaluation.verification.worst_ratio, ragged_ratio);
    checks.note(evaluation.verification);
  }
  if (!job.time_it) return;
  Benchmarked benchmarked = benchmark(*device_, bench.sets, bench.policy, bench.timed(candidate),
                                      job.best_ns, job.best_j);
  note(benchmarked.status);
  if (benchmarked.status.ok()) {
    evaluation.timing = std::move(benchmarked.timing);
  } else {
    evaluation.outcome = outcome_of(benchmarked.status);
    evaluation.message = fmt::format("during timing: {}", benchmarked.status.message);
  }
}

/// Also where its first run failed in a way that the device does not survive.
bool LocalEvaluator::is_hopeless(Workbench& bench, LoadedCandidate& candidate,
                                 const EvaluationJob& job, Evaluation& evaluation) {
  FirstRun first =
      first_run(*device_, bench.sets, bench.policy, bench.timed(candidate), job.best_ns);
  note(first.status);
  if (!first.status.ok()) {
    evaluation.outcome = outcome_of(first.status);
    evaluation.message = fmt::format("in its first run: {}", first.status.message);
    return true;
  }
  if (!first.hopeless) return false;
  evaluation.hopeless = true;
  evaluation.verification = {};
  evaluation.timing = std::move(first.timing);
  return true;
}

std::optional<Comparison> LocalEvaluator::compare(const ComparisonRequest& request, const GiveUp&) {
  require_ready();
  return compare_on(*bench_, request);
}

Comparison LocalEvaluator::compare_on(Workbench& bench, const ComparisonRequest& request) {
  Comparison comparison;
  Baselines baselines;
  if (request.against_cublaslt) {
    baselines = baselines_(bench.ledger, bench.verifier.tuned_operands(), bench.epilogue,
                           request.cublaslt_workspace_bytes);
    comparison.note = baselines.note;
  }
  comparison.jobs.resize(request.jobs.size());
  comparison.baselines.resize(baselines.algorithms.size());

  std::vector<Competitor> competitors;
  std::deque<LoadedCandidate> candidates;  // a deque, because they must not move
  for (std::size_t i = 0; i < request.jobs.size(); ++i) {
    ComparisonRow& row = comparison.jobs[i];
    row.label = request.jobs[i].label;
    LoadedCandidate& candidate = candidates.emplace_back(bench.ledger, request.jobs[i]);
    if (!candidate.status().ok()) {
      row.outcome = outcome_of(candidate.status());
      row.message = candidate.status().message;
      continue;
    }
    Verification verification;
    if (judge(candidate.subject(), row.outcome, row.message, verification)) {
      competitors.push_back({&row, bench.timed(candidate)});
    }
    if (lost_) return comparison;
  }

  InterleavePlan plan;
  plan.rounds = request.rounds;
  plan.most_seconds = request.timeout_s / 2;
  plan.energy_turns = request.energy_turns;
  if (!baselines.algorithms.empty()) {
    plan.first_reference = competitors.size();
    plan.reference_count = baselines.algorithms.size();
  }
  for (std::size_t i = 0; i < baselines.algorithms.size(); ++i) {
    const Baselines::Algorithm& algorithm = baselines.algorithms[i];
    ComparisonRow& row = comparison.baselines[i];
    row.label = algorithm.label;
    Subject subject;
    subject.run = [&algorithm](std::size_t, const RunArguments& arguments, void* stream) {
      return algorithm.run(arguments, stream);
    };
    subject.cases = {0};
    // A library's algorithm that breaks our bound is reported, but is still what users would get.
    Verification verification;
    const bool right = judge(subject, row.outcome, row.message, verification);
    if (lost_) return comparison;
    if (right || row.outcome == Outcome::wrong_result) {
      competitors.push_back({&row, bench.timed(algorithm.run, 0)});
    }
  }
  time_interleaved(*device_, bench.sets, bench.policy, std::move(competitors), plan);
  // A fault during timing is sticky too: the caller must not go on with this device.
  note(device_->synchronize());
  std::stable_sort(comparison.baselines.begin(), comparison.baselines.end(),
                   [](const ComparisonRow& x, const ComparisonRow& y) {
                     const bool x_timed = x.timing.median_ns > 0.0;
                     const bool y_timed = y.timing.median_ns > 0.0;
                     if (x_timed != y_timed) return x_timed;
                     return x.timing.median_ns < y.timing.median_ns;
                   });
  return comparison;
}

std::unique_ptr<Evaluator> make_local_evaluator(std::unique_ptr<Device> device) {
  return std::make_unique<LocalEvaluator>(std::move(device), cublaslt_baselines);
}

}  // namespace kiln
