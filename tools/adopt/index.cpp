// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/index.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

constexpr int kMostSubstitutions = 4;

int dimension_of(std::string_view member) {
  return member == "x" ? 0 : member == "y" ? 1 : member == "z" ? 2 : -1;
}

/// What ends the side of a comparison, beside brackets.
bool ends_side(const CodeToken& token) {
  return token.is(";") || token.is(",") || token.is("&&") || token.is("||") || token.is("?") ||
         token.is(":") || token.is("=") || token.is("return") || token.is("==") || token.is("!=") ||
         token.is("!") || token.is("{") || token.is("}");
}

bool compares(const CodeToken& token) {
  return token.is("<") || token.is("<=") || token.is(">") || token.is(">=");
}

bool is_operator(const CodeToken& token) {
  return token.is("+") || token.is("-") || token.is("*") || token.is("/") || token.is("%");
}

constexpr std::int64_t kMostShift = 30;

/// Without parentheses around all of it, unless there is a sum or a quotient in them.
std::string without_group(std::string text) {
  while (text.starts_with('(')) {
    const CodeText code = read_code(text);
    const auto close = closing_bracket(code.tokens, 0, code.tokens.size());
    const bool is_inner_group = code.tokens.size() > 1 && code.tokens[1].is("(") &&
                                closing_bracket(code.tokens, 1, close) + 1 == close;
    const bool is_product = text.find_first_of("+-/%") == std::string::npos;
    if (close + 1 != code.tokens.size() || (!is_inner_group && !is_product)) break;
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

bool sets_variable(const CodeToken& token) {
  return token.is("=") || token.is("+=") || token.is("-=") || token.is("*=");
}

}  // namespace

IndexReader::IndexReader(const SourceModel& model, const SourceKernel& kernel,
                         const std::set<std::string, std::less<>>& constants,
                         const std::set<std::string, std::less<>>& sizes)
    : model_(model),
      tokens_(model.code.tokens),
      begin_(kernel.body_begin),
      end_(kernel.body_end),
      constants_(constants),
      integers_(sizes) {
  for (const auto& parameter : kernel.parameters) {
    const bool is_integer = integer_type(parameter.type, model.type_aliases).has_value();
    if (parameter.pointers == 0 && is_integer) integers_.insert(parameter.name);
  }
  read_builtins();
  // Variables of a loop depend on what is set below them.
  follow_assignments();
  follow_assignments();
  read_comparisons();
  read_factors();
  read_indices();
  read_rows();
  read_strides();
  read_columns();
}

bool IndexReader::sees(std::size_t i, std::string_view text) const {
  return i >= begin_ && i < end_ && tokens_[i].is(text);
}

bool IndexReader::is_variable(std::size_t i) const {
  return tokens_[i].is_word() && !sees(i - 1, ".") && !sees(i - 1, "->") && !sees(i - 1, "::");
}

void IndexReader::read_builtins() {
  for (std::size_t i = begin_; i + 2 < end_; ++i) {
    if (!tokens_[i + 1].is(".")) continue;
    const int dimension = dimension_of(tokens_[i + 2].text);
    if (dimension < 0) continue;
    DimensionUse& use = dimensions_[static_cast<std::size_t>(dimension)];
    use.has_thread = use.has_thread || tokens_[i].is("threadIdx");
    use.has_block = use.has_block || tokens_[i].is("blockIdx");
    use.has_block_extent = use.has_block_extent || tokens_[i].is("blockDim");
    use.has_grid_extent = use.has_grid_extent || tokens_[i].is("gridDim");
  }
}

std::size_t IndexReader::expression_end(std::size_t begin) const {
  std::size_t at = begin;
  while (at < end_ && !tokens_[at].is(";") && !tokens_[at].is(",") && !tokens_[at].is(")")) {
    const bool opens = tokens_[at].is("(") || tokens_[at].is("[") || tokens_[at].is("{");
    // `reinterpret_cast<Vector<float, 4>*>(x)`.
    const bool casts = tokens_[at].is("<") && at > begin && tokens_[at - 1].text.ends_with("_cast");
    if (casts) {
      at = closing_angle_bracket(tokens_, at, end_) + 1;
    } else {
      at = opens ? closing_bracket(tokens_, at, end_) + 1 : at + 1;
    }
  }
  return std::min(at, end_);
}

/// What the variable at `i` depends on there: `x = blockIdx.x ...; ... x = blockIdx.y ...`.
unsigned IndexReader::dimensions_at(std::size_t i) const {
  const auto found = variables_.find(tokens_[i].text);
  if (found == variables_.end()) return 0;
  const auto settings = settings_.find(tokens_[i].text);
  if (settings == settings_.end() || mixed_.contains(tokens_[i].text)) return found->second;
  const auto behind = std::lower_bound(settings->second.begin(), settings->second.end(),
                                       std::pair<std::size_t, unsigned>(i, 0U));
  return behind == settings->second.begin() ? found->second : std::prev(behind)->second;
}

void IndexReader::follow_assignments() {
  set_again_.clear();
  assignments_.clear();
  settings_.clear();
  mixed_.clear();
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = begin_; i + 2 < end_; ++i) {
    if (!is_variable(i) || !sets_variable(tokens_[i + 1])) continue;
    const std::string name(tokens_[i].text);
    const Range value{i + 2, expression_end(i + 2)};
    const unsigned depends = dimensions_of(value);
    variables_[name] |= depends;
    if (tokens_[i + 1].is("=") && depends != 0) {
      settings_[name].emplace_back(value.second, depends);
    } else {
      mixed_.insert(name);
    }
    if (!seen.insert(name).second || !tokens_[i + 1].is("=")) set_again_.insert(name);
    values_[name] = value;
    assignments_.emplace(name, value);
  }
}

