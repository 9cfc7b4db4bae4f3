// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/exhaustive.hpp"

namespace kiln {

std::optional<Candidate> ExhaustiveStrategy::propose() {
  while (part_ < space_.parts.size()) {
    const auto& part = space_.parts[part_];
    const std::string& name = part.kernel_template->name();
    if (abandoned_.contains(name) || next_ >= part.space.count()) {
      ++part_;
      next_ = 0;
      continue;
    }
    Candidate candidate{name, part.space.at(next_++)};
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

}  // namespace kiln
