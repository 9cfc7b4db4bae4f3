// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What pointers a kernel reads and writes, and what its indices are made of.
#include "tools/adopt/body.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/adopt/index.hpp"
#include "tools/adopt/tunables.hpp"

namespace kiln::tools {
namespace {

bool is_assignment(const CodeToken& token) {
  return token.is("=") || (token.text.size() >= 2 && token.text.ends_with('=') && !token.is("==") &&
                           !token.is("!=") && !token.is("<=") && !token.is(">="));
}

constexpr int kMostCalls = 8;  ///< of functions within functions

void merge_use(const PointerUse& from, PointerUse& to) {
  to.is_read = to.is_read || from.is_read;
  to.is_written = to.is_written || from.is_written;
  to.is_atomic = to.is_atomic || from.is_atomic;
  to.is_given_away = to.is_given_away || from.is_given_away;
}

/// Functions of CUDA and its libraries, by what their names say.
void use_by_name(std::string_view function, std::size_t argument, PointerUse& use) {
  const std::string name = snake_case(function);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("memcpy") || has("memset")) {
    (argument == 0 ? use.is_written : use.is_read) = true;
  } else if (has("store") || name.starts_with("__st")) {
    use.is_written = true;
  } else if (has("load") || name.starts_with("__ld")) {
    use.is_read = true;
  } else {
    use.is_given_away = true;
  }
}

class BodyReader {
 public:
  BodyReader(const SourceModel& model, const SourceKernel& kernel,
             const std::set<std::string, std::less<>>& constants,
             const std::set<std::string, std::less<>>& sizes, const BodyReader* caller)
      : model_(model),
        constants_(constants),
        sizes_(sizes),
        tokens_(model.code.tokens),
        begin_(kernel.body_begin),
        end_(kernel.body_end),
        caller_(caller),
        index_(model, kernel, constants, sizes) {
    for (const auto& parameter : kernel.parameters) {
      if (parameter.pointers == 0 && !parameter.is_reference) continue;
      if (parameter.pointers == 0) references_.insert(parameter.name);
      if (parameter.pointers > 1) tables_.insert(parameter.name);
      owners_[parameter.name] = parameter.name;
      facts_.pointers[parameter.name];
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
    facts_.steps = index_.steps();
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
      const IndexReader::Range value{i + 2, index_.expression_end(i + 2)};
      if (sees(i - 1, "&") && add_reference(i, value)) continue;
      if (!is_pointer && !(tokens_[i - 1].is("auto"))) continue;
      for (std::size_t at = value.first; at < value.second; ++at) {
        const auto owner = owners_.find(tokens_[at].text);
        if (owner == owners_.end() || is_member(at)) continue;
        // "const float* row = rows[b]" is one of the arrays that are meant.
        const bool is_address = sees(at - 1, "&");
        if (sees(at + 1, "[") && !is_address && !tables_.contains(owner->second)) continue;
        const std::string name(tokens_[i].text);
        if (is_moved(value, at) || moved_.contains(tokens_[at].text)) moved_.insert(name);
        owners_[name] = owner->second;
        aliased_.insert(at);
        PointerUse& use = facts_.pointers[owner->second];
        use.is_by_block_and_more = use.is_by_block_and_more || index_.depends_on_block(value);
        break;
      }
    }
  }

  /// `float& cell = out[i];` is another name of an element.
  bool add_reference(std::size_t i, IndexReader::Range value) {
    const bool is_element = value.first < value.second && sees(value.first + 1, "[") &&
                            closing_bracket(tokens_, value.first + 1, end_) + 1 == value.second;
    const auto owner = is_element ? owners_.find(tokens_[value.first].text) : owners_.end();
    if (owner == owners_.end()) return false;
    const std::string name(tokens_[i].text), parameter = owner->second;
    owners_[name] = parameter;
    references_.insert(name);
    moved_.insert(name);
    aliased_.insert(value.first);
    note_place({value.first + 2, value.second - 1}, facts_.pointers[parameter]);
    return true;
  }

  /// Whether `value`, which mentions a pointer at `at`, may be another address than the pointer.
  [[nodiscard]] bool is_moved(IndexReader::Range value, std::size_t at) const {
    if (sees(at + 1, "[") || sees(at + 1, "+") || sees(at + 1, "-")) return true;
    for (std::size_t i = value.first; i < at; ++i) {
      if (tokens_[i].is("+") || tokens_[i].is("?")) return true;
    }
    for (std::size_t i = at + 1; i < value.second; ++i) {
      if (tokens_[i].is("+") || tokens_[i].is("-")) return true;
    }
    return false;
  }

