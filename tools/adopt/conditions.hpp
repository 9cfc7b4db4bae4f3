// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "tools/adopt/lexer.hpp"

namespace kiln::tools {

/// What the conditionals of a file ask of macros: `#ifdef X`, `#if !defined(X) && defined(Y)`, and
/// what `#else` makes of them.
class SourceConditions {
 public:
  SourceConditions() = default;
  explicit SourceConditions(const std::vector<CodeDirective>& directives);

  /// Macros that are not defined where the text at `offset` is compiled, the innermost first.
  [[nodiscard]] std::vector<std::string_view> absent_at(std::size_t offset) const;
  /// Whether one of those is defined where kernels are compiled, so that they have nothing of it.
  [[nodiscard]] bool is_left_out(std::size_t offset) const;
  /// Whether the text at `offset` is compiled for no kernel: left out, or below a condition that
  /// asks for a macro which neither the file nor, by its name, a compiler defines.
  [[nodiscard]] bool is_never(std::size_t offset) const;
  /// Whether the text at `offset` gives way to a definition of `name` that comes before it.
  [[nodiscard]] bool yields_to(std::string_view name, std::size_t offset) const;
  /// A macro that is likely meant to be `name` but misspelt in the conditions there, or "".
  [[nodiscard]] std::string_view misspelt(std::string_view name, std::size_t offset) const;

 private:
  struct Asked {
    std::vector<std::string_view> absent, present;
  };
  /// The lines between two directives of a conditional, by ascending `begin`.
  struct Group {
    std::size_t begin = 0, end = 0;  ///< offsets
    std::size_t parent = 0;          ///< the group around it, or kNone
    Asked asked;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static Asked asked_by(const CodeDirective& directive);
  [[nodiscard]] std::vector<std::string_view> names_at(
      std::size_t offset, std::vector<std::string_view> Asked::*names) const;

  std::vector<Group> groups_;
  std::set<std::string_view> defined_;  ///< by the file
  bool has_own_headers_ = false;        ///< which may define more
};

}  // namespace kiln::tools
