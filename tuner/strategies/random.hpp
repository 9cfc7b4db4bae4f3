// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// The numbers 0 to n-1 in random order, each once, in memory proportional to those already drawn:
/// a Fisher-Yates shuffle that stores only what it has moved.
class LazyShuffle {
 public:
  explicit LazyShuffle(std::uint64_t count) : remaining_(count) {}
  [[nodiscard]] std::uint64_t remaining() const { return remaining_; }
  /// Precondition: remaining() > 0.
  [[nodiscard]] std::uint64_t draw(std::mt19937_64& random);

 private:
  [[nodiscard]] std::uint64_t value_at(std::uint64_t place) const;
  std::uint64_t remaining_;
  std::unordered_map<std::uint64_t, std::uint64_t> moved_;
};

/// Candidates drawn uniformly from the union of what all templates prefer, then from the rest of
/// their spaces, none twice.
class RandomStrategy : public Strategy {
 public:
  RandomStrategy(const SearchSpace& space, std::uint64_t seed);
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] std::string canonical() const override;

 private:
  const SearchSpace& space_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  struct Level {
    std::vector<Stretch> stretches;
    std::vector<LazyShuffle> shuffles;  ///< one per stretch
  };
  [[nodiscard]] std::optional<Candidate> draw(Level& level);
  std::vector<Level> levels_;
  std::size_t level_ = 0;            ///< being drawn from
  std::set<std::size_t> abandoned_;  ///< parts
  std::unordered_set<std::string> observed_;
};

}  // namespace kiln
