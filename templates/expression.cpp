// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "templates/expression_code.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// Each returns false if the result is undefined, and then leaves `out` unchanged.

bool add(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b > 0 ? a > kMax - b : a < kMin - b) return false;
  out = a + b;
  return true;
}

bool subtract(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b < 0 ? a > kMax + b : a < kMin + b) return false;
  out = a - b;
  return true;
}

bool multiply(std::int64_t a, std::int64_t b, std::int64_t& out) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  const bool small = a >= -kHalf && a < kHalf && b >= -kHalf && b < kHalf;
  if (!small && a != 0 && b != 0) {
    if (a == -1 || b == -1) {
      if (a == kMin || b == kMin) return false;
    } else if (a > 0) {
      if (b > 0 ? a > kMax / b : b < kMin / a) return false;
    } else if (b > 0 ? a < kMin / b : a < kMax / b) {
      return false;
    }
  }
  out = a * b;
  return true;
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
  std::size_t top = 0;  // number of values on the stack
  const Op* const code = code_->data();
  const std::size_t length = code_->size();

  for (std::size_t at = 0; at < length; ++at) {
    const Op& op = code[at];
    if (op.code == Code::constant) {
      stack[top++] = static_cast<Number>(op.value);
      continue;
    }
    if (op.code == Code::name) {
      stack[top++] = values[static_cast<std::size_t>(op.operand)];
      continue;
    }
    Number& last = stack[top - 1];
    bool defined = true;
    switch (op.code) {
      case Code::negate:
        defined = subtract(Number{0}, last, last);
        break;
      case Code::logical_not:
        last = last == 0;
        break;
      case Code::to_bool:
        last = last != 0;
        break;
      case Code::is_pow2:
        defined = is_pow2(last, last);
        break;
      case Code::log2:
        defined = log2_of(last, last);
        break;
      case Code::abs:
        if (last < 0) defined = subtract(Number{0}, last, last);
        break;
      case Code::and_jump:
        if (last == 0) {
          at = static_cast<std::size_t>(op.operand) - 1;
        } else {
          --top;
        }
        break;
      case Code::or_jump:
        if (last != 0) {
          last = 1;
          at = static_cast<std::size_t>(op.operand) - 1;
        } else {
          --top;
        }
        break;
      case Code::jump_if_zero:
        if (last == 0) at = static_cast<std::size_t>(op.operand) - 1;
        --top;
        break;
      case Code::jump:
        at = static_cast<std::size_t>(op.operand) - 1;
        break;
      default: {  // the binary operators
        const Number right = last;
        Number& left = stack[--top - 1];
        switch (op.code) {
          case Code::add:
            defined = add(left, right, left);
            break;
          case Code::subtract:
            defined = subtract(left, right, left);
            break;
          case Code::multiply:
            defined = multiply(left, right, left);
            break;
          case Code::divide:
            defined = divide(left, right, left);
            break;
          case Code::remainder:
            defined = remainder(left, right, left);
            break;
          case Code::equal:
            left = left == right;
            break;
          case Code::not_equal:
            left = left != right;
            break;
          case Code::less:
            left = left < right;
            break;
          case Code::less_equal:
            left = left <= right;
            break;
          case Code::greater:
            left = left > right;
            break;
          case Code::greater_equal:
            left = left >= right;
            break;
          case Code::minimum:
            left = std::min(left, right);
            break;
          case Code::maximum:
            left = std::max(left, right);
            break;
          case Code::ceil_div:
            defined = ceil_div(left, right, left);
            break;
          case Code::round_up:
            defined = round_up(left, right, left);
            break;
          case Code::gcd:
            defined = gcd(left, right, left);
            break;
          default:
            break;
        }
      }
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
