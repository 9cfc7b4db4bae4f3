// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/sharing.hpp"

namespace kiln {

std::optional<Trial> trial_of_same_code(const SessionContext& context,
                                        const std::string& code_digest) {
  if (code_digest.empty()) return std::nullopt;
  CodeQuery query;
  query.problem = context.problem;
  query.device = context.device;
  query.environment = context.environment;
  query.provenance = context.provenance;
  query.code_digest = code_digest;
  query.judge = context.judge;
  if (context.request.again) query.session_id = context.session_id;
  return context.store.trial_of_code(query);
}

void share_outcome(Trial& trial, const Trial& source) {
  trial.outcome = source.outcome;
  trial.message = source.message;
  trial.verification = source.verification;
  trial.timing = source.timing;
  // Always the one that ran, so that nobody has to follow a chain.
  trial.shared_from = source.shared_from.empty() ? source.id : source.shared_from;
}

}  // namespace kiln
