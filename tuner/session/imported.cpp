// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/imported.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kiln {

std::vector<Candidate> imported_candidates(const SessionContext& context, const SearchSpace& space,
                                           std::size_t most) {
  TrialFilter filter;
  filter.problem = context.problem;
  filter.provenance = Provenance::imported;
  filter.outcome = Outcome::ok;
  std::vector<Trial> trials = context.store.trials(filter);
  std::erase_if(trials, [](const Trial& trial) { return !trial.timing; });
  std::ranges::sort(trials, [&](const Trial& left, const Trial& right) {
    const bool is_left_far = left.key.device.name != context.device.name;
    const bool is_right_far = right.key.device.name != context.device.name;
    return std::tie(is_left_far, left.timing->median_ns, left.id) <
           std::tie(is_right_far, right.timing->median_ns, right.id);
  });
  std::vector<Candidate> candidates;
  for (Trial& trial : trials) {
    if (candidates.size() == most) break;
    const SearchSpace::Part* const part = space.find(trial.key.template_name);
    if (part == nullptr || !part->space.contains(trial.key.config)) continue;
    Candidate candidate{std::move(trial.key.template_name), std::move(trial.key.config)};
    if (std::ranges::find(candidates, candidate) == candidates.end()) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace kiln
