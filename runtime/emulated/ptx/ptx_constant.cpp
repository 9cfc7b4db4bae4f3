// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_constant.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <fmt/format.h>

namespace kiln::ptx {

namespace {

// Those of C, with its precedences; a higher one binds tighter.
struct Operator {
  std::string_view mark;
  int precedence;
};
constexpr std::array<Operator, 18> kOperators{{{"||", 1},
                                               {"&&", 2},
                                               {"|", 3},
                                               {"^", 4},
                                               {"&", 5},
                                               {"==", 6},
                                               {"!=", 6},
                                               {"<", 7},
                                               {">", 7},
                                               {"<=", 7},
                                               {">=", 7},
                                               {"<<", 8},
                                               {">>", 8},
                                               {"+", 9},
                                               {"-", 9},
                                               {"*", 10},
                                               {"/", 10},
                                               {"%", 10}}};

int precedence_of(const Token& token) {
  if (token.kind != Token::Kind::mark) return 0;
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [&](const Operator& each) { return each.mark == token.text; });
  return found == kOperators.end() ? 0 : found->precedence;
}

Constant truth(bool value) {
  return {false, false, value ? 1U : 0U};
}
Constant of_real(double value) {
  return {true, false, std::bit_cast<std::uint64_t>(value)};
}
double real_of(const Constant& value) {
  if (value.real) return std::bit_cast<double>(value.bits);
  return value.is_unsigned ? static_cast<double>(value.bits)
                           : static_cast<double>(value.as_signed());
}

std::uint64_t divided(const Token& op, const Constant& a, const Constant& b, bool is_unsigned) {
  const bool remainder = op.text == "%";
  if (b.bits == 0) fail_at(op, "a division by zero");
  if (is_unsigned) return remainder ? a.bits % b.bits : a.bits / b.bits;
  // The one quotient that overflows; the host would trap.
  if (b.as_signed() == -1) return remainder ? 0 : 0 - a.bits;
  return static_cast<std::uint64_t>(remainder ? a.as_signed() % b.as_signed()
                                              : a.as_signed() / b.as_signed());
}

std::uint64_t shifted(std::string_view mark, const Constant& a, std::uint64_t by) {
  if (mark == "<<") return by > 63 ? 0 : a.bits << by;
  if (a.is_unsigned) return by > 63 ? 0 : a.bits >> by;
  return static_cast<std::uint64_t>(a.as_signed() >> std::min<std::uint64_t>(by, 63));
}

template <class T>
bool compared(std::string_view mark, T a, T b) {
  if (mark == "==") return a == b;
  if (mark == "!=") return a != b;
  if (mark == "<") return a < b;
  if (mark == ">") return a > b;
  return mark == "<=" ? a <= b : a >= b;
}

// All of them are doubles: f32 exists only as the result of an instruction.
Constant combined_reals(const Token& op, double a, double b) {
  if (op.text == "+") return of_real(a + b);
  if (op.text == "-") return of_real(a - b);
  if (op.text == "*") return of_real(a * b);
  if (op.text == "/") {
    if (b == 0) fail_at(op, "a division by zero");
    return of_real(a / b);
  }
  const int precedence = precedence_of(op);
  if (precedence != 6 && precedence != 7) {
    fail_at(op, fmt::format("the operator '{}' does not accept floating-point numbers", op.text));
  }
  return truth(compared(op.text, a, b));
}

// Sums and products wrap as two's complement, so that the sign matters only where it is asked for.
Constant combined(const Token& op, const Constant& a, const Constant& b) {
  if (a.real || b.real) return combined_reals(op, real_of(a), real_of(b));
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const std::string_view mark = op.text;
  if (mark == "+") return {false, is_unsigned, a.bits + b.bits};
  if (mark == "-") return {false, is_unsigned, a.bits - b.bits};
  if (mark == "*") return {false, is_unsigned, a.bits * b.bits};
  if (mark == "/" || mark == "%") return {false, is_unsigned, divided(op, a, b, is_unsigned)};
  if (mark == "<<" || mark == ">>") return {false, a.is_unsigned, shifted(mark, a, b.bits)};
  if (mark == "&") return {false, true, a.bits & b.bits};
  if (mark == "|") return {false, true, a.bits | b.bits};
  if (mark == "^") return {false, true, a.bits ^ b.bits};
  if (mark == "&&") return truth(a.bits != 0 && b.bits != 0);
  if (mark == "||") return truth(a.bits != 0 || b.bits != 0);
  return truth(is_unsigned ? compared(mark, a.bits, b.bits)
                           : compared(mark, a.as_signed(), b.as_signed()));
}

class ConstantReader {
 public:
  explicit ConstantReader(Lexer& lexer) : lexer_(lexer) {}

