// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/source_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// Characters of a line that an error shows, and how many of them before the place at most.
constexpr std::size_t kShown = 160;
constexpr std::size_t kShownBefore = 120;

}  // namespace

void throw_at(const SourcePlace& place, std::string_view text, std::size_t offset,
              std::string_view message) {
  const auto column = static_cast<std::size_t>(place.column) + offset;
  const bool whole_line = !place.line_text.empty();
  std::string shown(whole_line ? std::string_view(place.line_text) : text);
  const std::size_t caret = whole_line ? column - 1 : offset;
  // Of a long line what surrounds the place says enough.
  const std::size_t cut = caret > kShownBefore ? caret - kShownBefore : 0;
  shown = shown.substr(std::min(cut, shown.size()), kShown);
  // A tab, or a stray control character, would part the caret from its column.
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  throw Error(ErrorKind::template_,
              fmt::format("{}:{}:{}: {}\n  {}\n  {}^", place.file, place.line, column, message,
                          shown, std::string(caret - cut, ' ')));
}

}  // namespace kiln