unsigned IndexReader::dimensions_of(Range range) const {
  unsigned mask = 0;
  for (std::size_t i = range.first; i < range.second && i < end_; ++i) {
    if (!is_variable(i)) continue;
    if (tokens_[i].is("blockIdx") && i + 2 < end_) {
      const int dimension = dimension_of(tokens_[i + 2].text);
      if (dimension >= 0) mask |= 1U << static_cast<unsigned>(dimension);
    } else {
      mask |= dimensions_at(i);
    }
  }
  return mask;
}

IndexReader::Range IndexReader::left_side(std::size_t comparison) const {
  std::size_t at = comparison;
  int depth = 0;
  while (at > begin_) {
    const CodeToken& token = tokens_[at - 1];
    if (token.is(")") || token.is("]")) ++depth;
    if ((token.is("(") || token.is("[")) && depth-- == 0) break;
    if (depth == 0 && (ends_side(token) || compares(token))) break;
    --at;
  }
  return {at, comparison};
}

IndexReader::Range IndexReader::right_side(std::size_t comparison) const {
  std::size_t at = comparison + 1;
  int depth = 0;
  while (at < end_) {
    const CodeToken& token = tokens_[at];
    if (token.is("(") || token.is("[")) ++depth;
    if ((token.is(")") || token.is("]")) && depth-- == 0) break;
    if (depth == 0 && (ends_side(token) || compares(token))) break;
    ++at;
  }
  return {comparison + 1, at};
}

