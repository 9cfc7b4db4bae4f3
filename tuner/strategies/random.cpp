// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/random.hpp"

#include <fmt/format.h>

#include <utility>

namespace kiln {

std::uint64_t LazyShuffle::draw(std::mt19937_64& random) {
  --remaining_;
  const auto place = std::uniform_int_distribution<std::uint64_t>(0, remaining_)(random);
  const std::uint64_t drawn = value_at(place);
  // The last number replaces the drawn one; its own slot is out of play from now on.
  const std::uint64_t last = value_at(remaining_);
  moved_.erase(remaining_);
  if (place != remaining_) moved_[place] = last;
  return drawn;
}

std::uint64_t LazyShuffle::value_at(std::uint64_t place) const {
  const auto found = moved_.find(place);
  return found == moved_.end() ? place : found->second;
}

RandomStrategy::RandomStrategy(const SearchSpace& space, std::uint64_t seed)
    : space_(space), seed_(seed), random_(seed) {
  for (auto& level : stretches(space)) levels_.push_back({std::move(level), {}});
}

std::optional<Candidate> RandomStrategy::propose() {
  for (; level_ < levels_.size(); ++level_) {
    if (auto candidate = draw(levels_[level_])) return candidate;
  }
  return std::nullopt;
}

std::optional<Candidate> RandomStrategy::draw(Level& level) {
  // Counted only when reached: counting what no template prefers may take long.
  if (level.shuffles.empty()) {
    for (const auto& stretch : level.stretches) {
      const bool is_out = abandoned_.contains(stretch.part);
      level.shuffles.emplace_back(is_out ? 0 : stretch.space.count());
    }
  }
  while (true) {
    std::uint64_t remaining = 0;
    for (const auto& shuffle : level.shuffles) remaining += shuffle.remaining();
    if (remaining == 0) return std::nullopt;
    // A stretch by its share of what is left, then any of it: uniform over the union.
    auto index = std::uniform_int_distribution<std::uint64_t>(0, remaining - 1)(random_);
    std::size_t i = 0;
    while (index >= level.shuffles[i].remaining()) index -= level.shuffles[i++].remaining();
    const Stretch& stretch = level.stretches[i];
    Candidate candidate{space_.parts[stretch.part].kernel_template->name(),
                        stretch.space.at(level.shuffles[i].draw(random_))};
    if (stretch.is_done(candidate.config)) continue;
    if (!observed_.contains(candidate_text(candidate))) return candidate;
  }
}

void RandomStrategy::observe(const Candidate& candidate, Outcome, double) {
  observed_.insert(candidate_text(candidate));
}

void RandomStrategy::abandon(const std::string& template_name) {
  for (std::size_t part = 0; part < space_.parts.size(); ++part) {
    if (space_.parts[part].kernel_template->name() == template_name) abandoned_.insert(part);
  }
  for (Level& level : levels_) {
    for (std::size_t i = 0; i < level.shuffles.size(); ++i) {
      if (abandoned_.contains(level.stretches[i].part)) level.shuffles[i] = LazyShuffle(0);
    }
  }
}

std::string RandomStrategy::canonical() const {
  return fmt::format("random seed={}", seed_);
}

std::unique_ptr<Strategy> make_random(const StrategyInput& input) {
  return std::make_unique<RandomStrategy>(input.space, input.seed);
}

}  // namespace kiln
