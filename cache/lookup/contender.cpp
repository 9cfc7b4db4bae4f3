// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/contender.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace kiln {
namespace {

bool same_restrictions(const Contender& left, const Contender& right) {
  return left.rank.provenance == right.rank.provenance &&
         left.template_name == right.template_name &&
         left.template_digest == right.template_digest && left.driver == right.driver &&
         left.toolkit == right.toolkit && left.judge == right.judge;
}

/// Whether `right` can never be the best where `left` is admitted too: `left` precedes it, and
/// is within every leader's window and interval that contains `right`.
bool dominates(const Contender& left, const Contender& right) {
  return same_restrictions(left, right) && left.rank.cost <= right.rank.cost &&
         left.rank.cost - left.rank.noise <= right.rank.cost - right.rank.noise &&
         preferred_in_tie(left, right);
}

}  // namespace

Contender contender_of(const Trial& trial, const Objective& objective) {
  return {trial.id,
          rank_of(trial, objective),
          trial.key.template_name,
          trial.key.template_digest,
          trial.key.config.canonical(),
          trial.environment.driver,
          trial.environment.toolkit,
          trial.provenance == Provenance::compiled ? "" : judge_of(trial)};
}

bool leads(const Contender& left, const Contender& right) {
  const auto order = [](const Contender& c) {
    return std::tie(c.rank.provenance, c.rank.cost, c.rank.registers, c.template_name, c.config,
                    c.trial_id);
  };
  return order(left) < order(right);
}

bool preferred_in_tie(const Contender& left, const Contender& right) {
  const auto order = [](const Contender& c) {
    return std::tie(c.rank.registers, c.template_name, c.config, c.rank.cost, c.trial_id);
  };
  return order(left) < order(right);
}

Decision decide(std::span<const Contender> contenders,
                const std::function<bool(const Contender&)>& admits) {
  const auto leader = std::find_if(contenders.begin(), contenders.end(), admits);
  if (leader == contenders.end()) return {};
  std::vector<const Contender*> tied;
  for (auto other = leader; other != contenders.end(); ++other) {
    if (ties_with(other->rank, leader->rank)) tied.push_back(&*other);
  }
  std::sort(tied.begin(), tied.end(), [](const Contender* left, const Contender* right) {
    return preferred_in_tie(*left, *right);
  });
  const auto best = std::find_if(tied.begin(), tied.end(), [&](const Contender* contender) {
    return contender == &*leader || admits(*contender);
  });
  return {&*leader, *best};
}

std::vector<Contender> shortlist_of(std::vector<Contender> contenders) {
  std::sort(contenders.begin(), contenders.end(), preferred_in_tie);
  std::vector<Contender> kept;
  for (Contender& contender : contenders) {
    const bool beaten = std::any_of(kept.begin(), kept.end(), [&](const Contender& other) {
      return dominates(other, contender);
    });
    if (!beaten) kept.push_back(std::move(contender));
  }
  std::sort(kept.begin(), kept.end(),
            [](const Contender& left, const Contender& right) { return leads(left, right); });
  return kept;
}

}  // namespace kiln
