// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "cache/store/store.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// What every part of a session needs to know. The references outlive the session.
struct SessionContext {
  const TuneRequest& request;
  const Catalog& catalog;
  TuningStore& store;
  SessionObserver& observer;
  const std::atomic<bool>& stop;
  Problem problem;
  DeviceLimits limits;
  DeviceClass device;
  Environment environment;
  Provenance provenance = Provenance::measured;
  CodeKind code = CodeKind::cubin;
  std::string judge;  ///< judge_digest() of the problem's operation
  std::string session_id;

  [[nodiscard]] const Objective& objective() const { return request.objective; }
  [[nodiscard]] CandidateKey key_of(const Candidate& candidate) const {
    return {problem, device, candidate.template_name, catalog.digest(candidate.template_name),
            candidate.config};
  }
};

/// Throws Error(usage), with the reason, for a problem in which there is nothing to tune.
void require_product(const Problem& problem);

/// What is known of the space's candidates: the answer that a look-up restricted to them would
/// give.
[[nodiscard]] std::optional<Trial> best_in_space(const SessionContext& context,
                                                 const SearchSpace& space);

/// What that would be if the device's checks found nothing in it: what they have to look at next.
[[nodiscard]] std::optional<Trial> best_unless_checked(const SessionContext& context,
                                                       const SearchSpace& space);

/// Whether the objective needs energy and the trial, which is ok, has none although it is not
/// hopelessly slow against a fastest of `best_ns` (0: nothing is): it has to run again.
[[nodiscard]] bool lacks_figures(const SessionContext& context, const Trial& trial, double best_ns);

/// The trial of a candidate as far as preparing it decides it.
[[nodiscard]] Trial prepared_trial(const SessionContext& context,
                                   const PreparedCandidate& prepared);

}  // namespace kiln
