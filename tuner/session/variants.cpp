// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/variants.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/model/static_model.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {
namespace {

/// So many of the best are varied, if they are not further behind than a launch can make up for.
constexpr std::size_t kVaried = 32;
constexpr double kMostBehind = 1.3;
/// Pairs of values may be better where none of them is by itself.
constexpr int kMostSteps = 2;
/// By the static model, which is wrong by that much at times.
constexpr double kMostSlower = 1.5;

Candidate candidate_of_trial(const Trial& trial) {
  return {trial.key.template_name, trial.key.config};
}

}  // namespace

LaunchVariants::LaunchVariants(const SessionContext& context, const SearchSpace& space,
                               const std::vector<ProblemCase>& cases)
    : context_(context),
      space_(space),
      cases_(cases),
      profile_(profile_for(context.limits, context.device)) {}

/// The same for candidates that differ only in how they are launched.
std::string LaunchVariants::code_of(const Candidate& candidate) const {
  const KernelTemplate& kernel_template = context_.catalog.at(candidate.template_name);
  return candidate_text({candidate.template_name, kernel_template.compiled_part(candidate.config)});
}

void LaunchVariants::keep(const PreparedCandidate& prepared, const SessionLedger& ledger) {
  known_.insert_or_assign(code_of(prepared.candidate), prepared);
  std::set<std::string> of_best;
  for (const Trial& leader : ledger.leaders(kVaried)) {
    of_best.insert(code_of(candidate_of_trial(leader)));
  }
  std::erase_if(known_, [&](const auto& known) { return !of_best.contains(known.first); });
}

/// Those so many steps or fewer from the candidate.
std::vector<Config> LaunchVariants::launches_of(const Candidate& candidate, int steps) const {
  const SearchSpace::Part* const part = space_.find(candidate.template_name);
  if (part == nullptr) return {};
  const auto expected_ns = [&](const Config& config) {
    return static_time_ns(*part->kernel_template, config, context_.problem, profile_).value_or(0.0);
  };
  const std::string code = code_of(candidate);
  const double most_ns = kMostSlower * expected_ns(candidate.config);
  std::set<Config> reached{candidate.config};
  std::vector<Config> last{candidate.config};
  std::vector<std::pair<double, Config>> found;
  for (int step = 0; step < steps; ++step) {
    std::vector<Config> next;
    for (const Config& from : last) {
      for (Config& config : part->space.neighbours(from)) {
        if (code_of({candidate.template_name, config}) != code) continue;
        if (!reached.insert(config).second) continue;
        const double time_ns = expected_ns(config);
        if (time_ns > most_ns) continue;
        found.emplace_back(time_ns, config);
        next.push_back(std::move(config));
      }
    }
    last = std::move(next);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, Config>::first);
  std::ranges::reverse(found);
  std::vector<Config> configs;
  for (auto& one : found) configs.push_back(std::move(one.second));
  return configs;
}

std::optional<Config> LaunchVariants::take_launch(const Candidate& candidate, int steps,
                                                  ProposalQueue& proposals) {
  Launches& launches = launches_[candidate];
  if (launches.steps < steps) launches = {steps, launches_of(candidate, steps)};
  while (!launches.left.empty()) {
    Config config = std::move(launches.left.back());
    launches.left.pop_back();
    if (proposals.take({candidate.template_name, config})) return config;
  }
  return std::nullopt;
}

std::optional<PreparedCandidate> LaunchVariants::next(const SessionLedger& ledger,
                                                      ProposalQueue& proposals) {
  const std::vector<Trial> leaders = ledger.leaders(kVaried);
  for (int steps = 1; steps <= kMostSteps; ++steps) {
    for (const Trial& leader : leaders) {
      if (ledger.value_of(leader) > kMostBehind * ledger.best_value()) break;
      const Candidate candidate = candidate_of_trial(leader);
      const auto known = known_.find(code_of(candidate));
      // What an earlier session measured would have to be compiled.
      if (known == known_.end()) continue;
      if (const auto config = take_launch(candidate, steps, proposals)) {
        return prepare_variant(known->second, *config, context_.catalog, context_.limits, cases_,
                               context_.code);
      }
    }
  }
  return std::nullopt;
}

}  // namespace kiln
