// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/resume.hpp"

#include <algorithm>
#include <set>

#include "cache/files/session_lock.hpp"
#include "tuner/policy.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {
namespace {

/// A run that was killed could not say so itself.
void close_killed_sessions(const SessionContext& context) {
  TrialFilter filter;
  filter.problem = context.problem;
  filter.device = context.device;
  for (const auto& session : context.store.sessions(filter)) {
    if (state_now(context.store.path(), session) == session.state) continue;
    TrialFilter of_session;
    of_session.session_id = session.id;
    const auto trials = context.store.trials(of_session);
    context.store.end_session(session.id, "interrupted", trials.size());
  }
  remove_dead_session_locks(context.store.path());
}

bool belongs(const SessionContext& context, const SearchSpace& space, const CandidateKey& key) {
  const SearchSpace::Part* part = space.find(key.template_name);
  return part != nullptr && context.catalog.digest(key.template_name) == key.template_digest &&
         part->space.contains(key.config);
}

/// What another model predicted, or the same one with another profile, does not count, and no
/// verdict of another judge or on other data. A measured time counts, whatever the driver.
bool counts_here(const SessionContext& context, const Trial& trial) {
  if (trial.provenance != context.provenance) return false;
  if (trial.provenance != Provenance::compiled && judge_of(trial) != context.judge) return false;
  if (data_of_policy(trial.environment.policy) != data_of_policy(context.environment.policy)) {
    return false;
  }
  return trial.provenance == Provenance::measured ||
         (trial.environment.driver == context.environment.driver &&
          trial.environment.policy == context.environment.policy);
}

}  // namespace

Inheritance inherit(const SessionContext& context, const SearchSpace& space) {
  close_killed_sessions(context);
  Inheritance result;
  std::set<Candidate> settled;
  std::vector<Trial> latest = context.store.latest_trials(context.problem, context.device);
  std::erase_if(latest, [&](const Trial& trial) {
    return !counts_here(context, trial) || !belongs(context, space, trial.key);
  });
  double best_ns = 0.0;
  for (const Trial& trial : latest) {
    if (!eligible(trial)) continue;
    const double time_ns = trial.timing ? trial.timing->median_ns : 0.0;
    best_ns = best_ns == 0.0 ? time_ns : std::min(best_ns, time_ns);
  }
  for (auto& trial : latest) {
    if (lacks_figures(context, trial, best_ns)) continue;
    settled.insert({trial.key.template_name, trial.key.config});
    if (!context.request.again) result.known.push_back(std::move(trial));
  }
  // What a session running beside this one has on the device is not left over.
  const auto is_dead = [&](const std::string& session) {
    return !session_is_alive(context.store.path(), session);
  };
  for (const auto& key : context.store.open_attempts(context.problem, context.device, is_dead)) {
    Candidate candidate{key.template_name, key.config};
    if (belongs(context, space, key) && !settled.contains(candidate)) {
      result.unfinished.push_back(std::move(candidate));
    }
  }
  // The database promises no order; a session must not depend on one.
  std::sort(result.unfinished.begin(), result.unfinished.end());
  return result;
}

Trial unfinished_trial(const SessionContext& context, const Candidate& candidate) {
  Trial trial;
  trial.key = context.key_of(candidate);
  trial.environment = context.environment;
  trial.provenance = context.provenance;
  trial.outcome = Outcome::crashed;
  trial.message = "the run was killed while this candidate ran";
  trial.judge_digest = context.judge;
  trial.session_id = context.session_id;
  return trial;
}

}  // namespace kiln
