// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source_nesting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

namespace kiln {
namespace {

/// NVRTC 13.0 takes 2.5 KB for a bracket around an expression, 7 KB for one around a lambda, and up
/// to 2.6 KB for a sign (prefixes, assignments, conditions, casts). No code that a person reads
/// comes near the limits.
constexpr std::size_t kBytesOfBracket = 32 << 10;
constexpr std::size_t kBytesOfToken = 4 << 10;
constexpr std::size_t kMostBrackets = 1000;
constexpr std::size_t kMostTokens = 50'000;
/// Conditions of the preprocessor that are nested deeper are taken as they come.
constexpr std::size_t kMostConditions = 64;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Where the scan is in brackets and statements.
struct Depth {
  /// Of the file, or within one bracket.
  struct Level {
    std::size_t tokens = 0;  ///< of the statement so far
    std::size_t angles = 0;  ///< of these, '<' that may be open brackets of a template
    std::size_t ended = 0;   ///< tokens of the last one, which an `else` would continue
  };
  std::vector<Level> levels{1};
  std::size_t tokens = 0;    ///< of all levels
  bool after_brace = false;  ///< the last token was '}'

  void set_tokens(std::size_t count) {
    tokens += count;
    tokens -= levels.back().tokens;
    levels.back().tokens = count;
  }
  void end_statement() {
    Level& level = levels.back();
    level.ended = level.tokens;
    level.angles = 0;
    set_tokens(0);
  }
};

class NestingScan {
 public:
  NestingScan(std::string_view source, std::string_view name, const NestingLimits& limits)
      : source_(source), file_(name), limits_(limits) {}

  std::string run() {
    while (at_ < source_.size()) {
      if (skip_blank()) continue;
      if (begins_line_ && source_[at_] == '#') {
        directive();
      } else {
        token();
      }
      if (!problem_.empty()) return problem_;
    }
    return {};
  }

 private:
  [[nodiscard]] bool sees(std::string_view text) const {
    return source_.substr(at_, text.size()) == text;
  }

  void advance_to(std::size_t end) {
    end = std::min(end, source_.size());
    line_ += static_cast<std::size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 source_.begin() + static_cast<std::ptrdiff_t>(end),
                                                 '\n'));
    at_ = end;
  }
  void advance_behind(std::string_view mark, std::size_t from) {
    const auto found = source_.find(mark, from);
    advance_to(found == std::string_view::npos ? source_.size() : found + mark.size());
  }

