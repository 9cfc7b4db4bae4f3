// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/error.hpp"

namespace kiln {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
/// Of open objects and lists; results have three.
constexpr std::size_t kMostBrackets = 64;

[[noreturn]] void refuse_text(std::string_view text, std::size_t offset, const std::string& name,
                              std::string_view fault) {
  const TextPlace place = place_of(text, offset);
  throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {}", name, place.line, place.column, fault));
}

/// Where a string ends, after its quotation mark; npos if it does not.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  for (;;) {
    at = text.find_first_of("\"\\", at);
    if (at == text.npos) return at;
    if (text[at] == '"') return at + 1;
    at += 2;
  }
}

/// Python's words for numbers that JSON lacks. The strings that replace them are as long.
std::size_t replace_word(std::string& text, std::size_t at) {
  constexpr std::string_view kNan = "NaN";
  constexpr std::string_view kInfinity = "Infinity";
  if (text.compare(at, kNan.size(), kNan) == 0) {
    text.replace(at, kNan.size(), "\"?\"");
    return kNan.size();
  }
  if (text.compare(at, kInfinity.size(), kInfinity) == 0) {
    const bool is_negative = at > 0 && text[at - 1] == '-';
    text.replace(at, kInfinity.size(), "\"inf\"   ");
    if (is_negative) text[at - 1] = ' ';
    return kInfinity.size();
  }
  return 1;
}

}  // namespace

TextPlace place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t last = before.rfind('\n');
  return {static_cast<std::uint64_t>(std::ranges::count(before, '\n')) + 1,
          before.size() - (last == before.npos ? 0 : last + 1) + 1};
}

void mend_python_json(std::string& text, const std::string& name) {
  text.erase(text.find_last_not_of(kBlanks) + 1);
  std::string open;  // the brackets that are open, the innermost last
  for (std::size_t at = text.find_first_of("\"{}[]NI"); at != text.npos;
       at = text.find_first_of("\"{}[]NI", at)) {
    const char letter = text[at];
    if (letter == '"') {
      at = end_of_string(text, at);
      if (at == text.npos) {
        refuse_text(text, text.size(), name,
                    "the file ends within a string; delete the incomplete last result, then repeat "
                    "the command");
      }
      continue;
    }
    if (letter == 'N' || letter == 'I') {
      at += replace_word(text, at);
      continue;
    }
    if (letter == '{' || letter == '[') {
      if (open.size() == kMostBrackets) {
        refuse_text(text, at, name, fmt::format("more than {} levels of brackets", kMostBrackets));
      }
      open += letter;
    } else if (!open.empty()) {
      open.pop_back();
    }
    ++at;
  }
  if (open.empty()) return;
  if (open != "{" && open != "{{") {
    refuse_text(text, text.size(), name,
                "the file ends within a result; delete the incomplete last result, then repeat the "
                "command");
  }
  if (text.back() == ',') text.back() = ' ';
  text.append(open.size(), '}');
}

}  // namespace kiln