void IndexReader::read_comparisons() {
  for (std::size_t i = begin_; i < end_; ++i) {
    if (!compares(tokens_[i])) continue;
    if (tokens_[i].is("<") && i > begin_ && tokens_[i - 1].is_word()) {
      // Template arguments of what is called or named.
      const auto close = closing_angle_bracket(tokens_, i, end_);
      const bool names =
          close + 1 < end_ && (tokens_[close + 1].is("(") || tokens_[close + 1].is("::") ||
                               tokens_[close + 1].is_word());
      if (close < end_ && names) {
        i = close;
        continue;
      }
    }
    const Range left = left_side(i);
    const Range right = right_side(i);
    for (const Range& side : {left, right}) {
      for (std::size_t at = side.first; at < side.second; ++at) {
        if (!integers_.contains(tokens_[at].text)) continue;
        compared_.emplace(tokens_[at].text);
        ++comparisons_[std::string(tokens_[at].text)];
      }
    }
    for (const auto& [side, other] : {std::pair(left, right), std::pair(right, left)}) {
      const auto limit = plain_text(other, true);
      if (!limit || !integers_.contains(*limit)) continue;
      for (std::size_t at = side.first; at < side.second; ++at) {
        const bool is_local = is_variable(at) && !integers_.contains(tokens_[at].text) &&
                              !constants_.contains(tokens_[at].text);
        if (is_local) limits_[std::string(tokens_[at].text)].insert(*limit);
      }
    }
    const unsigned of_left = dimensions_of(left);
    const unsigned of_right = dimensions_of(right);
    for (int dimension = 0; dimension < 3; ++dimension) {
      const unsigned bit = 1U << static_cast<unsigned>(dimension);
      if (of_left == bit && of_right == 0) add_bound(dimension, left, right);
      if (of_right == bit && of_left == 0) add_bound(dimension, right, left);
    }
  }
}

bool IndexReader::has_integer(const std::string& text) const {
  const CodeText code = read_code(text);
  return std::any_of(code.tokens.begin(), code.tokens.end(),
                     [&](const CodeToken& token) { return integers_.contains(token.text); });
}

void IndexReader::add_index(Range range) {
  if (!indices_.insert(range).second) return;
  for (std::size_t i = range.first; i < range.second; ++i) {
    if (!is_variable(i)) continue;
    const auto [first, last] = assignments_.equal_range(tokens_[i].text);
    for (auto each = first; each != last; ++each) add_index(each->second);
  }
}

void IndexReader::add_bound(int dimension, Range index, Range bound) {
  const auto text = plain_text(bound, true);
  if (!text || !has_integer(*text)) return;
  add_index(index);
  for (const auto& name : integers_) {
    if (text->find(name) != std::string::npos) compared_.insert(name);
  }
  auto& bounds = dimensions_[static_cast<std::size_t>(dimension)].bounds;
  if (std::find(bounds.begin(), bounds.end(), *text) != bounds.end()) return;
  // A parameter by itself is a better guess than an expression, which has to do with a border.
  const auto is_expression = [&](const std::string& known) { return !integers_.contains(known); };
  bounds.insert(integers_.contains(*text)
                    ? std::find_if(bounds.begin(), bounds.end(), is_expression)
                    : bounds.end(),
                *text);
}

std::optional<std::string> IndexReader::plain_text(Range range, bool with_parameters,
                                                   int depth) const {
  std::string text;
  const auto append = [&](const std::string& part, bool is_tight) {
    if (!text.empty() && text.back() != '(' && !is_tight) text += ' ';
    text += part;
  };
  if (depth > kMostSubstitutions || range.first >= range.second) return std::nullopt;
  for (std::size_t i = range.first; i < range.second; ++i) {
    const CodeToken& token = tokens_[i];
    if (token.kind == CodeToken::Kind::number) {
      const auto value = integer_literal(token.text);
      if (!value) return std::nullopt;
      append(std::to_string(*value), false);
    } else if (token.is("blockDim") && sees(i + 1, ".") && i + 2 < range.second) {
      append("blockDim." + std::string(tokens_[i + 2].text), false);
      i += 2;
    } else if (const auto behind = cast_end(i); behind > i) {
      i = behind - 1;
    } else if (token.is("<<") || token.is(">>")) {
      const auto shift = shift_text(range, i);
      if (!shift) return std::nullopt;
      append(*shift, false);
      ++i;
    } else if (token.is("(") || token.is(")")) {
      // Parentheses around a name do not change the value, nor does a cast.
      const auto close = closing_bracket(tokens_, i, range.second);
      const bool is_around_name = token.is("(") ? close == i + 2 && close < range.second
                                                : i >= range.first + 2 && sees(i - 2, "(");
      if (is_around_name) continue;
      append(std::string(token.text), token.is(")"));
    } else if (is_operator(token) || constants_.contains(token.text) ||
               (with_parameters && integers_.contains(token.text))) {
      append(std::string(token.text), false);
    } else if (const auto macro = model_.macros.find(token.text); macro != model_.macros.end()) {
      const auto body = constant_text(macro->second.body, model_, constants_);
      if (!body) return std::nullopt;
      append(range.second - range.first == 1 ? *body : "(" + *body + ")", false);
    } else if (const auto value = values_.find(token.text);
               value != values_.end() && !set_again_.contains(token.text)) {
      const auto inner = plain_text(value->second, with_parameters, depth + 1);
      if (!inner) return std::nullopt;
      const bool is_whole =
          range.second - range.first == 1 || inner->find(' ') == std::string::npos;
      append(is_whole ? *inner : "(" + *inner + ")", false);
    } else {
      return std::nullopt;
    }
  }
  if (text.empty()) return std::nullopt;
  return text;
}

