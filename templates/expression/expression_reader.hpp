// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/error.hpp"
#include "templates/source_error.hpp"

namespace kiln {

/// What the parsers of expressions share: a position in a text, the words of both languages, and a
/// bound on the recursion.
class ExpressionReader {
 public:
  ExpressionReader(const ExpressionReader&) = delete;
  ExpressionReader& operator=(const ExpressionReader&) = delete;

 protected:
  static constexpr std::string_view kSpace = " \t\n";

  ExpressionReader(std::string_view text, int most_nesting)
      : text_(text), most_nesting_(most_nesting) {}
  virtual ~ExpressionReader() = default;

  /// The Error that points at that character of the text.
  [[nodiscard]] virtual Error error_at(std::size_t offset, std::string_view message) const = 0;
  [[noreturn]] void fail(std::size_t offset, std::string_view message) const {
    throw error_at(offset, message);
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  /// Reads the symbol and the space behind it, if it is what comes next.
  bool accept(std::string_view symbol) {
    if (!rest().starts_with(symbol)) return false;
    at_ += symbol.size();
    skip_space();
    return true;
  }

  void expect(std::string_view symbol, std::string_view what) {
    if (!accept(symbol)) fail(at_, fmt::format("expected here: '{}' {}", symbol, what));
  }

  void refuse_value_behind_value(std::string_view missing) const {
    if (const std::string why = why_missing(missing, text_, at_); !why.empty()) fail(at_, why);
  }

  /// Counts the recursion while it lives.
  class Nested {
   public:
    explicit Nested(ExpressionReader& reader) : reader_(reader) {
      if (++reader_.nesting_ > reader_.most_nesting_) {
        reader_.fail(reader_.at_, "the expression is nested too deeply");
      }
    }
    ~Nested() { --reader_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    ExpressionReader& reader_;
  };

  const std::string_view text_;
  std::size_t at_ = 0;

 private:
  const int most_nesting_;
  int nesting_ = 0;
};

}  // namespace kiln
