// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "templates/operation/operation.hpp"
#include "tools/command_line/operation_flags.hpp"

namespace kiln::tools {

/// Stands in for a size where sizes decide little: what templates can do, what they look like.
inline constexpr std::int64_t kDefaultSize = 4096;

/// The operation and its flags, as every verb that takes a problem spells them.
class ProblemFlags {
 public:
  /// Whether the operation's name must stand before the flags.
  enum class Word { required, optional, none };

  /// Declares the flags of `operation`'s problems.
  void add_to(CLI::App& verb, const Operation& operation, Word word);
  /// Whether any of them was given.
  [[nodiscard]] bool given() const;
  /// For verbs that take one problem or a list of them, which `list` names ("--suite"; "" where
  /// there is none): throws Error(usage) when there is neither, or a list and a flag of a problem,
  /// which it would ignore.
  void check_list(const std::string& list) const;
  /// Which flags of sizes were not given.
  [[nodiscard]] std::vector<std::string> missing_sizes() const;
  /// Whether there is a flag of a size that was.
  [[nodiscard]] bool has_sizes() const;
  /// The problem. Throws Error(usage) that names the flag. Sizes are required unless
  /// `default_size` is set.
  [[nodiscard]] ProblemCase request(std::int64_t default_size = 0) const;

 private:
  [[nodiscard]] std::vector<std::string> given_flags() const;

  CLI::App* verb_ = nullptr;
  std::string word_;
  std::unique_ptr<OperationFlags> flags_;
};

/// The operation and the shortest flags that give the problem back, as verbs take them: "softmax
/// --rows 1000 --cols 4096 --dtype f16".
[[nodiscard]] std::string problem_words(const ProblemCase& one);

/// "softmax rows=1000 cols=4096 f16", for headings: also of an operation that is declared nowhere
/// now, which may still have results.
[[nodiscard]] std::string heading_text(const Problem& problem);

}  // namespace kiln::tools
