// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/param_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"
#include "templates/space/space_diagram.hpp"
#include "templates/space/space_program.hpp"
#include "templates/space/space_repair.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {

// The parts: SpaceProgram knows what can be tested when, SpaceDiagram how many completions each
// partial configuration has. This file builds the operations of the public class from both.

class ParamSpace::Impl {
 public:
  Impl(std::shared_ptr<const SpaceLayout> layout, std::vector<std::int64_t> fixed, std::string of)
      : program(std::move(layout), std::move(fixed)), origin(std::move(of)) {}

  /// Built when first needed: rendering one candidate needs only the program.
  const SpaceDiagram& diagram() const {
    std::call_once(once_, [this] { diagram_.emplace(program, origin); });
    return *diagram_;
  }

  /// The values of a configuration that has every tunable, each with a value of its list, and
  /// nothing else; otherwise `why` gets the reason.
  std::optional<std::vector<std::int64_t>> tunable_values(const Config& config,
                                                          std::string& why) const;

  const SpaceProgram program;
  const std::string origin;

 private:
  mutable std::once_flag once_;
  mutable std::optional<SpaceDiagram> diagram_;
};

namespace {

/// Some milliseconds' worth at most: an application may be waiting.
constexpr int kRepairTries = 400;
/// Counting all completions takes as long as some thousand tries.
constexpr RepairLimits kNearDefaults{.changes = 3, .tries = 2000};

/// Whether the tunable has that value.
bool lists(const Tunable& tunable, std::int64_t value) {
  return std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end();
}

std::vector<std::string> names_of(const std::vector<Tunable>& tunables) {
  std::vector<std::string> names;
  for (const auto& tunable : tunables) names.push_back(tunable.name);
  return names;
}

/// The message for a name that no tunable has.
std::string no_such_tunable(const std::vector<Tunable>& tunables, std::string_view name) {
  return fmt::format("there is no tunable \"{}\"{}", name,
                     meant_or_known(name, names_of(tunables)));
}

std::string no_such_value(const Tunable& tunable, std::int64_t value) {
  return fmt::format("{} cannot be {}; its values are {}", tunable.name, value_text(value),
                     values_text(tunable.values));
}

/// The tunables' values out of those of all names.
Config config_of(const SpaceProgram& program, std::span<const std::int64_t> values) {
  Config config;
  for (std::size_t i = 0; i < program.depth(); ++i) {
    config.set(program.tunables()[i].name, values[static_cast<std::size_t>(program.slot(i))]);
  }
  return config;
}

/// Values of all names with every tunable at its default.
std::vector<std::int64_t> defaults_of(const SpaceProgram& program) {
  auto values = program.start();
  for (std::size_t i = 0; i < program.depth(); ++i) {
    values[static_cast<std::size_t>(program.slot(i))] = program.tunables()[i].default_value;
  }
  return values;
}

/// Visits valid completions in declared order until `visit` returns false; also returns that.
bool walk(const SpaceProgram& program, const SpaceDiagram& diagram, std::size_t level,
          std::span<std::int64_t> values, const std::function<bool(const Config&)>& visit) {
  if (level == program.depth()) return visit(config_of(program, values));
  for (const auto value : program.tunables()[level].values) {
    if (!program.bind(level, value, values)) continue;
    // Holds so far, but may have no valid completion.
    if (diagram.node(level + 1, values).count == 0) continue;
    if (!walk(program, diagram, level + 1, values, visit)) return false;
  }
  return true;
}

/// The order of for_each.
struct FirstDeclared {
  const SpaceProgram& program;
  bool operator()(const std::vector<std::int64_t>& left,
                  const std::vector<std::int64_t>& right) const {
    for (std::size_t i = 0; i < program.depth(); ++i) {
      const auto slot = static_cast<std::size_t>(program.slot(i));
      if (left[slot] == right[slot]) continue;
      const auto& values = program.tunables()[i].values;
      return std::find(values.begin(), values.end(), left[slot]) <
             std::find(values.begin(), values.end(), right[slot]);
    }
    return false;
  }
};

/// An integer below `bound`, each equally likely; the same for a seed on every platform.
std::uint64_t uniform_below(std::uint64_t bound, std::mt19937_64& random) {
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t fair = kLargest - kLargest % bound;  // a multiple of bound
  std::uint64_t draw = random();
  while (draw >= fair) draw = random();
  return draw % bound;
}

}  // namespace

