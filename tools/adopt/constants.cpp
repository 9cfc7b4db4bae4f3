// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Variables in constant memory, and what those of a struct are made of.
#include <algorithm>
#include <array>
#include <utility>

#include "tools/adopt/source.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

class ConstantReader {
 public:
  ConstantReader(const SourceModel& model, std::size_t begin, std::size_t end)
      : model_(model), tokens_(model.code.tokens), begin_(begin), end_(end) {}

  std::vector<SourceConstant> run() {
    std::size_t at = read_type();
    while (at < end_) {
      read_declarator(at);
      ++at;  // the comma
    }
    return std::move(constants_);
  }

 private:
  [[nodiscard]] bool sees(std::size_t i, std::string_view text) const {
    return i < end_ && tokens_[i].is(text);
  }

  /// `alignas(16)`, `[[maybe_unused]]`, `static`, a macro that stands for such.
  [[nodiscard]] std::size_t behind_specifier(std::size_t at) const {
    constexpr std::array<std::string_view, 6> kWords{"static",   "const",  "constexpr",
                                                     "volatile", "extern", "inline"};
    const CodeToken& token = tokens_[at];
    if (token.is("[") && sees(at + 1, "[")) return closing_bracket(tokens_, at, end_) + 1;
    if (token.is("alignas") || token.text.starts_with("__")) {
      return sees(at + 1, "(") ? closing_bracket(tokens_, at + 1, end_) + 1 : at + 1;
    }
    const auto macro = model_.macros.find(token.text);
    const bool is_macro =
        macro != model_.macros.end() &&
        std::any_of(macro->second.body.begin(), macro->second.body.end(),
                    [](const CodeToken& each) { return each.is("__constant__"); });
    const bool is_word = std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
    return is_macro || is_word || token.kind == CodeToken::Kind::text ? at + 1 : at;
  }

  [[nodiscard]] bool ends_name(std::size_t at) const {
    constexpr std::array<std::string_view, 4> kEnds{"[", "=", "{", ","};
    return at >= end_ || std::find(kEnds.begin(), kEnds.end(), tokens_[at].text) != kEnds.end();
  }

  /// Leads to the first declarator.
  std::size_t read_type() {
    std::vector<CodeToken> type;
    for (std::size_t at = begin_; at < end_;) {
      const auto behind = behind_specifier(at);
      // Element types of CUDA begin with underscores, too.
      const bool is_type = type.empty() && tokens_[at].is_word() && behind == at + 1 &&
                           element_type(tokens_[at].text, model_.type_aliases);
      if (behind > at && !is_type) {
        at = behind;
      } else if (tokens_[at].is("struct") || tokens_[at].is("class") || tokens_[at].is("union")) {
        const bool has_name = at + 1 < end_ && tokens_[at + 1].is_word();
        type.push_back(tokens_[has_name ? at + 1 : at]);
        at += has_name ? 2 : 1;
        if (sees(at, "{")) at = closing_bracket(tokens_, at, end_) + 1;
      } else if (tokens_[at].is("*") || tokens_[at].is("&") || ends_name(at + 1)) {
        type_ = joined_text(type, 0, type.size());
        return type.empty() ? end_ : at;
      } else if (tokens_[at].is("<")) {
        const auto close = std::min(closing_angle_bracket(tokens_, at, end_) + 1, end_);
        for (; at < close; ++at) type.push_back(tokens_[at]);
      } else {
        type.push_back(tokens_[at++]);
      }
    }
    return end_;
  }

  /// `*a`, `b[4] = {1}`; leads to the comma behind it.
  void read_declarator(std::size_t& at) {
    SourceConstant constant;
    constant.type = type_;
    for (; at < end_ && !tokens_[at].is(","); ++at) {
      const CodeToken& token = tokens_[at];
      if (token.is("*") || token.is("(")) constant.is_pointer = true;
      if (token.is("=")) constant.has_value = true;
      if (token.is_word() && !constant.has_value && behind_specifier(at) == at) {
        constant.name = token.text;
        constant.line = token.line;
      }
      if (!token.is("(") && !token.is("[") && !token.is("{")) continue;
      const auto close = std::min(closing_bracket(tokens_, at, end_), end_ - 1);
      if (token.is("[")) {
        const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at);
        constant.extents.emplace_back(first + 1,
                                      tokens_.begin() + static_cast<std::ptrdiff_t>(close));
      } else if (token.is("{")) {
        // Zeros are no value: the host fills the array later.
        constant.has_value = close > at + 2 || (close == at + 2 && !sees(at + 1, "0"));
      }
      at = close;
    }
    if (!constant.name.empty()) constants_.push_back(std::move(constant));
  }

  const SourceModel& model_;
  const std::vector<CodeToken>& tokens_;
  std::size_t begin_, end_;
  std::string type_;
  std::vector<SourceConstant> constants_;
};

}  // namespace

std::vector<SourceConstant> read_constants(const SourceModel& model, std::size_t begin,
                                           std::size_t end) {
  return ConstantReader(model, begin, end).run();
}

}  // namespace kiln::tools