  /// White space, a continued line or a comment.
  bool skip_blank() {
    const char c = source_[at_];
    if (c == '\n') begins_line_ = true;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      advance_to(at_ + 1);
    } else if (sees("\\\n")) {
      advance_to(at_ + 2);
    } else if (sees("//")) {
      const auto end = source_.find('\n', at_);
      advance_to(std::min(end, source_.size()));
    } else if (sees("/*")) {
      advance_behind("*/", at_ + 2);
    } else {
      return false;
    }
    return true;
  }

  /// A string or a character; the literal's prefix was a word. False if there is none.
  bool skip_literal() {
    const char quote = source_[at_];
    if (quote != '"' && quote != '\'') return false;
    if (quote == '"' && was_raw_) {
      const auto open = source_.find('(', at_);
      const auto mark = open == std::string_view::npos ? std::string_view()
                                                       : source_.substr(at_ + 1, open - at_ - 1);
      advance_behind(fmt::format("){}\"", mark), at_ + 1);
      return true;
    }
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n') {
      end += source_[end] == '\\' ? 2 : 1;
    }
    advance_to(end + 1);
    return true;
  }

  void token() {
    begins_line_ = false;
    const std::size_t begin = at_;
    if (skip_literal()) {
      was_raw_ = false;
      return count("\"");
    }
    std::size_t end = at_ + 1;
    if (is_word(source_[at_])) {
      // Digits may be separated by single quotes.
      const bool number = std::isdigit(static_cast<unsigned char>(source_[at_])) != 0;
      while (end < source_.size() && (is_word(source_[end]) || (number && source_[end] == '\''))) {
        ++end;
      }
    } else if (source_.substr(at_, 2) == "<<" || source_.substr(at_, 2) == "<=" ||
               source_.substr(at_, 2) == "->") {
      end = at_ + 2;
    }
    const std::string_view text = source_.substr(begin, end - begin);
    was_raw_ = text.ends_with('R') && text.size() <= 3;
    advance_to(end);
    count(text);
  }

  void count(std::string_view text) {
    const bool closed_brace = std::exchange(depth_.after_brace, false);
    const char c = text.front();
    // What follows a block begins a statement, unless it is a sign: then it was part of one.
    if (closed_brace && (is_word(c) || c == '}')) depth_.end_statement();
    switch (c) {
      case '(':
      case '[':
      case '{':
        step();
        depth_.levels.emplace_back();
        break;
      case ')':
      case ']':
      case '}':
        close();
        depth_.after_brace = c == '}';
        break;
      case ';':
        depth_.end_statement();
        break;
      case ',':
        depth_.set_tokens(depth_.levels.back().angles);
        break;
      default:
        if (text == "else") depth_.set_tokens(depth_.levels.back().ended);
        if (text == "<") ++depth_.levels.back().angles;
        if (text == ">" && depth_.levels.back().angles > 0) --depth_.levels.back().angles;
        depth_.levels.back().ended = 0;
        step();
    }
    check();
  }

  void step() { depth_.set_tokens(depth_.levels.back().tokens + 1); }

  void close() {
    // One too many is an error that the compiler tells better.
    depth_.set_tokens(0);
    if (depth_.levels.size() > 1) depth_.levels.pop_back();
  }

  void check() {
    if (depth_.levels.size() - 1 > limits_.brackets) {
      refuse(fmt::format("brackets are nested more than {} levels deep", limits_.brackets));
    } else if (depth_.tokens > limits_.tokens) {
      refuse(fmt::format("this statement has more than {} tokens", limits_.tokens));
    }
  }

  void refuse(std::string_view what) {
    problem_ = fmt::format(
        "{}({}): error: {}, so the compiler's stack might overflow. Next: split the code into "
        "smaller functions or statements\n",
        file_, line_, what);
  }

  /// The line by itself: what it opens is not opened where it stands.
  void directive() {
    const std::size_t end = end_of_directive();
    const std::string_view text = source_.substr(at_ + 1, end - at_ - 1);
    if (const auto word = text.find_first_not_of(" \t"); word != std::string_view::npos) {
      condition(text.substr(word));
      if (text.substr(word).starts_with("line")) return follow_line(text.substr(word + 4), end);
    }
    NestingScan inner(source_.substr(0, end), file_, limits_);
    inner.at_ = at_ + 1;
    inner.line_ = line_;
    inner.begins_line_ = false;
    problem_ = inner.run();
    advance_to(end);
  }

  [[nodiscard]] std::size_t end_of_directive() const {
    std::size_t end = at_;
    while (end < source_.size() && source_[end] != '\n') {
      const std::string_view two = source_.substr(end, 2);
      if (two == "/*") {
        end = std::min(source_.find("*/", end + 2), source_.size() - 2);
      }
      end += two == "/*" || two == "\\\n" ? 2 : 1;
    }
    return std::min(end, source_.size());
  }

  /// Of branches only one counts: each begins where the first did.
  void condition(std::string_view text) {
    if (text.starts_with("if")) {
      conditions_.push_back(conditions_.size() < kMostConditions ? depth_ : Depth());
    } else if (text.starts_with("endif")) {
      if (!conditions_.empty()) conditions_.pop_back();
    } else if (text.starts_with("el") && !conditions_.empty()) {
      if (conditions_.size() <= kMostConditions) depth_ = conditions_.back();
    }
  }

  /// `#line 12 "name"`.
  void follow_line(std::string_view text, std::size_t end) {
    advance_to(std::min(end + 1, source_.size()));
    begins_line_ = true;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::from_chars(text.data(), text.data() + text.size(), line_);
    const auto open = text.find('"');
    const auto close = text.rfind('"');
    if (open < close && close != std::string_view::npos) {
      file_ = text.substr(open + 1, close - open - 1);
    }
  }

  std::string_view source_;
  std::string_view file_;
  const NestingLimits& limits_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool begins_line_ = true;
  bool was_raw_ = false;  ///< the last token may be the prefix of a raw string
  Depth depth_;
  std::vector<Depth> conditions_;
  std::string problem_;
};

}  // namespace

NestingLimits nesting_limits(std::size_t stack_bytes) {
  return {std::min(kMostBrackets, stack_bytes / kBytesOfBracket),
          std::min(kMostTokens, stack_bytes / kBytesOfToken)};
}

std::string why_too_nested(std::string_view source, std::string_view name,
                           const NestingLimits& limits) {
  return NestingScan(source, name, limits).run();
}

}  // namespace kiln
