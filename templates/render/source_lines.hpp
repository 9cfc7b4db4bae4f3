// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// One line of a source as the preprocessor sees it: with the lines that backslashes add to it.
struct SourceLine {
  std::string_view text;  ///< as it stands, without the line break at its end
  int number = 0;         ///< of its first physical line
  int count = 1;          ///< of physical lines
  /// "include" of `#  include <x>  // comment`; "": it is no directive.
  std::string name;
  std::string rest;  ///< `<x>`: joined, comments replaced by a space each
  bool begins_in_comment = false;
  bool ends_in_comment = false;
  bool is_blank = false;  ///< nothing but space and comments
};

/// Reads a source line by line. Knows comments, literals (raw ones as well) and other spellings of
/// a directive: `%:include`, one behind a comment, one that is continued. Trigraphs are none in
/// C++20.
class SourceLines {
 public:
  explicit SourceLines(std::string_view source) : rest_(source) {}
  /// False at the end; `line` then is what it was.
  [[nodiscard]] bool next(SourceLine& line);

 private:
  void take_line(SourceLine& line);
  void scan(SourceLine& line, std::string_view joined);
  void read_directive(SourceLine& line, std::string_view joined, std::size_t at);
  [[nodiscard]] std::size_t skip_literal(std::string_view joined, std::size_t at);

  std::string_view rest_;
  int number_ = 0;
  bool in_comment_ = false;
  bool has_tokens_ = false;  ///< of a line that a comment continues: it can't be a directive
  std::string raw_end_;      ///< `)mark"` of the raw literal that goes on; "": none
};

}  // namespace kiln
