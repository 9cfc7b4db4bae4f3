// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/command_line/problem_flags.hpp"
#include "tools/reference/reference.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

/// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// The action that completes a value, as _arguments has it.
std::string action(const ValueKind& kind) {
  switch (kind.source) {
    case ValueKind::Source::words:
      return fmt::format("({})", escaped(fmt::format("{}", fmt::join(kind.words(), " ")), ":"));
    case ValueKind::Source::files:
      return "_files";
    case ValueKind::Source::folders:
      return kind.separator == '\0' ? "_files -/"
                                    : fmt::format("_sequence -s \\{} _files -/", kind.separator);
    case ValueKind::Source::templates:
      return kind.separator == '\0'
                 ? "_kiln_templates"
                 : fmt::format("_sequence -s {} _kiln_templates", kind.separator);
    case ValueKind::Source::operations:
      return "_kiln_operations";
    case ValueKind::Source::free:
      break;
  }
  return " ";
}

/// "[Tuning database]:FILE:_files", what _arguments wants behind a flag's name.
std::string rest_of_spec(const OptionText& flag) {
  const std::string text = fmt::format("[{}]", escaped(first_clause(flag.text), "[]:"));
  if (flag.value.empty()) return text;
  const ValueKind* kind = flag.kind();
  return fmt::format("{}:{}:{}", text, escaped(flag.value, ":"),
                     kind == nullptr ? " " : action(*kind));
}

std::string specs(const std::vector<OptionText>& flags) {
  std::string text;
  for (const auto& flag : flags) {
    const auto names = names_of(flag);
    std::string others;  // a flag excludes itself and its other name, unless it may be repeated
    if (names.size() > 1) others = fmt::format("({})", fmt::join(names, " "));
    if (flag.repeated) others = "*";
    for (const auto& name : names) {
      const std::string_view end = flag.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
      text += fmt::format("      {}\n", single_quoted(fmt::format("{}{}{}{}", others, name, end,
                                                                  rest_of_spec(flag))));
    }
  }
  return text;
}

std::string argument_specs(const VerbText& verb) {
  std::string text;
  for (const auto& argument : verb.arguments) {
    const ValueKind* kind = argument.kind();
    text += fmt::format("      {}\n", single_quoted(fmt::format(
                                          "{}{}:{}", argument.repeated ? "*:" : ":", argument.name,
                                          kind == nullptr ? " " : action(*kind))));
  }
  return text;
}

}  // namespace

void add_zsh_sections(Sections& sections, const Manual& manual) {
  std::string verbs;
  std::string cases;
  for (const auto& verb : manual.verbs) {
    verbs += fmt::format("      {}\n",
                         single_quoted(fmt::format("{}:{}", verb.verb->name, verb.verb->purpose)));
    cases += fmt::format("    {})\n      specs=(\n", verb.verb->name);
    for (const auto& group : verb.groups) {
      if (group.title != kProblemGroup) cases += specs(group.flags);
    }
    cases += "      )\n      rest=(\n" + argument_specs(verb);
    if (takes_operation(verb)) {
      // Flags behind the operation are left to it.
      cases += "      '*:: :->problem'\n      )\n      stop=(-A '-*'\n";
    }
    cases += "      )\n";
    if (verb.find_group(kProblemGroup) == nullptr) cases += "      problem=()\n";
    cases += "      ;;\n";
  }
  sections["zsh-verbs"] = without_last_break(verbs);
  sections["zsh-cases"] = without_last_break(cases);
  sections["zsh-problem"] = without_last_break(specs(manual.group(kProblemGroup).flags));
  sections["zsh-global"] = without_last_break(specs(manual.flags));
}

}  // namespace kiln::tools
