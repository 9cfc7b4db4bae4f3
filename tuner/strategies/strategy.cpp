// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "kiln/error.hpp"

namespace kiln {

std::unique_ptr<Strategy> make_exhaustive(const StrategyInput& input);
std::unique_ptr<Strategy> make_guided(const StrategyInput& input);
std::unique_ptr<Strategy> make_local(const StrategyInput& input);
std::unique_ptr<Strategy> make_model(const StrategyInput& input);
std::unique_ptr<Strategy> make_random(const StrategyInput& input);
std::unique_ptr<Strategy> make_surrogate(const StrategyInput& input);

namespace {

/// A strategy's name on the command line, and how to make it.
struct StrategyRow {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)(const StrategyInput& input);
};

// By name. Each is defined in the file of its name, which the build finds without a list.
constexpr StrategyRow kStrategies[] = {
    {"exhaustive", make_exhaustive}, {kGuided, make_guided},  {"local", make_local},
    {"model", make_model},           {"random", make_random}, {"surrogate", make_surrogate},
};

}  // namespace

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyRow& row : kStrategies) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const StrategyInput& input) {
  for (const StrategyRow& row : kStrategies) {
    if (row.name == name) return row.make(input);
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
