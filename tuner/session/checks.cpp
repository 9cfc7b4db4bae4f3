// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/checks.hpp"

#include <fmt/format.h>

#include <utility>

#include "kiln/error.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/session/sharing.hpp"
#include "tuner/session/stop_grace.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

std::vector<std::size_t> leave_out_needless(EvaluationSetup& setup, EvaluationJob& job,
                                            std::size_t deep) {
  const std::size_t first_deep = setup.cases.size() - deep;
  std::vector<std::size_t> left{0};
  std::size_t kept = 1;
  bool has_deep = false;
  for (std::size_t i = 1; i < setup.cases.size(); ++i) {
    if (job.geometry[i].empty() || (i >= first_deep && has_deep)) continue;
    has_deep = has_deep || i >= first_deep;
    setup.cases[kept] = setup.cases[i];
    setup.reference_geometry[kept] = setup.reference_geometry[i];
    if (!setup.reference_plans.empty()) setup.reference_plans[kept] = setup.reference_plans[i];
    job.geometry[kept] = job.geometry[i];
    job.arguments[kept] = job.arguments[i];
    if (!job.constants.empty()) job.constants[kept] = job.constants[i];
    job.workspace_bytes[kept] = job.workspace_bytes[i];
    if (!job.scratch.empty()) job.scratch[kept] = job.scratch[i];
    left.push_back(i);
    ++kept;
  }
  setup.cases.resize(kept);
  setup.reference_geometry.resize(kept);
  if (!setup.reference_plans.empty()) setup.reference_plans.resize(kept);
  job.geometry.resize(kept);
  job.arguments.resize(kept);
  if (!job.constants.empty()) job.constants.resize(kept);
  job.workspace_bytes.resize(kept);
  if (!job.scratch.empty()) job.scratch.resize(kept);
  return left;
}

std::optional<Trial> WinnerChecks::checked_twin(const Trial& best) const {
  std::optional<Trial> of_code;
  for (Trial& trial : context_.store.latest_trials(context_.problem, context_.device)) {
    if (!trial.verification || !trial.verification->checked || !eligible(trial)) continue;
    if (trial.provenance != best.provenance || judge_of(trial) != context_.judge) continue;
    if (trial.key == best.key) return std::move(trial);
    const bool same_code = !best.code_digest.empty() && trial.code_digest == best.code_digest;
    if (same_code && trial.environment == best.environment) of_code = std::move(trial);
  }
  return of_code;
}

void WinnerChecks::run(Evaluator& evaluator, Compiler& compiler) {
  while (const auto best = best_unless_checked(context_, space_)) {
    if (const auto twin = checked_twin(*best)) {
      if (twin->key == best->key) return;
      Trial shared = *best;
      share_outcome(shared, *twin);
      shared.session_id = context_.session_id;
      (void)ledger_.record_again(std::move(shared));
      return;
    }
    if (look_at(*best, evaluator, compiler) != Step::found) return;
  }
}

WinnerChecks::Step WinnerChecks::look_at(const Trial& best, Evaluator& evaluator,
                                         Compiler& compiler) {
  StopGrace stopped(context_.stop);
  const GiveUp give_up = [&] { return stopped() || time_is_up(); };
  if (context_.stop || time_is_up()) return ended();

  TuneRequest request = context_.request;
  request.thoroughness = Thoroughness::deep;
  EvaluationSetup setup;
  try {
    setup = make_setup(request, compiler, evaluator.info());
  } catch (const Error&) {
    // What was given up does not compile. The compiler ends without the grace of the evaluator.
    if (context_.stop || time_is_up()) return ended();
    throw;
  }
  const Candidate candidate{best.key.template_name, best.key.config};
  auto prepared = prepare_candidate(candidate, context_.catalog, compiler, context_.limits,
                                    setup.cases, Admission::runnable, context_.code);
  if (prepared.compiled.given_up) return ended();
  if (prepared.outcome != Outcome::ok) return not_checked(prepared.message);
  leave_out_needless(setup, prepared.job,
                     count_deep(request.tuned, evaluator.info().most_products));
  evaluator.set_up(setup);
  if (!evaluator.make_ready(give_up)) return ended();
  prepared.job.time_it = false;
  prepared.job.check = true;
  prepared.job.timeout_s = request.candidate_timeout_s;
  const auto evaluation =
      ledger_.occupy_device([&] { return evaluator.evaluate(prepared.job, give_up); });
  if (!evaluation) return ended();
  const bool found = evaluation->outcome == Outcome::wrong_result;
  if (!found && evaluation->outcome != Outcome::ok) return not_checked(evaluation->message);
  if (!found && !evaluation->verification.checked) {
    return not_checked("the device does not support these checks");
  }

  Trial trial = best;
  trial.session_id = context_.session_id;
  trial.environment = context_.environment;
  trial.judge_digest = context_.judge;
  trial.shared_from.clear();
  trial.outcome = evaluation->outcome;
  trial.message = evaluation->message;
  trial.verification = evaluation->verification;
  if (found) {
    found_any_ = true;
    trial.timing.reset();
    context_.observer.on_note(fmt::format("the best candidate so far, {}, failed the checks: {}",
                                          candidate_text(candidate), trial.message));
  }
  (void)ledger_.record_again(std::move(trial));
  return found ? Step::found : Step::clean;
}

WinnerChecks::Step WinnerChecks::not_checked(const std::string& why) {
  unchecked_ = why;
  context_.observer.on_note(fmt::format(
      "the {}best candidate was not checked for races, missing waits and similar faults: {}",
      found_any_ ? "new " : "", why));
  return Step::not_checked;
}

WinnerChecks::Step WinnerChecks::ended() {
  was_stopped_ = context_.stop;
  ran_out_of_time_ = !was_stopped_;
  return not_checked(was_stopped_ ? "the run was stopped before the checks ended"
                                  : "the budget ended before the checks ended");
}

}  // namespace kiln
