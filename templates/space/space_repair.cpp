// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/space_repair.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace kiln {
namespace {

/// Finds those that differ in a given number of tunables. Each of them has to change one of those
/// that the first broken requirement mentions, so only these are tried, and so on from there.
class Repair {
 public:
  Repair(const SpaceProgram& program, int changes, int tries)
      : program_(program), left_(changes), tries_(tries), changed_(program.depth(), false) {}

  void search(std::vector<std::int64_t> values) {
    const auto broken = program_.first_broken(values);
    go_on(std::move(values), broken);
  }
  [[nodiscard]] bool gave_up() const { return tries_ < 0; }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> take() { return std::move(found_); }

 private:
  void go_on(std::vector<std::int64_t> values, std::optional<std::size_t> broken) {
    if (--tries_ < 0) return;
    if (!broken) {
      // Another order of the same changes leads here, too.
      const bool is_new = std::find(found_.begin(), found_.end(), values) == found_.end();
      if (is_new) found_.push_back(std::move(values));
      return;
    }
    if (left_ == 0) return;
    --left_;
    for (const std::size_t tunable : program_.to_blame(*broken)) change(tunable, values, *broken);
    ++left_;
  }

  void change(std::size_t tunable, const std::vector<std::int64_t>& values, std::size_t broken) {
    if (changed_[tunable]) return;
    changed_[tunable] = true;
    const auto slot = static_cast<std::size_t>(program_.slot(tunable));
    for (const auto value : program_.tunables()[tunable].values) {
      if (value == values[slot]) continue;
      std::vector<std::int64_t> changed = values;
      changed[slot] = value;
      const auto next = program_.first_broken(changed, tunable, broken);
      go_on(std::move(changed), next);
    }
    changed_[tunable] = false;
  }

  const SpaceProgram& program_;
  int left_;
  int tries_;
  std::vector<bool> changed_;
  std::vector<std::vector<std::int64_t>> found_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> repaired_values(const SpaceProgram& program,
                                                       const std::vector<std::int64_t>& values,
                                                       const RepairLimits& limits) {
  if (!program.possible()) return {};
  for (int changes = 0; changes <= limits.changes; ++changes) {
    Repair repair(program, changes, limits.tries);
    repair.search(values);
    if (repair.gave_up()) return {};
    if (auto found = repair.take(); !found.empty()) return found;
  }
  return {};
}

}  // namespace kiln