std::optional<std::vector<std::int64_t>> ParamSpace::Impl::tunable_values(const Config& config,
                                                                          std::string& why) const {
  auto values = program.start();
  const auto& given = config.values();
  // Both are ordered by name, so nothing has to be looked up where every tunable has a value.
  for (std::size_t i = 0; i < program.depth(); ++i) {
    const std::size_t number = program.layout()->by_name()[i];
    const Tunable& tunable = program.tunables()[number];
    const bool is_here = i < given.size() && given[i].first == tunable.name;
    const auto value = is_here ? std::optional(given[i].second) : config.find(tunable.name);
    if (!value) {
      why = fmt::format("{} has no value", tunable.name);
      return std::nullopt;
    }
    if (!lists(tunable, *value)) {
      why = no_such_value(tunable, *value);
      return std::nullopt;
    }
    values[static_cast<std::size_t>(program.slot(number))] = *value;
  }
  if (config.values().size() != program.depth()) {
    const auto known = names_of(program.tunables());
    for (const auto& [name, value] : config.values()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        why = no_such_tunable(program.tunables(), name);
        return std::nullopt;
      }
    }
  }
  return values;
}

ParamSpace::ParamSpace(const NameTable& names, std::vector<Tunable> tunables,
                       std::vector<DerivedValue> derived, std::vector<Requirement> requirements,
                       std::vector<Requirement> preferences, std::vector<std::int64_t> fixed,
                       std::string origin)
    : ParamSpace(
          std::make_shared<const SpaceLayout>(names, std::move(tunables), std::move(derived),
                                              std::move(requirements), std::move(preferences)),
          std::move(fixed), std::move(origin)) {}

ParamSpace::ParamSpace(std::shared_ptr<const SpaceLayout> layout, std::vector<std::int64_t> fixed,
                       std::string origin)
    : impl_(std::make_shared<const Impl>(std::move(layout), std::move(fixed), std::move(origin))) {}

bool ParamSpace::has_preferences() const {
  return !impl_->program.preferences().empty();
}

ParamSpace ParamSpace::preferred() const {
  if (!has_preferences()) return *this;
  return {impl_->program.layout()->preferred(), impl_->program.start(), impl_->origin};
}

const std::vector<Tunable>& ParamSpace::tunables() const {
  return impl_->program.tunables();
}

std::uint64_t ParamSpace::raw_size() const {
  std::uint64_t size = 1;
  for (const auto& tunable : tunables()) {
    const std::uint64_t values = tunable.values.size();
    if (values == 0) return 0;
    if (size > std::numeric_limits<std::uint64_t>::max() / values) {
      size = std::numeric_limits<std::uint64_t>::max();
    } else {
      size *= values;
    }
  }
  return size;
}

std::uint64_t ParamSpace::count() const {
  auto values = impl_->program.start();
  return impl_->diagram().node(0, values).count;
}

Config ParamSpace::at(std::uint64_t index) const {
  const auto& program = impl_->program;
  const auto& diagram = impl_->diagram();
  auto values = program.start();
  if (index >= diagram.node(0, values).count) {
    throw Error(ErrorKind::usage,
                fmt::format("the space has {} configurations, so the index {} is out of range",
                            count(), index));
  }
  // Descends into the branch that holds the index, passing over the counts of those before it.
  for (std::size_t level = 0; level < program.depth(); ++level) {
    for (const auto value : program.tunables()[level].values) {
      if (!program.bind(level, value, values)) continue;
      const auto below = diagram.node(level + 1, values).count;
      if (index < below) break;
      index -= below;
    }
  }
  return config_of(program, values);
}

