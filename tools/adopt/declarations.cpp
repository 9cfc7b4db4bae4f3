// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which names a piece of C++ declares, by the shape of its statements.
#include <algorithm>
#include <array>

#include "tools/adopt/source.hpp"

namespace kiln::tools {
namespace {

constexpr std::array<std::string_view, 81> kCppKeywords{
    "alignas",     "alignof",      "asm",       "auto",
    "bool",        "break",        "case",      "catch",
    "char",        "class",        "const",     "const_cast",
    "constexpr",   "continue",     "decltype",  "default",
    "delete",      "do",           "double",    "else",
    "enum",        "explicit",     "extern",    "false",
    "float",       "for",          "friend",    "goto",
    "if",          "inline",       "int",       "long",
    "mutable",     "namespace",    "new",       "noexcept",
    "nullptr",     "operator",     "private",   "protected",
    "public",      "register",     "return",    "short",
    "signed",      "sizeof",       "static",    "static_assert",
    "static_cast", "struct",       "switch",    "template",
    "this",        "throw",        "true",      "try",
    "typedef",     "typeid",       "typename",  "union",
    "unsigned",    "using",        "virtual",   "void",
    "volatile",    "while",        "char16_t",  "char32_t",
    "char8_t",     "co_await",     "co_return", "co_yield",
    "concept",     "consteval",    "constinit", "export",
    "requires",    "thread_local", "wchar_t",   "reinterpret_cast",
    "dynamic_cast"};

/// After these a word is used, not declared.
constexpr std::array<std::string_view, 10> kBeforeUse{
    "return", "else", "case", "goto", "new", "delete", "throw", "sizeof", "do", "operator"};

constexpr std::array<std::string_view, 16> kSpecifiers{
    "const",      "static",     "constexpr",    "volatile",    "typedef",  "typename",
    "extern",     "register",   "inline",       "mutable",     "unsigned", "signed",
    "__shared__", "__device__", "__constant__", "__restrict__"};

/// Words that take something in parentheses, and say nothing of what is declared.
constexpr std::array<std::string_view, 5> kWithArgument{"alignas", "__align__", "__attribute__",
                                                        "__launch_bounds__", "__declspec"};
/// Types that are those of an expression.
constexpr std::array<std::string_view, 4> kTypeOf{"decltype", "__typeof__", "typeof", "__typeof"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_qualifier(const CodeToken& token) {
  return token.is("const") || token.is("volatile") || token.is("__restrict__") ||
         token.is("__restrict") || token.is("restrict") || token.is("struct") ||
         token.is("typename") || token.is("__grid_constant__") || token.is("register");
}

bool is_type_word(std::string_view word) {
  constexpr std::array<std::string_view, 9> kWords{"int",  "char",     "short",  "long",  "float",
                                                   "bool", "unsigned", "signed", "double"};
  return is_among(kWords, word);
}

class NameCollector {
 public:
  NameCollector(const std::vector<CodeToken>& tokens, std::size_t begin, std::size_t end,
                std::set<std::string, std::less<>>& names)
      : tokens_(tokens), begin_(begin), end_(end), names_(names) {}

  void run() {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (begins_statement(i)) read_statement(i);
      read_neighbours(i);
    }
  }

 private:
  [[nodiscard]] bool is_sign(std::size_t i, std::string_view sign) const {
    return i >= begin_ && i < end_ && tokens_[i].is(sign);
  }
  [[nodiscard]] bool is_plain_word(std::size_t i) const {
    return i >= begin_ && i < end_ && tokens_[i].is_word() && !is_cpp_keyword(tokens_[i].text);
  }
  void declare(std::size_t i) { names_.emplace(tokens_[i].text); }

  [[nodiscard]] bool begins_statement(std::size_t i) const {
    if (i == begin_) return true;
    const CodeToken& before = tokens_[i - 1];
    if (before.is(";") || before.is("{") || before.is("}")) return true;
    if (before.is(":")) return is_behind_label(i - 1);
    return before.is("(") && i >= begin_ + 2 &&
           (tokens_[i - 2].is("for") || tokens_[i - 2].is("if") || tokens_[i - 2].is("while"));
  }

  /// `case 2:`, `default:`, `public:`, `again:`, but not `a ? b : c`.
  [[nodiscard]] bool is_behind_label(std::size_t colon) const {
    std::size_t first = colon;
    while (first > begin_ && (tokens_[first - 1].is_word() || tokens_[first - 1].is("::") ||
                              tokens_[first - 1].kind == CodeToken::Kind::number ||
                              tokens_[first - 1].kind == CodeToken::Kind::text)) {
      --first;
    }
    if (first == colon) return false;
    if (is_sign(first, "case")) return true;
    const bool begins = first == begin_ || tokens_[first - 1].is(";") ||
                        tokens_[first - 1].is("{") || tokens_[first - 1].is("}");
    return begins && first + 1 == colon;
  }

  /// Two words in a row are a type and what it declares; parts of a type are no variables either.
  void read_neighbours(std::size_t i) {
    if (is_sign(i, "enum")) read_enumerators(i);
    if (is_sign(i, "struct") || is_sign(i, "class") || is_sign(i, "union")) read_class_name(i + 1);
    if (is_class_key(i)) read_behind_class(i);
    if (is_sign(i, "auto")) read_binding(i + 1);
    if (is_sign(i, "(") && i > begin_ && may_name_function(i - 1)) read_parameter_list(i);
    if (!is_plain_word(i)) return;
    const bool has_before = i > begin_;
    // `static texture<float> t` declares t.
    const bool is_type =
        is_sign(i + 1, "<") && has_before && is_among(kSpecifiers, tokens_[i - 1].text);
    const bool is_behind_word = has_before && tokens_[i - 1].is_word() && !is_type &&
                                !is_among(kBeforeUse, tokens_[i - 1].text);
    const bool is_before_word = i + 1 < end_ && tokens_[i + 1].is_word();
    const bool is_label = is_sign(i - 1, "goto") || (begins_statement(i) && is_sign(i + 1, ":"));
    if (is_behind_word || is_before_word || is_label || is_used_as_object(i)) declare(i);
  }

  /// What is assigned to, or has an address, a size, elements or members, is no number, wherever it
  /// is declared. So are `float (*f)(float)`, `[cap = x]` and `typename... Ts`.
  [[nodiscard]] bool is_used_as_object(std::size_t i) const {
    constexpr std::array<std::string_view, 16> kBehind{"=",  "+=", "-=", "*=",  "/=",  "%=",
                                                       "&=", "|=", "^=", "<<=", ">>=", "++",
                                                       "--", ".",  "->", "["};
    if (i + 1 < end_ && is_among(kBehind, tokens_[i + 1].text)) return true;
    if (i == begin_) return false;
    const bool is_measured =
        is_sign(i - 1, "(") && (is_sign(i - 2, "sizeof") || is_sign(i - 2, "alignof"));
    if (is_measured) return true;
    if (is_sign(i - 1, "++") || is_sign(i - 1, "--") || is_sign(i - 1, "...")) return true;
    std::size_t first = i;
    while (is_sign(first - 1, "*") || is_sign(first - 1, "&") || is_sign(first - 1, "&&") ||
           is_sign(first - 1, "const") || is_sign(first - 1, "__restrict__")) {
      --first;
    }
    if (first == i) return false;
    // A sign that no operand ends before: the ones behind it have one operand.
    return is_sign(first - 1, "(") || is_sign(first - 1, ",") || is_sign(first - 1, "=") ||
           is_sign(first - 1, "::") || is_sign(first - 1, "{") || is_sign(first - 1, "[");
  }

  [[nodiscard]] bool is_class_key(std::size_t i) const {
    return is_sign(i, "struct") || is_sign(i, "class") || is_sign(i, "union") || is_sign(i, "enum");
  }

  /// `struct { float x; } a, b = {1};`
  void read_behind_class(std::size_t i) {
    constexpr std::size_t kMostTokens = 16;  // of what is before the brace
    for (const auto first = i; i < end_ && !tokens_[i].is("{");) {
      if (i > first + kMostTokens) return;
      const bool ends = tokens_[i].is(";") || tokens_[i].is(")") || tokens_[i].is(">") ||
                        tokens_[i].is(",") || tokens_[i].is("=");
      if (ends) return;
      i = is_sign(i, "(") ? closing_bracket(tokens_, i, end_) + 1 : i + 1;
    }
    if (i < end_) read_declarators(closing_bracket(tokens_, i, end_) + 1);
  }

  /// `struct alignas(16) Vector {`.
  void read_class_name(std::size_t i) {
    while (i < end_ && (tokens_[i].is("alignas") || tokens_[i].text.starts_with("__"))) {
      i = is_sign(i + 1, "(") ? closing_bracket(tokens_, i + 1, end_) + 1 : i + 1;
    }
    if (is_plain_word(i)) declare(i);
  }

  void read_enumerators(std::size_t i) {
    while (i < end_ && !tokens_[i].is("{") && !tokens_[i].is(";")) ++i;
    if (!is_sign(i, "{")) return;
    const auto close = closing_bracket(tokens_, i, end_);
    for (++i; i < close; ++i) {
      if (is_plain_word(i)) declare(i);
    }
  }

  /// Whether what ends at `last` may come before parameters: a name, perhaps with template
  /// arguments, `operator+=`, or a lambda's brackets.
  [[nodiscard]] bool may_name_function(std::size_t last) const {
    if (is_sign(last, "]") || is_sign(last, ">") || is_plain_word(last)) return true;
    constexpr std::size_t kLongest = 2;  // `operator()`, `operator[]`
    for (std::size_t i = last; i > begin_ && i + kLongest > last; --i) {
      if (tokens_[i - 1].is("operator")) return true;
    }
    return false;
  }

  /// Of a function or a lambda; of a call nothing looks like a parameter.
  void read_parameter_list(std::size_t open) {
    const auto close = closing_bracket(tokens_, open, end_);
    if (close == end_) return;
    // A constructor's members follow a colon.
    constexpr std::array<std::string_view, 10> kBehind{
        "{",       "->",       "const", "noexcept", ":",
        "mutable", "override", "final", "requires", "constexpr"};
    const bool defines = close + 1 < end_ && is_among(kBehind, tokens_[close + 1].text);
    if (!defines && !(is_sign(close + 1, ";") && is_device_declaration(open))) return;
    for (const auto& parameter : read_parameters(tokens_, open + 1, close)) {
      const bool is_typed = !parameter.type.empty() && !parameter.name.empty();
      if (!is_typed) continue;
      names_.insert(parameter.name);
      names_.insert(parameter.type);  // of a header, perhaps
    }
  }

  /// `__device__ void add(float2 &a, float2 b);`
  [[nodiscard]] bool is_device_declaration(std::size_t open) const {
    for (std::size_t i = open; i-- > begin_;) {
      const CodeToken& token = tokens_[i];
      if (token.is(";") || token.is("{") || token.is("}") || token.is(")")) return false;
      if (token.is("__device__") || token.is("__global__")) return true;
    }
    return false;
  }

  /// `const cub::BlockReduce<float, 128>* a = ..., b[4];`
  void read_statement(std::size_t i) {
    i = behind_specifiers(i);
    if (i >= end_ || !tokens_[i].is_word()) return;
    std::size_t at = i + 1;
    const bool is_typeof = is_among(kTypeOf, tokens_[i].text) && is_sign(at, "(");
    if (is_typeof) at = closing_bracket(tokens_, at, end_) + 1;
    at = behind_qualified(at);
    if (is_sign(at, "<")) {
      const auto close = closing_angle_bracket(tokens_, at, end_);
      if (close == end_) return;
      at = behind_qualified(close + 1);
    }
    const std::size_t type_end = at;
    const bool is_one_word = at == i + 1 && is_plain_word(i);
    at = behind_pointers(at);
    const bool is_type = is_typeof || at > i + 1 || is_type_word(tokens_[i].text);
    const bool is_group = is_sign(at, "(") && (is_sign(at + 1, "*") || is_sign(at + 1, "&"));
    if (!is_type && !is_group && !(at < end_ && tokens_[at].is_word())) return;
    const bool is_name = is_plain_word(at) && ends_declarator(at + 1);
    if (is_name && is_one_word) declare(i);  // a type, perhaps of a header
    if (is_name || is_group) read_declarators(type_end);
  }

  /// `static`, `[[maybe_unused]]`, `alignas(16)`.
  [[nodiscard]] std::size_t behind_specifiers(std::size_t i) const {
    while (i < end_) {
      if (is_sign(i, "[") && is_sign(i + 1, "[")) {
        i = closing_bracket(tokens_, i, end_) + 1;
      } else if (is_among(kWithArgument, tokens_[i].text) && is_sign(i + 1, "(")) {
        i = closing_bracket(tokens_, i + 1, end_) + 1;
      } else if (tokens_[i].is_word() && is_among(kSpecifiers, tokens_[i].text)) {
        ++i;
      } else {
        break;
      }
    }
    return i;
  }

  [[nodiscard]] std::size_t behind_qualified(std::size_t at) const {
    while (is_sign(at, "::") && at + 1 < end_ && tokens_[at + 1].is_word()) at += 2;
    return at;
  }

  [[nodiscard]] std::size_t behind_pointers(std::size_t at) const {
    while (at < end_ && (tokens_[at].is("*") || tokens_[at].is("&") || tokens_[at].is("&&") ||
                         tokens_[at].is("const") || tokens_[at].is("__restrict__"))) {
      ++at;
    }
    return at;
  }

  [[nodiscard]] bool ends_declarator(std::size_t at) const {
    constexpr std::array<std::string_view, 8> kEnds{"=", ";", ",", "[", "(", "{", ":", ")"};
    return at < end_ && is_among(kEnds, tokens_[at].text);
  }

  /// `auto& [x, y] = ...`, behind the auto.
  void read_binding(std::size_t at) {
    at = behind_pointers(at);
    if (!is_sign(at, "[")) return;
    const auto close = closing_bracket(tokens_, at, end_);
    for (std::size_t i = at + 1; i < close; ++i) {
      if (is_plain_word(i)) declare(i);
    }
  }

  /// `*a = 1, b[4]` up to the end of the declaration; `(*c)[4]` is seen by its star.
  void read_declarators(std::size_t at) {
    constexpr int kMostDeclarators = 64;
    bool begins = true;
    int count = 0;
    while (at < end_ && count < kMostDeclarators && !tokens_[at].is(";") && !tokens_[at].is(")") &&
           !tokens_[at].is("}")) {
      if (begins) {
        at = behind_specifiers(behind_pointers(at));
        if (is_plain_word(at)) declare(at);
        begins = false;
        ++count;
      } else if (tokens_[at].is("(") || tokens_[at].is("[") || tokens_[at].is("{")) {
        at = closing_bracket(tokens_, at, end_) + 1;
      } else {
        begins = tokens_[at].is(",");
        ++at;
      }
    }
  }

  const std::vector<CodeToken>& tokens_;
  std::size_t begin_;
  std::size_t end_;
  std::set<std::string, std::less<>>& names_;
};

void set_row(SourceParameter& parameter, const std::string& extent) {
  const bool is_plain = extent.find(' ') == std::string::npos;
  parameter.shape = SourceParameter::Shape::array_pointer;
  parameter.row += parameter.row.empty() ? "" : " * ";
  parameter.row += is_plain ? extent : "(" + extent + ")";
}

/// `(*x)`, `(&x)`, `(*)` behind a type.
bool is_declarator_group(const std::vector<CodeToken>& tokens, std::size_t open, std::size_t end) {
  return open + 1 < end && tokens[open].is("(") &&
         (tokens[open + 1].is("*") || tokens[open + 1].is("&") || tokens[open + 1].is("&&"));
}

/// `(*x)[4]`, `(*f)(float)`: gives back the last token of it.
std::size_t read_declarator_group(const std::vector<CodeToken>& tokens, std::size_t open,
                                  std::size_t end, SourceParameter& parameter) {
  const auto close = closing_bracket(tokens, open, end);
  for (std::size_t i = open; i < close; ++i) {
    if (tokens[i].is("*") || tokens[i].is("[")) ++parameter.pointers;
    parameter.is_reference = parameter.is_reference || tokens[i].is("&") || tokens[i].is("&&");
    if (tokens[i].is_word() && !is_qualifier(tokens[i]) && !tokens[i].is("const")) {
      parameter.name = tokens[i].text;
    }
  }
  std::size_t last = std::min(close, end - 1);
  while (last + 1 < end && (tokens[last + 1].is("[") || tokens[last + 1].is("("))) {
    const auto behind = std::min(closing_bracket(tokens, last + 1, end), end - 1);
    if (tokens[last + 1].is("(")) {
      parameter.shape = SourceParameter::Shape::function;
    } else if (parameter.shape != SourceParameter::Shape::function) {
      set_row(parameter, joined_text(tokens, last + 2, behind));
    }
    last = behind;
  }
  return last;
}

/// One parameter, without its default.
SourceParameter read_parameter(const std::vector<CodeToken>& tokens, std::size_t begin,
                               std::size_t end) {
  SourceParameter parameter;
  if (begin < end) parameter.line = tokens[begin].line;
  std::vector<CodeToken> of_type;
  int arrays = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const CodeToken& token = tokens[i];
    if (token.is("=")) break;
    if (token.is("[")) {
      const auto close = closing_bracket(tokens, i, end);
      // An attribute is no array.
      if (close < end && !(i + 1 < end && tokens[i + 1].is("["))) {
        ++parameter.pointers;
        if (++arrays > 1) set_row(parameter, joined_text(tokens, i + 1, close));
      }
      i = close;
    } else if (is_declarator_group(tokens, i, end)) {
      i = read_declarator_group(tokens, i, end, parameter);
    } else if (token.is("const")) {
      parameter.is_const = parameter.is_const || parameter.pointers == 0;
    } else if (token.is("*")) {
      ++parameter.pointers;
    } else if (token.is("&") || token.is("&&")) {
      parameter.is_reference = true;
    } else if (is_qualifier(token)) {
      continue;
    } else if (token.is_word() && (parameter.pointers > 0 || parameter.is_reference)) {
      parameter.name = token.text;  // of several, the last: the others are macros
    } else if (token.is("<")) {
      const auto close = std::min(closing_angle_bracket(tokens, i, end), end - 1);
      of_type.insert(of_type.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                     tokens.begin() + static_cast<std::ptrdiff_t>(close + 1));
      i = close;
    } else {
      of_type.push_back(token);
    }
  }
  // Without a pointer in between, the name is the last word, if others come before it.
  if (parameter.name.empty() && of_type.size() > 1 && of_type.back().is_word() &&
      !is_type_word(of_type.back().text) && !of_type[of_type.size() - 2].is("::")) {
    parameter.name = of_type.back().text;
    of_type.pop_back();
  }
  parameter.type = joined_text(of_type, 0, of_type.size());
  return parameter;
}

}  // namespace

