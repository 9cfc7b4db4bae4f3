// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What pointers a kernel reads and writes, and what its indices are made of.
#include "tools/adopt_body.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/adopt_index.hpp"

namespace kiln::tools {
namespace {

bool is_assignment(const CodeToken& token) {
  return token.is("=") || (token.text.size() >= 2 && token.text.ends_with('=') && !token.is("==") &&
                           !token.is("!=") && !token.is("<=") && !token.is(">="));
}

class BodyReader {
 public:
  BodyReader(const SourceModel& model, const SourceKernel& kernel,
             const std::set<std::string, std::less<>>& constants)
      : tokens_(model.code.tokens),
        begin_(kernel.body_begin),
        end_(kernel.body_end),
        index_(model, kernel, constants) {
    for (const auto& parameter : kernel.parameters) {
      if (parameter.pointers > 0) {
        owners_[parameter.name] = parameter.name;
        facts_.pointers[parameter.name];
      }
    }
  }

  BodyFacts run() {
    find_aliases();
    for (std::size_t i = begin_; i < end_; ++i) {
      if (!tokens_[i].is_word()) continue;
      const auto owner = owners_.find(tokens_[i].text);
      if (owner != owners_.end() && !is_member(i)) read_use(i, facts_.pointers[owner->second]);
    }
    facts_.dimensions = index_.dimensions();
    facts_.compared = index_.compared();
    facts_.indexing = index_.indexing();
    return std::move(facts_);
  }

 private:
  [[nodiscard]] bool sees(std::size_t i, std::string_view text) const {
    return i >= begin_ && i < end_ && tokens_[i].is(text);
  }

  [[nodiscard]] bool is_member(std::size_t i) const {
    return i > begin_ &&
           (tokens_[i - 1].is(".") || tokens_[i - 1].is("->") || tokens_[i - 1].is("::"));
  }

  /// `const numbers* vectors = reinterpret_cast<const numbers*>(input);` is another name of input.
  void find_aliases() {
    for (std::size_t i = begin_ + 1; i + 1 < end_; ++i) {
      if (!tokens_[i].is_word() || !tokens_[i + 1].is("=") || owners_.contains(tokens_[i].text)) {
        continue;
      }
      const bool is_pointer = tokens_[i - 1].is("*") || tokens_[i - 1].text.starts_with("__restr");
      if (!is_pointer && !(tokens_[i - 1].is("auto"))) continue;
      for (std::size_t at = i + 2; at < end_ && !tokens_[at].is(";"); ++at) {
        const auto owner = owners_.find(tokens_[at].text);
        if (owner == owners_.end() || is_member(at) || sees(at + 1, "[")) continue;
        owners_[std::string(tokens_[i].text)] = owner->second;
        aliased_.insert(at);
        break;
      }
    }
  }

  void read_use(std::size_t i, PointerUse& use) {
    if (aliased_.contains(i)) return;
    if (sees(i + 1, "[")) return read_element(i, use);
    if (sees(i + 1, "->")) return read_access(i, i + 3, "0", use);
    const bool is_set = i + 1 < end_ && is_assignment(tokens_[i + 1]);
    const bool is_dereferenced = sees(i - 1, "*") && dereferences(i - 1, is_set);
    if (is_dereferenced) return read_access(i - 1, i + 1, "0", use);
    if (sees(i - 1, "(") && sees(i - 2, "*") && sees(i + 1, "+")) {
      const auto close = closing_bracket(tokens_, i - 1, end_);
      return read_access(i - 2, close + 1, "", use);
    }
    // Moving a pointer says nothing; what is declared here under its name is something else.
    if (i + 1 < end_ && is_assignment(tokens_[i + 1])) return;
    const bool is_operand_of_move =
        sees(i + 1, "+") && sees(i - 1, "=") && sees(i - 2, tokens_[i].text);
    if (is_operand_of_move || sees(i + 1, "==") || sees(i + 1, "!=")) return;
    const bool is_atomic = sees(i - 1, "(") && i >= begin_ + 2 && is_atomic_name(tokens_[i - 2]);
    use.is_atomic = use.is_atomic || is_atomic;
    use.is_given_away = use.is_given_away || !is_atomic;
  }

  [[nodiscard]] static bool is_atomic_name(const CodeToken& token) {
    return token.is_word() && token.text.find("atomic") != std::string_view::npos;
  }

  [[nodiscard]] static bool ends_operand(const CodeToken& token) {
    return (token.is_word() && !is_cpp_keyword(token.text)) ||
           token.kind == CodeToken::Kind::number || token.is(")") || token.is("]");
  }

  /// Whether a star is neither a product nor a part of a type. In "if (first) *y = 0" it multiplies
  /// nothing.
  [[nodiscard]] bool dereferences(std::size_t star, bool is_set) const {
    if (star <= begin_) return true;
    const CodeToken& before = tokens_[star - 1];
    if (before.is_word()) return before.is("else") || before.is("return") || before.is("do");
    return before.is(")") ? is_set : !ends_operand(before) && !before.is(">");
  }

  /// `y[i]`, `y[i][j]`, `y[i].x`.
  void read_element(std::size_t i, PointerUse& use) {
    std::size_t at = i + 1;
    std::string index;
    while (sees(at, "[")) {
      const auto close = closing_bracket(tokens_, at, end_);
      index = joined_text(tokens_, at + 1, std::min(close, end_));
      at = close + 1;
    }
    if (sees(at, ".")) at += 2;
    if (sees(i - 1, "&") && !(i >= begin_ + 2 && ends_operand(tokens_[i - 2]))) {
      const bool is_atomic = i >= begin_ + 3 && sees(i - 2, "(") && is_atomic_name(tokens_[i - 3]);
      use.is_atomic = use.is_atomic || is_atomic;
      use.is_given_away = use.is_given_away || !is_atomic;
      return;
    }
    read_access(i, at, index, use);
  }

  /// What is done to the element between `before` and `after`.
  void read_access(std::size_t before, std::size_t after, const std::string& index,
                   PointerUse& use) {
    const bool is_set = sees(after, "=");
    const bool is_changed = (after < end_ && is_assignment(tokens_[after]) && !is_set) ||
                            sees(after, "++") || sees(after, "--") || sees(before - 1, "++") ||
                            sees(before - 1, "--");
    if (is_set || is_changed) {
      use.is_written = true;
      use.written_at.insert(index);
    }
    use.is_read = use.is_read || !is_set;
  }

  const std::vector<CodeToken>& tokens_;
  std::size_t begin_;
  std::size_t end_;
  IndexReader index_;
  std::map<std::string, std::string, std::less<>> owners_;  ///< pointer -> parameter
  std::set<std::size_t> aliased_;  ///< uses that only give a parameter another name
  BodyFacts facts_;
};

}  // namespace

BodyFacts read_body(const SourceModel& model, const SourceKernel& kernel,
                    const std::set<std::string, std::less<>>& constants) {
  return BodyReader(model, kernel, constants).run();
}

}  // namespace kiln::tools
