// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "kiln/error.hpp"

namespace kiln::ptx {

namespace {

constexpr int kMaxNesting = 64;

// Not <cctype>: that asks the locale, and only takes unsigned values.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool starts_word(char c) {
  return is_letter(c) || c == '_' || c == '$';
}
constexpr bool continues_word(char c) {
  return starts_word(c) || is_digit(c);
}

unsigned digit_of(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 99;
}

/// The double with the value of a float's bits, or with its sign and payload if that is a NaN: a
/// conversion by the host would quiet it.
std::uint64_t widened(std::uint32_t bits) {
  constexpr std::uint32_t kExponent = 0x7f800000U;
  if ((bits & kExponent) != kExponent) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits)));
  }
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> 31U) << 63U;
  return sign | 0x7ff0000000000000U | static_cast<std::uint64_t>(bits & 0x7fffffU) << 29U;
}

std::string shown(const Token& token) {
  if (token.kind == Token::Kind::end) return "the end of the text";
  constexpr std::size_t kMost = 60;  // mangled names would fill the screen
  if (token.text.size() <= kMost) return fmt::format("'{}'", token.text);
  return fmt::format("'{}...'", token.text.substr(0, kMost));
}

}  // namespace

std::uint32_t narrowed(std::uint64_t bits) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000U;
  if ((bits & kExponent) != kExponent) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }
  const auto sign = static_cast<std::uint32_t>(bits >> 63U) << 31U;
  return sign | 0x7f800000U | (static_cast<std::uint32_t>(bits >> 29U) & 0x7fffffU);
}

void fail_at(const Token& token, const std::string& message) {
  throw Error(ErrorKind::device, fmt::format("PTX:{}:{}: {}", token.line, token.column, message));
}

void Lexer::fail_expected(std::string_view what) const {
  fail_at(token_, fmt::format("expected {}, not {}", what, shown(token_)));
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail_expected(fmt::format("'{}'", text));
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
  if (token_.kind != kind) fail_expected(what);
  return take();
}

int Lexer::expect_count(std::string_view what) {
  const Token token = expect(Token::Kind::integer, what);
  if (token.bits > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    fail_at(token, fmt::format("{} is too large for {}", token.text, what));
  }
  return static_cast<int>(token.bits);
}

void Lexer::skip_to_closing(std::string_view open, std::string_view close) {
  const Token first = token_;
  for (int depth = 1; depth > 0;) {
    if (at_end()) fail_at(first, fmt::format("this bracket is not closed by '{}'", close));
    const Token token = take();
    if (token.is(open)) ++depth;
    if (token.is(close)) --depth;
  }
}

