// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/space_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "templates/space/tunable_value.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// In an expression as written: its length estimates the cost of evaluating it.
constexpr std::size_t kCharactersOfAnOperation = 8;

/// A name that the caller promised to have put into the table.
int known_slot(const NameTable& names, const std::string& name) {
  const int slot = names.find(name);
  if (slot < 0) {
    throw Error(ErrorKind::internal,
                fmt::format("the parameter space uses the name \"{}\", but does not define this "
                            "name; please report this bug in Kiln",
                            name));
  }
  return slot;
}

}  // namespace

SpaceLayout::SpaceLayout(NameTable names, std::vector<Tunable> tunables,
                         std::vector<DerivedValue> derived, std::vector<Requirement> requirements,
                         std::vector<Requirement> preferences, std::vector<DerivedValue> guiding)
    : names_(std::move(names)),
      tunables_(std::move(tunables)),
      derived_(std::move(derived)),
      requirements_(std::move(requirements)),
      preferences_(std::move(preferences)),
      guiding_(std::move(guiding)) {
  find_levels();
  find_live_slots();
  find_dependents();
  by_name_.resize(tunables_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(), [this](std::size_t left, std::size_t right) {
    return tunables_[left].name < tunables_[right].name;
  });
}

const std::shared_ptr<const SpaceLayout>& SpaceLayout::preferred() const {
  std::call_once(preferred_once_, [this] {
    auto all = requirements_;
    all.insert(all.end(), preferences_.begin(), preferences_.end());
    auto derived = derived_;
    derived.insert(derived.end(), guiding_.begin(), guiding_.end());
    preferred_ = std::make_shared<const SpaceLayout>(names_, tunables_, std::move(derived),
                                                     std::move(all), std::vector<Requirement>());
  });
  return preferred_;
}

std::shared_ptr<const SpaceLayout> SpaceLayout::with(std::vector<Tunable> tunables) const {
  return std::make_shared<const SpaceLayout>(names_, std::move(tunables), derived_, requirements_,
                                             preferences_, guiding_);
}

std::shared_ptr<const SpaceLayout> SpaceLayout::indifferent_to(
    const std::vector<std::string>& tunables) const {
  std::set<int> about;
  for (const auto& name : tunables) about.insert(known_slot(names_, name));
  const auto is_about = [&about](const Expression& expression) {
    return std::ranges::any_of(expression.names_used(),
                               [&about](int slot) { return about.contains(slot); });
  };
  for (const auto* const values : {&derived_, &guiding_}) {
    for (const DerivedValue& value : *values) {
      if (is_about(value.value)) about.insert(known_slot(names_, value.name));
    }
  }
  std::vector<Requirement> kept;
  std::ranges::copy_if(preferences_, std::back_inserter(kept), [&](const Requirement& preference) {
    return !is_about(preference.condition);
  });
  return std::make_shared<const SpaceLayout>(names_, tunables_, derived_, requirements_,
                                             std::move(kept), guiding_);
}

void SpaceLayout::find_levels() {
  level_of_slot_.assign(static_cast<std::size_t>(names_.size()), kFixed);
  steps_.resize(tunables_.size());
  for (std::size_t i = 0; i < tunables_.size(); ++i) {
    tunable_slots_.push_back(known_slot(names_, tunables_[i].name));
    level_of_slot_[static_cast<std::size_t>(tunable_slots_[i])] = static_cast<int>(i);
  }
  const auto place = [this](const Step& step) {
    int level = kFixed;
    for (const int slot : expression(step).names_used()) {
      level = std::max(level, level_of_slot_[static_cast<std::size_t>(slot)]);
    }
    (level == kFixed ? fixed_steps_ : steps_[static_cast<std::size_t>(level)]).push_back(step);
    return level;
  };
  // Derived values first: in declared order, whatever each mentions has already been placed.
  for (std::size_t i = 0; i < derived_.size(); ++i) {
    derived_slots_.push_back(known_slot(names_, derived_[i].name));
    level_of_slot_[static_cast<std::size_t>(derived_slots_[i])] = place({true, i});
  }
  for (std::size_t i = 0; i < requirements_.size(); ++i) place({false, i});
}

