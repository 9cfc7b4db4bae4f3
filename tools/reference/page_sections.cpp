// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The tables of the documentation.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/variables.hpp"
#include "tools/reference/reference.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

std::string code(std::string_view text) {
  return fmt::format("`{}`", text);
}

/// Text for a cell: flags and variables as code, nothing that would end the cell.
std::string cell(const std::string& text) {
  static const std::regex words("(`[^`]*`)|(--[a-z][a-z-]*|[$]?[A-Z]+_[A-Z_]+(?:/[a-z/.]+)?)");
  std::string result;
  std::size_t done = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), words), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    result += text.substr(done, begin - done);
    result += (*at)[1].matched ? (*at)[1].str() : code((*at)[2].str());
    done = begin + static_cast<std::size_t>(at->length());
  }
  result += text.substr(done);
  return std::regex_replace(result, std::regex(R"(([|<*]))"), "\\$1");
}

std::string name_cell(const OptionText& option) {
  std::string name = option.name;
  if (option.name.starts_with("-") && !option.value.empty()) name += " " + option.value;
  if (!option.name.starts_with("-") && option.repeated) name += "...";
  return option.short_flag.empty() ? code(name)
                                   : fmt::format("{}, {}", code(option.short_flag), code(name));
}

/// A table of rows whose cells are text as it should appear.
class PageTable {
 public:
  explicit PageTable(const std::vector<std::string>& heading) {
    add(heading);
    std::string rule;
    for (std::size_t i = 0; i < heading.size(); ++i) rule += "|---";
    lines_.push_back(rule + "|");
  }
  void add(const std::vector<std::string>& cells) {
    lines_.push_back(fmt::format("| {} |", fmt::join(cells, " | ")));
  }
  [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(lines_, "\n")); }

 private:
  std::vector<std::string> lines_;
};

std::string options_table(const std::vector<OptionText>& options, const std::string& heading) {
  PageTable table({heading, "meaning"});
  for (const auto& option : options) table.add({name_cell(option), cell(option.text)});
  return table.text();
}

std::string page_of_verb(const VerbText& verb) {
  std::string text = fmt::format("### {}\n\n{}. {}", code(verb.usage()), cell(verb.verb->purpose),
                                 cell(verb.verb->details));
  while (text.ends_with(' ')) text.pop_back();
  if (verb.find_group(kProblemGroup) != nullptr) {
    text += fmt::format(" {} takes the [flags that describe a problem](#naming-a-problem).",
                        verb.verb->name);
  }
  if (!verb.arguments.empty()) text += "\n\n" + options_table(verb.arguments, "argument");
  for (const auto& group : verb.groups) {
    if (group.title != kProblemGroup) text += "\n\n" + options_table(group.flags, "flag");
  }
  return text;
}

std::string verbs_table(const Manual& manual) {
  PageTable table({"verb", "what it does", "device"});
  for (const auto& verb : manual.verbs) {
    table.add({code(verb.verb->name), cell(verb.verb->purpose), cell(verb.verb->device)});
  }
  return table.text();
}

std::string commands_table(const Manual& manual) {
  PageTable table({"command", "what it does"});
  for (const auto& verb : manual.verbs) {
    table.add({code(fmt::format("kiln {}", verb.verb->name)), cell(verb.verb->purpose)});
  }
  return table.text();
}

std::string global_table(const Manual& manual) {
  PageTable table({"flag", "variable", "meaning"});
  for (const auto& flag : manual.flags) {
    const Variable* variable = variable_of(flag.name);
    table.add({name_cell(flag), variable == nullptr ? "" : code(variable->name), cell(flag.text)});
  }
  return table.text();
}

std::string variables_table() {
  PageTable table({"variable", "what it does"});
  for (const auto& variable : kVariables) {
    if (!variable.flag.empty()) continue;
    table.add({code(variable.name), cell(std::string(variable.text))});
  }
  return table.text();
}

std::string values_table() {
  PageTable table({"value", "what it is", "known"});
  for (const auto& kind : value_kinds()) {
    std::vector<std::string> words;
    for (const auto& word : kind.words()) words.push_back(code(word));
    table.add({code(kind.name), cell(kind.meaning), fmt::format("{}", fmt::join(words, " "))});
  }
  return table.text();
}

std::string exit_table() {
  PageTable table({"code", "meaning"});
  for (const auto& meaning : kExitMeanings) {
    table.add({fmt::format("{}", static_cast<int>(meaning.code)), cell(meaning.text)});
  }
  return table.text();
}

}  // namespace

void add_page_sections(Sections& sections, const Manual& manual) {
  sections["verbs"] = verbs_table(manual);
  sections["commands"] = commands_table(manual);
  sections["global-flags"] = global_table(manual);
  sections["problem-flags"] = options_table(manual.group(kProblemGroup).flags, "flag");
  sections["other-variables"] = variables_table();
  sections["values"] = values_table();
  sections["exit-codes"] = exit_table();
  std::vector<std::string> texts;
  for (const auto& verb : manual.verbs) texts.push_back(page_of_verb(verb));
  sections["verb-by-verb"] = fmt::format("{}", fmt::join(texts, "\n\n"));
}

}  // namespace kiln::tools
