// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "kiln/error.hpp"
#include "tuner/static_model.hpp"
#include "tuner/strategies/exhaustive.hpp"
#include "tuner/strategies/model.hpp"
#include "tuner/strategies/random.hpp"

namespace kiln {

std::vector<std::string> strategy_names() {
  return {"exhaustive", "model", "random"};
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const StrategyInput& input) {
  if (name == "exhaustive") return std::make_unique<ExhaustiveStrategy>(input.space);
  if (name == "random") return std::make_unique<RandomStrategy>(input.space, input.seed);
  if (name == "model") {
    return std::make_unique<ModelStrategy>(input.space, input.problem,
                                           profile_for(input.limits, input.device), input.seed);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown strategy '{}'; the strategies are: {}", name,
                                            fmt::join(strategy_names(), ", ")));
}

std::vector<std::vector<Stretch>> stretches(const SearchSpace& space) {
  std::vector<Stretch> preferred;
  std::vector<Stretch> rest;
  for (std::size_t i = 0; i < space.parts.size(); ++i) {
    const ParamSpace& whole = space.parts[i].space;
    if (!whole.has_preferences()) {
      preferred.push_back({i, whole, std::nullopt});
      continue;
    }
    const ParamSpace first = whole.preferred();
    preferred.push_back({i, first, std::nullopt});
    rest.push_back({i, whole, first});
  }
  return {std::move(preferred), std::move(rest)};
}

std::string candidate_text(const Candidate& candidate) {
  return fmt::format("{} {}", candidate.template_name, candidate.config.canonical());
}

}  // namespace kiln
