// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/random.hpp"

#include <fmt/format.h>

namespace kiln {

std::uint64_t LazyShuffle::draw(std::mt19937_64& random) {
  --remaining_;
  const auto place = std::uniform_int_distribution<std::uint64_t>(0, remaining_)(random);
  const std::uint64_t drawn = value_at(place);
  // The last number takes the drawn one's place; its own place is out of play from now on.
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
  for (const auto& part : space.parts) shuffles_.emplace_back(part.space.count());
}

std::optional<Candidate> RandomStrategy::propose() {
  while (true) {
    std::uint64_t remaining = 0;
    for (const auto& shuffle : shuffles_) remaining += shuffle.remaining();
    if (remaining == 0) return std::nullopt;
    // A part by its share of what is left, then any of it: uniform over the union.
    auto index = std::uniform_int_distribution<std::uint64_t>(0, remaining - 1)(random_);
    std::size_t i = 0;
    while (index >= shuffles_[i].remaining()) index -= shuffles_[i++].remaining();
    const auto& part = space_.parts[i];
    Candidate candidate{part.kernel_template->name(), part.space.at(shuffles_[i].draw(random_))};
    if (!observed_.contains(candidate_text(candidate))) return candidate;
  }
}

void RandomStrategy::observe(const Candidate& candidate, Outcome, double) {
  observed_.insert(candidate_text(candidate));
}

void RandomStrategy::abandon(const std::string& template_name) {
  for (std::size_t i = 0; i < shuffles_.size(); ++i) {
    if (space_.parts[i].kernel_template->name() == template_name) shuffles_[i] = LazyShuffle(0);
  }
}

std::string RandomStrategy::canonical() const {
  return fmt::format("random seed={}", seed_);
}

}  // namespace kiln
