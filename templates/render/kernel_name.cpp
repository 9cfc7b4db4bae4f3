// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "templates/nearest_name.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::string_view kOpenBrackets = "<({[";
constexpr std::string_view kCloseBrackets = ">)}]";

/// `name`, or `space::name`.
bool is_qualified_name(std::string_view text) {
  while (true) {
    const auto colons = text.find("::");
    if (!is_identifier(text.substr(0, colons))) return false;
    if (colons == std::string_view::npos) return true;
    text.remove_prefix(colons + 2);
  }
}

/// Characters of names and of numbers, which may contain letters and separators.
bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '\'';
}

/// The place of the '>' that belongs to the '<' at `open`. Within parentheses both are operators.
std::size_t closing_angle(const FrontMatterLine& line, std::size_t open) {
  const std::string_view text = line.text;
  std::vector<std::size_t> opened;
  for (std::size_t i = open; i < text.size(); ++i) {
    const bool compares =
        (text[i] == '<' || text[i] == '>') && !opened.empty() && text[opened.back()] != '<';
    if (compares) continue;
    if (kOpenBrackets.find(text[i]) != std::string_view::npos) opened.push_back(i);
    const auto kind = kCloseBrackets.find(text[i]);
    if (kind == std::string_view::npos) continue;
    if (opened.empty() || text[opened.back()] != kOpenBrackets[kind]) {
      line.fail(i, fmt::format("this '{}' closes nothing", text[i]));
    }
    opened.pop_back();
    if (opened.empty()) return i;
  }
  line.fail(opened.back(), fmt::format("this '{}' is not closed", text[opened.back()]));
}

}  // namespace

KernelName parse_kernel_name(const FrontMatterLine& line) {
  const std::string_view text = line.text;
  const auto open = std::min(text.find('<'), text.size());
  KernelName kernel{trimmed(text.substr(0, open)), std::nullopt};
  if (!is_qualified_name(kernel.name)) line.fail(0, "expected here: the name of a kernel");
  if (open == text.size()) return kernel;
  const auto close = closing_angle(line, open);
  if (const auto rest = trimmed(text.substr(close + 1)); !rest.empty()) {
    line.fail(offset_in(text, rest), "nothing may follow the template arguments; remove this text");
  }
  const auto inner = text.substr(open + 1, close - open - 1);
  const auto arguments = trimmed(inner);
  kernel.template_arguments =
      TextPart{arguments, arguments.empty() ? open + 1 : offset_in(text, arguments)};
  return kernel;
}

std::vector<TextPart> free_names(std::string_view template_arguments) {
  const std::string_view text = template_arguments;
  std::vector<TextPart> names;
  for (std::size_t begin = 0; begin < text.size();) {
    if (!is_word_char(text[begin])) {
      ++begin;
      continue;
    }
    const auto end =
        static_cast<std::size_t>(std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  text.end(), is_word_char) -
                                 text.begin());
    const auto word = text.substr(begin, end - begin);
    const auto before = trimmed(text.substr(0, begin));
    const auto behind = trimmed(text.substr(end));
    const bool joined = before.ends_with("::") || before.ends_with('.') || behind.starts_with("::");
    if (is_identifier(word) && !joined) names.push_back({word, begin});
    begin = end;
  }
  return names;
}

std::string expand_kernel_name(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& value) {
  const auto arguments = text.substr(std::min(text.find('<'), text.size()));
  std::string expanded(text.substr(0, text.size() - arguments.size()));
  std::size_t copied = 0;
  for (const auto& [name, offset] : free_names(arguments)) {
    const auto replaced = value(name);
    if (!replaced) continue;
    expanded += arguments.substr(copied, offset - copied);
    expanded += *replaced;
    copied = offset + name.size();
  }
  return expanded.append(arguments.substr(copied));
}

}  // namespace kiln