bool ParamSpace::contains(const Config& config) const {
  return find_bindings(config).has_value();
}

std::optional<std::string> ParamSpace::why_invalid(const Config& config) const {
  std::string why;
  auto values = impl_->tunable_values(config, why);
  if (!values) return why;
  return impl_->program.first_failure(*values);
}

std::optional<std::string> ParamSpace::why_impossible() const {
  return impl_->program.fixed_failure();
}

std::optional<std::string> ParamSpace::why_empty() const {
  const auto& program = impl_->program;
  if (auto fixed = why_impossible()) return fixed;
  if (count() > 0) return std::nullopt;
  const auto explained = [&](const SpaceProgram& of, std::string_view of_others) {
    auto values = defaults_of(of);
    const std::string next = of.remedy(values);
    return fmt::format("{} (so the default configuration is invalid; {}){}{}",
                       of.first_failure(values).value_or("no configuration is valid"), of_others,
                       next.empty() ? "" : ". ", next);
  };
  // First without any requirement: a derived value can be undefined everywhere.
  std::vector<std::vector<Requirement>> single{{}};
  for (const auto& requirement : program.requirements()) single.push_back({requirement});
  try {
    for (auto& requirements : single) {
      const ParamSpace space(program.names(), program.tunables(), program.derived(),
                             std::move(requirements), {}, program.start(), impl_->origin);
      if (space.count() > 0) continue;
      return explained(space.impl_->program, "all others are invalid for the same reason");
    }
  } catch (const Error&) {
    // A requirement may take too long to count if no other one narrows the space before it.
  }
  return explained(program, "all others are also invalid, but the reason can differ");
}

void ParamSpace::for_each(const std::function<bool(const Config&)>& visit) const {
  auto values = impl_->program.start();
  // A step that mentions no tunable belongs to no level, so walk() would not notice its failure.
  if (impl_->diagram().node(0, values).count == 0) return;
  walk(impl_->program, impl_->diagram(), 0, values, visit);
}

std::optional<Config> ParamSpace::sample(std::mt19937_64& random) const {
  const auto valid = count();
  if (valid == 0) return std::nullopt;
  return at(uniform_below(valid, random));
}

std::vector<Config> ParamSpace::neighbours(const Config& config) const {
  const auto& program = impl_->program;
  std::string why;
  auto values = impl_->tunable_values(config, why);
  if (!values) {
    throw Error(ErrorKind::usage,
                fmt::format("the configuration \"{}\" is invalid, so Kiln cannot list its "
                            "neighbours: {}",
                            config.canonical(), why));
  }
  std::vector<Config> found;
  for (std::size_t i = 0; i < program.depth(); ++i) {
    auto& own = (*values)[static_cast<std::size_t>(program.slot(i))];
    const auto kept = own;
    for (const auto value : program.tunables()[i].values) {
      if (value == kept) continue;
      own = value;
      // One tunable moved: everything is tested again, since any step may mention it.
      if (program.holds(*values)) found.push_back(config_of(program, *values));
    }
    own = kept;
  }
  return found;
}

std::vector<Config> ParamSpace::repaired(const Config& config, int most_changes) const {
  std::string why;
  const auto values = impl_->tunable_values(config, why);
  if (!values) return {};
  std::vector<Config> found;
  for (const auto& valid : repaired_values(impl_->program, *values, {most_changes, kRepairTries})) {
    found.push_back(config_of(impl_->program, valid));
  }
  return found;
}

std::optional<Config> ParamSpace::near_default() const {
  if (has_preferences()) {
    if (auto config = preferred().near_default()) return config;
  }
  const auto& program = impl_->program;
  const auto near = repaired_values(program, defaults_of(program), kNearDefaults);
  if (near.empty()) return std::nullopt;
  return config_of(program, *std::min_element(near.begin(), near.end(), FirstDeclared{program}));
}