  void read_use(std::size_t i, PointerUse& use) {
    if (aliased_.contains(i)) return;
    is_moved_ = moved_.contains(tokens_[i].text);
    if (references_.contains(tokens_[i].text)) {
      return read_access(i, sees(i + 1, ".") ? i + 3 : i + 1, "0", use);
    }
    if (sees(i + 1, "[")) return read_element(i, i, use);
    if (sees(i + 1, "++") || sees(i + 1, "--")) {
      // `*y++ = value`
      const bool sets = i + 2 < end_ && is_assignment(tokens_[i + 2]);
      is_moved_ = true;
      if (sees(i - 1, "*") && dereferences(i - 1, sets)) read_access(i - 1, i + 2, "", use);
      return;
    }
    if (sees(i + 1, "->")) return read_access(i, i + 3, "0", use);
    const bool is_set = i + 1 < end_ && is_assignment(tokens_[i + 1]);
    const bool is_dereferenced = sees(i - 1, "*") && dereferences(i - 1, is_set);
    if (is_dereferenced) return read_access(i - 1, i + 1, "0", use);
    if (sees(i - 1, "(") && sees(i - 2, "*") && sees(i + 1, "+")) {
      const auto close = closing_bracket(tokens_, i - 1, end_);
      note_place({i + 1, close}, use);
      return read_access(i - 2, close + 1, "", use);
    }
    // Moving a pointer says little; what is declared here under its name is something else.
    if (i + 1 < end_ && is_assignment(tokens_[i + 1])) {
      const bool by_block = index_.depends_on_block({i + 2, index_.expression_end(i + 2)});
      use.is_by_block_and_more = use.is_by_block_and_more || by_block;
      return;
    }
    const bool is_operand_of_move =
        sees(i + 1, "+") && sees(i - 1, "=") && sees(i - 2, tokens_[i].text);
    if (is_operand_of_move || sees(i + 1, "==") || sees(i + 1, "!=")) return;
    read_address(i, i + 1, use);
  }

  /// What is done with the address that [begin, end) is, casts and parentheses around it included.
  void read_address(std::size_t begin, std::size_t end, PointerUse& use) {
    while (begin > begin_ && sees(begin - 1, "(") && sees(end, ")")) {
      const std::size_t open = begin - 1;
      const auto keyword = cast_before(open);
      const bool is_call = !keyword && open > begin_ && is_callee(open - 1);
      if (is_call) break;
      begin = keyword.value_or(open);
      ++end;
    }
    // `(float4*)y`
    if (begin > begin_ + 1 && sees(begin - 1, ")") && sees(begin - 2, "*")) {
      std::size_t open = begin - 2;
      while (open > begin_ && !tokens_[open].is("(")) --open;
      if (!is_callee(open - 1)) return read_address(open, end, use);
    }
    if (sees(end, "[")) return read_element(begin, end - 1, use);
    const bool is_set = end < end_ && is_assignment(tokens_[end]);
    if (sees(begin - 1, "*") && dereferences(begin - 1, is_set)) {
      return read_access(begin - 1, end, "0", use);
    }
    read_argument(begin, end, use);
  }

  /// The keyword of a cast such as `reinterpret_cast<float4*>` before the parenthesis.
  [[nodiscard]] std::optional<std::size_t> cast_before(std::size_t open) const {
    if (open <= begin_ || !tokens_[open - 1].is(">")) return std::nullopt;
    for (std::size_t at = open - 1; at > begin_; --at) {
      if (tokens_[at - 1].is(";") || tokens_[at - 1].is("{")) break;
      if (tokens_[at - 1].text.ends_with("_cast")) return at - 1;
    }
    return std::nullopt;
  }

  /// Whether a parenthesis behind that token holds the arguments of a call.
  [[nodiscard]] bool is_callee(std::size_t i) const {
    if (i < begin_ || i >= end_) return false;
    if (tokens_[i].is(">")) return true;
    return tokens_[i].is_word() && !is_cpp_keyword(tokens_[i].text);
  }

