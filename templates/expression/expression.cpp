// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "templates/expression/expression_code.hpp"

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

template <class Number>
std::optional<Number> Expression::run(std::span<const Number> values) const {
  using Code = Op::Code;
  std::array<Number, kMaxExpressionStack> stack;
  Number* next = stack.data();  // behind the value that was pushed last
  const Op* const code = code_->data();
  const Op* const end = code + code_->size();

  for (const Op* op = code; op != end; ++op) {
    const auto jump = [&] { op = code + op->operand - 1; };
    // Puts `compute(left, right, out)` in the place of both operands.
    const auto replace = [&](auto compute) {
      Number right = 0;
      switch (op->right) {
        case Op::Right::stack:
          right = *--next;
          break;
        case Op::Right::constant:
          right = static_cast<Number>(op->value);
          break;
        case Op::Right::name:
          right = values[static_cast<std::size_t>(op->operand)];
          break;
      }
      return compute(next[-1], right, next[-1]);
    };
    const auto compare = [&](auto holds) {
      return replace([&](Number left, Number right, Number& out) {
        out = holds(left, right) ? 1 : 0;
        return true;
      });
    };
    bool defined = true;
    switch (op->code) {
      case Code::constant:
        *next++ = static_cast<Number>(op->value);
        break;
      case Code::name:
        *next++ = values[static_cast<std::size_t>(op->operand)];
        break;
      case Code::negate:
        defined = subtract(Number{0}, next[-1], next[-1]);
        break;
      case Code::logical_not:
        next[-1] = next[-1] == 0;
        break;
      case Code::to_bool:
        next[-1] = next[-1] != 0;
        break;
      case Code::is_pow2:
        defined = is_pow2(next[-1], next[-1]);
        break;
      case Code::log2:
        defined = log2_of(next[-1], next[-1]);
        break;
      case Code::abs:
        if (next[-1] < 0) defined = subtract(Number{0}, next[-1], next[-1]);
        break;
      case Code::and_jump:
        if (next[-1] == 0) {
          jump();
        } else {
          --next;
        }
        break;
      case Code::or_jump:
        if (next[-1] != 0) {
          next[-1] = 1;
          jump();
        } else {
          --next;
        }
        break;
      case Code::jump_if_zero:
        if (*--next == 0) jump();
        break;
      case Code::jump:
        jump();
        break;
      case Code::add:
        defined = replace([](auto a, auto b, auto& out) { return add(a, b, out); });
        break;
      case Code::subtract:
        defined = replace([](auto a, auto b, auto& out) { return subtract(a, b, out); });
        break;
      case Code::multiply:
        defined = replace([](auto a, auto b, auto& out) { return multiply(a, b, out); });
        break;
      case Code::divide:
        defined = replace([](auto a, auto b, auto& out) { return divide(a, b, out); });
        break;
      case Code::remainder:
        defined = replace([](auto a, auto b, auto& out) { return remainder(a, b, out); });
        break;
      case Code::equal:
        compare(std::equal_to<>());
        break;
      case Code::not_equal:
        compare(std::not_equal_to<>());
        break;
      case Code::less:
        compare(std::less<>());
        break;
      case Code::less_equal:
        compare(std::less_equal<>());
        break;
      case Code::greater:
        compare(std::greater<>());
        break;
      case Code::greater_equal:
        compare(std::greater_equal<>());
        break;
      case Code::minimum:
        replace([](auto a, auto b, auto& out) {
          out = std::min(a, b);
          return true;
        });
        break;
      case Code::maximum:
        replace([](auto a, auto b, auto& out) {
          out = std::max(a, b);
          return true;
        });
        break;
      case Code::ceil_div:
        defined = replace([](auto a, auto b, auto& out) { return ceil_div(a, b, out); });
        break;
      case Code::round_up:
        defined = replace([](auto a, auto b, auto& out) { return round_up(a, b, out); });
        break;
      case Code::gcd:
        defined = replace([](auto a, auto b, auto& out) { return gcd(a, b, out); });
        break;
    }
    if (!defined) return std::nullopt;
  }
  return stack[0];
}

std::optional<std::int64_t> Expression::evaluate(std::span<const std::int64_t> values) const {
  return run<std::int64_t>(values);
}

std::optional<double> Expression::evaluate_real(std::span<const double> values) const {
  return run<double>(values);
}

}  // namespace kiln
