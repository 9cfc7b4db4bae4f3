// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::tools {

/// A piece of CUDA C++ that is neither a comment nor a directive.
struct CodeToken {
  enum class Kind : std::uint8_t { word, number, text, sign };
  Kind kind = Kind::sign;
  std::string_view text;   ///< of the source; of "and", "<%" and such the sign that it is
  std::size_t offset = 0;  ///< in the source
  int line = 0;
  /// Whether it is below an `#else` or `#elif`, or an `#if 0`: read for the names that it mentions,
  /// but left out where brackets are matched, since each branch may open the same one.
  bool is_alternative = false;
  std::size_t length = 0;  ///< in the source: that of "%>" is 2, though it is a "}"

  [[nodiscard]] bool is(std::string_view other) const { return text == other; }
  [[nodiscard]] bool is_word() const { return kind == Kind::word; }
};

/// A preprocessor line, its continuations included.
struct CodeDirective {
  std::string_view name;  ///< "define", "pragma"
  std::vector<CodeToken> tokens;
  /// Whether the first of `tokens` is followed by a parenthesis without a space: a macro with
  /// parameters.
  bool has_parameters = false;
  std::size_t offset = 0;  ///< of '#'
  int line = 0;
};

/// A source, taken apart.
struct CodeText {
  std::vector<CodeToken> tokens;
  std::vector<CodeDirective> directives;
};

/// Whatever the text, this ends with some tokens: what is not closed extends to the end. Views
/// point into `source`. Macros are not expanded.
[[nodiscard]] CodeText read_code(std::string_view source);

/// The index of what closes the bracket at `open` ("(", "[" or "{"), or `end`.
[[nodiscard]] std::size_t closing_bracket(const std::vector<CodeToken>& tokens, std::size_t open,
                                          std::size_t end);
/// Likewise of a '<' that begins template arguments; `end` where it turns out to be a comparison.
[[nodiscard]] std::size_t closing_angle_bracket(const std::vector<CodeToken>& tokens,
                                                std::size_t open, std::size_t end);

/// Tokens as one would write them in an expression of front matter: "block_size_x * 4".
[[nodiscard]] std::string joined_text(const std::vector<CodeToken>& tokens, std::size_t begin,
                                      std::size_t end);

}  // namespace kiln::tools
