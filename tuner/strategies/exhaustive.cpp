// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/exhaustive.hpp"

#include <utility>

namespace kiln {

ExhaustiveStrategy::ExhaustiveStrategy(const SearchSpace& space) : space_(space) {
  for (auto& level : stretches(space)) {
    for (auto& stretch : level) stretches_.push_back(std::move(stretch));
  }
}

std::optional<Candidate> ExhaustiveStrategy::propose() {
  while (stretch_ < stretches_.size()) {
    const Stretch& stretch = stretches_[stretch_];
    const std::string& name = space_.parts[stretch.part].kernel_template->name();
    if (abandoned_.contains(name) || next_ >= stretch.space.count()) {
      ++stretch_;
      next_ = 0;
      continue;
    }
    Candidate candidate{name, stretch.space.at(next_++)};
    if (stretch.is_done(candidate.config)) continue;
    if (!observed_.contains(candidate_text(candidate))) return candidate;
  }
  return std::nullopt;
}

void ExhaustiveStrategy::observe(const Candidate& candidate, Outcome, double) {
  observed_.insert(candidate_text(candidate));
}

void ExhaustiveStrategy::abandon(const std::string& template_name) {
  abandoned_.insert(template_name);
}

std::unique_ptr<Strategy> make_exhaustive(const StrategyInput& input) {
  return std::make_unique<ExhaustiveStrategy>(input.space);
}

}  // namespace kiln
