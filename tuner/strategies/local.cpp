// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tuner/strategies/random.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

namespace {

/// Iterated local search: from a starting point to a neighbour that is faster, one tunable at a
/// time, until none is; then from a new starting point. Every second of those is the best
/// configuration so far after a few random steps, the others are drawn from the whole space.
///
/// Results come late, because several candidates are compiled ahead. While those of a descent are
/// awaited, the others are drawn from the whole space too, and count towards the best.
class LocalStrategy : public Strategy {
 public:
  LocalStrategy(const SearchSpace& space, std::uint64_t seed)
      : space_(space), seed_(seed), random_(seed), drawn_(space, seed) {}

  [[nodiscard]] std::optional<Candidate> propose() override {
    if (auto candidate = next_neighbour()) return waited_for(std::move(*candidate));
    if (!waiting_.empty()) return next_drawn();  // one of those may yet be faster
    here_ = {};
    ++descents_;
    std::optional<Candidate> start;
    if (descents_ % 2 == 0 && best_.candidate) start = few_steps_from(*best_.candidate);
    if (!start) start = next_drawn();
    if (!start) return std::nullopt;
    return waited_for(std::move(*start));
  }

  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override {
    const std::string key = candidate_text(candidate);
    gone_.insert(key);
    drawn_.observe(candidate, outcome, time_ns);
    const bool is_of_descent = waiting_.erase(key) > 0;
    if (outcome != Outcome::ok) return;
    if (time_ns < best_.time_ns) best_ = {candidate, time_ns};
    if (is_of_descent && time_ns < here_.time_ns) move_to({candidate, time_ns});
  }

  void abandon(const std::string& template_name) override {
    drawn_.abandon(template_name);
    abandoned_.insert(template_name);
  }

  [[nodiscard]] std::string canonical() const override {
    return fmt::format("local seed={}", seed_);
  }

 private:
  struct Place {
    std::optional<Candidate> candidate;
    double time_ns = std::numeric_limits<double>::infinity();
  };

  /// Neighbours stay within what the template prefers while the search does.
  [[nodiscard]] std::vector<Candidate> neighbours_of(const Candidate& candidate) const {
    const SearchSpace::Part* part = space_.find(candidate.template_name);
    if (part == nullptr) return {};
    const ParamSpace preferred = part->space.preferred();
    const bool is_preferred = preferred.contains(candidate.config);
    std::vector<Candidate> neighbours;
    for (Config& config : (is_preferred ? preferred : part->space).neighbours(candidate.config)) {
      neighbours.push_back({candidate.template_name, std::move(config)});
    }
    return neighbours;
  }

  void move_to(Place place) {
    here_ = std::move(place);
    neighbours_ = neighbours_of(*here_.candidate);
    std::shuffle(neighbours_.begin(), neighbours_.end(), random_);
  }

  [[nodiscard]] bool may_propose(const Candidate& candidate) const {
    return !gone_.contains(candidate_text(candidate)) &&
           !abandoned_.contains(candidate.template_name);
  }

  /// Notes a candidate as proposed.
  Candidate taken(Candidate candidate) {
    gone_.insert(candidate_text(candidate));
    drawn_.observe(candidate, Outcome::ok, 0.0);
    return candidate;
  }
  /// Its result decides where the current descent goes.
  Candidate waited_for(Candidate candidate) {
    waiting_.insert(candidate_text(candidate));
    return candidate;
  }

  std::optional<Candidate> next_neighbour() {
    while (!neighbours_.empty()) {
      Candidate candidate = std::move(neighbours_.back());
      neighbours_.pop_back();
      if (may_propose(candidate)) return taken(std::move(candidate));
    }
    return std::nullopt;
  }

  std::optional<Candidate> next_drawn() {
    while (auto candidate = drawn_.propose()) {
      if (may_propose(*candidate)) return taken(std::move(*candidate));
    }
    return std::nullopt;
  }

  /// What kSteps random steps lead to; nothing if that was proposed before.
  std::optional<Candidate> few_steps_from(Candidate candidate) {
    for (int step = 0; step < kSteps; ++step) {
      auto next = neighbours_of(candidate);
      if (next.empty()) return std::nullopt;
      candidate =
          std::move(next[std::uniform_int_distribution<std::size_t>(0, next.size() - 1)(random_)]);
    }
    if (!may_propose(candidate)) return std::nullopt;
    return taken(std::move(candidate));
  }

  static constexpr int kSteps = 3;

  const SearchSpace& space_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  RandomStrategy drawn_;
  Place here_;  ///< of the current descent
  Place best_;
  std::vector<Candidate> neighbours_;        ///< of `here_`, still to be proposed
  std::unordered_set<std::string> waiting_;  ///< of the current descent, without a result yet
  std::unordered_set<std::string> gone_;     ///< proposed or observed
  std::set<std::string> abandoned_;
  std::uint64_t descents_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_local(const StrategyInput& input) {
  return std::make_unique<LocalStrategy>(input.space, input.seed);
}

}  // namespace kiln