std::optional<Config> ParamSpace::default_config() const {
  if (has_preferences()) {
    if (auto config = preferred().default_config()) return config;
  }
  const auto& program = impl_->program;
  // Usually they are, or nearly so, and then nothing needs to be counted.
  const auto near = repaired_values(program, defaults_of(program), kNearDefaults);
  if (!near.empty()) {
    return config_of(program, *std::min_element(near.begin(), near.end(), FirstDeclared{program}));
  }
  const auto& diagram = impl_->diagram();
  auto values = program.start();
  const auto root = diagram.node(0, values);
  if (root.count == 0) return std::nullopt;
  auto left = root.distance;  // how many tunables may still leave their default
  for (std::size_t level = 0; level < program.depth(); ++level) {
    const Tunable& tunable = program.tunables()[level];
    for (const auto value : tunable.values) {
      const std::uint32_t step = value == tunable.default_value ? 0 : 1;
      if (step > left || !program.bind(level, value, values)) continue;
      const auto below = diagram.node(level + 1, values);
      if (below.count > 0 && below.distance + step == left) {
        left -= step;
        break;
      }
    }
  }
  return config_of(program, values);
}

std::optional<std::vector<std::int64_t>> ParamSpace::find_bindings(const Config& config) const {
  std::string why;
  auto values = impl_->tunable_values(config, why);
  if (values && !impl_->program.holds(*values)) values.reset();
  return values;
}

std::optional<std::vector<std::int64_t>> ParamSpace::rebound(std::vector<std::int64_t> bindings,
                                                             std::string_view tunable,
                                                             std::int64_t value) const {
  const std::vector<Tunable>& all = tunables();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Tunable& each) { return each.name == tunable; });
  if (found == all.end()) throw Error(ErrorKind::usage, no_such_tunable(all, tunable));
  const auto number = static_cast<std::size_t>(found - all.begin());
  const bool holds = lists(*found, value) && impl_->program.rebind(number, value, bindings);
  if (!holds) return std::nullopt;
  return bindings;
}

std::vector<std::int64_t> ParamSpace::bindings(const Config& config) const {
  std::string why;
  auto values = impl_->tunable_values(config, why);
  if (values) {
    const auto failure = impl_->program.first_failure(*values);
    if (!failure) return *values;
    why = *failure;
  }
  throw Error(ErrorKind::usage,
              fmt::format("invalid configuration \"{}\": {}", config.canonical(), why));
}

ParamSpace ParamSpace::narrowed(
    const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& choices) const {
  const auto& program = impl_->program;
  auto narrow = program.tunables();
  for (const auto& [name, wanted] : choices) {
    const auto tunable = std::find_if(narrow.begin(), narrow.end(),
                                      [&n = name](const Tunable& t) { return t.name == n; });
    if (tunable == narrow.end()) throw Error(ErrorKind::usage, no_such_tunable(narrow, name));
    for (const auto value : wanted) {
      if (!lists(*tunable, value)) throw Error(ErrorKind::usage, no_such_value(*tunable, value));
    }
    std::erase_if(tunable->values, [&w = wanted](std::int64_t value) {
      return std::find(w.begin(), w.end(), value) == w.end();
    });
    if (tunable->values.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("no value remains for {0}. Next: list at least one value for {0}. If "
                              "several lists restrict {0}, one value must be in all of them",
                              name));
    }
    if (!lists(*tunable, tunable->default_value)) tunable->default_value = tunable->values.front();
  }
  // The diagram of the whole space does not fit the narrower one, which is counted again.
  return {program.layout()->with(std::move(narrow)), program.start(), impl_->origin};
}

ParamSpace ParamSpace::indifferent_to(const std::vector<std::string>& names) const {
  const auto& program = impl_->program;
  const auto known = names_of(program.tunables());
  for (const auto& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorKind::usage, no_such_tunable(program.tunables(), name));
    }
  }
  return {program.layout()->indifferent_to(names), program.start(), impl_->origin};
}

}  // namespace kiln
