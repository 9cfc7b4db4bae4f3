// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kiln/error.hpp"
#include "tuner/strategies/exhaustive.hpp"
#include "tuner/strategies/random.hpp"

namespace kiln {

std::vector<std::string> strategy_names() {
  return {"exhaustive", "random"};
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space,
                                        std::uint64_t seed) {
  if (name == "exhaustive") return std::make_unique<ExhaustiveStrategy>(space);
  if (name == "random") return std::make_unique<RandomStrategy>(space, seed);
  throw Error(ErrorKind::usage, fmt::format("unknown strategy '{}'; there are: {}", name,
                                            fmt::join(strategy_names(), ", ")));
}

std::string candidate_text(const Candidate& candidate) {
  return fmt::format("{} {}", candidate.template_name, candidate.config.canonical());
}

}  // namespace kiln
