// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/parse_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/operation/operation.hpp"
#include "tools/command_line/manual.hpp"
#include "tools/command_line/operation_flags.hpp"
#include "tools/command_line/value_kinds.hpp"

namespace kiln::tools {
namespace {

using Words = std::vector<std::string>;

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_shown(const CLI::App* verb) {
  return !verb->get_group().empty();
}

/// All that a person can type, in the order of the help.
Words verb_names(const CLI::App& app) {
  Words names;
  for (const auto* verb : app.get_subcommands(is_shown)) names.push_back(verb->get_name());
  return names;
}

/// The names that were possible where the parser stopped: flags of the verb and of the program.
Words known_words(const CLI::App& app) {
  Words words;
  const auto add_flags = [&](const CLI::App& owner) {
    for (const auto* option : owner.get_options()) {
      for (const auto& name : option->get_lnames()) words.push_back("--" + name);
    }
  };
  add_flags(app);
  const auto typed = app.get_subcommands();
  for (const auto* verb : typed) add_flags(*verb);
  if (typed.empty()) std::ranges::copy(verb_names(app), std::back_inserter(words));
  return words;
}

/// The option that the error's text begins with or ends with, of the verb or of the program.
const CLI::Option* option_in(std::string_view text, const CLI::App& app) {
  std::vector<const CLI::App*> owners{&app};
  for (const auto* verb : app.get_subcommands()) owners.insert(owners.begin(), verb);
  for (const auto* owner : owners) {
    for (const auto* option : owner->get_options()) {
      const std::string name = option->get_name();
      const auto at = text.find(name);
      if (at == std::string_view::npos) continue;
      const auto end = at + name.size();
      const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',';
      const bool ends =
          end == text.size() || text[end] == ':' || text[end] == ' ' || text[end] == ',';
      if (begins && ends) return option;
    }
  }
  return nullptr;
}

/// "write --layout XY, e.g. --layout nn".
std::string how_to_write(const CLI::Option& option) {
  const std::string name = option.get_name();
  const std::string type = option.get_type_name();
  const ValueKind* const kind = find_value_kind(type);
  std::string text = fmt::format("write {} {}", name, type);
  if (kind != nullptr && !kind->words().empty()) {
    text += fmt::format(", e.g. {} {}", name, kind->words().front());
  }
  return text;
}

/// "--m 64 --n 64": sizes that were typed without their flags, as they should be typed.
std::string as_flags(const CLI::App& verb, const Words& numbers) {
  std::string text;
  std::size_t next = 0;
  for (const auto* option : verb.get_options()) {
    if (next == numbers.size()) break;
    if (option->get_group() != kProblemGroup || option->get_type_name() != "N") continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", option->get_name(), numbers[next++]);
  }
  return text;
}

/// The parts of "4096x4096x4096", or the word itself.
void add_numbers(const std::string& word, Words& numbers) {
  std::string part;
  Words parts;
  for (const char c : word + "x") {
    if (c != 'x' && c != 'X' && c != ',') {
      part += c;
      continue;
    }
    if (!is_number(part)) return;
    parts.push_back(part);
    part.clear();
  }
  numbers.insert(numbers.end(), parts.begin(), parts.end());
}

std::string surplus_text(const CLI::App& app) {
  auto extras = app.remaining(true);
  // Fallthrough reports a verb's surplus words in the wrong order; the first that looks like a
  // flag is the one that was mistyped, and its values follow from it.
  const auto flag =
      std::ranges::find_if(extras, [](const std::string& word) { return word.starts_with("-"); });
  const std::string word = flag != extras.end() ? *flag : extras.empty() ? "" : extras.front();
  const auto typed = app.get_subcommands();
  if (flag == extras.end() && !typed.empty()) {
    Words numbers;
    for (const std::string& each : extras) add_numbers(each, numbers);
    if (const auto flags = as_flags(*typed.front(), numbers); !flags.empty()) {
      return fmt::format("{}: write sizes as flags: {}", word, flags);
    }
    if (find_operation(word) != nullptr) {
      return fmt::format(
          "{}: write the operation only once, directly after the verb: kiln {} {} ...", word,
          typed.front()->get_name(), word);
    }
  }
  const std::string known = suggestion(word.substr(0, word.find('=')), known_words(app));
  if (known.empty() && flag == extras.end()) {
    return fmt::format("{}: this word belongs to no flag; write each value directly after its flag",
                       word);
  }
  if (known.empty()) {
    const std::string verb = typed.empty() ? "" : typed.front()->get_name() + " ";
    return fmt::format("{}: not expected here; `kiln {}--help-all` lists the flags", word, verb);
  }
  return fmt::format("{}: not expected here{}", word, known);
}

std::string missing_verb(const CLI::App& app) {
  const auto words = app.remaining();
  const Words verbs = verb_names(app);
  if (words.empty()) return fmt::format("a verb is missing: {}", enumeration(verbs, "or"));
  const std::string& word = words.front();
  if (find_operation(word) != nullptr) {
    return fmt::format("{}: this is an operation; write the verb first: kiln tune {} ...", word,
                       word);
  }
  return fmt::format("{}: no such verb{}", word, suggestion(word, verbs));
}

/// The values that were given to an option, "1 and 2".
std::string values_of(const CLI::Option& option) {
  return enumeration(option.results(), "and");
}

std::string wrong_count_text(const std::string& text, const CLI::Option& option) {
  const std::string name = option.get_name();
  if (text.find("disallowed flag override") != std::string::npos) {
    return fmt::format("{} takes no value: write the flag without a value, or leave the flag out",
                       name);
  }
  if (option.results().size() > 1) {
    return fmt::format("{} is given {} times, with the values {}; give it only once", name,
                       option.results().size(), values_of(option));
  }
  return fmt::format("{}: the value is missing; {}", name, how_to_write(option));
}

/// What an option that is no number was to be.
std::string not_converted_text(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (option.get_type_name().empty()) {
    return fmt::format("{} takes no value: write the flag without a value, or leave the flag out",
                       name);
  }
  return fmt::format(
      "{} {}: not a {}; {}", name, fmt::join(option.results(), " "),
      option.get_type_name() == "X" ? "number" : "whole number that fits",
      option.get_type_name() == "X" ? "write it as 2, 0.5 or 1e-3" : "write it in digits");
}

/// The two options in "--a excludes --b" or "--a requires --b".
std::pair<std::string, std::string> two_options(const std::string& text) {
  return {text.substr(0, text.find(' ')), text.substr(text.rfind(' ') + 1)};
}

}  // namespace

std::string parse_error_text(const CLI::ParseError& error, const CLI::App& app) {
  const auto typed = app.get_subcommands();
  const std::string& kind = error.get_name();
  std::string text = error.what();
  if (const auto end = text.find_last_not_of(" \n"); end != std::string::npos) text.resize(end + 1);
  // This one has the name of the parser in place of its own.
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    return surplus_text(app);
  }
  const CLI::Option* const option = option_in(text, app);
  if (kind == "RequiredError") {
    if (typed.empty()) return missing_verb(app);
    if (option == nullptr) return text;
    if (option->get_name() == "operation") {
      return fmt::format("name the operation, e.g. {}", operations().front()->name);
    }
    return option->get_positional()
               ? fmt::format("{} is missing: write kiln {} {}", option->get_name(),
                             typed.front()->get_name(), option->get_type_name())
               : fmt::format("{} is missing; {}", option->get_name(), how_to_write(*option));
  }
  if (kind == "ExcludesError") {
    const auto [one, other] = two_options(text);
    return fmt::format("{} and {} cannot be combined: leave one of them out", one, other);
  }
  if (kind == "RequiresError") {
    const auto [one, other] = two_options(text);
    return fmt::format("{} also needs {}", one, other);
  }
  if (option == nullptr) return text;
  if (kind == "ArgumentMismatch") return wrong_count_text(text, *option);
  if (kind == "ConversionError") return not_converted_text(*option);
  return text;
}

}  // namespace kiln::tools
