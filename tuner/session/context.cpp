// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/context.hpp"

#include <string>

#include "cache/lookup/ranking.hpp"
#include "kiln/error.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

void require_product(const Problem& problem) {
  const std::string why = why_nothing_to_tune(problem);
  if (!why.empty()) throw Error(ErrorKind::usage, std::string(why));
}

std::optional<Trial> best_in_space(const SessionContext& context, const SearchSpace& space) {
  BestQuery query;
  query.problem = context.problem;
  query.device = context.device;
  query.compiled_too = context.provenance == Provenance::compiled;
  query.judge = context.judge;
  query.objective = context.objective();
  query.admits_template = [&](std::string_view name, std::string_view digest) {
    return space.find(name) != nullptr && context.catalog.digest(name) == digest;
  };
  query.admits = [&](std::string_view name, const Config& config) {
    return space.find(name)->space.contains(config);
  };
  return context.store.best(query);
}

std::optional<Trial> best_unless_checked(const SessionContext& context, const SearchSpace& space) {
  TrialFilter filter;
  filter.problem = context.problem;
  filter.device = context.device;
  std::vector<Trial> trials = context.store.trials(filter);
  std::erase_if(trials, [&](const Trial& trial) {
    const CandidateKey& key = trial.key;
    const SearchSpace::Part* const part = space.find(key.template_name);
    return trial.provenance == Provenance::compiled || judge_of(trial) != context.judge ||
           part == nullptr || context.catalog.digest(key.template_name) != key.template_digest ||
           !part->space.contains(key.config);
  });
  const Trial* const best = standing_of(trials, Suspects::admitted, context.objective()).best;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

bool lacks_figures(const SessionContext& context, const Trial& trial, double best_ns) {
  if (!context.objective().needs_energy() || !eligible(trial)) return false;
  if (trial.timing->energy_j > 0.0) return false;
  return best_ns <= 0.0 || trial.timing->median_ns <= context.request.policy.drop_factor * best_ns;
}

Trial prepared_trial(const SessionContext& context, const PreparedCandidate& prepared) {
  Trial trial;
  trial.key = context.key_of(prepared.candidate);
  trial.environment = context.environment;
  trial.provenance = context.provenance;
  trial.outcome = prepared.outcome;
  trial.message = prepared.message;
  if (prepared.compiled.ok) trial.resources = prepared.resources;
  trial.rendered_digest = prepared.rendered.digest;
  trial.compile_seconds = prepared.compiled.seconds;
  trial.session_id = context.session_id;
  trial.code_digest = prepared.code_digest;
  if (context.provenance != Provenance::compiled) trial.judge_digest = context.judge;
  return trial;
}

}  // namespace kiln
