// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/adopt/problem.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMostFrontColumns = 100;
/// Where comments begin, unless the text is longer.
constexpr std::size_t kCommentColumn = 46;

/// Words of a text in lines of at most `width` characters.
std::vector<std::string> broken_words(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    begin = end + 1;
  }
  return lines;
}

/// With spaces up to a column, and two at least.
std::string padded_to(const std::string& text, std::size_t column) {
  return text + std::string(text.size() + 2 > column ? 2 : column - text.size(), ' ');
}

}  // namespace

void FrontLines::add(std::string_view key, std::string text, std::string comment) {
  lines_.push_back({fmt::format("//@ {:<10} ", key), {std::move(text)}, std::move(comment)});
}

void FrontLines::add_part(std::string_view key, const std::vector<std::string>& parts,
                          std::string comment) {
  lines_.push_back({fmt::format("//@   {:<8} ", key), parts, std::move(comment)});
}

std::vector<std::string> FrontLines::printed(const Line& line) const {
  std::vector<std::string> result;
  const std::string indent = "//@" + std::string(line.head.size() - 3, ' ');
  std::string current = line.head;
  for (std::size_t i = 0; i < line.parts.size(); ++i) {
    const std::string part = line.parts[i] + (i + 1 < line.parts.size() ? "," : "");
    const bool is_first = current.size() == line.head.size();
    if (!is_first && current.size() + 1 + part.size() > kMostFrontColumns) {
      result.push_back(current);
      current = indent + part;
    } else {
      if (!is_first) current += ' ';
      current += part;
    }
  }
  if (line.comment.empty()) {
    result.push_back(current);
    return result;
  }
  // A comment that has no room goes on below: a line that is only a comment continues this one.
  std::string before = padded_to(current, kCommentColumn);
  const std::size_t room = before.size() + 3 < kMostFrontColumns - 16
                               ? kMostFrontColumns - before.size() - 3
                               : kMostFrontColumns - kCommentColumn - 3;
  for (const auto& each : broken_words(line.comment, room)) {
    if (before.size() + 3 + each.size() > kMostFrontColumns && before.size() > kCommentColumn) {
      result.push_back(current);
      before = padded_to("//@", kCommentColumn);
    }
    result.push_back(fmt::format("{}// {}", before, each));
    before = padded_to("//@", kCommentColumn);
  }
  return result;
}

std::string FrontLines::text() const {
  std::string text;
  for (const Line& line : lines_) {
    for (const auto& each : printed(line)) text += each + "\n";
  }
  return text;
}

std::vector<AdoptionMark> FrontLines::marks() const {
  std::vector<AdoptionMark> marks;
  int number = 1;
  for (const Line& line : lines_) {
    bool is_open = false;
    for (const auto& part : line.parts)
      is_open = is_open || part.find(kFillIn) != std::string::npos;
    const bool is_check = line.comment.starts_with("CHECK: ");
    if (is_open || is_check) {
      std::string what =
          is_check ? line.comment.substr(std::string_view("CHECK: ").size()) : line.comment;
      // A purpose has no comment: it says by itself what goes there.
      const std::string& text = line.parts.front();
      if (const auto colon = text.find(": "); what.empty() && colon != std::string::npos) {
        what = text.substr(colon + 2);
      }
      marks.push_back({number, std::move(what), !is_open});
    }
    number += static_cast<int>(printed(line).size());
  }
  return marks;
}

}  // namespace kiln::tools
