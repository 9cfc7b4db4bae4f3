// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

bool ceil_div(std::int64_t a, std::int64_t b, std::int64_t& out) {
  std::int64_t quotient = 0;
  if (!divide(a, b, quotient)) return false;
  const bool rounded_down = a % b != 0 && (a < 0) == (b < 0);
  out = rounded_down ? quotient + 1 : quotient;
  return true;
}

bool round_up(std::int64_t a, std::int64_t b, std::int64_t& out) {
  std::int64_t steps = 0;
  return ceil_div(a, b, steps) && multiply(steps, b, out);
}

bool gcd(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (a == kMin || b == kMin) return false;
  out = std::gcd(a, b);
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

std::optional<std::int64_t> Expression::evaluate(std::span<const std::int64_t> values) const {
  using Code = Op::Code;
  std::array<std::int64_t, kMaxExpressionStack> stack;
  std::size_t top = 0;  // number of values on the stack
  const Op* const code = code_->data();
  const std::size_t length = code_->size();

  for (std::size_t at = 0; at < length; ++at) {
    const Op& op = code[at];
    if (op.code == Code::constant) {
      stack[top++] = op.value;
      continue;
    }
    if (op.code == Code::name) {
      stack[top++] = values[static_cast<std::size_t>(op.operand)];
      continue;
    }
    std::int64_t& last = stack[top - 1];
    bool defined = true;
    switch (op.code) {
      case Code::negate:
        defined = subtract(0, last, last);
        break;
      case Code::logical_not:
        last = last == 0;
        break;
      case Code::to_bool:
        last = last != 0;
        break;
      case Code::is_pow2:
        last = last > 0 && std::has_single_bit(static_cast<std::uint64_t>(last));
        break;
      case Code::log2:
        defined = last > 0;
        if (defined) last = std::bit_width(static_cast<std::uint64_t>(last)) - 1;
        break;
      case Code::abs:
        if (last < 0) defined = subtract(0, last, last);
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
        const std::int64_t right = last;
        std::int64_t& left = stack[--top - 1];
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

}  // namespace kiln