  /// Both sides are evaluated, which only matters for a division by zero in the other one.
  Constant conditional() {
    const Nesting nesting(depth_, lexer_.peek());
    const Constant condition = binary(1);
    if (!lexer_.accept("?")) return condition;
    const Constant yes = conditional();
    lexer_.expect(":");
    const Constant no = conditional();
    return condition.bits != 0 ? yes : no;
  }

 private:
  /// Precedence climbing: operators of at least this precedence, from left to right.
  Constant binary(int lowest) {
    Constant left = unary();
    for (int precedence = 0; (precedence = precedence_of(lexer_.peek())) >= lowest;) {
      const Token op = lexer_.take();
      left = combined(op, left, binary(precedence + 1));
    }
    return left;
  }

  Constant unary() {
    const Token op = lexer_.peek();
    if (!op.is("-") && !op.is("+") && !op.is("!") && !op.is("~")) return primary();
    lexer_.take();
    const Nesting nesting(depth_, op);
    Constant value = unary();
    if (op.text == "!") return truth(real_of(value) == 0);
    if (op.text == "~" && value.real)
      fail_at(op, "the operator '~' does not accept floating-point numbers");
    if (op.text == "~") value.bits = ~value.bits;
    if (op.text == "-") value.bits = value.real ? value.bits ^ (1ULL << 63U) : 0 - value.bits;
    return value;
  }

  Constant primary() {
    const Token token = lexer_.peek();
    if (token.kind == Token::Kind::integer || token.kind == Token::Kind::real) {
      lexer_.take();
      const bool large =
          token.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      const bool real = token.kind == Token::Kind::real;
      return {real, !real && (token.is_unsigned || large), token.bits};
    }
    if (lexer_.accept("WARP_SZ")) return {false, false, 32};
    if (!lexer_.accept("(")) lexer_.fail_expected("a constant");
    if (lexer_.at_directive()) return cast();
    const Constant value = conditional();
    lexer_.expect(")");
    return value;
  }

  Constant cast() {
    const Token type = lexer_.take();
    if (type.text != ".s64" && type.text != ".u64")
      fail_at(type, "a constant can be cast only to .s64 or .u64");
    lexer_.expect(")");
    const Nesting nesting(depth_, type);
    Constant value = unary();
    if (value.real) fail_at(type, "only integers can be cast");
    value.is_unsigned = type.text == ".u64";
    return value;
  }

  Lexer& lexer_;
  int depth_ = 0;
};

}  // namespace

bool starts_constant(const Token& token) {
  if (token.kind == Token::Kind::integer || token.kind == Token::Kind::real) return true;
  if (token.kind == Token::Kind::word) return token.text == "WARP_SZ";
  return token.is("-") || token.is("+") || token.is("~") || token.is("(");
}

Constant read_constant(Lexer& lexer) {
  return ConstantReader(lexer).conditional();
}

std::int64_t read_integer_constant(Lexer& lexer) {
  const Token first = lexer.peek();
  const Constant value = read_constant(lexer);
  if (value.real) fail_at(first, "this constant must be an integer");
  return value.as_signed();
}

}  // namespace kiln::ptx
