// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/lexer.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace kiln::tools {
namespace {

bool is_code_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_code_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool is_code_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

/// Longest first, so that the first match is the one that C++ takes.
constexpr std::array<std::string_view, 26> kLongSigns{
    "<<<", ">>>", "...", "<<=", ">>=", "->*", "::", "->", "++", "--", "<<", ">>", "<=",
    ">=",  "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};

/// Words and digraphs that are signs, and the signs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kOtherSigns{
    {{"<%", "{"},
     {"%>", "}"},
     {"<:", "["},
     {":>", "]"},
     {"%:", "#"},
     {"and", "&&"},
     {"and_eq", "&="},
     {"bitand", "&"},
     {"bitor", "|"},
     {"compl", "~"},
     {"not", "!"},
     {"not_eq", "!="},
     {"or", "||"},
     {"or_eq", "|="},
     {"xor", "^"},
     {"xor_eq", "^="}}};

class CodeReader {
 public:
  explicit CodeReader(std::string_view source) : source_(source) {}

  CodeText run() {
    while (at_ < source_.size()) step();
    return std::move(result_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  [[nodiscard]] bool sees(std::string_view text) const {
    return source_.substr(at_, text.size()) == text;
  }

  void advance_to(std::size_t end) {
    end = std::min(end, source_.size());
    for (; at_ < end; ++at_) line_ += source_[at_] == '\n' ? 1 : 0;
  }

  /// Behind the next `mark`, or at the end.
  [[nodiscard]] std::size_t behind(std::string_view mark, std::size_t from) const {
    const auto found = source_.find(mark, std::min(from, source_.size()));
    return found == std::string_view::npos ? source_.size() : found + mark.size();
  }

  /// The end of a line whose last character is no backslash.
  [[nodiscard]] std::size_t end_of_line(std::size_t from) const {
    while (true) {
      const auto end = std::min(source_.find('\n', from), source_.size());
      auto last = end;
      if (last > from && source_[last - 1] == '\r') --last;
      if (end == source_.size() || last == from || source_[last - 1] != '\\') return end;
      from = end + 1;
    }
  }

  void step() {
    const char c = peek();
    if (c == '\n') begins_line_ = true;
    if (is_code_space(c)) {
      advance_to(at_ + 1);
    } else if (sees("//")) {
      advance_to(end_of_line(at_));
    } else if (sees("/*")) {
      advance_to(behind("*/", at_ + 2));
    } else if (sees("\\\n")) {
      advance_to(at_ + 2);
    } else if ((c == '#' || sees("%:")) && begins_line_) {
      read_directive();
    } else {
      begins_line_ = false;
      add(token_length());
    }
  }

  /// The length of the token at at_, whose kind is set.
  std::size_t token_length() {
    const char c = peek();
    kind_ = CodeToken::Kind::sign;
    if (is_code_letter(c)) {
      std::size_t length = 1;
      while (is_code_letter(peek(length)) || is_code_digit(peek(length))) ++length;
      const auto word = source_.substr(at_, length);
      const bool is_prefix = word == "L" || word == "u" || word == "U" || word == "u8";
      if (peek(length) == '"' && word.ends_with('R') && word.size() <= 3) {
        return raw_literal_length(length);
      }
      if (is_prefix && (peek(length) == '"' || peek(length) == '\'')) {
        return literal_length(length);
      }
      kind_ = CodeToken::Kind::word;
      return length;
    }
    if (is_code_digit(c) || (c == '.' && is_code_digit(peek(1)))) return number_length();
    if (c == '"' || c == '\'') return literal_length(0);
    for (const auto& [digraph, sign] : kOtherSigns) {
      // "<::" is "<" and "::", unless it goes on as "<:::" or "<::>".
      const bool is_scope = sees("<::") && peek(3) != ':' && peek(3) != '>';
      if (digraph.size() == 2 && !is_code_letter(digraph[0]) && sees(digraph) && !is_scope) {
        return digraph.size();
      }
    }
    for (const auto sign : kLongSigns) {
      if (sees(sign)) return sign.size();
    }
    return 1;
  }

  std::size_t number_length() {
    kind_ = CodeToken::Kind::number;
    std::size_t length = 1;
    while (true) {
      const char c = peek(length);
      const char last = peek(length - 1);
      const bool is_exponent = (c == '+' || c == '-') && (last == 'e' || last == 'E');
      const bool is_hex = source_.substr(at_, 2) == "0x" || source_.substr(at_, 2) == "0X";
      const bool separates = c == '\'' && is_code_digit(peek(length + 1));
      if (!is_code_letter(c) && !is_code_digit(c) && c != '.' && !separates &&
          (!is_exponent || is_hex)) {
        return length;
      }
      ++length;
    }
  }

  std::size_t literal_length(std::size_t prefix) {
    kind_ = CodeToken::Kind::text;
    const char quote = peek(prefix);
    std::size_t length = prefix + 1;
    while (at_ + length < source_.size() && peek(length) != quote && peek(length) != '\n') {
      length += peek(length) == '\\' ? 2 : 1;
    }
    return length + (peek(length) == quote ? 1 : 0);
  }

  std::size_t raw_literal_length(std::size_t prefix) {
    kind_ = CodeToken::Kind::text;
    const auto open = source_.find('(', at_ + prefix);
    constexpr std::size_t kLongestDelimiter = 16;
    if (open == std::string_view::npos || open > at_ + prefix + 1 + kLongestDelimiter) {
      return literal_length(prefix);
    }
    std::string close(")");
    close += source_.substr(at_ + prefix + 1, open - at_ - prefix - 1);
    close += '"';
    return behind(close, open) - at_;
  }

  void add(std::size_t length) {
    length = std::min(length, source_.size() - at_);
    auto& tokens = directive_ == nullptr ? result_.tokens : directive_->tokens;
    CodeToken token{kind_, source_.substr(at_, length), at_, line_, is_alternative(), length};
    const auto* const sign =
        std::find_if(kOtherSigns.begin(), kOtherSigns.end(), [&](const auto& each) {
          return kind_ != CodeToken::Kind::text && each.first == token.text;
        });
    if (sign != kOtherSigns.end()) {
      token.kind = CodeToken::Kind::sign;
      token.text = sign->second;
    }
    tokens.push_back(token);
    advance_to(at_ + length);
  }

  [[nodiscard]] bool is_alternative() const {
    return std::find(branches_.begin(), branches_.end(), true) != branches_.end();
  }

  void read_directive() {
    CodeDirective directive;
    directive.offset = at_;
    directive.line = line_;
    const auto end = end_of_line(at_);
    advance_to(at_ + (peek() == '#' ? 1 : 2));
    while (at_ < end && (peek() == ' ' || peek() == '\t')) advance_to(at_ + 1);
    const auto begin = at_;
    while (at_ < end && is_code_letter(peek())) advance_to(at_ + 1);
    directive.name = source_.substr(begin, at_ - begin);
    directive_ = &directive;
    while (at_ < end) {
      if (is_code_space(peek()) || peek() == '\\') {
        advance_to(at_ + 1);
      } else if (sees("//")) {
        advance_to(end);
      } else if (sees("/*")) {
        // A comment that goes on below belongs to the directive's line.
        advance_to(behind("*/", at_ + 2));
      } else {
        add(token_length());
      }
    }
    directive_ = nullptr;
    if (!directive.tokens.empty()) {
      const auto& first = directive.tokens.front();
      const auto next = first.offset + first.text.size();
      directive.has_parameters = next < source_.size() && source_[next] == '(';
    }
    follow_branches(directive);
    result_.directives.push_back(std::move(directive));
  }

  /// Of each group of branches the first is the text, unless it is `#if 0`.
  void follow_branches(const CodeDirective& directive) {
    if (directive.name.starts_with("if")) {
      branches_.push_back(directive.name == "if" && directive.tokens.size() == 1 &&
                          directive.tokens.front().is("0"));
    } else if (branches_.empty()) {
      return;
    } else if (directive.name.starts_with("el")) {
      // What follows `#if 0` is the text.
      const bool was_off = branches_.back() && !is_second_.contains(branches_.size());
      branches_.back() = !was_off;
      is_second_.insert(branches_.size());
    } else if (directive.name == "endif") {
      is_second_.erase(branches_.size());
      branches_.pop_back();
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true;
  CodeToken::Kind kind_ = CodeToken::Kind::sign;
  CodeDirective* directive_ = nullptr;  ///< the one that is being read
  std::vector<bool> branches_;          ///< of open conditionals: whether that branch is left out
  std::set<std::size_t> is_second_;     ///< depths at which a branch other than the first is open
  CodeText result_;
};

}  // namespace

CodeText read_code(std::string_view source) {
  return CodeReader(source).run();
}

std::size_t closing_bracket(const std::vector<CodeToken>& tokens, std::size_t open,
                            std::size_t end) {
  constexpr std::string_view kOpening = "([{";
  constexpr std::string_view kClosing = ")]}";
  std::size_t depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    const CodeToken& token = tokens[i];
    if (token.kind != CodeToken::Kind::sign || token.text.size() != 1) continue;
    if (token.is_alternative && !tokens[open].is_alternative) continue;
    if (kOpening.find(token.text[0]) != std::string_view::npos) ++depth;
    if (kClosing.find(token.text[0]) == std::string_view::npos) continue;
    if (depth <= 1) return i;
    --depth;
  }
  return end;
}

std::size_t closing_angle_bracket(const std::vector<CodeToken>& tokens, std::size_t open,
                                  std::size_t end) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    const CodeToken& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("{")) {
      i = closing_bracket(tokens, i, end);
      if (i == end) return end;
    } else if (token.is("<")) {
      ++depth;
    } else if (token.is(">") || token.is(">>") || token.is(">>>")) {
      if (depth <= token.text.size()) return i;
      depth -= token.text.size();
    } else if (token.is(";") || token.is("&&") || token.is("||") || token.is(")")) {
      return end;
    }
  }
  return end;
}

std::string joined_text(const std::vector<CodeToken>& tokens, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    const CodeToken& token = tokens[i];
    const bool is_tight = token.is(")") || token.is(",") || token.is("(") || token.is("::") ||
                          token.is("[") || token.is("]") || token.is(">") || token.is("<") ||
                          token.is(".");
    const bool after_tight = text.empty() || text.back() == '(' || text.back() == ':' ||
                             text.back() == '[' || text.back() == '<' || text.back() == '.';
    const bool opens_group = token.is("(") && i > begin && !tokens[i - 1].is_word();
    if (!after_tight && (!is_tight || opens_group)) text += ' ';
    text += token.text;
  }
  return text;
}

}  // namespace kiln::tools
