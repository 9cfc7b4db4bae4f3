// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/expression/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "templates/expression/expression_code.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// Each returns false if the result is undefined; `out` is of no use then.

bool add(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_add_overflow(a, b, &out);
}

bool subtract(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_sub_overflow(a, b, &out);
}

bool multiply(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_mul_overflow(a, b, &out);
}

bool add(double a, double b, double& out) {
  out = a + b;
  return true;
}

bool subtract(double a, double b, double& out) {
  out = a - b;
  return true;
}

bool multiply(double a, double b, double& out) {
  out = a * b;
  return true;
}

bool divide(double a, double b, double& out) {
  if (b == 0.0) return false;
  out = std::trunc(a / b);
  return true;
}

bool remainder(double a, double b, double& out) {
  if (b == 0.0) return false;
  out = std::fmod(a, b);
  return true;
}

bool divide(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b == 0 || (a == kMin && b == -1)) return false;
  out = a / b;
  return true;
}

bool remainder(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b == 0 || (a == kMin && b == -1)) return false;
  out = a % b;
  return true;
}

template <class Number>
bool negate(Number a, Number& out) {
  return subtract(Number{0}, a, out);
}

template <class Number>
bool abs_of(Number a, Number& out) {
  out = a;
  return !(a < 0) || negate(a, out);
}

template <class Number>
bool logical_not(Number a, Number& out) {
  out = a == 0 ? 1 : 0;
  return true;
}

template <class Number>
bool to_bool(Number a, Number& out) {
  out = a != 0 ? 1 : 0;
  return true;
}

template <class Number>
bool minimum(Number a, Number b, Number& out) {
  out = std::min(a, b);
  return true;
}

template <class Number>
bool maximum(Number a, Number b, Number& out) {
  out = std::max(a, b);
  return true;
}

template <class Number>
bool ceil_div(Number a, Number b, Number& out) {
  Number quotient = 0;
  Number rest = 0;
  if (!divide(a, b, quotient) || !remainder(a, b, rest)) return false;
  const bool rounded_down = rest != 0 && (a < 0) == (b < 0);
  out = rounded_down ? quotient + 1 : quotient;
  return true;
}

template <class Number>
bool round_up(Number a, Number b, Number& out) {
  Number steps = 0;
  return ceil_div(a, b, steps) && multiply(steps, b, out);
}

/// A number as the bits that some functions are about.
bool whole(std::int64_t a, std::int64_t& out) {
  out = a;
  return true;
}

bool whole(double a, std::int64_t& out) {
  constexpr double kMostWhole = 9007199254740992.0;  // 2^53
  if (!(std::fabs(a) <= kMostWhole)) return false;
  out = static_cast<std::int64_t>(a);
  return true;
}

template <class Number>
bool gcd(Number a, Number b, Number& out) {
  std::int64_t x = 0;
  std::int64_t y = 0;
  if (!whole(a, x) || !whole(b, y) || x == kMin || y == kMin) return false;
  out = static_cast<Number>(std::gcd(x, y));
  return true;
}

template <class Number>
bool is_pow2(Number a, Number& out) {
  std::int64_t bits = 0;
  if (!whole(a, bits)) return false;
  out = bits > 0 && std::has_single_bit(static_cast<std::uint64_t>(bits)) ? 1 : 0;
  return true;
}

template <class Number>
bool log2_of(Number a, Number& out) {
  std::int64_t bits = 0;
  if (!whole(a, bits) || bits <= 0) return false;
  out = static_cast<Number>(std::bit_width(static_cast<std::uint64_t>(bits)) - 1);
  return true;
}

}  // namespace

int NameTable::intern(std::string_view name) {
  const int known = find(name);
  if (known >= 0) return known;
  names_.emplace_back(name);
  slots_.emplace(name, size() - 1);
  return size() - 1;
}

int NameTable::find(std::string_view name) const {
  const auto found = slots_.find(name);
  return found == slots_.end() ? -1 : found->second;
}

void NameTable::set_values(int slot, std::span<const std::int64_t> values) {
  const auto are = [&](auto is) { return std::ranges::all_of(values, is); };
  const Kind kind = are(is_boolean_value)                        ? Kind::boolean
                    : are(is_named_value)                        ? Kind::name
                    : std::ranges::any_of(values, is_real_value) ? Kind::real
                                                                 : Kind::integer;
  if (kind == Kind::integer) return;
  values_[slot] = {kind, {values.begin(), values.end()}};
  for (const std::int64_t value : values) {
    if (!is_named_value(value)) continue;
    tests_.insert_or_assign(fmt::format("{}.{}", name(slot), value_text(value)),
                            ValueTest{slot, value});
  }
}

NameTable::Kind NameTable::kind(int slot) const {
  const auto found = values_.find(slot);
  return found == values_.end() ? Kind::integer : found->second.kind;
}

std::span<const std::int64_t> NameTable::named_values(int slot) const {
  const auto found = values_.find(slot);
  if (found == values_.end() || found->second.kind != Kind::name) return {};
  return found->second.values;
}