bool is_cpp_keyword(std::string_view word) {
  return is_among(kCppKeywords, word);
}

std::vector<SourceParameter> read_parameters(const std::vector<CodeToken>& tokens,
                                             std::size_t begin, std::size_t end) {
  std::vector<SourceParameter> parameters;
  const bool is_void = end == begin + 1 && tokens[begin].is("void");
  if (begin >= end || is_void) return parameters;
  std::size_t first = begin;
  for (std::size_t i = begin; i <= end; ++i) {
    if (i < end && (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))) {
      i = closing_bracket(tokens, i, end);
      if (i < end) continue;
    } else if (i < end && tokens[i].is("<")) {
      const auto close = closing_angle_bracket(tokens, i, end);
      if (close < end) i = close;
      continue;
    }
    if (i < end && !tokens[i].is(",")) continue;
    parameters.push_back(read_parameter(tokens, first, i));
    first = i + 1;
  }
  return parameters;
}

void resolve_declarator(SourceParameter& parameter, const SourceModel& model) {
  constexpr int kMostHops = 8;
  for (int i = 0; i < kMostHops; ++i) {
    const auto alias = model.declarator_aliases.find(parameter.type);
    if (alias == model.declarator_aliases.end()) return;
    const SourceParameter& meant = alias->second;
    // `const pointer_t x` is a pointer that does not change.
    parameter.is_const = meant.is_const || (meant.pointers == 0 && parameter.is_const);
    parameter.is_reference = parameter.is_reference || meant.is_reference;
    parameter.pointers += meant.pointers;
    parameter.type = meant.type;
    if (meant.shape == SourceParameter::Shape::plain) continue;
    parameter.shape = meant.shape;
    parameter.row = meant.row;
  }
}

void collect_declared_names(const std::vector<CodeToken>& tokens, std::size_t begin,
                            std::size_t end, std::set<std::string, std::less<>>& names) {
  NameCollector(tokens, begin, end, names).run();
}

}  // namespace kiln::tools
