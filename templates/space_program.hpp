// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/expression.hpp"
#include "templates/param_space.hpp"

namespace kiln {

/// When each derived value and requirement of a space can be evaluated: the tunables are bound in
/// declared order, tunable number i at level i, and a step belongs to the level that completes it.
/// Immutable.
class SpaceProgram {
 public:
  /// Arguments as for ParamSpace.
  SpaceProgram(const NameTable& names, std::vector<Tunable> tunables,
               std::vector<DerivedValue> derived, std::vector<Requirement> requirements,
               std::vector<std::int64_t> fixed);

  [[nodiscard]] const NameTable& names() const { return names_; }
  [[nodiscard]] const std::vector<Tunable>& tunables() const { return tunables_; }
  [[nodiscard]] const std::vector<DerivedValue>& derived() const { return derived_; }
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }
  [[nodiscard]] std::size_t depth() const { return tunables_.size(); }
  [[nodiscard]] int slot(std::size_t tunable) const { return tunable_slots_[tunable]; }
  /// Values by slot before any tunable is bound.
  [[nodiscard]] const std::vector<std::int64_t>& start() const { return start_; }

  /// Whether the steps that mention no tunable hold.
  [[nodiscard]] bool possible() const { return possible_; }
  /// Binds the tunable of `level` and runs its steps. False if one of them fails.
  [[nodiscard]] bool bind(std::size_t level, std::int64_t value,
                          std::span<std::int64_t> values) const;
  /// Roughly the most operations that one bind() at that level takes.
  [[nodiscard]] std::size_t work(std::size_t level) const { return work_[level]; }
  /// Slots bound before `level` that steps from `level` on mention: two bindings that agree on them
  /// have the same completions.
  [[nodiscard]] const std::vector<int>& live(std::size_t level) const { return live_[level]; }

  /// Whether everything holds when all tunables are bound in `values`. Fills in the derived values.
  [[nodiscard]] bool holds(std::span<std::int64_t> values) const;
  /// The first derived value or requirement that fails when all tunables are bound in `values`, as
  /// text for a person. Fills in the derived values.
  [[nodiscard]] std::optional<std::string> first_failure(std::span<std::int64_t> values) const;
  /// The same, of those that mention no tunable.
  [[nodiscard]] std::optional<std::string> fixed_failure() const;

 private:
  struct Step {
    bool derives;       // else a requirement
    std::size_t index;  // into derived_ or requirements_
  };
  static constexpr int kFixed = -1;

  void find_levels();
  void find_live_slots();
  [[nodiscard]] const Expression& expression(const Step& step) const;
  [[nodiscard]] bool run(const Step& step, std::span<std::int64_t> values) const;
  [[nodiscard]] bool run(const std::vector<Step>& steps, std::span<std::int64_t> values) const;
  [[nodiscard]] std::string explain(const Step& step, std::span<const std::int64_t> values) const;

  NameTable names_;
  std::vector<Tunable> tunables_;
  std::vector<DerivedValue> derived_;
  std::vector<Requirement> requirements_;
  std::vector<std::int64_t> start_;
  std::vector<int> tunable_slots_;
  std::vector<int> derived_slots_;
  std::vector<int> level_of_slot_;        // kFixed for anything that depends on no tunable
  std::vector<Step> fixed_steps_;         // depend on no tunable
  std::vector<std::vector<Step>> steps_;  // by level
  std::vector<std::vector<int>> live_;    // by level, ascending
  std::vector<std::size_t> work_;         // by level
  bool possible_ = false;
};

}  // namespace kiln
