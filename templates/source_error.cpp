// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/source_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "kiln/error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// Characters of a line that an error shows, and the most of them before the place.
constexpr std::size_t kShown = 160;
constexpr std::size_t kShownBefore = 120;

bool is_part_of_value(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// The name or number that begins or, `from_end`, ends the text; else its first or last character.
std::string_view outermost_value(std::string_view text, bool from_end) {
  std::size_t size = 0;
  while (size < text.size() && is_part_of_value(text[from_end ? text.size() - 1 - size : size]))
    ++size;
  size = std::max<std::size_t>(size, 1);
  return from_end ? text.substr(text.size() - size) : text.substr(0, size);
}

}  // namespace

SourcePlace SourcePlace::at(std::size_t offset) const {
  SourcePlace result{file, line, column, line_text};
  std::size_t begin = 0;
  for (const auto& next : continuations) {
    if (next.offset > offset) {
      result.continuations.push_back(next);
      result.continuations.back().offset -= offset;
      continue;
    }
    begin = next.offset;
    result.line = next.line;
    result.column = next.column;
    result.line_text = next.line_text;
  }
  result.column += static_cast<int>(offset - begin);
  return result;
}

Error source_error(const SourcePlace& place, std::string_view text, std::size_t offset,
                   std::string_view message) {
  const SourcePlace at = place.at(offset);
  const bool whole_line = !at.line_text.empty();
  std::string shown(whole_line ? std::string_view(at.line_text) : text);
  const std::size_t caret = whole_line ? static_cast<std::size_t>(at.column) - 1 : offset;
  // For a long line, what surrounds the place is enough.
  const std::size_t cut = caret > kShownBefore ? caret - kShownBefore : 0;
  shown = shown.substr(std::min(cut, shown.size()), kShown);
  // A tab, or a stray control character, would displace the caret from its column.
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return Error(ErrorKind::template_,
               fmt::format("{}:{}:{}: {}\n  {}\n  {}^", at.file, at.line, at.column, message, shown,
                           std::string(caret - cut, ' ')));
}

void throw_at(const SourcePlace& place, std::string_view text, std::size_t offset,
              std::string_view message) {
  throw source_error(place, text, offset, message);
}

std::string why_missing(std::string_view what, std::string_view text, std::size_t at) {
  const std::string_view before = trimmed(text.substr(0, at));
  const std::string_view behind = text.substr(at);
  if (before.empty() || behind.empty()) return {};
  if (!is_part_of_value(before.back()) && before.back() != ')' && before.back() != ']') return {};
  if (!is_part_of_value(behind.front()) && behind.front() != '(') return {};
  return fmt::format("{} is missing between \"{}\" and \"{}\"", what, outermost_value(before, true),
                     outermost_value(behind, false));
}

void refuse_nul(std::string_view file, std::string_view source) {
  const auto at = source.find('\0');
  if (at == std::string_view::npos) return;
  const std::string_view before = source.substr(0, at);
  const std::size_t begin = before.rfind('\n') + 1;  // 0 if there is none
  const auto line = source.substr(begin, source.find('\n', at) - begin);
  const auto number = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  throw_at({std::string(file), number, 1, std::string(line)}, line, at - begin,
           "the file contains a NUL character (byte 0), so it is not plain text. Next: save the "
           "file as plain text");
}

}  // namespace kiln
