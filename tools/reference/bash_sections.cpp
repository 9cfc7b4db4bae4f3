// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/command_line/problem_flags.hpp"
#include "tools/output/wrapped.hpp"
#include "tools/reference/reference.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

std::string flags_text(const std::vector<OptionText>& flags) {
  std::vector<std::string> names;
  for (const auto& flag : flags) {
    for (auto& name : names_of(flag)) names.push_back(std::move(name));
  }
  return wrapped(fmt::format("{}", fmt::join(names, " ")), 4);
}

}  // namespace

void add_bash_sections(Sections& sections, const Manual& manual) {
  sections["bash-global"] = flags_text(manual.flags);
  sections["bash-problem"] = flags_text(manual.group(kProblemGroup).flags);

  std::string flags;
  std::string arguments;
  for (const auto& verb : manual.verbs) {
    std::vector<OptionText> own;
    for (const auto& group : verb.groups) {
      if (group.title == kProblemGroup) continue;
      own.insert(own.end(), group.flags.begin(), group.flags.end());
    }
    std::string words = flags_text(own);
    if (verb.find_group(kProblemGroup) != nullptr) words += "\n    $_kiln_problem";
    if (!words.empty()) {
      flags += fmt::format("    {})\n      _kiln_words=\"{}\" ;;\n", verb.verb->name, words);
    }
    int place = 0;
    for (const auto& argument : verb.arguments) {
      const std::string at = argument.repeated ? "*" : fmt::format("{}", ++place);
      arguments +=
          fmt::format("    {}:{}) _kiln_kind='{}' ;;\n", verb.verb->name, at, argument.value);
    }
  }
  sections["bash-flags"] = without_last_break(flags);
  sections["bash-arguments"] = without_last_break(arguments);

  std::string kinds;
  for (const auto& [value, names] : flags_by_value(manual)) {
    kinds += fmt::format("    {})\n      _kiln_kind='{}' ;;\n", fmt::join(names, " | "), value);
  }
  sections["bash-kinds"] = without_last_break(kinds);

  std::string values;
  for (const auto& kind : value_kinds()) {
    const auto arm = [&](const std::string& call) {
      values += fmt::format("    '{}')\n      {} ;;\n", kind.name, call);
    };
    switch (kind.source) {
      case ValueKind::Source::words:
        arm(fmt::format("_kiln_offer \"{}\"",
                        wrapped(fmt::format("{}", fmt::join(kind.words(), " ")), 8)));
        break;
      case ValueKind::Source::files:
        arm("_kiln_paths -f");
        break;
      case ValueKind::Source::folders:
        arm("_kiln_paths -d");
        break;
      case ValueKind::Source::templates:
        arm(kind.separator == '\0'
                ? "_kiln_offer \"$(_kiln_ask templates --names)\""
                : fmt::format("_kiln_offer_list '{}' \"$(_kiln_ask templates --names)\"",
                              kind.separator));
        break;
      case ValueKind::Source::operations:
        arm("_kiln_offer \"$(_kiln_ask operations --names)\"");
        break;
      case ValueKind::Source::free:
        break;
    }
  }
  sections["bash-values"] = without_last_break(values);
}

}  // namespace kiln::tools
