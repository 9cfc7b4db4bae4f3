// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/space/space_program.hpp"

namespace kiln {

/// How many valid completions each partial configuration has. Partial configurations of one level
/// that agree on the values still needed (SpaceProgram::live) share one node, so the cost is the
/// number of distinct nodes times the values of a tunable, not the size of the space. It is small
/// if tunables that a requirement ties together are declared near each other, and in the worst
/// case (one requirement over everything) that of enumerating once; the work has a limit.
class SpaceDiagram {
 public:
  struct Node {
    std::uint64_t count = 0;     ///< valid completions, saturating at 2^64-1
    std::uint32_t distance = 0;  ///< fewest tunables off their default in one; if count > 0
  };

  /// Operations that counting may take: about a second's work, for spaces that take milliseconds.
  static constexpr std::uint64_t kMostWork = std::uint64_t{1} << 27;

  /// Throws Error(template_), beginning with `origin`, if counting takes more work than that.
  SpaceDiagram(const SpaceProgram& program, const std::string& origin);

  /// The node reached when tunables 0 to level-1 are bound in `values`. Values of later levels are
  /// overwritten. Safe to call from several threads on different `values`.
  [[nodiscard]] Node node(std::size_t level, std::span<std::int64_t> values) const;

 private:
  /// The nodes of one level: open addressing, keyed on the values of the level's live slots.
  class Level {
   public:
    explicit Level(const std::vector<int>& slots) : slots_(slots), table_(kFirstTable, kEmpty) {}
    [[nodiscard]] const Node* find(std::span<const std::int64_t> values) const;
    void insert(std::span<const std::int64_t> values, const Node& node);

   private:
    static constexpr std::size_t kFirstTable = 16;  // a power of two
    static constexpr std::uint32_t kEmpty = 0xffffffff;
    [[nodiscard]] std::size_t probe(std::span<const std::int64_t> values) const;
    void grow();

    const std::vector<int>& slots_;
    std::vector<std::int64_t> keys_;  // as many values as slots per node
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> table_;
  };

  Node build(std::size_t level, std::span<std::int64_t> values);
  void count_work(std::size_t level);
  template <class Child>
  [[nodiscard]] Node combine(std::size_t level, std::span<std::int64_t> values,
                             const Child& child) const;
  [[nodiscard]] bool stored(std::size_t level) const;

  const SpaceProgram& program_;
  std::vector<Level> levels_;
  const std::string& origin_;  // while building
  std::uint64_t work_ = 0;
  std::size_t stored_values_ = 0;
};

}  // namespace kiln
