// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/mutants/change.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace kiln::testing {
namespace {

/// Part of a text.
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// The only occurrence of `wanted` in that part of `text`. Messages call the part `where`, and show
/// the first line of what is wanted.
Span only(std::string_view text, Span part, std::string_view wanted, const std::string& where) {
  const std::string_view within = text.substr(part.begin, part.end - part.begin);
  const std::string_view line = wanted.substr(0, wanted.find('\n'));
  const auto first = within.find(wanted);
  if (first == std::string_view::npos) {
    throw std::invalid_argument(fmt::format("'{}' is not in {}", line, where));
  }
  if (within.find(wanted, first + 1) != std::string_view::npos) {
    throw std::invalid_argument(fmt::format("'{}' occurs more than once in {}", line, where));
  }
  return {part.begin + first, part.begin + first + wanted.size()};
}

Span statement_from(std::string_view text, std::size_t from) {
  auto end = text.find('\n', from);
  while (end != std::string_view::npos && text[end - 1] != ';' && text[end - 1] != '}') {
    end = text.find('\n', end + 1);
  }
  return {text.find_first_not_of(' ', from), std::min(end, text.size())};
}

Span marked_code(std::string_view text, const std::string& anchor) {
  const Span comment = only(text, {0, text.size()}, "// mutant: " + anchor + "\n", "the source");
  const auto code = text.find_first_not_of(' ', text.rfind('\n', comment.begin) + 1);
  if (code == comment.begin) return statement_from(text, comment.end);
  return {code, text.find_last_not_of(' ', comment.begin - 1) + 1};
}

}  // namespace

std::string changed(const std::string& text, const Change& change) {
  Span place{0, text.size()};
  std::string where = "the source";
  if (!change.anchor.empty()) {
    place = marked_code(text, change.anchor);
    where = fmt::format("the line of '// mutant: {}'", change.anchor);
  }
  if (!change.from.empty()) place = only(text, place, change.from, where);
  return text.substr(0, place.begin) + change.to + text.substr(place.end);
}

}  // namespace kiln::testing
