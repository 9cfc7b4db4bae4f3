// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <regex>

#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/variables.hpp"
#include "tools/reference/reference.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

/// Text as roff prints it.
std::string prose(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\\' ? "\\e" : std::string(1, c);
  return result;
}

/// The same with every hyphen a minus, so that what is copied works.
std::string literal(std::string_view text) {
  std::string result;
  for (const char c : prose(text)) result += c == '-' ? "\\-" : std::string(1, c);
  return result;
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", literal(text));
}

/// Text in short lines, a new one for each sentence; roff fills them again.
std::string in_lines(const std::string& text) {
  constexpr std::size_t kWidth = 78;
  std::string result;
  std::size_t column = 0;
  for (auto word : split_list(text, ' ')) {
    const bool begins = column == 0 || column + 1 + word.size() > kWidth;
    // At the beginning of a line these would be a command.
    if (begins && (word.front() == '.' || word.front() == '\'')) word.insert(0, "\\&");
    if (!result.empty()) result += begins ? "\n" : " ";
    result += word;
    column = word.ends_with('.') ? 0 : (begins ? 0 : column + 1) + word.size();
  }
  return result;
}

/// Sentences: flags, variables and what stands between backticks in bold, the first letter large,
/// and a full stop.
std::string sentence(std::string text) {
  static const std::regex code("`([^`]*)`|(--[a-z][a-z-]*|KILN_[A-Z_]+)");
  std::string result;
  std::size_t done = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    result += prose(text.substr(done, begin - done));
    result += bold((*at)[1].matched ? (*at)[1].str() : (*at)[2].str());
    done = begin + static_cast<std::size_t>(at->length());
  }
  result += prose(text.substr(done));
  if (!result.ends_with('.')) result += '.';
  result.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(result.front())));
  return in_lines(result);
}

std::string paragraph(const std::string& tag, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", tag, sentence(text));
}

std::string tag_of(const OptionText& option) {
  if (!option.name.starts_with("-")) return fmt::format("\\fI{}\\fR", literal(option.name));
  std::string tag = option.short_flag.empty() ? "" : bold(option.short_flag) + ", ";
  tag += bold(option.name);
  if (!option.value.empty()) tag += fmt::format(" \\fI{}\\fR", literal(option.value));
  return tag;
}

std::string paragraphs(const std::vector<OptionText>& options) {
  std::string text;
  for (const auto& option : options) text += paragraph(tag_of(option), option.text);
  return text;
}

template <class Lines>
std::string example(const Lines& lines) {
  std::string text = ".PP\n.nf\n.RS\n";
  for (const std::string_view line : lines) text += literal(line) + "\n";
  return text + ".RE\n.fi\n";
}

std::string verb_text(const VerbText& verb) {
  std::string text =
      fmt::format(".SS {}\n{}\n", literal(verb.usage()), sentence(verb.verb->purpose));
  if (const std::string details = verb.verb->details; !details.empty()) {
    text += sentence(details) + "\n";
  }
  text += paragraphs(verb.arguments);
  for (const auto& group : verb.groups) {
    if (group.title == kProblemGroup) {
      text += ".PP\nAlso takes the flags of a problem; see\n.BR PROBLEM .\n";
    } else {
      text += paragraphs(group.flags);
    }
  }
  return text + example(verb.verb->examples);
}

}  // namespace

void add_man_sections(Sections& sections, const Manual& manual) {
  const auto add = [&](const char* name, std::string text) {
    sections[name] = without_last_break(std::move(text));
  };
  std::string text;
  for (const auto& verb : manual.verbs) text += verb_text(verb);
  add("man-verbs", text);
  add("man-flags", paragraphs(manual.flags));
  add("man-problem", paragraphs(manual.group(kProblemGroup).flags));
  text.clear();
  for (const auto& kind : value_kinds()) {
    if (kind.words().empty()) continue;
    text += paragraph(fmt::format("\\fI{}\\fR", literal(kind.name)),
                      fmt::format("{}: {}", kind.meaning, fmt::join(kind.words(), " ")));
  }
  add("man-values", text);
  text.clear();
  for (const auto& meaning : kExitMeanings) {
    text += paragraph(bold(fmt::format("{}", static_cast<int>(meaning.code))), meaning.text);
  }
  add("man-exit-status", text);
  text.clear();
  for (const auto& variable : kVariables) {
    text +=
        paragraph(bold(variable.name),
                  variable.text.empty()
                      ? fmt::format("default for {0}; {0} overrides this variable", variable.flag)
                      : std::string(variable.text));
  }
  add("man-environment", text);
  add("man-examples", example(first_commands()));
}

}  // namespace kiln::tools