  /// The call that [begin, end) is a part of an argument of.
  struct Call {
    std::string_view function;
    std::size_t argument = 0;
    std::size_t begin = 0, end = 0;  ///< of the argument
  };
  [[nodiscard]] std::optional<Call> call_around(std::size_t begin) const {
    Call call;
    int depth = 0;
    std::size_t at = begin;
    call.begin = begin_;
    for (; at > begin_; --at) {
      const CodeToken& token = tokens_[at - 1];
      if (token.is(")") || token.is("]") || token.is("}")) ++depth;
      if (depth == 0 && (token.is(";") || token.is("{") || token.is("["))) return std::nullopt;
      if (depth == 0 && token.is(",")) {
        if (call.argument++ == 0) call.begin = at;
      }
      if (token.is("(") && depth-- == 0) break;
      if (token.is("[") || token.is("{")) --depth;
    }
    if (at <= begin_ + 1 || !is_callee(at - 2)) return std::nullopt;
    if (call.argument == 0) call.begin = at;
    std::size_t name = at - 2;
    if (tokens_[name].is(">")) {
      int open = 0;
      for (; name > begin_; --name) {
        open += (tokens_[name].is(">") ? 1 : 0) - (tokens_[name].is("<") ? 1 : 0);
        if (open == 0) break;
      }
      if (name == begin_ || !is_callee(name - 1)) return std::nullopt;
      --name;
    }
    call.function = tokens_[name].text;
    call.end = call.begin;
    const auto close = closing_bracket(tokens_, at - 1, end_);
    while (call.end < close && !tokens_[call.end].is(",")) {
      const bool opens =
          tokens_[call.end].is("(") || tokens_[call.end].is("[") || tokens_[call.end].is("{");
      call.end = opens ? closing_bracket(tokens_, call.end, close) + 1 : call.end + 1;
    }
    call.end = std::min(call.end, close);
    return call;
  }

  /// What a function does that is given an address.
  void read_argument(std::size_t begin, std::size_t end, PointerUse& use) {
    const auto call = call_around(begin);
    if (!call) {
      use.is_given_away = true;
      return;
    }
    // `y + i`, `&y[i]`: the place is what comes behind the name.
    const bool is_whole = call->begin == begin && call->end == end;
    if (!is_whole) note_place({end, call->end}, use);
    read_call(*call, false, is_whole ? "0" : joined_text(tokens_, end, call->end), use);
  }

  /// `place` is where what is given lies.
  void read_call(const Call& call, bool by_reference, const std::string& place, PointerUse& use) {
    if (call.function.find("atomic") != std::string_view::npos) {
      use.is_atomic = true;
      return;
    }
    bool is_known = false;
    const auto [first, last] = model_.functions.equal_range(call.function);
    for (auto each = first; each != last && depth() < kMostCalls; ++each) {
      const SourceFunction& function = each->second;
      if (call.argument >= function.parameters.size()) continue;
      const SourceParameter& parameter = function.parameters[call.argument];
      if (by_reference ? !parameter.is_reference : parameter.pointers == 0) continue;
      is_known = true;
      if (parameter.is_const) {
        use.is_read = true;
        continue;
      }
      const PointerUse inner = use_in(function, parameter.name);
      merge_use(inner, use);
      for (const auto& written : inner.written_at) {
        // What a function makes of the number of the block is what the kernel would make of it.
        const bool is_of_block = place == "0" && written == "blockIdx.x" && !is_moved_;
        use.written_at.insert(is_of_block ? written : written == "0" && !is_moved_ ? place : "");
      }
    }
    if (is_known) return;
    if (by_reference) {
      use.is_read = true;
    } else {
      use_by_name(call.function, call.argument, use);
    }
    if (use.is_written && use.written_at.empty()) use.written_at.insert("");
  }

  [[nodiscard]] PointerUse use_in(const SourceFunction& function, const std::string& name) const {
    SourceKernel body;
    body.parameters = function.parameters;
    body.body_begin = function.body_begin;
    body.body_end = function.body_end;
    if (is_being_read(function)) return {};
    return BodyReader(model_, body, constants_, sizes_, this).run().pointers[name];
  }

  [[nodiscard]] int depth() const { return caller_ == nullptr ? 0 : caller_->depth() + 1; }
  /// What a recursive call does is what the function does anyway.
  [[nodiscard]] bool is_being_read(const SourceFunction& function) const {
    if (begin_ == function.body_begin) return true;
    return caller_ != nullptr && caller_->is_being_read(function);
  }

