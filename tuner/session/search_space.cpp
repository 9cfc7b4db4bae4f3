// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"
#include "templates/space/compile_settings.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

using Choices = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// Rejects choices that no template could honour: a misspelt name or value must not pass
/// silently.
class ChoiceUse {
 public:
  explicit ChoiceUse(const Choices& choices) {
    for (const auto& [name, values] : choices) {
      if (values.empty()) {
        throw Error(ErrorKind::usage,
                    fmt::format("tunable '{}' has no value. Next: give at least one value", name));
      }
      for (const auto value : values) unused_.insert_or_assign({name, value}, false);
    }
  }

  void name_exists(const std::string& name) { names_[name] = true; }
  /// Of a template that takes part, for errors.
  void tunables_are(const std::vector<Tunable>& tunables) {
    for (const Tunable& each : tunables) known_.insert(each.name);
  }
  void value_exists(const std::string& name, std::int64_t value) { unused_[{name, value}] = true; }

  /// The first choice that no template could honour, as an error; "" if there is none.
  [[nodiscard]] std::string complaint() const {
    for (const auto& [choice, used] : unused_) {
      if (used) continue;
      const auto& [name, value] = choice;
      if (is_setting(name)) {
        return fmt::format(
            "{} is a setting of the compiler and no tunable. `kiln tune` tries settings by itself; "
            "verify, inspect, render and export take them. Next: to search its values, add a "
            "`tune` line and a `compile` line to the template",
            name);
      }
      return names_.contains(name)
                 ? fmt::format(
                       "no selected template allows {}={}. Next: `kiln templates NAME` "
                       "shows the allowed values",
                       name, value_text(value))
                 : fmt::format(
                       "no selected template has a tunable '{}'{} Next: `kiln templates NAME` "
                       "shows the tunables",
                       name, suggestion(name));
    }
    return "";
  }

 private:
  [[nodiscard]] std::string suggestion(const std::string& name) const {
    const std::vector<std::string> known(known_.begin(), known_.end());
    const std::string meant = did_you_mean(name, known);
    return meant.empty() ? "." : meant;
  }

  std::set<std::string> known_;
  std::map<std::pair<std::string, std::int64_t>, bool> unused_;
  std::map<std::string, bool> names_;
};

/// The choices as far as `space` lists them; nothing if one of them leaves a tunable without a
/// value, which `why` then names.
std::optional<Choices> applicable(const ParamSpace& space, const Choices& choices, ChoiceUse& use,
                                  std::string& why) {
  use.tunables_are(space.tunables());
  Choices result;
  for (const auto& [name, values] : choices) {
    const auto tunable = std::find_if(space.tunables().begin(), space.tunables().end(),
                                      [&name = name](const Tunable& t) { return t.name == name; });
    if (tunable == space.tunables().end()) continue;
    use.name_exists(name);
    std::vector<std::int64_t> listed;
    for (const auto value : values) {
      if (std::find(tunable->values.begin(), tunable->values.end(), value) ==
          tunable->values.end()) {
        continue;
      }
      listed.push_back(value);
      use.value_exists(name, value);
    }
    if (listed.empty()) {
      why = fmt::format("the template allows none of the values {}={}", name,
                        values_text(values, ","));
      return std::nullopt;
    }
    result.emplace_back(name, std::move(listed));
  }
  return result;
}

/// The space with the values that a user asks for. They are searched even if the template prefers
/// others: then its preferences about these tunables do not count.
ParamSpace as_asked(const ParamSpace& whole, const Choices& choices) {
  if (choices.empty()) return whole;
  ParamSpace narrowed = whole.narrowed(choices);
  if (!narrowed.has_preferences() || narrowed.preferred().default_config()) return narrowed;
  // A template that prefers nothing of its own for this problem has other reasons.
  if (!whole.preferred().default_config()) return narrowed;
  std::vector<std::string> names;
  for (const auto& [name, values] : choices) names.push_back(name);
  return narrowed.indifferent_to(names);
}

std::vector<const KernelTemplate*> selected(const Catalog& catalog, const Problem& problem,
                                            const std::vector<std::string>& only) {
  std::vector<const KernelTemplate*> result;
  for (const auto& name : only) {
    const KernelTemplate& kernel_template = catalog.at(name, problem.operation);
    if (kernel_template.operation() != problem.operation) {
      throw Error(ErrorKind::usage, fmt::format("template {} computes {}, not {}", name,
                                                kernel_template.operation(), problem.operation));
    }
    if (std::find(result.begin(), result.end(), &kernel_template) == result.end()) {
      result.push_back(&kernel_template);
    }
  }
  if (!only.empty()) return result;
  for (const auto& kernel_template : catalog.templates()) {
    if (kernel_template.operation() == problem.operation) result.push_back(&kernel_template);
  }
  return result;
}

}  // namespace

std::uint64_t SearchSpace::count() const {
  std::uint64_t total = 0;
  for (const auto& part : parts) {
    const std::uint64_t next = total + part.space.count();
    if (next < total) return std::numeric_limits<std::uint64_t>::max();
    total = next;
  }
  return total;
}

const SearchSpace::Part* SearchSpace::find(std::string_view template_name) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
    return part.kernel_template->name() == template_name;
  });
  return found == parts.end() ? nullptr : &*found;
}

SearchSpace make_search_space(const Catalog& catalog, const Problem& problem,
                              const DeviceLimits& limits, const SpaceSelection& selection) {
  const auto& [only, choices] = selection;
  SearchSpace space;
  ChoiceUse use(choices);
  const auto add = [&](const KernelTemplate* kernel_template) {
    const auto leave_out = [&](const std::string& why) {
      space.unsupported.push_back(fmt::format("{}: {}", kernel_template->name(), why));
    };
    if (const auto why = kernel_template->why_unsupported(problem, limits)) {
      space.unsupported.push_back(*why);  // names its template
      return;
    }
    ParamSpace whole = kernel_template->space(problem, limits);
    std::string why;
    const auto narrowing = applicable(whole, selection.choices, use, why);
    if (!narrowing) {
      leave_out(why);
      return;
    }
    ParamSpace narrowed = as_asked(whole, *narrowing);
    if (!narrowed.default_config()) {
      leave_out(
          fmt::format("no configuration is valid for this problem on this device: {}",
                      narrowed.why_empty().value_or(
                          "each combination of values violates a requirement of the template")));
      return;
    }
    space.parts.push_back(
        {kernel_template, std::move(narrowed), kernel_template->priority(problem, limits)});
  };
  std::vector<const KernelTemplate*> fallbacks;
  for (const KernelTemplate* kernel_template : selected(catalog, problem, only)) {
    if (only.empty() && kernel_template->priority(problem, limits) < 0) {
      fallbacks.push_back(kernel_template);
    } else {
      add(kernel_template);
    }
  }
  if (space.parts.empty()) std::ranges::for_each(fallbacks, add);
  const std::string complaint = use.complaint();
  if (complaint.empty()) return space;
  // Where no template takes part at all, the reasons for that are what the user should read.
  SearchSpace whole = make_search_space(catalog, problem, limits, {only, {}});
  if (!whole.parts.empty()) throw Error(ErrorKind::usage, complaint);
  return whole;
}

}  // namespace kiln
