// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/space/config.hpp"

namespace kiln {

class SpaceLayout;

struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t default_value = 0;
  std::string comment;
};

/// A named value computed from names before it.
struct DerivedValue {
  std::string name;
  Expression value;
  std::string comment;
};

struct Requirement {
  Expression condition;
  std::string message;  ///< why, for a person; may be empty
};

/// The configurations of one template for one problem and device: the product of the tunables'
/// values, cut down by the requirements. A requirement (and a derived value) is evaluated as soon
/// as the last tunable it depends on is bound. On first use the number of valid completions is
/// counted once per combination of the values that later requirements still mention (see
/// space_diagram.hpp), so that enumerating never enters a dead branch and counting need not
/// enumerate. Preferences cut nothing away: they mark the part of the space, preferred(), in which
/// a search begins. Immutable once built; safe to share between threads.
class ParamSpace {
 public:
  /// `fixed` are the values of all names that are not tunables (problem, device), by slot of
  /// `names`; slots of tunables and derived values are ignored. A derived value that is undefined
  /// makes the configuration invalid. `origin` names the space in errors. A space whose
  /// completions take too long to count (see SpaceDiagram) throws Error(template_) from whatever
  /// needs the count: count, at, for_each, sample, why_empty, and default_config where the defaults
  /// themselves are not valid.
  ParamSpace(const NameTable& names, std::vector<Tunable> tunables,
             std::vector<DerivedValue> derived, std::vector<Requirement> requirements,
             std::vector<Requirement> preferences, std::vector<std::int64_t> fixed,
             std::string origin = "");
  /// The same with what does not depend on the problem made before (space_program.hpp).
  ParamSpace(std::shared_ptr<const SpaceLayout> layout, std::vector<std::int64_t> fixed,
             std::string origin);

  /// The configurations that also meet every preference, as a space without any; the same space
  /// if there is no preference.
  [[nodiscard]] ParamSpace preferred() const;
  [[nodiscard]] bool has_preferences() const;

  [[nodiscard]] const std::vector<Tunable>& tunables() const;
  /// Size of the raw product, saturating at 2^64-1.
  [[nodiscard]] std::uint64_t raw_size() const;
  /// Number of valid configurations, saturating at 2^64-1; counted once, then cached.
  [[nodiscard]] std::uint64_t count() const;
  /// The valid configuration number `index` (below count()) in the order of for_each. Costs about
  /// as many evaluations as the tunables have values, whatever the size of the space.
  [[nodiscard]] Config at(std::uint64_t index) const;
  [[nodiscard]] bool contains(const Config& config) const;
  /// The first requirement that `config` violates, as text for a person; nothing if valid.
  [[nodiscard]] std::optional<std::string> why_invalid(const Config& config) const;
  /// The first requirement that fails whatever the configuration, because it mentions no tunable;
  /// nothing if there is none (the space may still be empty).
  [[nodiscard]] std::optional<std::string> why_impossible() const;

  /// Why no configuration is valid, as text for a person: the requirement that none of them meets,
  /// else what the defaults violate. Nothing if one is valid.
  [[nodiscard]] std::optional<std::string> why_empty() const;

  /// Calls `visit` with each valid configuration in a fixed order (tunables as declared, the last
  /// fastest) until it returns false. Lazy: nothing is stored.
  void for_each(const std::function<bool(const Config&)>& visit) const;
  /// A valid configuration, each with exactly equal probability (`at` of a uniform index); nothing
  /// if the space is empty.
  [[nodiscard]] std::optional<Config> sample(std::mt19937_64& random) const;
  /// Valid configurations that differ from `config` in exactly one tunable, in declared order.
  [[nodiscard]] std::vector<Config> neighbours(const Config& config) const;
  /// The valid configurations that differ from `config` in the fewest tunables, if `most_changes`
  /// of them are enough; only `config` if it is valid itself. Tries only what a broken requirement
  /// mentions, and gives up after some hundreds of them.
  [[nodiscard]] std::vector<Config> repaired(const Config& config, int most_changes) const;
  /// The default of every tunable if that is valid, else the valid configuration that differs from
  /// it in the fewest tunables (ties: declared order); one that is preferred if there is any.
  /// Nothing if the space is empty.
  [[nodiscard]] std::optional<Config> default_config() const;
  /// The same if few changes of the stated defaults lead to it, otherwise what fewest changes make
  /// valid, preferred or not, and nothing if those are not few either: never counts the space.
  [[nodiscard]] std::optional<Config> near_default() const;
  /// Values of all names for a valid configuration (fixed, tunables, derived), by slot.
  [[nodiscard]] std::vector<std::int64_t> bindings(const Config& config) const;
  /// The same, or nothing if it is not valid: faster than an error.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> find_bindings(const Config& config) const;
  /// Those of a configuration that differs in one tunable from the one that has `bindings`; nothing
  /// if it is not valid. Faster than finding all of them. Throws Error(usage) for a name that is
  /// not a tunable.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> rebound(std::vector<std::int64_t> bindings,
                                                                 std::string_view tunable,
                                                                 std::int64_t value) const;
  /// The same space with some tunables narrowed to the given values (a default that is not among
  /// them gives way to the first of them). Throws Error(usage) for a name that is not a tunable or
  /// a value that the template does not list.
  [[nodiscard]] ParamSpace narrowed(
      const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& choices) const;

  /// The same space without the preferences that depend on one of these tunables.
  /// Throws Error(usage) for a name that is not a tunable.
  [[nodiscard]] ParamSpace indifferent_to(const std::vector<std::string>& tunables) const;

  class Impl;

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace kiln
