// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/local.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

/// From the best so far to the next starting point.
constexpr int kSteps = 3;

}  // namespace

LocalStrategy::LocalStrategy(std::string name, const SearchSpace& space, std::uint64_t seed,
                             std::unique_ptr<Strategy> drawn, int screened)
    : name_(std::move(name)),
      space_(space),
      seed_(seed),
      random_(seed),
      drawn_(std::move(drawn)),
      left_to_screen_(screened) {}

std::optional<Candidate> LocalStrategy::propose() {
  if (left_to_screen_ > 0) {
    --left_to_screen_;
    return next_drawn();
  }
  if (auto candidate = next_neighbour()) return waited_for(std::move(*candidate));
  if (!waiting_.empty()) return next_drawn();  // one of those may yet be faster
  if (best_.time_ns < here_.time_ns) {         // a drawn one, or the best so far
    move_to(best_);
    if (auto candidate = next_neighbour()) return waited_for(std::move(*candidate));
  }
  here_ = {};
  ++descents_;
  std::optional<Candidate> start;
  if (descents_ % 2 == 0 && best_.candidate) start = few_steps_from(*best_.candidate);
  if (!start) start = next_drawn();
  if (!start) return std::nullopt;
  return waited_for(std::move(*start));
}

void LocalStrategy::observe(const Candidate& candidate, Outcome outcome, double time_ns) {
  const std::string key = candidate_text(candidate);
  gone_.insert(key);
  drawn_->observe(candidate, outcome, time_ns);
  const bool is_of_descent = waiting_.erase(key) > 0;
  if (outcome != Outcome::ok) return;
  if (time_ns < best_.time_ns) best_ = {candidate, time_ns};
  if (is_of_descent && time_ns < here_.time_ns) move_to({candidate, time_ns});
}

void LocalStrategy::abandon(const std::string& template_name) {
  drawn_->abandon(template_name);
  abandoned_.insert(template_name);
}

std::string LocalStrategy::canonical() const {
  return fmt::format("{} seed={}", name_, seed_);
}

/// They stay within what the template prefers while the search does.
std::vector<Candidate> LocalStrategy::neighbours_of(const Candidate& candidate) const {
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

void LocalStrategy::move_to(Place place) {
  here_ = std::move(place);
  neighbours_ = neighbours_of(*here_.candidate);
  std::shuffle(neighbours_.begin(), neighbours_.end(), random_);
}

bool LocalStrategy::may_propose(const Candidate& candidate) const {
  return !gone_.contains(candidate_text(candidate)) &&
         !abandoned_.contains(candidate.template_name);
}

/// Notes a candidate as proposed.
Candidate LocalStrategy::taken(Candidate candidate) {
  gone_.insert(candidate_text(candidate));
  drawn_->observe(candidate, Outcome::ok, 0.0);
  return candidate;
}

/// Its result decides where the current descent goes.
Candidate LocalStrategy::waited_for(Candidate candidate) {
  waiting_.insert(candidate_text(candidate));
  return candidate;
}

std::optional<Candidate> LocalStrategy::next_neighbour() {
  while (!neighbours_.empty()) {
    Candidate candidate = std::move(neighbours_.back());
    neighbours_.pop_back();
    if (may_propose(candidate)) return taken(std::move(candidate));
  }
  return std::nullopt;
}

std::optional<Candidate> LocalStrategy::next_drawn() {
  while (auto candidate = drawn_->propose()) {
    if (may_propose(*candidate)) return taken(std::move(*candidate));
  }
  return std::nullopt;
}

/// What kSteps random steps lead to; nothing if that was proposed before.
std::optional<Candidate> LocalStrategy::few_steps_from(Candidate candidate) {
  for (int step = 0; step < kSteps; ++step) {
    auto next = neighbours_of(candidate);
    if (next.empty()) return std::nullopt;
    candidate =
        std::move(next[std::uniform_int_distribution<std::size_t>(0, next.size() - 1)(random_)]);
  }
  if (!may_propose(candidate)) return std::nullopt;
  return taken(std::move(candidate));
}

std::unique_ptr<Strategy> make_local(const StrategyInput& input) {
  return std::make_unique<LocalStrategy>("local", input.space, input.seed,
                                         make_strategy("random", input), 0);
}

}  // namespace kiln
