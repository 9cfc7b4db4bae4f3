// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session_context.hpp"

#include <string>

#include "kiln/error.hpp"

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
  query.admits_template = [&](std::string_view name, std::string_view digest) {
    return space.find(name) != nullptr && context.catalog.digest(name) == digest;
  };
  query.admits = [&](std::string_view name, const Config& config) {
    return space.find(name)->space.contains(config);
  };
  return context.store.best(query);
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
