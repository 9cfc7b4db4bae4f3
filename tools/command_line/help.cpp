// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/variables.hpp"
#include "tools/output/wrapped.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kColumn = 26;      ///< where explanations of flags begin
constexpr std::size_t kVerbColumn = 14;  ///< where those of verbs do
constexpr std::size_t kFewExamples = 3;

/// What --help leaves to --help-all, whatever the verb.
const std::set<std::string_view> kRareFlags{
    // of every verb
    "--color", "--cubin-store", "--cuda-include", "--help", "--include", "--quiet", "--verbose",
    "--version",
    // of a product
    "--a", "--acc", "--align-a", "--align-b", "--align-c", "--align-d", "--alpha", "--b", "--beta",
    "--c", "--d", "--lda", "--ldb", "--ldc", "--ldd",
    // of measurements and searches
    "--arch", "--candidate-timeout", "--clusters", "--compile-only", "--compile-threads",
    "--in-process", "--log", "--no-wait", "--samples", "--seed", "--strategy", "--timeout",
    "--turn", "--warm"};

/// One entry: a name, and beside it or below what it means.
std::string entry(const std::string& name, const std::string& text, std::size_t column = kColumn) {
  std::string line = "  " + name;
  if (line.size() + 2 > column) {
    line += "\n" + std::string(column, ' ');
  } else {
    line.resize(column, ' ');
  }
  return line + wrapped(text, column) + "\n";
}

std::string name_text(const OptionText& option) {
  std::string name = option.name;
  if (!option.short_flag.empty()) name = fmt::format("{}, {}", option.short_flag, name);
  const bool is_flag = option.name.starts_with("-");
  if (is_flag && !option.value.empty()) name += " " + option.value;
  if (!is_flag && option.repeated) name += "...";
  return name;
}

std::string section(const std::string& title, const std::vector<OptionText>& options,
                    HelpDetail detail) {
  std::string text;
  for (const auto& option : options) {
    if (detail == HelpDetail::screen) {
      if (!kRareFlags.contains(option.name)) {
        text += entry(name_text(option), first_clause(option.text));
      }
      continue;
    }
    const Variable* variable = variable_of(option.name);
    text += entry(name_text(option), variable == nullptr
                                         ? option.text
                                         : fmt::format("{} [{}]", option.text, variable->name));
  }
  return text.empty() ? "" : fmt::format("\n{}:\n{}", title, text);
}

/// The examples, or the first few of them.
std::string commands_section(const std::string& title, const std::vector<std::string>& commands,
                             HelpDetail detail) {
  std::string text = fmt::format("\n{}:\n", title);
  std::span<const std::string> shown(commands);
  if (detail != HelpDetail::all) shown = shown.first(std::min(shown.size(), kFewExamples));
  for (const auto& command : shown) {
    text += fmt::format("  {}\n", command);
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

std::string help_text(const Manual& manual, HelpDetail detail) {
  std::string text =
      "Kiln tunes CUDA kernels for your GPU and stores the fastest kernels.\n\n"
      "Usage: kiln [flags] VERB [arguments]\n";
  for (const auto group : manual.verb_groups()) {
    text += fmt::format("\n{}:\n", group);
    for (const auto& verb : manual.verbs) {
      if (verb.verb->group == group)
        text += entry(verb.verb->name, verb.verb->purpose, kVerbColumn);
    }
  }
  text += section("Flags of every verb, before or after the verb", manual.flags, detail);
  if (detail == HelpDetail::all) {
    std::vector<const OptionText*> options;
    add_to(options, manual.flags);
    text += values_section(options);
  }
  text += commands_section("Start with", first_commands(), detail);
  if (detail == HelpDetail::screen) {
    return text + "\n`kiln VERB --help` explains a verb. `kiln --help-all` explains every flag.\n";
  }
  std::vector<std::string> codes;
  for (const auto& meaning : kExitMeanings) {
    codes.push_back(fmt::format("{} {}", static_cast<int>(meaning.code), meaning.brief));
  }
  const std::string rest = fmt::format(
      "Results go to stdout, diagnostics to stderr. Exit codes: {}. `kiln VERB --help` explains a "
      "verb.",
      fmt::join(codes, ", "));
  return text + "\n" + wrapped(rest, 0) + "\n";
}

std::string help_text(const VerbText& verb, HelpDetail detail) {
  std::string text = fmt::format("{}\n\nUsage: {}\n",
                                 wrapped(verb.verb->purpose + std::string("."), 0), verb.usage());
  if (const std::string details = verb.verb->details; !details.empty()) {
    text += "\n" + wrapped(details, 0) + "\n";
  }
  text += section("Arguments", verb.arguments, detail);
  std::vector<const OptionText*> options;
  add_to(options, verb.arguments);
  for (const auto& group : verb.groups) {
    text += section(group.title, group.flags, detail);
    add_to(options, group.flags);
  }
  if (detail == HelpDetail::all) text += values_section(options);
  text += commands_section("Examples", verb.verb->examples, detail);
  return text + (detail == HelpDetail::screen
                     ? fmt::format("\nEvery flag and value: kiln {} --help-all\n", verb.verb->name)
                     : "\nFlags of every verb (--db, --device, --json, ...): kiln --help-all\n");
}

}  // namespace kiln::tools