bool IndexReader::is_integer_type(std::size_t begin, std::size_t end) const {
  return begin < end && integer_type(joined_text(tokens_, begin, end), model_.type_aliases);
}

std::size_t IndexReader::cast_end(std::size_t begin) const {
  if (sees(begin, "static_cast") && sees(begin + 1, "<")) {
    const auto close = closing_angle_bracket(tokens_, begin + 1, end_);
    return close < end_ ? close + 1 : begin;
  }
  if (sees(begin, "(")) {
    const auto close = closing_bracket(tokens_, begin, end_);
    return close < end_ && is_integer_type(begin + 1, close) ? close + 1 : begin;
  }
  const std::size_t behind = sees(begin + 1, "::") ? begin + 3 : begin + 1;
  return sees(behind, "(") && is_integer_type(begin, behind) ? behind : begin;
}

std::size_t IndexReader::cast_begin(std::size_t operand) const {
  // Longer ones, such as static_cast<unsigned long long>, first.
  constexpr std::size_t kMostTokens = 8;
  const std::size_t first = operand > begin_ + kMostTokens ? operand - kMostTokens : begin_;
  for (std::size_t at = first; at < operand; ++at) {
    if (cast_end(at) == operand) return cast_begin(at);
  }
  return operand;
}

std::size_t IndexReader::operand_end(std::size_t begin) const {
  if (begin >= end_) return begin;
  if (const auto behind = cast_end(begin); behind > begin) return operand_end(behind);
  if (sees(begin, "(")) return std::min(closing_bracket(tokens_, begin, end_) + 1, end_);
  return sees(begin + 1, ".") ? std::min(begin + 3, end_) : begin + 1;
}

std::size_t IndexReader::operand_begin(std::size_t end) const {
  std::size_t at = end - 1;
  if (tokens_[at].is(")")) {
    int depth = 0;
    for (;; --at) {
      depth += (tokens_[at].is(")") ? 1 : 0) - (tokens_[at].is("(") ? 1 : 0);
      if (depth == 0 || at == begin_) break;
    }
  } else if (at >= begin_ + 2 && tokens_[at - 1].is(".")) {
    at -= 2;
  }
  return cast_begin(at);
}

void IndexReader::add_factor(int dimension, Range range) {
  if (auto text = plain_text(range, false)) add_factor_text(dimension, without_group(*text));
}

void IndexReader::add_factor_text(int dimension, std::string text) {
  if (text == "1") return;
  auto& factors = dimensions_[static_cast<std::size_t>(dimension)].factors;
  if (std::find(factors.begin(), factors.end(), text) == factors.end()) {
    factors.push_back(std::move(text));
  }
}

void IndexReader::add_shift(int dimension, Range range) {
  const auto text = plain_text(range, false);
  const auto bits = text ? integer_literal(without_group(*text)) : std::nullopt;
  if (bits && *bits >= 0 && *bits <= kMostShift) {
    add_factor_text(dimension, std::to_string(std::int64_t{1} << *bits));
  } else {
    dimensions_[static_cast<std::size_t>(dimension)].shift =
        joined_text(tokens_, range.first, range.second);
  }
}

