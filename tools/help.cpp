// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/exit_code.hpp"
#include "tools/output/wrapped.hpp"
#include "tools/variables.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kColumn = 26;  ///< where explanations begin

/// One entry: a name, and beside it or below what it means.
std::string entry(const std::string& name, const std::string& text) {
  std::string line = "  " + name;
  if (line.size() + 2 > kColumn) {
    line += "\n" + std::string(kColumn, ' ');
  } else {
    line.resize(kColumn, ' ');
  }
  return line + wrapped(text, kColumn) + "\n";
}

std::string name_text(const OptionText& option) {
  std::string name = option.name;
  if (!option.short_flag.empty()) name = fmt::format("{}, {}", option.short_flag, name);
  const bool is_flag = option.name.starts_with("-");
  if (is_flag && !option.value.empty()) name += " " + option.value;
  if (!is_flag && option.repeated) name += "...";
  return name;
}

std::string section(const std::string& title, const std::vector<OptionText>& options) {
  if (options.empty()) return "";
  std::string text = fmt::format("\n{}:\n", title);
  for (const auto& option : options) {
    const Variable* variable = variable_of(option.name);
    text += entry(name_text(option), variable == nullptr
                                         ? option.text
                                         : fmt::format("{} [{}]", option.text, variable->name));
  }
  return text;
}

/// What may stand for the values whose words are known.
std::string values_section(const std::vector<const OptionText*>& options) {
  const auto kinds = kinds_with_words(options);
  if (kinds.empty()) return "";
  std::string text = "\nValues:\n";
  for (const ValueKind* kind : kinds) {
    text += entry(kind->name, fmt::format("{}: {}", kind->meaning, fmt::join(kind->words(), " ")));
  }
  return text;
}

void add_to(std::vector<const OptionText*>& all, const std::vector<OptionText>& options) {
  for (const auto& option : options) all.push_back(&option);
}

}  // namespace

std::string help_text(const Manual& manual) {
  std::string text =
      "Kiln tunes CUDA kernels for the GPU at hand and keeps the best.\n\n"
      "Usage: kiln [flags] VERB [arguments]\n";
  for (const auto group : manual.verb_groups()) {
    text += fmt::format("\n{}:\n", group);
    for (const auto& verb : manual.verbs) {
      if (verb.verb->group == group) text += entry(verb.verb->name, verb.verb->purpose);
    }
  }
  text += section("Flags of every verb, before or after it", manual.flags);
  std::vector<const OptionText*> options;
  add_to(options, manual.flags);
  text += values_section(options);
  text += "\nStart with:\n";
  for (const auto& command : first_commands()) text += fmt::format("  {}\n", command);
  std::vector<std::string> codes;
  for (const auto& meaning : kExitMeanings) {
    codes.push_back(fmt::format("{} {}", static_cast<int>(meaning.code), meaning.brief));
  }
  const std::string rest = fmt::format(
      "Results go to stdout, diagnostics to stderr. Exit codes: {}. `kiln VERB --help` has the "
      "flags and examples of a verb.",
      fmt::join(codes, ", "));
  return text + "\n" + wrapped(rest, 0) + "\n";
}

std::string help_text(const VerbText& verb) {
  std::string text = fmt::format("{}\n\nUsage: {}\n",
                                 wrapped(verb.verb->purpose + std::string("."), 0), verb.usage());
  if (const std::string details = verb.verb->details; !details.empty()) {
    text += "\n" + wrapped(details, 0) + "\n";
  }
  text += section("Arguments", verb.arguments);
  std::vector<const OptionText*> options;
  add_to(options, verb.arguments);
  for (const auto& group : verb.groups) {
    text += section(group.title, group.flags);
    add_to(options, group.flags);
  }
  text += values_section(options);
  text += "\nExamples:\n";
  for (const std::string& example : verb.verb->examples) text += fmt::format("  {}\n", example);
  return text + "\nFlags of every verb (--db, --device, --json, ...): kiln --help\n";
}

}  // namespace kiln::tools