void SpaceLayout::find_live_slots() {
  live_.resize(tunables_.size() + 1);
  std::set<int> mentioned;
  for (const auto& steps : steps_) {
    work_.push_back(1);
    for (const Step& step : steps) {
      work_.back() += expression(step).text().size() / kCharactersOfAnOperation;
    }
  }
  // Backwards, because what the last level mentions stays live for all before it.
  for (std::size_t level = tunables_.size(); level-- > 0;) {
    for (const Step& step : steps_[level]) {
      const auto& used = expression(step).names_used();
      mentioned.insert(used.begin(), used.end());
    }
    for (const int slot : mentioned) {
      const int bound_at = level_of_slot_[static_cast<std::size_t>(slot)];
      if (bound_at != kFixed && bound_at < static_cast<int>(level)) live_[level].push_back(slot);
    }
  }
}

void SpaceLayout::find_dependents() {
  // By slot, the tunables that its value depends on.
  std::vector<std::set<std::size_t>> sources(static_cast<std::size_t>(names_.size()));
  for (std::size_t i = 0; i < tunables_.size(); ++i) {
    sources[static_cast<std::size_t>(tunable_slots_[i])].insert(i);
  }
  dependents_.resize(tunables_.size());
  for (const auto& steps : steps_) {
    for (const Step& step : steps) {
      std::set<std::size_t> mentioned;
      for (const int slot : expression(step).names_used()) {
        const auto& of_slot = sources[static_cast<std::size_t>(slot)];
        mentioned.insert(of_slot.begin(), of_slot.end());
      }
      for (const std::size_t tunable : mentioned) dependents_[tunable].push_back(order_.size());
      if (step.derives) sources[static_cast<std::size_t>(derived_slots_[step.index])] = mentioned;
      order_.push_back(step);
      mentioned_.emplace_back(mentioned.begin(), mentioned.end());
    }
  }
}

const Expression& SpaceLayout::expression(const Step& step) const {
  return step.derives ? derived_[step.index].value : requirements_[step.index].condition;
}

SpaceProgram::SpaceProgram(std::shared_ptr<const SpaceLayout> layout,
                           std::vector<std::int64_t> fixed)
    : layout_(std::move(layout)), start_(std::move(fixed)) {
  // Slots of tunables and derived values may be beyond those that the caller filled.
  start_.resize(static_cast<std::size_t>(layout_->names_.size()), 0);
  possible_ = run(layout_->fixed_steps_, start_);
}

bool SpaceProgram::run(const Step& step, std::span<std::int64_t> values) const {
  const auto result = expression(step).evaluate(values);
  if (!result) return false;
  if (!step.derives) return *result != 0;
  values[static_cast<std::size_t>(layout_->derived_slots_[step.index])] = *result;
  return true;
}

bool SpaceProgram::run(const std::vector<Step>& steps, std::span<std::int64_t> values) const {
  return std::all_of(steps.begin(), steps.end(),
                     [&](const Step& step) { return run(step, values); });
}

std::optional<std::size_t> SpaceProgram::run_from(std::size_t number,
                                                  std::span<std::int64_t> values) const {
  for (; number < layout_->order_.size(); ++number) {
    if (!run(layout_->order_[number], values)) return number;
  }
  return std::nullopt;
}

bool SpaceProgram::holds(std::span<std::int64_t> values) const {
  return possible_ && !run_from(0, values);
}

// Values of later levels may be stale in `values`; no step of this level mentions them.
bool SpaceProgram::bind(std::size_t level, std::int64_t value,
                        std::span<std::int64_t> values) const {
  values[static_cast<std::size_t>(layout_->tunable_slots_[level])] = value;
  return run(layout_->steps_[level], values);
}

