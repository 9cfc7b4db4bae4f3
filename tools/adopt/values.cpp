// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a file gives names to: functions, types, variables, numbers.
#include <algorithm>
#include <array>
#include <utility>

#include "tools/adopt/source.hpp"

namespace kiln::tools {
namespace {

class ValueReader {
 public:
  explicit ValueReader(SourceModel& model) : model_(model), tokens_(model.code.tokens) {}

  void run() {
    read_scopes();
    for (const auto& [alias, text] : never_compiled_) add_alias(alias, text);
  }

 private:
  void read_scopes() {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].is(";")) {
        read_statement(begin, i);
        begin = i + 1;
      } else if (tokens_[i].is("}")) {
        begin = i + 1;
      } else if (tokens_[i].is("{") && opens_scope(begin, i)) {
        begin = i + 1;
      } else if (tokens_[i].is("{") || tokens_[i].is("(")) {
        const bool is_body = tokens_[i].is("{");
        i = closing_bracket(tokens_, i, tokens_.size());
        const bool goes_on = sees(i + 1, ";") || sees(i + 1, ",") || sees(i + 1, "{");
        if (!is_body || goes_on || sees(begin, "typedef")) continue;
        define(begin, std::min(i + 1, tokens_.size()));
        begin = i + 1;
      }
    }
  }

  [[nodiscard]] bool sees(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }

  /// `namespace a {`, `inline namespace b {`, `extern "C" {`.
  [[nodiscard]] bool opens_scope(std::size_t begin, std::size_t brace) const {
    return sees(begin, "namespace") || sees(begin + 1, "namespace") ||
           (sees(begin, "extern") && brace == begin + 2);
  }

  [[nodiscard]] bool has_word(std::size_t begin, std::size_t end, std::string_view word) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (tokens_[i].is(word)) return true;
    }
    return false;
  }

  /// By the name before parameters, or behind `struct`, or else by the last one before a value.
  void define(std::size_t begin, std::size_t end) {
    constexpr std::array<std::string_view, 5> kEnds{"=", "[", "{", ":", ";"};
    constexpr std::array<std::string_view, 3> kClasses{"struct", "class", "union"};
    const auto is_name = [&](std::size_t i) {
      return tokens_[i].is_word() && !tokens_[i].text.starts_with("__") &&
             !is_cpp_keyword(tokens_[i].text);
    };
    std::size_t name = end;
    bool is_class = false;
    for (std::size_t i = begin; i < end; ++i) {
      const CodeToken& token = tokens_[i];
      if (std::find(kEnds.begin(), kEnds.end(), token.text) != kEnds.end() && name < end) break;
      if (token.is("<")) {
        const auto close = closing_angle_bracket(tokens_, i, end);
        if (close < end) i = close;
      } else if (token.is("(")) {
        if (i > begin && name == i - 1) break;  // a function's
        i = closing_bracket(tokens_, i, end);
      } else if (is_name(i)) {
        name = i;
        if (is_class) break;
      } else {
        is_class = std::find(kClasses.begin(), kClasses.end(), token.text) != kClasses.end() ||
                   (is_class && token.is_word());
      }
    }
    if (name < end) model_.definitions.emplace(tokens_[name].text, std::pair(begin, end));
  }

  void read_statement(std::size_t begin, std::size_t end) {
    if (!sees(begin, "typedef")) define(begin, end);
    if (sees(begin, "using") && sees(begin + 2, "=")) {
      auto type = read_parameters(tokens_, begin + 3, end);
      if (type.empty()) return;
      type.front().name = tokens_[begin + 1].text;
      read_alias(begin, type.front(), joined_text(tokens_, begin + 3, end));
    } else if (sees(begin, "typedef")) {
      read_typedef(begin, end);
    } else if (sees(begin, "enum")) {
      read_enumerators(begin, end);
    } else if (!sees(begin, "template") && !has_word(begin, end, "__constant__") &&
               (has_word(begin, end, "const") || has_word(begin, end, "constexpr"))) {
      read_numbers(begin, end);
    }
  }

  /// `typedef float real, *pointer, (*function)(float);`
  void read_typedef(std::size_t begin, std::size_t end) {
    std::string type;
    for (auto& alias : read_parameters(tokens_, begin + 1, end)) {
      if (type.empty()) type = alias.type;
      alias.type = type;
      read_alias(begin, alias, type);
      model_.definitions.emplace(alias.name, std::pair(begin, end));
    }
  }

  /// Of two in branches the one that kernels are compiled with is meant.
  void read_alias(std::size_t begin, const SourceParameter& alias, const std::string& text) {
    if (model_.conditions.is_never(tokens_[begin].offset)) {
      never_compiled_.emplace_back(alias, text);
    } else {
      add_alias(alias, text);
    }
  }

  void add_alias(const SourceParameter& alias, const std::string& text) {
    if (alias.name.empty()) return;
    const bool is_plain = alias.pointers == 0 && !alias.is_const && !alias.is_reference &&
                          alias.shape == SourceParameter::Shape::plain;
    const bool is_known =
        model_.type_aliases.contains(alias.name) || model_.declarator_aliases.contains(alias.name);
    if (is_known) return;
    if (is_plain) {
      model_.type_aliases.emplace(alias.name, text);
    } else {
      model_.declarator_aliases.emplace(alias.name, alias);
    }
  }

  /// `enum { a = 16, b = 4 }`; those of an `enum class` have its name before theirs.
  void read_enumerators(std::size_t begin, std::size_t end) {
    if (sees(begin + 1, "class") || sees(begin + 1, "struct")) return;
    std::size_t open = begin;
    while (open < end && !tokens_[open].is("{")) ++open;
    if (open == end) return;
    const auto close = closing_bracket(tokens_, open, end);
    for (std::size_t i = open + 1; i < close; ++i) {
      if (sees(i + 1, "=")) add_number(i, i + 2, value_end(i + 2, close));
      i = value_end(i, close);
    }
  }

  /// `static constexpr int a = 16, b{4};`
  void read_numbers(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin + 1; i + 1 < end; ++i) {
      const bool has_type = tokens_[i - 1].is_word() || tokens_[i - 1].is(",");
      if (!tokens_[i].is_word() || !has_type) continue;
      const bool is_set = tokens_[i + 1].is("=");
      if (!is_set && !tokens_[i + 1].is("{")) continue;
      const auto last = value_end(i + 1, end);
      if (is_set) {
        add_number(i, i + 2, last);
      } else {
        add_number(i, i + 2, last - 1);
      }
      i = last;
    }
  }

  /// The comma behind a value, or `end`.
  [[nodiscard]] std::size_t value_end(std::size_t at, std::size_t end) const {
    while (at < end && !tokens_[at].is(",")) {
      const bool opens = tokens_[at].is("(") || tokens_[at].is("{") || tokens_[at].is("[");
      at = opens ? closing_bracket(tokens_, at, end) + 1 : at + 1;
    }
    return std::min(at, end);
  }

  void add_number(std::size_t name, std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    SourceMacro number;
    for (std::size_t i = begin; i < end; ++i) number.body.push_back(tokens_[i]);
    const CodeToken& word = tokens_[name];
    number.offset = word.offset;
    number.line = word.line;
    number.is_default = model_.conditions.yields_to(word.text, word.offset);
    number.misspelt_guard = model_.conditions.misspelt(word.text, word.offset);
    model_.macros.try_emplace(std::string(word.text), std::move(number));
  }

  SourceModel& model_;
  const std::vector<CodeToken>& tokens_;
  std::vector<std::pair<SourceParameter, std::string>> never_compiled_;
};

}  // namespace

void read_named_values(SourceModel& model) {
  ValueReader(model).run();
}

}  // namespace kiln::tools