  void note_place(IndexReader::Range place, PointerUse& use) {
    for (std::size_t i = place.first; i < place.second; ++i) {
      use.is_indirect = use.is_indirect || tokens_[i].is("[");
    }
    if (!index_.depends_on_block(place)) {
      use.is_without_block = true;
    } else if (index_.is_block_number(place)) {
      use.is_by_block_number = true;
    } else {
      use.is_by_block_and_more = true;
    }
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

  /// `y[i]`, `y[i][j]`, `y[i].x`, where y is [first, last].
  void read_element(std::size_t first, std::size_t last, PointerUse& use) {
    std::size_t at = last + 1;
    std::string index;
    while (sees(at, "[")) {
      const auto close = closing_bracket(tokens_, at, end_);
      note_place({at + 1, std::min(close, end_)}, use);
      if (first == last && last + 1 == at && !is_moved_) {
        const std::string extents = index_.extents_of({at + 1, std::min(close, end_)});
        if (!extents.empty()) use.extents.insert(extents);
      }
      index = joined_text(tokens_, at + 1, std::min(close, end_));
      at = close + 1;
    }
    if (sees(at, ".")) at += 2;
    if (sees(first - 1, "&") && !(first >= begin_ + 2 && ends_operand(tokens_[first - 2]))) {
      const auto call = call_around(first - 1);
      const bool is_whole = call && call->begin == first - 1 && call->end == at;
      if (!is_whole) {
        is_moved_ = true;
        return read_address(first - 1, at, use);
      }
      return read_call(*call, false, index, use);
    }
    // An element that a function may change.
    const bool may_be_argument = sees(first - 1, "(") || sees(first - 1, ",");
    if (may_be_argument && (sees(at, ",") || sees(at, ")"))) {
      const auto call = call_around(first);
      if (call && call->end == at) return read_call(*call, true, index, use);
    }
    read_access(first, at, index, use);
  }

  /// "blockIdx.x" for the number of the block in a grid of several dimensions, too.
  [[nodiscard]] static std::string block_number(const std::string& index) {
    std::string text;
    for (const char c : index) {
      if (c != ' ' && c != '(' && c != ')') text += c;
    }
    for (const std::string_view each :
         {"blockIdx.y*gridDim.x+blockIdx.x", "gridDim.x*blockIdx.y+blockIdx.x",
          "blockIdx.x+blockIdx.y*gridDim.x", "blockIdx.x+gridDim.x*blockIdx.y"}) {
      if (text == each) return "blockIdx.x";
    }
    return index;
  }

  /// What is done to the element between `before` and `after`.
  void read_access(std::size_t before, std::size_t after, const std::string& index,
                   PointerUse& use) {
    // `(y[i]) = value`, as macros have it; a word before the parenthesis is a condition or a call.
    while (before > begin_ + 1 && sees(before - 1, "(") && sees(after, ")") &&
           !tokens_[before - 2].is_word() && !tokens_[before - 2].is(">")) {
      --before;
      ++after;
    }
    const bool is_set = sees(after, "=");
    const bool is_changed = (after < end_ && is_assignment(tokens_[after]) && !is_set) ||
                            sees(after, "++") || sees(after, "--") || sees(before - 1, "++") ||
                            sees(before - 1, "--");
    if (is_set || is_changed) {
      use.is_written = true;
      use.written_at.insert(is_moved_ ? "" : block_number(index));
    }
    use.is_read = use.is_read || !is_set;
  }

  const SourceModel& model_;
  const std::set<std::string, std::less<>>& constants_;
  const std::set<std::string, std::less<>>& sizes_;
  const std::vector<CodeToken>& tokens_;
  std::size_t begin_;
  std::size_t end_;
  const BodyReader* caller_;  ///< null: a kernel
  IndexReader index_;
  std::set<std::string, std::less<>> references_;
  std::map<std::string, std::string, std::less<>> owners_;  ///< pointer -> parameter
  std::set<std::string, std::less<>> tables_;               ///< parameters that lead to pointers
  std::set<std::size_t> aliased_;             ///< uses that only give a parameter another name
  std::set<std::string, std::less<>> moved_;  ///< names that lead behind the array's begin
  bool is_moved_ = false;                     ///< of the use that is being read
  BodyFacts facts_;
};

}  // namespace

BodyFacts read_body(const SourceModel& model, const SourceKernel& kernel,
                    const std::set<std::string, std::less<>>& constants,
                    const std::set<std::string, std::less<>>& sizes) {
  return BodyReader(model, kernel, constants, sizes, nullptr).run();
}

}  // namespace kiln::tools