bool SpaceProgram::rebind(std::size_t tunable, std::int64_t value,
                          std::span<std::int64_t> values) const {
  values[static_cast<std::size_t>(layout_->tunable_slots_[tunable])] = value;
  return !first_broken(values, tunable, layout_->order_.size());
}

std::optional<std::size_t> SpaceProgram::first_broken(std::span<std::int64_t> values,
                                                      std::size_t tunable, std::size_t from) const {
  for (const std::size_t number : layout_->dependents_[tunable]) {
    if (number >= from) break;
    if (!run(layout_->order_[number], values)) return number;
  }
  return run_from(from, values);
}

// Shows the values of the names involved, because a person seldom knows the value of a let.
std::string SpaceProgram::explain(const Step& step, std::span<const std::int64_t> values) const {
  const Expression& broken = expression(step);
  std::string with;
  for (const int slot : broken.names_used()) {
    const std::int64_t value = values[static_cast<std::size_t>(slot)];
    const bool is_integer = layout_->names_.kind(slot) == NameTable::Kind::integer;
    with += fmt::format("{}{} = {}", with.empty() ? " with " : ", ", layout_->names_.name(slot),
                        is_integer ? fmt::format_int(value).str() : value_text(value));
  }
  if (step.derives) {
    return fmt::format("{} = {} is undefined{} (division by zero or overflow)",
                       layout_->derived_[step.index].name, broken.text(), with);
  }
  const auto& why = layout_->requirements_[step.index].message;
  return fmt::format("{} does not hold{}{}{}", broken.text(), with, why.empty() ? "" : ": ", why);
}

std::optional<SpaceLayout::Step> SpaceProgram::first_failed(std::span<std::int64_t> values) const {
  for (std::size_t i = 0; i < layout_->derived_.size(); ++i) {
    const Step step{true, i};
    if (!run(step, values)) return step;
  }
  for (std::size_t i = 0; i < layout_->requirements_.size(); ++i) {
    const Step step{false, i};
    if (!run(step, values)) return step;
  }
  return std::nullopt;
}

std::optional<std::string> SpaceProgram::first_failure(std::span<std::int64_t> values) const {
  const auto failed = first_failed(values);
  if (!failed) return std::nullopt;
  return explain(*failed, values);
}

std::string SpaceProgram::remedy(std::span<std::int64_t> values) const {
  const auto failed = first_failed(values);
  if (!failed || failed->derives) return {};
  const std::string_view text = expression(*failed).text();
  const auto equals = text.find("==");
  if (equals == std::string_view::npos) return {};
  const int left = layout_->names_.find(trimmed(text.substr(0, equals)));
  const int right = layout_->names_.find(trimmed(text.substr(equals + 2)));
  if (left < 0 || right < 0) return {};
  for (const auto& [own, size] : {std::pair(left, right), std::pair(right, left)}) {
    const auto at = std::ranges::find(layout_->tunable_slots_, own);
    if (at == layout_->tunable_slots_.end()) continue;
    if (layout_->level_of_slot_[static_cast<std::size_t>(size)] != SpaceLayout::kFixed) continue;
    const Tunable& tunable =
        tunables()[static_cast<std::size_t>(at - layout_->tunable_slots_.begin())];
    const std::int64_t wanted = values[static_cast<std::size_t>(size)];
    if (std::ranges::find(tunable.values, wanted) != tunable.values.end()) continue;
    return fmt::format(
        "Next: add {0} to the values of {1} in the template, or choose a problem with "
        "{2} = {3}",
        wanted, tunable.name, layout_->names_.name(size), values_text(tunable.values, " or "));
  }
  return {};
}

std::optional<std::string> SpaceProgram::fixed_failure() const {
  auto values = start_;
  for (const Step& step : layout_->fixed_steps_) {
    if (!run(step, values)) return explain(step, values);
  }
  return std::nullopt;
}

}  // namespace kiln
