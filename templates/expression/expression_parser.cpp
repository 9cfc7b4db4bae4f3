// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/expression/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "templates/source_error.hpp"

namespace kiln {
namespace {

enum OperatorLevel : int {
  kLevelOfOr = 1,
  kLevelOfAnd,
  kLevelOfNot,
  kLevelOfComparison,
  kLevelOfSum,
  kLevelOfProduct
};

}  // namespace

Expression ExpressionParser::run(Expression::Real real) {
  skip_space();
  if (at_end()) fail(at_, "an expression is missing here");
  if (text_.size() > kMaxLength) {
    fail(at_, fmt::format("the expression has more than {} characters; move parts of the "
                          "expression into \"let\" lines",
                          kMaxLength));
  }
  const Value whole = conditional();
  refuse_value_behind_value("an operator (or, in a list, a comma)");
  if (!at_end()) fail(at_, "expected here: an operator or the end of the expression");
  need_number(whole);
  if (whole.type == Type::real) {
    if (real == Expression::Real::refused) {
      fail(whole.begin,
           "the value of this expression is a decimal number, but an integer or a condition is "
           "needed here. Next: use floor(...), ceil(...) or round(...), or compare the value");
    }
    if (real == Expression::Real::rounded_up) emit_real(RealCode::ceil);
  }

  Expression result;
  result.text_ = text_.substr(0, text_.find_last_not_of(kSpace) + 1);
  std::sort(used_.begin(), used_.end());
  used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
  result.names_used_ = std::move(used_);
  result.code_ = std::make_shared<const std::vector<Op>>(std::move(code_));
  return result;
}

Error ExpressionParser::error_at(std::size_t offset, std::string_view message) const {
  return source_error(place_, text_, offset, message);
}

/// Appends an operation; `change` is its effect on the number of pending values.
std::size_t ExpressionParser::emit(Op op, int change) {
  pending_ += change;
  if (pending_ > kMaxExpressionStack) fail(at_, "the expression is nested too deeply");
  code_.push_back(op);
  return code_.size() - 1;
}

void ExpressionParser::emit_real(RealCode code, int change, std::int32_t operand) {
  emit({.code = Code::real, .detail = static_cast<std::uint8_t>(code), .operand = operand}, change);
}

/// Appends a binary operator. A constant or a name as its right operand becomes part of it, unless
/// a jump passes over that operand: evaluation takes fewer steps.
void ExpressionParser::emit_binary(Code code) {
  Op& right = code_.back();
  const bool joins =
      (right.code == Code::constant || right.code == Code::name) && landed_ != code_.size();
  if (!joins) {
    emit({code}, -1);
    return;
  }
  right.right = right.code == Code::constant ? Op::Right::constant : Op::Right::name;
  right.code = code;
  --pending_;
}

/// Points an earlier jump at what is emitted next.
void ExpressionParser::land(std::size_t jump) {
  landed_ = code_.size();
  code_[jump].operand = static_cast<std::int32_t>(landed_);
}

ExpressionParser::Value ExpressionParser::conditional() {
  const Nested nested(*this);
  const Value condition = binary(kLevelOfOr);
  if (!accept("?")) return condition;
  need_integer(condition, "?");
  const auto to_else = emit({Code::jump_if_zero}, -1);
  const Value first = conditional();
  need_number(first);
  expect(":", "between the two results of '?'");
  const auto to_end = emit({Code::jump}, -1);  // only one of the two results ever exists
  land(to_else);
  const Value second = conditional();
  need_number(second);
  if (first.type != second.type) {
    const bool is_first = first.type == Type::integer;
    fail(is_first ? first.begin : second.begin,
         "one result of '?' is an integer, the other one a decimal number. Next: write the integer "
         "as a decimal number, such as 1.0, or multiply it by 1.0");
  }
  land(to_end);
  return {.type = first.type, .begin = condition.begin};
}

bool ExpressionParser::at_word(std::string_view word) const {
  const std::string_view text = rest();
  if (!text.starts_with(word)) return false;
  const char next = text.size() > word.size() ? text[word.size()] : ' ';
  return !is_letter(next) && !is_digit(next) && next != '.';
}

const ExpressionParser::Binary* ExpressionParser::peek_binary() const {
  /// Longer symbols first, so that "<=" is not read as "<".
  static constexpr std::array<Binary, 16> kBinaries{
      {{"||", kLevelOfOr, Code::or_jump},
       {"or", kLevelOfOr, Code::or_jump, true},
       {"&&", kLevelOfAnd, Code::and_jump},
       {"and", kLevelOfAnd, Code::and_jump, true},
       {"==", kLevelOfComparison, Code::equal},
       {"!=", kLevelOfComparison, Code::not_equal},
       {"<=", kLevelOfComparison, Code::less_equal},
       {">=", kLevelOfComparison, Code::greater_equal},
       {"<", kLevelOfComparison, Code::less},
       {">", kLevelOfComparison, Code::greater},
       {"in", kLevelOfComparison, Code::item, true},
       {"+", kLevelOfSum, Code::add},
       {"-", kLevelOfSum, Code::subtract},
       {"*", kLevelOfProduct, Code::multiply},
       {"/", kLevelOfProduct, Code::divide},
       {"%", kLevelOfProduct, Code::remainder}}};
  static constexpr Binary kNotIn{"not", kLevelOfComparison, Code::item, true, true};
  if (at_word(kNotIn.symbol)) return &kNotIn;
  const std::string_view text = rest();
  const auto found = std::find_if(kBinaries.begin(), kBinaries.end(), [&](const Binary& each) {
    return each.is_word ? at_word(each.symbol) : text.starts_with(each.symbol);
  });
  return found == kBinaries.end() ? nullptr : &*found;
}

const ExpressionParser::Binary* ExpressionParser::peek_comparison() const {
  const Binary* const op = peek_binary();
  return op != nullptr && op->precedence == kLevelOfComparison ? op : nullptr;
}

/// Precedence climbing: reads operators that bind at least as strongly as `lowest`.
ExpressionParser::Value ExpressionParser::binary(int lowest) {
  Value left = lowest <= kLevelOfNot && at_word("not") ? negation() : unary();
  while (true) {
    const Binary* const op = peek_binary();
    if (op == nullptr) {
      if (peek() == '&' || peek() == '|' || peek() == '=') {
        fail(at_, fmt::format("'{}' is not an operator; write '{}{}'", peek(), peek(), peek()));
      }
      return left;
    }
    if (op->precedence < lowest) return left;
    if (op->precedence == kLevelOfComparison) {
      left = comparisons(left);
      continue;
    }
    const std::size_t at = at_;
    at_ += op->symbol.size();
    skip_space();
    if (op->symbol == "/" && peek() == '/') {
      fail(at, "\"//\" is not an operator. Next: write \"/\", which divides integers as C++ does");
    }
    left = op->precedence <= kLevelOfAnd ? logical(left, *op) : arithmetic(left, *op);
  }
}

/// The jump keeps 0 or 1 if the left side decides; else the right side is the value.
ExpressionParser::Value ExpressionParser::logical(const Value& left, const Binary& op) {
  need_integer(left, op.symbol);
  const auto jump = emit({op.code}, -1);
  need_integer(binary(op.precedence + 1), op.symbol);
  emit({Code::to_bool}, 0);
  land(jump);
  return {.begin = left.begin};
}

ExpressionParser::Value ExpressionParser::arithmetic(const Value& left, const Binary& op) {
  const Value right = binary(op.precedence + 1);
  const RealCode real = op.code == Code::add        ? RealCode::add
                        : op.code == Code::subtract ? RealCode::subtract
                        : op.code == Code::multiply ? RealCode::multiply
                        : op.code == Code::divide   ? RealCode::divide
                                                    : RealCode::remainder;
  return fold(left, right, op.code, real);
}

/// `a < b`, `a < b <= c` (which is `a < b && b <= c`), `a in (b, c)`.
ExpressionParser::Value ExpressionParser::comparisons(Value left) {
  const auto tests_equality = [](const Binary& op) {
    return op.code == Code::equal || op.code == Code::not_equal;
  };
  const std::size_t begin = left.begin;
  const Binary* const first = peek_comparison();
  std::vector<std::size_t> ends;
  for (const Binary* op = first; op != nullptr;) {
    if (op != first && (op->code == Code::item || tests_equality(*op) != tests_equality(*first))) {
      fail(at_,
           "C++ and Python read this chain of comparisons differently. Next: put parentheses "
           "around one of the comparisons");
    }
    if (op->code == Code::item) {
      left = membership(left, *op);
      if (peek_comparison() != nullptr) {
        fail(at_,
             "a comparison cannot follow \"in (...)\". Next: put parentheses around the part "
             "with \"in\"");
      }
      break;
    }
    at_ += op->symbol.size();
    skip_space();
    Value right = compared_with(left, kLevelOfSum);
    check_names(left, right);
    const bool is_real = balance(left, right);
    const Binary* const next = peek_comparison();
    if (left.type == Type::name && !tests_equality(*op)) {
      fail(begin, "names can only be compared with == and !=, or with \"in\"");
    }
    if (next != nullptr) {
      ends.push_back(emit(
          {.code = Code::chain, .detail = static_cast<std::uint8_t>(op->code), .is_real = is_real},
          -1));
      left = right;
      if (is_real) left.type = Type::real;
    } else {
      compare(op->code, is_real);
    }
    op = next;
  }
  for (const std::size_t end : ends) land(end);
  return {.begin = begin};
}

/// `(a, b)` or `[a, b]` behind `x in`.
ExpressionParser::Value ExpressionParser::membership(const Value& left, const Binary& op) {
  const std::size_t at = at_;
  at_ += op.symbol.size();
  skip_space();
  if (op.negated) {
    if (!at_word("in")) fail(at, "expected here: an operator; \"not\" stands before a condition");
    at_ += 2;
    skip_space();
  }
  if (left.type == Type::name && left.slot < 0) {
    fail(left.begin,
         fmt::format("\"{}\" is a value of a tunable; the tunable belongs before \"in\"",
                     left.name));
  }
  const bool is_bracket = peek() == '[';
  if (!accept(is_bracket ? "[" : "(")) {
    fail(at_, "expected here: a list of values, such as (1, 2, 4)");
  }
  if (peek() == (is_bracket ? ']' : ')')) fail(at_, "the list has no values");
  Value tested = left;
  std::vector<std::size_t> ends;
  while (true) {
    const Nested nested(*this);
    Value item = compared_with(tested, kLevelOfOr);
    check_names(tested, item);
    const bool is_real = balance(tested, item);
    if (is_real) tested.type = Type::real;
    const bool is_last = !accept(",") || peek() == (is_bracket ? ']' : ')');
    if (is_last) {
      compare(Code::equal, is_real);
      break;
    }
    ends.push_back(emit({.code = Code::item, .is_real = is_real}, -1));
  }
  refuse_value_behind_value("a comma or an operator");
  expect(is_bracket ? "]" : ")", "to close the list of values");
  for (const std::size_t end : ends) land(end);
  if (op.negated) emit({Code::logical_not}, 0);
  return {.begin = left.begin};
}

/// Turns an integer beside a double into one, too. Whether both are doubles now.
bool ExpressionParser::balance(const Value& left, const Value& right) {
  if (left.type != Type::real && right.type != Type::real) return false;
  if (right.type != Type::real) emit_real(RealCode::from_integer);
  if (left.type != Type::real) emit_real(RealCode::from_integer_below);
  return true;
}

void ExpressionParser::compare(Code code, bool is_real) {
  if (is_real) {
    emit_real(RealCode::compare, -1, static_cast<std::int32_t>(code));
  } else {
    emit_binary(code);
  }
}

/// `not a == b` is `!(a == b)`, as in Python.
ExpressionParser::Value ExpressionParser::negation() {
  const Nested nested(*this);
  const std::size_t begin = at_;
  at_ += 3;
  skip_space();
  need_integer(binary(kLevelOfNot), "not");
  emit({Code::logical_not}, 0);
  return {.begin = begin};
}

ExpressionParser::Value ExpressionParser::unary() {
  const Nested nested(*this);
  const std::size_t begin = at_;
  if (peek() == '!' && !rest().starts_with("!=")) {
    accept("!");
    need_integer(unary(), "!");
    emit({Code::logical_not}, 0);
    return {.begin = begin};
  }
  if (accept("-")) {
    const Value value = unary();
    need_number(value);
    if (value.type == Type::real) {
      emit_real(RealCode::negate);
    } else {
      emit({Code::negate}, 0);
    }
    return {.type = value.type, .begin = begin};
  }
  return primary();
}

Expression Expression::parse(std::string_view text, const NameTable& names,
                             const SourcePlace& place, Real real) {
  return ExpressionParser(text, names, place).run(real);
}

}  // namespace kiln
