// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// Iterated local search: from a starting point to a neighbour that is faster, one tunable at a
/// time, until none is; then from a new starting point. Every second of those is the best
/// configuration so far after a few random steps, the others are drawn by another strategy.
///
/// Results come late, because several candidates are compiled ahead. While those of a descent are
/// awaited, others are drawn too; one that turns out the best of all is where the next descent
/// begins.
class LocalStrategy : public Strategy {
 public:
  /// What `drawn` proposes is a starting point; the first `screened` of its proposals are tried
  /// before any descent, which then begins at the best of them.
  LocalStrategy(std::string name, const SearchSpace& space, std::uint64_t seed,
                std::unique_ptr<Strategy> drawn, int screened);
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] std::string canonical() const override;

 private:
  struct Place {
    std::optional<Candidate> candidate;
    double time_ns = std::numeric_limits<double>::infinity();
  };

  [[nodiscard]] std::vector<Candidate> neighbours_of(const Candidate& candidate) const;
  void move_to(Place place);
  [[nodiscard]] bool may_propose(const Candidate& candidate) const;
  Candidate taken(Candidate candidate);
  Candidate waited_for(Candidate candidate);
  std::optional<Candidate> next_neighbour();
  std::optional<Candidate> next_drawn();
  std::optional<Candidate> few_steps_from(Candidate candidate);

  std::string name_;
  const SearchSpace& space_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::unique_ptr<Strategy> drawn_;
  int left_to_screen_;
  Place here_;  ///< of the current descent
  Place best_;
  std::vector<Candidate> neighbours_;        ///< of `here_`, still to be proposed
  std::unordered_set<std::string> waiting_;  ///< of the current descent, without a result yet
  std::unordered_set<std::string> gone_;     ///< proposed or observed
  std::set<std::string> abandoned_;
  std::uint64_t descents_ = 0;
};

}  // namespace kiln
