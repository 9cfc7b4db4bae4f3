// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/space/param_space.hpp"

namespace kiln {

/// What of a space is the same for every problem: when each derived value and requirement can be
/// evaluated. The tunables are bound in declared order, tunable number i at level i, and a step
/// belongs to the level that completes it. Immutable, and made once for many spaces.
class SpaceLayout {
 public:
  /// Arguments as for ParamSpace. `guiding` are further derived values, which only preferences
  /// mention: where one is undefined, the configuration is not preferred, but valid.
  SpaceLayout(NameTable names, std::vector<Tunable> tunables, std::vector<DerivedValue> derived,
              std::vector<Requirement> requirements, std::vector<Requirement> preferences,
              std::vector<DerivedValue> guiding = {});

  /// The same with every preference as a requirement; made when first needed. Thread-safe.
  [[nodiscard]] const std::shared_ptr<const SpaceLayout>& preferred() const;
  /// The same with other values of the tunables.
  [[nodiscard]] std::shared_ptr<const SpaceLayout> with(std::vector<Tunable> tunables) const;
  /// The same without the preferences that depend on one of these tunables.
  [[nodiscard]] std::shared_ptr<const SpaceLayout> indifferent_to(
      const std::vector<std::string>& tunables) const;
  /// The tunables by ascending name, as a configuration has them.
  [[nodiscard]] const std::vector<std::size_t>& by_name() const { return by_name_; }
  /// Where the values of tunables and of derived values belong, in their order.
  [[nodiscard]] const std::vector<int>& tunable_slots() const { return tunable_slots_; }
  [[nodiscard]] const std::vector<int>& derived_slots() const { return derived_slots_; }

 private:
  friend class SpaceProgram;
  struct Step {
    bool derives;       // else a requirement
    std::size_t index;  // into derived_ or requirements_
  };
  static constexpr int kFixed = -1;

  void find_levels();
  void find_live_slots();
  void find_dependents();
  [[nodiscard]] const Expression& expression(const Step& step) const;

  NameTable names_;
  std::vector<Tunable> tunables_;
  std::vector<DerivedValue> derived_;
  std::vector<Requirement> requirements_;
  std::vector<Requirement> preferences_;
  std::vector<DerivedValue> guiding_;
  std::vector<int> tunable_slots_;
  std::vector<int> derived_slots_;
  std::vector<int> level_of_slot_;        // kFixed for anything that depends on no tunable
  std::vector<Step> fixed_steps_;         // depend on no tunable
  std::vector<std::vector<Step>> steps_;  // by level
  std::vector<std::vector<int>> live_;    // by level, ascending
  std::vector<std::size_t> work_;         // by level
  std::vector<Step> order_;               // those of all levels
  std::vector<std::vector<std::size_t>> dependents_;  // of each tunable: numbers in order_
  std::vector<std::vector<std::size_t>> mentioned_;   // by number in order_: tunables
  std::vector<std::size_t> by_name_;
  mutable std::once_flag preferred_once_;
  mutable std::shared_ptr<const SpaceLayout> preferred_;
};

/// A layout with the values of one problem and device. Immutable.
class SpaceProgram {
 public:
  /// `fixed` as for ParamSpace.
  SpaceProgram(std::shared_ptr<const SpaceLayout> layout, std::vector<std::int64_t> fixed);

  [[nodiscard]] const std::shared_ptr<const SpaceLayout>& layout() const { return layout_; }
  [[nodiscard]] const std::vector<Requirement>& preferences() const {
    return layout_->preferences_;
  }
  [[nodiscard]] const NameTable& names() const { return layout_->names_; }
  [[nodiscard]] const std::vector<Tunable>& tunables() const { return layout_->tunables_; }
  [[nodiscard]] const std::vector<DerivedValue>& derived() const { return layout_->derived_; }
  [[nodiscard]] const std::vector<Requirement>& requirements() const {
    return layout_->requirements_;
  }
  [[nodiscard]] std::size_t depth() const { return layout_->tunables_.size(); }
  [[nodiscard]] int slot(std::size_t tunable) const { return layout_->tunable_slots_[tunable]; }
  /// Values by slot before any tunable is bound.
  [[nodiscard]] const std::vector<std::int64_t>& start() const { return start_; }

  /// Whether the steps that mention no tunable hold.
  [[nodiscard]] bool possible() const { return possible_; }
  /// Binds the tunable of `level` and runs its steps. False if one of them fails.
  [[nodiscard]] bool bind(std::size_t level, std::int64_t value,
                          std::span<std::int64_t> values) const;
  /// Gives one tunable of `values`, of which everything holds, another value, and runs only the
  /// steps that depend on it. False if one of them fails.
  [[nodiscard]] bool rebind(std::size_t tunable, std::int64_t value,
                            std::span<std::int64_t> values) const;
  /// Roughly the most operations that one bind() at that level takes.
  [[nodiscard]] std::size_t work(std::size_t level) const { return layout_->work_[level]; }
  /// Slots bound before `level` that steps from `level` on mention: two bindings that agree on them
  /// have the same completions.
  [[nodiscard]] const std::vector<int>& live(std::size_t level) const {
    return layout_->live_[level];
  }

  /// Whether everything holds when all tunables are bound in `values`. Fills in the derived values.
  [[nodiscard]] bool holds(std::span<std::int64_t> values) const;
  /// The first derived value or requirement that fails when all tunables are bound in `values`, as
  /// text for a person. Fills in the derived values.
  [[nodiscard]] std::optional<std::string> first_failure(std::span<std::int64_t> values) const;
  /// The number of the first step that fails when all tunables are bound in `values`; nothing if
  /// everything holds. Fills in the derived values before it. Precondition: possible().
  [[nodiscard]] std::optional<std::size_t> first_broken(std::span<std::int64_t> values) const {
    return run_from(0, values);
  }
  /// The same where the steps before number `from` held until `tunable` got another value.
  [[nodiscard]] std::optional<std::size_t> first_broken(std::span<std::int64_t> values,
                                                        std::size_t tunable,
                                                        std::size_t from) const;
  /// The tunables that a step mentions, by way of derived values, too, in declared order: where it
  /// fails, one of them has to change.
  [[nodiscard]] const std::vector<std::size_t>& to_blame(std::size_t step) const {
    return layout_->mentioned_[step];
  }
  /// What to do about the first failure where that is plain, as "Next: ..."; else "". It is plain
  /// of `tunable == size` with a size that the tunable does not list.
  [[nodiscard]] std::string remedy(std::span<std::int64_t> values) const;
  /// As first_failure(), of those that mention no tunable.
  [[nodiscard]] std::optional<std::string> fixed_failure() const;

 private:
  using Step = SpaceLayout::Step;

  [[nodiscard]] const Expression& expression(const Step& step) const {
    return layout_->expression(step);
  }
  [[nodiscard]] bool run(const Step& step, std::span<std::int64_t> values) const;
  [[nodiscard]] bool run(const std::vector<Step>& steps, std::span<std::int64_t> values) const;
  [[nodiscard]] std::optional<std::size_t> run_from(std::size_t number,
                                                    std::span<std::int64_t> values) const;
  [[nodiscard]] std::optional<Step> first_failed(std::span<std::int64_t> values) const;
  [[nodiscard]] std::string explain(const Step& step, std::span<const std::int64_t> values) const;

  std::shared_ptr<const SpaceLayout> layout_;
  std::vector<std::int64_t> start_;
  bool possible_ = false;
};

}  // namespace kiln
