// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/value_kinds.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {

/// A flag or an argument as it was declared to the parser.
struct OptionText {
  std::string short_flag;  ///< "-o", or ""
  std::string name;        ///< "--output"; of an argument "file"
  std::string value;       ///< the name of its ValueKind; "" for a switch
  std::string text;        ///< without a full stop
  bool required = false;
  bool repeated = false;  ///< takes several values

  /// nullptr for a switch.
  [[nodiscard]] const ValueKind* kind() const { return find_value_kind(value); }
};

/// Flags that belong together.
struct FlagGroup {
  std::string title;
  std::vector<OptionText> flags;
};

/// One verb with what may follow it.
struct VerbText {
  const Verb* verb = nullptr;
  std::vector<OptionText> arguments;
  std::vector<FlagGroup> groups;  ///< without the global flags

  [[nodiscard]] const FlagGroup* find_group(std::string_view title) const;
  /// "kiln merge target sources... [flags]".
  [[nodiscard]] std::string usage() const;
};

/// All that help, completions, the manual page and the tables of the documentation say of flags
/// and verbs. Verbs that only programs start are left out.
struct Manual {
  std::vector<OptionText> flags;  ///< the global ones
  std::vector<VerbText> verbs;

  /// The first group of that title; every verb that has one has the same.
  [[nodiscard]] const FlagGroup& group(std::string_view title) const;
  [[nodiscard]] const VerbText* find(std::string_view verb) const;
  /// The groups of verbs, in order.
  [[nodiscard]] std::vector<std::string_view> verb_groups() const;
};

/// The title of the flags of a verb that are its own.
inline constexpr std::string_view kOwnFlags = "Flags";

/// Reads the declarations of the whole program. The verbs' parsers are its subcommands.
[[nodiscard]] Manual manual_of(const CLI::App& program);

/// The kinds among `options` for which words are known, by name.
[[nodiscard]] std::vector<const ValueKind*> kinds_with_words(
    const std::vector<const OptionText*>& options);

/// What a shell shows beside a flag: its text up to the first semicolon or parenthesis.
[[nodiscard]] std::string first_clause(std::string_view text);

/// "a, b and c", or with another word before the last.
[[nodiscard]] std::string enumeration(const std::vector<std::string>& words,
                                      std::string_view before_last);

}  // namespace kiln::tools
