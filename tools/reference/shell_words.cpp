// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/reference/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/error.hpp"

namespace kiln::tools {

std::vector<std::string> names_of(const OptionText& flag) {
  if (flag.short_flag.empty()) return {flag.name};
  return {flag.short_flag, flag.name};
}

std::vector<std::string> verb_names(const Manual& manual) {
  std::vector<std::string> names;
  for (const auto& verb : manual.verbs) names.emplace_back(verb.verb->name);
  return names;
}

bool takes_operation(const VerbText& verb) {
  return std::ranges::any_of(
      verb.arguments, [](const OptionText& argument) { return argument.value == kOperationKind; });
}

FlagsByValue flags_by_value(const Manual& manual) {
  std::map<std::string, std::string> values;
  const auto take = [&](const OptionText& flag) {
    for (const auto& name : names_of(flag)) {
      const auto [known, is_new] = values.emplace(name, flag.value);
      if (is_new || known->second == flag.value) continue;
      throw Error(
          ErrorKind::internal,
          fmt::format(
              "one verb shows the value of {} as {}, another verb as {}; use one name in all verbs",
              name, known->second, flag.value));
    }
  };
  for (const auto& flag : manual.flags) take(flag);
  for (const auto& verb : manual.verbs) {
    for (const auto& group : verb.groups) {
      for (const auto& flag : group.flags) take(flag);
    }
  }
  FlagsByValue flags;
  for (const auto& [flag, value] : values) {
    if (!value.empty()) flags[value].insert(flag);
  }
  return flags;
}

std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string without_last_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace kiln::tools
