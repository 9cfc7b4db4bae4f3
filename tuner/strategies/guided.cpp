// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/guided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/strategies/local.hpp"
#include "tuner/strategies/surrogate.hpp"

namespace kiln {
namespace {

/// Of the model's order, before the first descent.
constexpr int kScreened = 32;
/// Of so many proposals the search that is behind gets one.
constexpr std::uint64_t kBehindGetsOneOf = 4;

bool has_costs(const SearchSpace::Part& part) {
  return !part.kernel_template->cost_lines().empty();
}

std::unique_ptr<Strategy> modelled(const StrategyInput& input) {
  return std::make_unique<LocalStrategy>("guided", input.space, input.seed,
                                         make_strategy("model", input), kScreened);
}

std::unique_ptr<Strategy> learned(const StrategyInput& input) {
  return std::make_unique<SurrogateStrategy>("guided", input);
}

}  // namespace

GuidedStrategy::GuidedStrategy(const StrategyInput& input) : seed_(input.seed) {
  for (const SearchSpace::Part& part : input.space.parts) {
    arms_[has_costs(part) ? 0 : 1].space.parts.push_back(part);
    if (part.space.has_preferences()) {
      preferred_.emplace(part.kernel_template->name(), part.space.preferred());
    }
  }
  for (const std::size_t i : {0, 1}) {
    const StrategyInput own{arms_[i].space, input.problem,  input.limits, input.device,
                            input.seed,     input.must_end, input.cost_s};
    arms_[i].search = i == 0 ? modelled(own) : learned(own);
  }
}

GuidedStrategy::Arm* GuidedStrategy::arm_of(const std::string& template_name) {
  for (Arm& arm : arms_) {
    if (arm.space.find(template_name) != nullptr) return &arm;
  }
  return nullptr;
}

bool GuidedStrategy::is_preferred(const Candidate& candidate) const {
  const auto found = preferred_.find(candidate.template_name);
  return found == preferred_.end() || found->second.contains(candidate.config);
}

/// Nothing if neither has a proposal.
GuidedStrategy::Arm* GuidedStrategy::next_arm() {
  for (Arm& arm : arms_) {
    if (!arm.held) arm.held = arm.search->propose();
  }
  Arm& first = arms_[0];
  Arm& second = arms_[1];
  if (!first.held || !second.held) return first.held ? &first : second.held ? &second : nullptr;
  if (is_preferred(*first.held) != is_preferred(*second.held)) {
    return is_preferred(*first.held) ? &first : &second;
  }
  if (first.best_ns == second.best_ns) {  // neither has a result
    return first.proposals <= second.proposals ? &first : &second;
  }
  Arm& ahead = first.best_ns < second.best_ns ? first : second;
  Arm& behind = &ahead == &first ? second : first;
  const std::uint64_t all = first.proposals + second.proposals + 1;
  return behind.proposals * kBehindGetsOneOf < all ? &behind : &ahead;
}

std::optional<Candidate> GuidedStrategy::propose() {
  Arm* const arm = next_arm();
  if (arm == nullptr) return std::nullopt;
  ++arm->proposals;
  return std::exchange(arm->held, std::nullopt);
}

void GuidedStrategy::observe(const Candidate& candidate, Outcome outcome, double time_ns) {
  Arm* const arm = arm_of(candidate.template_name);
  if (arm == nullptr) return;
  if (arm->held == candidate) arm->held.reset();
  if (outcome == Outcome::ok && time_ns > 0.0) arm->best_ns = std::min(arm->best_ns, time_ns);
  arm->search->observe(candidate, outcome, time_ns);
}

void GuidedStrategy::abandon(const std::string& template_name) {
  Arm* const arm = arm_of(template_name);
  if (arm == nullptr) return;
  if (arm->held && arm->held->template_name == template_name) arm->held.reset();
  arm->search->abandon(template_name);
}

bool GuidedStrategy::has_converged() const {
  return std::ranges::any_of(arms_, [](const Arm& arm) { return arm.search->has_converged(); });
}

std::string GuidedStrategy::canonical() const {
  return fmt::format("guided seed={}", seed_);
}

std::unique_ptr<Strategy> make_guided(const StrategyInput& input) {
  std::size_t with_costs = 0;
  for (const SearchSpace::Part& part : input.space.parts) with_costs += has_costs(part) ? 1 : 0;
  if (with_costs == input.space.parts.size()) return modelled(input);
  if (with_costs == 0) return learned(input);
  return std::make_unique<GuidedStrategy>(input);
}

}  // namespace kiln
