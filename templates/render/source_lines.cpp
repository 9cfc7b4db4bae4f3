// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/source_lines.hpp"

#include <algorithm>

#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::string_view kSpace = " \t\r\v\f";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Where the first of these characters is, or the end. (find_first_of() makes a call for each
/// character, and all headers of a kernel are read before its first launch.)
template <char... kThese>
std::size_t find_any(std::string_view text, std::size_t at) {
  while (at < text.size() && ((text[at] != kThese) && ...)) ++at;
  return at;
}

/// Whether the line goes on behind its break. With space behind the backslash NVRTC says no.
bool is_continued(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.ends_with('\\');
}

/// The line as one, its continuations joined.
std::string joined_lines(std::string_view text) {
  std::string joined;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    joined += end < text.size() ? line.substr(0, line.find_last_of('\\')) : line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return joined;
}

/// Whether the quotation mark at `at` begins a raw literal: R", LR", u8R" and so on.
bool is_raw(std::string_view text, std::size_t at) {
  if (at == 0 || text[at - 1] != 'R') return false;
  std::size_t begin = at - 1;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  const auto prefix = text.substr(begin, at - 1 - begin);
  return prefix.empty() || prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
}

}  // namespace

bool SourceLines::next(SourceLine& line) {
  if (rest_.empty()) return false;
  line = {};
  line.number = number_ + 1;
  take_line(line);
  line.begins_in_comment = in_comment_;
  if (line.count == 1) {
    scan(line, line.text);
  } else {
    scan(line, joined_lines(line.text));
  }
  line.ends_in_comment = in_comment_;
  return true;
}

/// In a raw literal a backslash at the end of a line is one.
void SourceLines::take_line(SourceLine& line) {
  std::size_t begin = 0;
  line.count = 0;
  for (;;) {
    const auto end = std::min(rest_.find('\n', begin), rest_.size());
    ++line.count;
    line.text = rest_.substr(0, end);
    const bool goes_on = raw_end_.empty() && is_continued(rest_.substr(begin, end - begin));
    begin = end + 1;
    if (!goes_on || begin >= rest_.size()) break;
  }
  number_ += line.count;
  rest_.remove_prefix(std::min(begin, rest_.size()));
}

void SourceLines::scan(SourceLine& line, std::string_view joined) {
  std::size_t at = 0;
  if (!in_comment_) has_tokens_ = false;
  line.is_blank = true;
  if (!raw_end_.empty()) {
    line.is_blank = false;
    const auto end = joined.find(raw_end_);
    if (end == std::string_view::npos) return;
    at = end + raw_end_.size();
    raw_end_.clear();
    has_tokens_ = true;
  }
  while (at < joined.size()) {
    if (in_comment_) {
      const auto end = joined.find("*/", at);
      if (end == std::string_view::npos) return;
      in_comment_ = false;
      at = end + 2;
      continue;
    }
    if (has_tokens_) {
      const auto two = joined.substr(at, 2);
      const bool is_empty =
          kSpace.find(two[0]) != std::string_view::npos || two == "//" || two == "/*";
      line.is_blank = line.is_blank && is_empty;
      // Nothing else matters behind the first token.
      at = find_any<'"', '\'', '/'>(joined, at);
      if (at == joined.size()) return;
    }
    const char c = joined[at];
    if (kSpace.find(c) != std::string_view::npos) {
      ++at;
    } else if (joined.substr(at, 2) == "//") {
      return;
    } else if (joined.substr(at, 2) == "/*") {
      in_comment_ = true;
      at += 2;
    } else if (!has_tokens_ && (c == '#' || joined.substr(at, 2) == "%:")) {
      has_tokens_ = true;
      line.is_blank = false;
      return read_directive(line, joined, at + (c == '#' ? 1 : 2));
    } else {
      has_tokens_ = true;
      line.is_blank = false;
      at = c == '"' || c == '\'' ? skip_literal(joined, at) : at + 1;
    }
  }
}

/// What follows the '#'. The name of a header may have what elsewhere begins a comment.
void SourceLines::read_directive(SourceLine& line, std::string_view joined, std::size_t at) {
  std::string text;
  while (at < joined.size()) {
    if (in_comment_) {
      const auto found = joined.find("*/", at);
      if (found == std::string_view::npos) break;
      in_comment_ = false;
      at = found + 2;
      continue;
    }
    const auto plain = find_any<'"', '\'', '/', '<'>(joined, at);
    text += joined.substr(at, plain - at);
    at = plain;
    if (at == joined.size()) break;
    const auto two = joined.substr(at, 2);
    if (two == "//") break;
    if (two == "/*") {
      in_comment_ = true;
      text += ' ';
      at += 2;
      continue;
    }
    const char c = joined[at];
    std::size_t end = at + 1;
    if ((c == '<' || c == '"') && text.find("include") != std::string::npos) {
      end = std::min(joined.find(c == '<' ? '>' : '"', end), joined.size() - 1) + 1;
    } else if (c == '"' || c == '\'') {
      end = std::min(skip_literal(joined, at), joined.size());
    }
    text += joined.substr(at, end - at);
    at = end;
  }
  const auto words = trimmed(text);
  const auto end = static_cast<std::size_t>(std::find_if_not(words.begin(), words.end(), is_word) -
                                            words.begin());
  line.name = words.substr(0, end);
  line.rest = trimmed(words.substr(end));
}

/// Behind the literal, or the line; of a raw one that goes on, `raw_end_` says where it ends.
std::size_t SourceLines::skip_literal(std::string_view joined, std::size_t at) {
  const char quote = joined[at];
  if (quote == '"' && is_raw(joined, at)) {
    const auto open = joined.find('(', at);
    if (open != std::string_view::npos) {
      const std::string end = ")" + std::string(joined.substr(at + 1, open - at - 1)) + "\"";
      const auto found = joined.find(end, open);
      if (found != std::string_view::npos) return found + end.size();
      raw_end_ = end;
      return joined.size();
    }
  }
  // 1'000'000 has no literal in it.
  if (quote == '\'' && at > 0 && is_word(joined[at - 1])) {
    const auto before = joined.substr(0, at);
    const auto word = before.find_last_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        "0123456789_'");
    const char first = before[word == std::string_view::npos ? 0 : word + 1];
    if (first >= '0' && first <= '9') return at + 1;
  }
  ++at;
  while (at < joined.size() && joined[at] != quote) at += joined[at] == '\\' ? 2 : 1;
  return at + 1;
}

}  // namespace kiln
