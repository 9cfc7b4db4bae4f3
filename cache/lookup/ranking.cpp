// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "cache/lookup/contender.hpp"
#include "cache/store/store.hpp"

namespace kiln {

Rank rank_of(const Trial& trial, const Objective& objective) {
  Rank rank;
  // The schema's column knows three, and nothing imported is ever ranked.
  rank.provenance = static_cast<int>(std::min(trial.provenance, Provenance::compiled));
  rank.registers = trial.resources ? trial.resources->registers : std::numeric_limits<int>::max();
  if (trial.provenance == Provenance::compiled) {
    rank.cost = trial.resources ? -trial.resources->occupancy : 0.0;
  } else if (!objective.is_time()) {
    const bool alone = trial.provenance == Provenance::measured && !trial.timing->interleaved;
    const auto value = objective.value_of(trial, alone ? kAloneFactor : 1.0);
    rank.cost = value ? value->value : std::numeric_limits<double>::max();
    rank.noise = value ? value->noise : 0.0;
  } else if (trial.timing) {
    rank.cost = trial.timing->median_ns * (trial.timing->interleaved ? 1.0 : kAloneFactor);
    rank.noise = trial.timing->spread_ns;
  }
  return rank;
}

double tie_limit(const Rank& leader) {
  return leader.cost + std::abs(leader.cost) * kTieWindow;
}

bool ties_with(const Rank& rank, const Rank& leader) {
  return rank.provenance == leader.provenance && rank.cost <= tie_limit(leader) &&
         rank.cost - rank.noise <= leader.cost + leader.noise;
}

bool eligible(const Trial& trial, const Objective& objective) {
  if (trial.outcome != Outcome::ok || trial.provenance == Provenance::imported) return false;
  if (trial.provenance == Provenance::compiled) return objective.is_time();
  return trial.verification && trial.verification->passed && trial.timing &&
         trial.timing->median_ns > 0.0 && (objective.is_time() || objective.value_of(trial));
}

bool better(const Trial& left, const Trial& right, const Objective& objective) {
  const Rank l = rank_of(left, objective);
  const Rank r = rank_of(right, objective);
  const auto numbers = std::tie(l.provenance, l.cost, l.registers);
  const auto others = std::tie(r.provenance, r.cost, r.registers);
  if (numbers != others) return numbers < others;
  return leads(contender_of(left, objective), contender_of(right, objective));
}

bool speaks_against(const Trial& trial) {
  if (trial.provenance == Provenance::imported) return false;
  return trial.outcome == Outcome::wrong_result || trial.outcome == Outcome::crashed ||
         trial.outcome == Outcome::timed_out;
}

bool is_check_finding(const Trial& trial) {
  return trial.outcome == Outcome::wrong_result && trial.provenance == Provenance::modelled &&
         trial.verification && trial.verification->checked;
}

std::vector<const Trial*> able_trials(const std::vector<Trial>& trials, Suspects suspects,
                                      const Objective& objective) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  using Moment = std::pair<std::int64_t, std::string>;
  // One wrong result outweighs any number of right ones: the kernel has a race or a bad border. A
  // crash or a hang may have been the machine's doing; what came well afterwards makes up for it.
  // And an emulated GPU, which takes its time, says nothing about hanging on a real one. What one
  // judge found says nothing of what another one did.
  std::set<Key> wrong;
  std::set<std::pair<std::string, std::string>> wrong_codes;  // each with the judge
  std::map<std::pair<Key, Provenance>, Moment> last_fault;
  // A race of one configuration is one of most others as long as nobody looked.
  std::set<Key> suspected;
  const auto candidate = [](const Trial& trial) {
    return Key{trial.key.template_name, trial.key.template_digest, trial.key.config.canonical(),
               judge_of(trial)};
  };
  const auto family = [](const Trial& trial) {
    return Key{trial.key.template_name, trial.key.template_digest, "", judge_of(trial)};
  };
  const auto is_unchecked = [](const Trial& trial) {
    return trial.provenance == Provenance::modelled && !trial.verification->checked;
  };
  for (const Trial& trial : trials) {
    if (!speaks_against(trial)) continue;
    if (is_check_finding(trial) && suspects == Suspects::left_out) suspected.insert(family(trial));
    if (trial.outcome == Outcome::wrong_result) {
      wrong.insert(candidate(trial));
      if (!trial.code_digest.empty()) wrong_codes.emplace(trial.code_digest, judge_of(trial));
    } else {
      Moment& last = last_fault[{candidate(trial), trial.provenance}];
      last = std::max(last, Moment{trial.created_unix_ms, trial.id});
    }
  }
  const auto able = [&](const Trial& trial) {
    if (!eligible(trial, objective)) return false;
    const Key key = candidate(trial);
    if (wrong.contains(key) || wrong_codes.contains({trial.code_digest, std::get<3>(key)}))
      return false;
    if (is_unchecked(trial) && suspected.contains(family(trial))) return false;
    const Moment moment{trial.created_unix_ms, trial.id};
    const auto begin = last_fault.lower_bound({key, Provenance::measured});
    const auto end = last_fault.upper_bound({key, trial.provenance});
    return std::all_of(begin, end, [&](const auto& fault) { return fault.second < moment; });
  };

  std::vector<const Trial*> able_ones;
  for (const Trial& trial : trials) {
    if (able(trial)) able_ones.push_back(&trial);
  }
  std::sort(able_ones.begin(), able_ones.end(), [&](const Trial* left, const Trial* right) {
    return better(*left, *right, objective);
  });
  return able_ones;
}

Standing standing_of(const std::vector<Trial>& trials, Suspects suspects,
                     const Objective& objective) {
  const std::vector<const Trial*> able = able_trials(trials, suspects, objective);
  std::vector<Contender> contenders;
  contenders.reserve(able.size());
  for (const Trial* trial : able) contenders.push_back(contender_of(*trial, objective));
  const Decision decision = decide(contenders, [](const Contender&) { return true; });
  if (decision.leader == nullptr) return {};
  const auto trial_of = [&](const Contender* contender) {
    return able[static_cast<std::size_t>(contender - contenders.data())];
  };
  return {trial_of(decision.leader), trial_of(decision.best)};
}

const Trial* best_of(const std::vector<Trial>& trials, const Objective& objective) {
  return standing_of(trials, Suspects::left_out, objective).best;
}

}  // namespace kiln
