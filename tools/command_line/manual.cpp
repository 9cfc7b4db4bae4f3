// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kiln/error.hpp"

namespace kiln::tools {
namespace {

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  if (option.get_positional()) {
    text.name = option.get_name(true);
  } else {
    if (!option.get_snames().empty()) text.short_flag = "-" + option.get_snames().front();
    if (!option.get_lnames().empty()) text.name = "--" + option.get_lnames().front();
  }
  if (option.get_type_size() != 0) text.value = option.get_type_name();
  text.text = option.get_description();
  text.required = option.get_required();
  text.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return text;
}

std::vector<OptionText> texts_of(const CLI::App& app,
                                 const std::function<bool(const CLI::Option*)>& wanted) {
  std::vector<OptionText> texts;
  for (const CLI::Option* option : app.get_options(wanted)) texts.push_back(text_of(*option));
  return texts;
}

VerbText text_of(const Verb& verb, const CLI::App& parser) {
  VerbText text;
  text.verb = &verb;
  text.arguments =
      texts_of(parser, [](const CLI::Option* option) { return option->get_positional(); });
  for (const std::string& title : parser.get_groups()) {
    auto flags = texts_of(parser, [&](const CLI::Option* option) {
      return option->nonpositional() && option != parser.get_help_ptr() &&
             option != parser.get_help_all_ptr() && option->get_group() == title;
    });
    if (flags.empty()) continue;
    text.groups.push_back({title == "Options" ? std::string(kOwnFlags) : title, std::move(flags)});
  }
  return text;
}

}  // namespace

const FlagGroup* VerbText::find_group(std::string_view title) const {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const FlagGroup& group) { return group.title == title; });
  return found == groups.end() ? nullptr : &*found;
}

std::string VerbText::usage() const {
  std::string text = fmt::format("kiln {}", verb->name);
  for (const auto& argument : arguments) {
    const std::string name = argument.name + (argument.repeated ? "..." : "");
    text += argument.required ? " " + name : fmt::format(" [{}]", name);
  }
  return groups.empty() ? text : text + " [flags]";
}

const FlagGroup& Manual::group(std::string_view title) const {
  for (const auto& verb : verbs) {
    if (const FlagGroup* found = verb.find_group(title)) return *found;
  }
  throw Error(ErrorKind::internal, fmt::format("no verb has a group of flags \"{}\"", title));
}

const VerbText* Manual::find(std::string_view verb) const {
  const auto found = std::find_if(verbs.begin(), verbs.end(),
                                  [&](const VerbText& text) { return text.verb->name == verb; });
  return found == verbs.end() ? nullptr : &*found;
}

std::vector<std::string_view> Manual::verb_groups() const {
  std::vector<std::string_view> groups;
  for (const auto& verb : verbs) {
    const std::string_view group = verb.verb->group;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

Manual manual_of(const CLI::App& program) {
  Manual manual;
  manual.flags =
      texts_of(program, [](const CLI::Option* option) { return option->nonpositional(); });
  for (const Verb& verb : verbs()) {
    if (std::string_view(verb.group).empty()) continue;
    manual.verbs.push_back(text_of(verb, *program.get_subcommand(verb.name)));
  }
  return manual;
}

std::vector<const ValueKind*> kinds_with_words(const std::vector<const OptionText*>& options) {
  std::vector<const ValueKind*> kinds;
  for (const auto& kind : value_kinds()) {
    if (kind.words().empty()) continue;
    const bool used = std::any_of(options.begin(), options.end(), [&](const OptionText* option) {
      return option->value == kind.name;
    });
    if (used) kinds.push_back(&kind);
  }
  return kinds;
}

std::string first_clause(std::string_view text) {
  for (const std::string_view end : {" (", "; "}) text = text.substr(0, text.find(end));
  return std::string(text);
}

std::string enumeration(const std::vector<std::string>& words, std::string_view before_last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", before_last) : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace kiln::tools
