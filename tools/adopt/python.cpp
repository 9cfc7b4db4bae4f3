// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The parser of the small part of Python that tuners' files are written in.
#include "tools/adopt/python.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kiln/error.hpp"

namespace kiln::tools {
namespace {

using NodeKind = PythonNode::Kind;

constexpr std::size_t kMostPythonText = 65'536;
constexpr int kMostPythonNesting = 100;

bool is_python_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_python_digit(char c) {
  return c >= '0' && c <= '9';
}

struct PythonToken {
  enum class Kind : std::uint8_t { integer, real, text, name, sign, end };
  Kind kind = Kind::end;
  std::string text;
  std::size_t offset = 0;
  bool is(std::string_view other) const {
    return (kind == Kind::sign || kind == Kind::name) && text == other;
  }
};

class PythonLexer {
 public:
  PythonLexer(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  std::vector<PythonToken> run() {
    if (text_.size() > kMostPythonText) {
      fail_python(place_, 0,
                  fmt::format("the expression is longer than {} characters", kMostPythonText));
    }
    while (true) {
      while (at_ < text_.size() &&
             std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      }
      PythonToken token;
      token.offset = at_;
      if (at_ < text_.size()) read(token);
      tokens_.push_back(std::move(token));
      if (tokens_.back().kind == PythonToken::Kind::end) return std::move(tokens_);
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void read(PythonToken& token) {
    const char c = peek();
    if (is_python_letter(c)) {
      token.kind = PythonToken::Kind::name;
      take_while(token, [](char each) { return is_python_letter(each) || is_python_digit(each); });
    } else if (is_python_digit(c) || (c == '.' && is_python_digit(peek(1)))) {
      read_number(token);
    } else if (c == '"' || c == '\'') {
      read_text(token);
    } else {
      constexpr std::array<std::string_view, 26> kSigns{
          "**", "//", "<=", ">=", "==", "!=", "<<", ">>", "+", "-", "*", "/", "%",
          "<",  ">",  "(",  ")",  "[",  "]",  ",",  ".",  "&", "|", "^", "=", ":"};
      const auto* const sign = std::find_if(
          kSigns.begin(), kSigns.end(),
          [&](std::string_view each) { return text_.substr(at_, each.size()) == each; });
      if (sign == kSigns.end()) {
        fail_python(place_, at_, fmt::format("unexpected character \"{}\"", text_.substr(at_, 1)));
      }
      token.kind = PythonToken::Kind::sign;
      token.text = *sign;
      at_ += sign->size();
    }
  }

  template <class Test>
  void take_while(PythonToken& token, Test test) {
    while (at_ < text_.size() && test(text_[at_])) token.text += text_[at_++];
  }

  void read_number(PythonToken& token) {
    token.kind = PythonToken::Kind::integer;
    const char base = peek(1);
    if (peek() == '0' && base != '\0' &&
        std::string_view("xXoObB").find(base) != std::string_view::npos) {
      take_while(token, [](char each) { return is_python_letter(each) || is_python_digit(each); });
      std::erase(token.text, '_');
      return;
    }
    while (true) {
      const char c = peek();
      const bool is_exponent = (c == 'e' || c == 'E') &&
                               (is_python_digit(peek(1)) ||
                                ((peek(1) == '+' || peek(1) == '-') && is_python_digit(peek(2))));
      if (c == '.' || is_exponent) token.kind = PythonToken::Kind::real;
      if (!is_python_digit(c) && c != '.' && c != '_' && !is_exponent) break;
      token.text += c;
      ++at_;
      if (is_exponent && !is_python_digit(peek())) token.text += text_[at_++];
    }
    std::erase(token.text, '_');
    if (is_python_letter(peek())) fail_python(place_, at_, "a number is followed by a letter");
  }

  void read_text(PythonToken& token) {
    token.kind = PythonToken::Kind::text;
    const char quote = peek();
    for (++at_; at_ < text_.size() && peek() != quote; ++at_) {
      if (peek() == '\\') {
        fail_python(place_, at_, "adopt does not read escapes (\\) in strings");
      }
      token.text += peek();
    }
    if (at_ >= text_.size()) fail_python(place_, token.offset, "this string is not closed");
    ++at_;
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t at_ = 0;
  std::vector<PythonToken> tokens_;
};

class PythonParser {
 public:
  PythonParser(std::string_view text, const std::string& place)
      : place_(place), tokens_(PythonLexer(text, place).run()) {}

  PythonNode run() {
    PythonNode node = expression();
    if (sees(",")) {
      // `1, 2` is a tuple.
      PythonNode tuple = made(NodeKind::list, node.offset);
      tuple.parts.push_back(std::move(node));
      while (take(",") && !at_end()) tuple.parts.push_back(expression());
      node = std::move(tuple);
    }
    if (!at_end()) fail(fmt::format("unexpected \"{}\"", now().text));
    return node;
  }

 private:
  [[nodiscard]] const PythonToken& now() const { return tokens_[at_]; }
  [[nodiscard]] bool at_end() const { return now().kind == PythonToken::Kind::end; }
  [[nodiscard]] bool sees(std::string_view text) const { return now().is(text); }
  bool take(std::string_view text) {
    const bool is_there = sees(text);
    if (is_there) ++at_;
    return is_there;
  }
  void expect(std::string_view text) {
    if (take(text)) return;
    fail(at_end() ? fmt::format("a \"{}\" is missing at the end", text)
                  : fmt::format("expected \"{}\", but found \"{}\"", text, now().text));
  }
  [[noreturn]] void fail(const std::string& what) const { fail_python(place_, now().offset, what); }
  static PythonNode made(NodeKind kind, std::size_t offset, std::string text = "") {
    PythonNode node;
    node.kind = kind;
    node.offset = offset;
    node.text = std::move(text);
    return node;
  }

  /// Counts how deep expressions are within each other.
  class Nesting {
   public:
    explicit Nesting(PythonParser& parser) : depth_(parser.depth_) {
      if (++depth_ > kMostPythonNesting) parser.fail("the expression is nested too deeply");
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& depth_;
  };

  PythonNode expression() {
    const Nesting nesting(*this);
    if (sees("lambda")) {
      fail("adopt does not read lambda expressions: write the expression without \"lambda ...:\"");
    }
    PythonNode value = disjunction();
    if (!take("if")) return value;
    PythonNode node = made(NodeKind::choice, value.offset);
    node.parts.push_back(std::move(value));
    node.parts.push_back(disjunction());
    expect("else");
    node.parts.push_back(expression());
    return node;
  }

  PythonNode disjunction() {
    return joined(NodeKind::either, "or",
                  [this] { return joined(NodeKind::both, "and", [this] { return negation(); }); });
  }

  template <class Part>
  PythonNode joined(NodeKind kind, std::string_view word, Part part) {
    PythonNode first = part();
    if (!sees(word)) return first;
    PythonNode node = made(kind, first.offset);
    node.parts.push_back(std::move(first));
    while (take(word)) node.parts.push_back(part());
    return node;
  }

  PythonNode negation() {
    const Nesting nesting(*this);
    if (!sees("not")) return comparison();
    PythonNode node = made(NodeKind::negation, now().offset);
    ++at_;
    node.parts.push_back(negation());
    return node;
  }

  PythonNode comparison() {
    PythonNode first = binary(0);
    PythonNode node = made(NodeKind::comparison, first.offset);
    while (true) {
      std::string sign;
      for (const std::string_view each : {"<", "<=", ">", ">=", "==", "!=", "in"}) {
        if (sees(each)) sign = each;
      }
      if (sees("not") && tokens_[at_ + 1].is("in")) {
        ++at_;
        sign = "not in";
      }
      if (sign.empty()) break;
      ++at_;
      if (node.parts.empty()) node.parts.push_back(std::move(first));
      node.signs.push_back(std::move(sign));
      node.parts.push_back(binary(0));
    }
    return node.parts.empty() ? first : node;
  }

  PythonNode binary(std::size_t level) {
    static const std::array<std::vector<std::string_view>, 6> kLevels{
        {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%"}}};
    if (level == kLevels.size()) return factor();
    PythonNode left = binary(level + 1);
    while (true) {
      const auto& signs = kLevels[level];
      const bool is_there = std::any_of(signs.begin(), signs.end(),
                                        [&](std::string_view each) { return sees(each); });
      if (!is_there) return left;
      PythonNode node = made(NodeKind::binary, now().offset, now().text);
      ++at_;
      node.parts.push_back(std::move(left));
      node.parts.push_back(binary(level + 1));
      left = std::move(node);
    }
  }

  PythonNode factor() {
    const Nesting nesting(*this);
    if (sees("-") || sees("+")) {
      PythonNode node = made(NodeKind::sign, now().offset, now().text);
      ++at_;
      node.parts.push_back(factor());
      return node;
    }
    PythonNode base = postfix();
    if (!sees("**")) return base;
    PythonNode node = made(NodeKind::binary, now().offset, "**");
    ++at_;
    node.parts.push_back(std::move(base));
    node.parts.push_back(factor());
    return node;
  }

  PythonNode postfix() {
    PythonNode node = atom();
    while (true) {
      if (sees(".") && node.kind == NodeKind::name) {
        ++at_;
        if (now().kind != PythonToken::Kind::name) fail("expected a name behind \".\"");
        node.text += "." + now().text;
        ++at_;
      } else if (sees("(") && node.kind == NodeKind::name) {
        PythonNode call = made(NodeKind::call, node.offset, node.text);
        ++at_;
        read_parts(call, ")");
        node = std::move(call);
      } else if (sees("[")) {
        PythonNode element = made(NodeKind::element, node.offset);
        ++at_;
        element.parts.push_back(std::move(node));
        element.parts.push_back(expression());
        if (sees(":")) fail("adopt does not read slices: write the list itself");
        expect("]");
        node = std::move(element);
      } else {
        return node;
      }
    }
  }

  PythonNode atom() {
    const PythonToken token = now();
    constexpr std::array<std::string_view, 10> kWords{"and", "or",  "not",    "in",   "if",
                                                      "is",  "for", "lambda", "else", "None"};
    const bool is_keyword = token.kind == PythonToken::Kind::name &&
                            std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
    if (is_keyword) fail(fmt::format("expected a value, but found \"{}\"", token.text));
    ++at_;
    switch (token.kind) {
      case PythonToken::Kind::integer:
        return made(NodeKind::integer, token.offset, token.text);
      case PythonToken::Kind::real:
        return made(NodeKind::real, token.offset, token.text);
      case PythonToken::Kind::text:
        return made(NodeKind::text, token.offset, token.text);
      case PythonToken::Kind::name: {
        const bool is_truth = token.text == "True" || token.text == "False";
        return made(is_truth ? NodeKind::truth : NodeKind::name, token.offset, token.text);
      }
      case PythonToken::Kind::sign:
        if (token.text == "[" || token.text == "(") return group(token);
        break;
      case PythonToken::Kind::end:
        break;
    }
    --at_;
    fail(at_end() ? "the expression ends where a value is expected"
                  : fmt::format("expected a value, but found \"{}\"", token.text));
  }

  /// `[1, 2]`, `[x for x in y]`, `(1 + 2)`, `(1, 2)`, `()`.
  PythonNode group(const PythonToken& open) {
    PythonNode list = made(NodeKind::list, open.offset);
    const bool is_list = open.text == "[";
    const bool has_comma = read_parts(list, is_list ? "]" : ")");
    const bool is_single = list.parts.size() == 1 && !has_comma;
    const bool is_comprehension =
        is_single && list.parts.front().kind == NodeKind::comprehension && is_bare_comprehension_;
    is_bare_comprehension_ = false;
    if (is_comprehension || (is_single && !is_list)) {
      PythonNode only = std::move(list.parts.front());
      return only;
    }
    return list;
  }

  /// Up to `close`; whether there is a comma among them.
  bool read_parts(PythonNode& node, std::string_view close) {
    bool has_comma = false;
    bool is_comprehension = false;
    while (!sees(close)) {
      if (now().kind == PythonToken::Kind::name && tokens_[at_ + 1].is("=")) {
        fail("adopt does not read keyword arguments");
      }
      PythonNode part = expression();
      if (sees("for")) {
        part = comprehension(std::move(part));
        is_comprehension = true;
      }
      node.parts.push_back(std::move(part));
      if (!sees(",")) break;
      ++at_;
      has_comma = true;
    }
    expect(close);
    is_bare_comprehension_ = is_comprehension;
    return has_comma;
  }

  PythonNode comprehension(PythonNode element) {
    PythonNode node = made(NodeKind::comprehension, element.offset);
    node.parts.push_back(std::move(element));
    while (sees("for") || sees("if")) {
      const bool is_loop = sees("for");
      PythonNode clause = made(is_loop ? NodeKind::loop : NodeKind::filter, now().offset);
      ++at_;
      if (is_loop) {
        if (now().kind != PythonToken::Kind::name) fail("expected a variable behind \"for\"");
        clause.text = now().text;
        ++at_;
        if (sees(",")) fail("adopt reads loops over one variable only");
        expect("in");
      }
      clause.parts.push_back(disjunction());
      node.parts.push_back(std::move(clause));
    }
    return node;
  }

  const std::string& place_;
  std::vector<PythonToken> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool is_bare_comprehension_ = false;  ///< the parts that were read last
};

}  // namespace

void fail_python(const std::string& place, std::size_t offset, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("{}, column {}: {}", place, offset + 1, what));
}

PythonNode parse_python(std::string_view text, const std::string& place) {
  return PythonParser(text, place).run();
}

}  // namespace kiln::tools