bool NameTable::is_value_name(std::string_view name) const {
  return std::ranges::any_of(values_, [&](const auto& each) {
    return each.second.kind == Kind::name &&
           std::ranges::any_of(each.second.values,
                               [&](std::int64_t value) { return value_text(value) == name; });
  });
}

const NameTable::ValueTest* NameTable::find_test(std::string_view name) const {
  const auto found = tests_.find(name);
  return found == tests_.end() ? nullptr : &found->second;
}

std::vector<std::string> NameTable::test_names() const {
  std::vector<std::string> names;
  for (const auto& [name, test] : tests_) names.push_back(name);
  return names;
}

/// One evaluation of an expression: its place in the code, and the stack. Steps return false if
/// their result is undefined.
template <class Number>
class Expression::Evaluation {
 public:
  Evaluation(const std::vector<Op>& code, std::span<const Number> values)
      : begin_(code.data()), end_(begin_ + code.size()), values_(values) {}

  std::optional<Number> run() {
    std::array<Number, kMaxExpressionStack> stack;
    next_ = stack.data();
    for (op_ = begin_; op_ != end_; ++op_) {
      if (!step()) return std::nullopt;
    }
    return stack[0];
  }

 private:
  using Code = Op::Code;
  using RealCode = Op::RealCode;

  /// Runs the step at `op_`. One switch for all steps: a second switch for each kind of step made
  /// counting a space 8 to 15 % slower. At -O1, GCC would not inline the function.
  [[gnu::always_inline]] bool step() {
    switch (op_->code) {
      case Code::constant:
        return push(static_cast<Number>(op_->value));
      case Code::name:
        return push(values_[static_cast<std::size_t>(op_->operand)]);
      case Code::negate:
        return unary<negate>();
      case Code::logical_not:
        return unary<logical_not>();
      case Code::to_bool:
        return unary<to_bool>();
      case Code::add:
        return binary<add>();
      case Code::subtract:
        return binary<subtract>();
      case Code::multiply:
        return binary<multiply>();
      case Code::divide:
        return binary<divide>();
      case Code::remainder:
        return binary<remainder>();
      case Code::equal:
        return compare<std::equal_to<>>();
      case Code::not_equal:
        return compare<std::not_equal_to<>>();
      case Code::less:
        return compare<std::less<>>();
      case Code::less_equal:
        return compare<std::less_equal<>>();
      case Code::greater:
        return compare<std::greater<>>();
      case Code::greater_equal:
        return compare<std::greater_equal<>>();
      case Code::minimum:
        return binary<minimum>();
      case Code::maximum:
        return binary<maximum>();
      case Code::ceil_div:
        return binary<ceil_div>();
      case Code::round_up:
        return binary<round_up>();
      case Code::gcd:
        return binary<gcd>();
      case Code::is_pow2:
        return unary<is_pow2>();
      case Code::log2:
        return unary<log2_of>();
      case Code::abs:
        return unary<abs_of>();
      case Code::and_jump:
        return and_jump();
      case Code::or_jump:
        return or_jump();
      case Code::jump_if_zero:
        return jump_if_zero();
      case Code::jump:
        return jump();
      case Code::chain:
        return chain();
      case Code::item:
        return item();
      case Code::real:
        return real();
    }
    return false;
  }

  // The steps below are rare. In functions of their own, they do not slow down those above.

  [[gnu::noinline]] bool chain() {
    const Number right = *--next_;
    if (holds(static_cast<Code>(op_->detail), op_->is_real, next_[-1], right)) {
      next_[-1] = right;
      return true;
    }
    next_[-1] = 0;
    return jump();
  }

  [[gnu::noinline]] bool item() {
    const Number right = *--next_;
    if (!holds(Code::equal, op_->is_real, next_[-1], right)) return true;
    next_[-1] = 1;
    return jump();
  }

  [[gnu::noinline]] bool real() {
    switch (static_cast<RealCode>(op_->detail)) {
      case RealCode::literal:
        return push(of_double(std::bit_cast<double>(op_->value)));
      case RealCode::name:
        return push(of_double(number_in(values_[static_cast<std::size_t>(op_->operand)])));
      case RealCode::from_integer:
        next_[-1] = of_double(static_cast<double>(next_[-1]));
        return true;
      case RealCode::from_integer_below:
        next_[-2] = of_double(static_cast<double>(next_[-2]));
        return true;
      case RealCode::negate:
        return real_result(-as_double(next_[-1]));
      case RealCode::abs:
        return real_result(std::fabs(as_double(next_[-1])));
      case RealCode::floor:
        return integer_result(std::floor(as_double(next_[-1])));
      case RealCode::ceil:
        return integer_result(std::ceil(as_double(next_[-1])));
      case RealCode::round:
        return integer_result(std::round(as_double(next_[-1])));
      default:
        return real_binary();
    }
  }