void Lexer::skip_block_comment() {
  token_.line = line_;
  token_.column = static_cast<int>(position_ - line_start_) + 1;
  position_ += 2;
  while (at(0) != '*' || at(1) != '/') {
    if (position_ >= text_.size()) fail_at(token_, "this comment has no end");
    if (text_[position_++] == '\n') {
      ++line_;
      line_start_ = position_;
    }
  }
  position_ += 2;
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++position_;
      ++line_;
      line_start_ = position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '/' && at(1) == '/') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && at(1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Lexer::finish(Token::Kind kind, std::size_t length) {
  token_.kind = kind;
  token_.text = text_.substr(position_, length);
  position_ += length;
}

// One token at a time and none copied: a text is read once, front to back.
void Lexer::advance() {
  skip_blanks();
  token_ = Token{};
  token_.line = line_;
  token_.column = static_cast<int>(position_ - line_start_) + 1;
  if (position_ >= text_.size()) return;

  const char c = text_[position_];
  // A percent sign before a name belongs to it; before a number it is a remainder.
  const bool is_word = starts_word(c) || (c == '%' && starts_word(at(1)));
  if (is_word || (c == '.' && continues_word(at(1)))) {
    std::size_t length = 1;
    // In "shared::cta" two colons join; after a label one stands alone.
    while (continues_word(at(length)) || (!is_word && at(length) == ':' && at(length + 1) == ':' &&
                                          continues_word(at(length + 2)))) {
      length += at(length) == ':' ? 2U : 1U;
    }
    return finish(is_word ? Token::Kind::word : Token::Kind::dot_word, length);
  }
  if (is_digit(c)) return read_number();
  if (c == '"') {
    const auto end = text_.find_first_of("\"\n", position_ + 1);
    if (end == text_.npos || text_[end] == '\n') fail_at(token_, "this string has no end");
    ++position_;
    finish(Token::Kind::string, end - position_);
    ++position_;
    return;
  }
  constexpr std::array<std::string_view, 8> kDoubles{
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (const auto mark : kDoubles) {
    if (text_.substr(position_, 2) == mark) return finish(Token::Kind::mark, 2);
  }
  constexpr std::string_view kMarks = ";,:(){}[]<>@!+-*/%~&|^?=";
  if (kMarks.find(c) == kMarks.npos) {
    fail_at(token_, fmt::format("PTX does not allow the byte 0x{:02x} here",
                                static_cast<unsigned>(static_cast<unsigned char>(c))));
  }
  finish(Token::Kind::mark, 1);
}

std::uint64_t Lexer::read_digits(std::size_t prefix, unsigned base) {
  std::uint64_t value = 0;
  std::size_t length = prefix;
  for (unsigned digit = 0; (digit = digit_of(at(length))) < base; ++length) {
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / base) {
      fail_at(token_, "this integer does not fit into 64 bits");
    }
    value = value * base + digit;
  }
  if (length == prefix) fail_at(token_, "this number has no digits after its prefix");
  finish(Token::Kind::integer, length);
  return value;
}

// from_chars: independent of the locale, and exact.
void Lexer::read_decimal() {
  const char* const begin = text_.data() + position_;
  std::size_t length = 0;
  while (is_digit(at(length)) || at(length) == '.') ++length;
  if (at(length) == 'e' || at(length) == 'E') {
    ++length;
    if (at(length) == '+' || at(length) == '-') ++length;
    while (is_digit(at(length))) ++length;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(begin, begin + length, value);
  if (error != std::errc{} || end != begin + length) {
    fail_at(token_, "this floating-point number is malformed or does not fit into a double");
  }
  finish(Token::Kind::real, length);
  token_.bits = std::bit_cast<std::uint64_t>(value);
}

void Lexer::read_number() {
  const std::size_t begin = position_;
  const char kind = at(0) == '0' ? static_cast<char>(at(1) | 0x20) : '\0';
  if (kind == 'f' || kind == 'd') {
    const std::uint64_t bits = read_digits(2, 16);
    const std::size_t digits = kind == 'f' ? 8 : 16;
    if (token_.text.size() != 2 + digits) {
      fail_at(token_, fmt::format("a number that begins with 0{} must have {} hexadecimal digits",
                                  kind, digits));
    }
    token_.kind = Token::Kind::real;
    token_.bits = kind == 'f' ? widened(static_cast<std::uint32_t>(bits)) : bits;
  } else if (kind == 'x') {
    token_.bits = read_digits(2, 16);
  } else if (kind == 'b') {
    token_.bits = read_digits(2, 2);
  } else {
    std::size_t length = 0;
    while (is_digit(at(length))) ++length;
    if (at(length) == '.' || at(length) == 'e' || at(length) == 'E') {
      read_decimal();
    } else {
      // As in C, a leading 0 means octal.
      token_.bits = read_digits(0, at(0) == '0' ? 8 : 10);
    }
  }
  if (token_.kind == Token::Kind::integer && at(0) == 'U') {
    ++position_;
    token_.is_unsigned = true;
  }
  token_.text = text_.substr(begin, position_ - begin);
  if (continues_word(at(0))) fail_at(token_, "invalid letters or digits follow this number");
}

Nesting::Nesting(int& depth, const Token& where) : depth_(depth) {
  if (depth_ >= kMaxNesting) {
    fail_at(where, fmt::format("brackets or operators nest deeper than {} levels", kMaxNesting));
  }
  ++depth_;
}

}  // namespace kiln::ptx