std::optional<std::string> IndexReader::shift_text(Range range, std::size_t at) const {
  int depth = 0;
  for (std::size_t i = at; i > range.first; --i) {
    const CodeToken& token = tokens_[i - 1];
    if (token.is(")") || token.is("]")) ++depth;
    if ((token.is("(") || token.is("[")) && depth-- == 0) break;
    if (depth == 0 && (token.is("+") || token.is("-"))) return std::nullopt;
  }
  const auto bits =
      at + 1 < range.second ? integer_literal(tokens_[at + 1].text) : std::optional<std::int64_t>();
  const bool goes_on = at + 2 < range.second && is_operator(tokens_[at + 2]);
  if (!bits || *bits < 0 || *bits > kMostShift || goes_on) return std::nullopt;
  return (tokens_[at].is("<<") ? "* " : "/ ") + std::to_string(std::int64_t{1} << *bits);
}

std::optional<IndexReader::Range> IndexReader::group_around(std::size_t begin,
                                                            std::size_t end) const {
  int depth = 0;
  for (std::size_t at = begin; at-- > begin_;) {
    const CodeToken& token = tokens_[at];
    if (token.is(")") || token.is("]")) ++depth;
    if (token.is("(") && depth == 0) {
      const auto close = closing_bracket(tokens_, at, end_);
      if (close >= end_ || close < end) return std::nullopt;
      return Range{at, close + 1};
    }
    if (token.is("(") || token.is("[")) --depth;
    if (depth < 0 || (depth == 0 && (ends_side(token) || compares(token)))) return std::nullopt;
  }
  return std::nullopt;
}

void IndexReader::add_factors(int dimension, std::size_t begin, std::size_t end) {
  constexpr int kMostGroups = 8;
  for (int round = 0; round < kMostGroups; ++round) {
    begin = cast_begin(begin);
    while (sees(end, "*")) {
      const auto next = operand_end(end + 1);
      if (next <= end + 1) break;
      add_factor(dimension, {end + 1, next});
      end = next;
    }
    while (begin > begin_ + 1 && sees(begin - 1, "*")) {
      const auto next = operand_begin(begin - 1);
      add_factor(dimension, {next, begin - 1});
      begin = next;
    }
    if (sees(end, "<<")) {
      const auto next = operand_end(end + 1);
      add_shift(dimension, {end + 1, next});
      end = next;
    }
    const auto group = group_around(begin, end);
    if (!group) return;
    begin = group->first;
    end = group->second;
  }
}

void IndexReader::read_factors() {
  for (std::size_t i = begin_; i + 2 < end_; ++i) {
    const int dimension = tokens_[i].is("blockIdx") ? dimension_of(tokens_[i + 2].text) : -1;
    if (dimension >= 0) add_factors(dimension, i, i + 3);
  }
  // Elsewhere, such as in "2 * i" between brackets, a factor has nothing to do with the launch.
  for (const auto& [first, last] : indices_) {
    for (std::size_t i = first; i < last; ++i) {
      const auto variable = variables_.find(tokens_[i].text);
      if (variable == variables_.end() || !is_variable(i)) continue;
      for (int dimension = 0; dimension < 3; ++dimension) {
        if (variable->second == 1U << static_cast<unsigned>(dimension)) {
          add_factors(dimension, i, i + 1);
        }
      }
    }
  }
}

void IndexReader::read_indices() {
  for (std::size_t i = begin_; i < end_; ++i) {
    // A size by which something is multiplied is the length of a row.
    const bool is_factor =
        sees(i - 1, "*") || sees(i + 1, "*") || sees(i - 1, "%") || sees(i - 1, "/");
    if (is_factor && integers_.contains(tokens_[i].text)) indexing_.emplace(tokens_[i].text);
    if (!tokens_[i].is("[")) continue;
    const auto close = closing_bracket(tokens_, i, end_);
    for (std::size_t at = i + 1; at < close; ++at) {
      if (integers_.contains(tokens_[at].text)) indexing_.emplace(tokens_[at].text);
    }
  }
}

}  // namespace kiln::tools
