// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/command_line/problem_flags.hpp"
#include "tools/reference/reference.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

/// Single quotes of fish, in which a backslash escapes.
std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// What offers the values of a kind: "-x -a '...'".
std::string offer(const ValueKind& kind) {
  switch (kind.source) {
    case ValueKind::Source::words:
      return fmt::format("-x -a {}", fish_quoted(fmt::format("{}", fmt::join(kind.words(), " "))));
    case ValueKind::Source::files:
      return "-r -F";
    case ValueKind::Source::folders:
      return "-x -a '(__fish_complete_directories)'";
    case ValueKind::Source::templates:
      return kind.separator == '\0'
                 ? "-x -a '(__kiln_ask templates --names)'"
                 : fmt::format("-x -a '(__kiln_template_list {})'", kind.separator);
    case ValueKind::Source::operations:
      return "-x -a '(__kiln_ask operations --names)'";
    case ValueKind::Source::free:
      break;
  }
  return "-x";
}

std::string flag_lines(const std::vector<OptionText>& flags, const std::string& condition) {
  std::string text;
  for (const auto& flag : flags) {
    text += fmt::format("complete -c kiln{}", condition);
    if (!flag.short_flag.empty()) text += " -s " + flag.short_flag.substr(1);
    text += " -l " + flag.name.substr(2);
    if (const ValueKind* kind = flag.kind()) text += " " + offer(*kind);
    text += fmt::format(" -d {}\n", fish_quoted(first_clause(flag.text)));
  }
  return text;
}

}  // namespace

void add_fish_sections(Sections& sections, const Manual& manual) {
  std::vector<std::string> with_values;
  for (const auto& [value, flags] : flags_by_value(manual)) {
    with_values.insert(with_values.end(), flags.begin(), flags.end());
  }
  sections["fish-flags-with-values"] = fmt::format("{}", fmt::join(with_values, " "));
  std::vector<std::string_view> of_operations;
  std::string text = flag_lines(manual.flags, "");
  for (const auto& verb : manual.verbs) {
    text += fmt::format("\ncomplete -c kiln -n '__kiln_no_verb' -a {} -d {}\n", verb.verb->name,
                        fish_quoted(verb.verb->purpose));
    if (takes_operation(verb)) of_operations.emplace_back(verb.verb->name);
    for (const auto& group : verb.groups) {
      const char* const test = group.title == kProblemGroup ? "__kiln_is_built_in" : "__kiln_is";
      text += flag_lines(group.flags, fmt::format(" -n '{} {}'", test, verb.verb->name));
    }
    int place = 0;
    for (const auto& argument : verb.arguments) {
      ++place;
      const ValueKind* kind = argument.kind();
      if (kind == nullptr || kind->source == ValueKind::Source::free) continue;
      const std::string values = offer(*kind);
      text += fmt::format("complete -c kiln -n '__kiln_argument{} {} {}' {}\n",
                          argument.repeated ? "_from" : "", verb.verb->name, place,
                          values.substr(values.find(' ') + 1));
    }
  }
  sections["fish-verbs-of-operations"] = fmt::format("{}", fmt::join(of_operations, " "));
  sections["fish-completions"] = without_last_break(text);
}

}  // namespace kiln::tools
