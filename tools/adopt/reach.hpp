// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// The code of a file that a kernel makes use of: its own and, by the names that it mentions, that
/// of functions, types, variables and macros.
class ReachedCode {
 public:
  ReachedCode(const SourceModel& model, const SourceKernel& kernel);

  /// The kernel itself comes first; a semicolon ends each part.
  [[nodiscard]] const std::vector<CodeToken>& tokens() const { return tokens_; }
  [[nodiscard]] bool mentions(std::string_view word) const { return words_.contains(word); }
  /// Whether blocks wait for all others, by cooperative groups.
  [[nodiscard]] bool syncs_grid() const;

 private:
  void add(std::vector<CodeToken>::const_iterator begin,
           std::vector<CodeToken>::const_iterator end);
  void add_meaning(std::string_view word);
  [[nodiscard]] std::set<std::string_view> smaller_groups() const;

  const SourceModel& model_;
  std::vector<CodeToken> tokens_;
  std::set<std::string_view> words_;
};

}  // namespace kiln::tools
