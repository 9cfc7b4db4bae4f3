// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::ptx {

/// A token of PTX text. `text` points into that text.
struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,      ///< foo, %r12, $L__BB0_1, _
    dot_word,  ///< .global, .v4, .shared::cta; its name is the text without the dot
    integer,   ///< `bits`; `is_unsigned` when a U follows
    real,      ///< `bits` of a double
    string,    ///< text without the quotes
    mark,      ///< ; { << and so on
  };
  Kind kind = Kind::end;
  bool is_unsigned = false;
  int line = 1;
  int column = 1;
  std::string_view text;
  std::uint64_t bits = 0;

  [[nodiscard]] bool is(std::string_view mark) const { return kind == Kind::mark && text == mark; }
  /// Name of a dot_word without its dot.
  [[nodiscard]] std::string_view name() const { return text.substr(1); }
};

/// Throws Error(device) "PTX:line:column: message".
[[noreturn]] void fail_at(const Token& token, const std::string& message);

/// The bits of the float nearest to a double. A NaN keeps its sign and its payload, so that
/// literals 0f come back as they were written.
[[nodiscard]] std::uint32_t narrowed(std::uint64_t bits);

/// The tokens of a text, one ahead. Comments and blanks are skipped.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] const Token& peek() const { return token_; }
  [[nodiscard]] bool at_end() const { return token_.kind == Token::Kind::end; }
  [[nodiscard]] bool at_word() const { return token_.kind == Token::Kind::word; }
  [[nodiscard]] bool at_directive() const { return token_.kind == Token::Kind::dot_word; }

  Token take() {
    const Token taken = token_;
    advance();
    return taken;
  }
  /// Takes the mark, word or directive if it is next.
  bool accept(std::string_view text) {
    if (token_.text != text || token_.kind == Token::Kind::string) return false;
    advance();
    return true;
  }
  void expect(std::string_view text);
  Token expect(Token::Kind kind, std::string_view what);
  /// An integer literal from 0 to INT_MAX, as line numbers and thread counts are.
  int expect_count(std::string_view what);
  /// Takes up to the mark that closes the one just taken.
  void skip_to_closing(std::string_view open, std::string_view close);
  /// Error at the next token: "expected WHAT, not 'foo'".
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  void advance();
  void skip_blanks();
  void skip_block_comment();
  void read_number();
  void read_decimal();
  std::uint64_t read_digits(std::size_t prefix, unsigned base);
  void finish(Token::Kind kind, std::size_t length);
  [[nodiscard]] char at(std::size_t offset) const {
    return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  Token token_;
};

/// Limits how deep something nests, for as long as it lives.
class Nesting {
 public:
  Nesting(int& depth, const Token& where);
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace kiln::ptx
