// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "templates/expression/expression.hpp"

namespace kiln {

/// One step of the postfix program that an expression becomes.
struct Expression::Op {
  enum class Code : std::uint8_t {
    constant,  // pushes `value`
    name,      // pushes the value of slot `operand`
    negate,
    logical_not,
    to_bool,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    minimum,
    maximum,
    ceil_div,
    round_up,
    gcd,
    is_pow2,
    log2,
    abs,
    and_jump,      // top is 0: stay 0 and go to `operand`; else pop
    or_jump,       // top is not 0: become 1 and go to `operand`; else pop
    jump_if_zero,  // pop; go to `operand` if it was 0
    jump,          // go to `operand`
    chain,         // a below b: if `detail` (a comparison) holds, keep b; else 0, go to `operand`
    item,          // x below y: if they are equal, 1, go to `operand`; else keep x
    real,          // `detail` (a RealCode), on doubles
  };

  /// Steps on doubles. Between steps on int64_t, the stack holds their bits.
  enum class RealCode : std::uint8_t {
    literal,             // pushes the double whose bits are `value`
    name,                // pushes the number in slot `operand`
    from_integer,        // turns the top into a double
    from_integer_below,  // likewise what is below the top
    negate,
    abs,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    minimum,
    maximum,
    compare,  // by the comparison in `operand`
    floor,    // to an integer, as are ceil and round
    ceil,
    round,
  };

  /// Where a binary operator finds its right operand; the left one is on the stack.
  enum class Right : std::uint8_t { stack, constant, name };

  Code code = Code::constant;
  Right right = Right::stack;
  std::uint8_t detail = 0;
  bool is_real = false;  ///< chain and item: whether they compare doubles
  std::int32_t operand = 0;
  std::int64_t value = 0;
};

/// Values that an expression may have pending at once. The parser refuses what needs more, so that
/// evaluation works on a fixed array.
inline constexpr int kMaxExpressionStack = 64;

}  // namespace kiln
