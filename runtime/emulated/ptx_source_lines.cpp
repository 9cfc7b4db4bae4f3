// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx_source_lines.hpp"

#include <fmt/format.h>

namespace kiln::ptx {

int SourceLines::index_of(int number, const Token& where) {
  const auto [found, added] = index_of_number_.try_emplace(number, static_cast<int>(files_.size()));
  if (added) files_.push_back({number, {}, false, where});
  return found->second;
}

void SourceLines::read_file(Lexer& lexer) {
  const Token at = lexer.peek();
  const int index = index_of(lexer.expect_count("the number of a file"), at);
  const Token name = lexer.expect(Token::Kind::string, "the name of a file");
  File& file = files_[static_cast<std::size_t>(index)];
  if (file.named && file.name != name.text) {
    fail_at(at, fmt::format("file {} has two names", file.number));
  }
  file.name = name.text;
  file.named = true;
  // Time stamp and size.
  while (lexer.accept(",")) lexer.expect(Token::Kind::integer, "a number");
}

SourceLines::Place SourceLines::read_place(Lexer& lexer) {
  Place place;
  const Token at = lexer.peek();
  place.file = index_of(lexer.expect_count("the number of a file"), at);
  place.line = lexer.expect_count("a line");
  place.column = lexer.expect_count("a column");
  return place;
}

void SourceLines::read_loc(Lexer& lexer) {
  const Place place = read_place(lexer);
  origin_ = Origin{};
  origin_.file = place.file;
  origin_.line = place.line;
  // The same place may have been inlined before and now be reached by itself.
  outermost_.erase(place);
  while (lexer.accept(",")) {
    if (lexer.accept("function_name")) {
      lexer.expect(Token::Kind::word, "a label of .debug_str");
      if (lexer.accept("+")) lexer.expect(Token::Kind::integer, "an offset");
    } else if (lexer.accept("inlined_at")) {
      Place outer = read_place(lexer);
      // Links were written before this one and hold their own ends: no chain is walked, no cycle
      // can arise. Of several callers of one place the last one written counts.
      const auto link = outermost_.find(outer);
      if (link != outermost_.end()) outer = link->second;
      origin_.outer_file = outer.file;
      origin_.outer_line = outer.line;
      outermost_[place] = outer;
    } else {
      lexer.fail_expected("function_name or inlined_at");
    }
  }
}

void SourceLines::begin_function() {
  outermost_.clear();
  origin_ = Origin{};
}

Origin SourceLines::origin_of(const Token& token) const {
  Origin origin = origin_;
  origin.ptx_line = token.line;
  return origin;
}

std::vector<std::string> SourceLines::files() const {
  std::vector<std::string> names;
  names.reserve(files_.size());
  for (const File& file : files_) {
    if (!file.named && !names.empty()) {
      fail_at(file.first_use, fmt::format("no .file directive names file {}", file.number));
    }
    names.push_back(file.name);
  }
  return names;
}

}  // namespace kiln::ptx