  bool real_binary() {
    const Number bits = *--next_;
    const double right = as_double(bits);
    const double left = as_double(next_[-1]);
    switch (static_cast<RealCode>(op_->detail)) {
      case RealCode::add:
        return real_result(left + right);
      case RealCode::subtract:
        return real_result(left - right);
      case RealCode::multiply:
        return real_result(left * right);
      case RealCode::divide:
        return right != 0.0 && real_result(left / right);
      case RealCode::remainder:
        return right != 0.0 && real_result(std::fmod(left, right));
      case RealCode::minimum:
        return real_result(std::min(left, right));
      case RealCode::maximum:
        return real_result(std::max(left, right));
      case RealCode::compare:
        next_[-1] = holds(static_cast<Code>(op_->operand), true, next_[-1], bits) ? 1 : 0;
        return true;
      default:
        return false;
    }
  }

  static double as_double(Number number) {
    if constexpr (std::is_same_v<Number, double>) {
      return number;
    } else {
      return std::bit_cast<double>(number);
    }
  }

  static Number of_double(double number) {
    if constexpr (std::is_same_v<Number, double>) {
      return number;
    } else {
      return std::bit_cast<Number>(number);
    }
  }

  /// Of a slot.
  static double number_in(Number value) {
    if constexpr (std::is_same_v<Number, double>) {
      return value;
    } else {
      return number_of(value);
    }
  }

  bool real_result(double number) {
    next_[-1] = of_double(number);
    return std::isfinite(number);
  }

  bool integer_result(double number) {
    constexpr double kMost = 9223372036854775808.0;  // 2^63
    if (!(number >= -kMost && number < kMost)) return false;
    next_[-1] = static_cast<Number>(number);
    return true;
  }

  static bool holds(Code comparison, bool is_real, Number left, Number right) {
    return is_real ? compared(comparison, as_double(left), as_double(right))
                   : compared(comparison, left, right);
  }

  template <class Value>
  static bool compared(Code comparison, Value left, Value right) {
    switch (comparison) {
      case Code::equal:
        return left == right;
      case Code::not_equal:
        return left != right;
      case Code::less:
        return left < right;
      case Code::less_equal:
        return left <= right;
      case Code::greater:
        return left > right;
      case Code::greater_equal:
        return left >= right;
      default:
        return false;
    }
  }

  bool push(Number value) {
    *next_++ = value;
    return true;
  }

  bool jump() {
    op_ = begin_ + op_->operand - 1;
    return true;
  }

  bool pop() {
    --next_;
    return true;
  }

  bool and_jump() { return next_[-1] == 0 ? jump() : pop(); }

  bool or_jump() {
    if (next_[-1] == 0) return pop();
    next_[-1] = 1;
    return jump();
  }

  bool jump_if_zero() {
    pop();
    return *next_ != 0 || jump();
  }

  template <bool (*compute)(Number, Number&)>
  bool unary() {
    return compute(next_[-1], next_[-1]);
  }

  /// Puts `compute(left, right, out)` in the place of both operands.
  template <bool (*compute)(Number, Number, Number&)>
  bool binary() {
    const Number right = right_operand();
    return compute(next_[-1], right, next_[-1]);
  }

  template <class Holds>
  bool compare() {
    const Number right = right_operand();
    next_[-1] = Holds()(next_[-1], right) ? 1 : 0;
    return true;
  }

  Number right_operand() {
    switch (op_->right) {
      case Op::Right::stack:
        return *--next_;
      case Op::Right::constant:
        return static_cast<Number>(op_->value);
      case Op::Right::name:
        return values_[static_cast<std::size_t>(op_->operand)];
    }
    return 0;
  }

  const Op* begin_;
  const Op* end_;
  std::span<const Number> values_;
  const Op* op_ = nullptr;
  Number* next_ = nullptr;  ///< behind the value that was pushed last
};

std::optional<std::int64_t> Expression::evaluate(std::span<const std::int64_t> values) const {
  if (listing_) return is_listed(values) ? 1 : 0;
  return Evaluation<std::int64_t>(*code_, values).run();
}

std::optional<double> Expression::evaluate_real(std::span<const double> values) const {
  if (listing_) return is_listed(std::vector<std::int64_t>(values.begin(), values.end())) ? 1 : 0;
  return Evaluation<double>(*code_, values).run();
}

Expression Expression::listed(std::shared_ptr<const std::vector<std::vector<std::int64_t>>> rows,
                              const std::vector<int>& slots, std::string text) {
  Expression expression;
  expression.text_ = std::move(text);
  expression.names_used_ = slots;
  std::sort(expression.names_used_.begin(), expression.names_used_.end());
  expression.listing_ = std::make_shared<const Listing>(Listing{std::move(rows), slots});
  return expression;
}

bool Expression::is_listed(std::span<const std::int64_t> values) const {
  const auto& [rows, slots] = *listing_;
  const auto is_before = [&](const std::vector<std::int64_t>& row,
                             std::span<const std::int64_t> of) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::int64_t value = of[static_cast<std::size_t>(slots[i])];
      if (row[i] != value) return row[i] < value;
    }
    return false;
  };
  const auto found = std::lower_bound(rows->begin(), rows->end(), values, is_before);
  if (found == rows->end()) return false;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if ((*found)[i] != values[static_cast<std::size_t>(slots[i])]) return false;
  }
  return true;
}

}  // namespace kiln
