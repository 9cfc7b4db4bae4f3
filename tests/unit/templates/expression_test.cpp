// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/expression/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Value = std::optional<std::int64_t>;

/// With tile_k = 32, tile_m = 128, device.sm = 90, zero = 0. In floating point it is the same, as
/// long as the result is exact there.
Value evaluate(std::string_view text) {
  NameTable names;
  std::vector<std::int64_t> values;
  const auto name = [&](std::string_view spelling, std::int64_t value) {
    names.intern(spelling);
    values.push_back(value);
  };
  name("tile_k", 32);
  name("tile_m", 128);
  name("device.sm", 90);
  name("zero", 0);
  const Expression expression = Expression::parse(text, names, {"test.cu", 7, 12});
  const Value value = expression.evaluate(values);
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (value && *value >= -kExact && *value <= kExact) {
    const std::vector<double> real(values.begin(), values.end());
    EXPECT_EQ(expression.evaluate_real(real), static_cast<double>(*value)) << text;
  }
  return value;
}

std::optional<double> evaluate_real(std::string_view text) {
  return Expression::parse(text, NameTable(), {"test.cu", 7, 12}).evaluate_real({});
}

std::string why_refused(std::string_view text) {
  return error_text(ErrorKind::template_, [&] { (void)evaluate(text); });
}

TEST(Expression, Values) {
  EXPECT_EQ(evaluate("42"), 42);
  EXPECT_EQ(evaluate("0x1F"), 31);
  EXPECT_EQ(evaluate("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(evaluate("true + true + false"), 2);
  EXPECT_EQ(evaluate("tile_m"), 128);
  EXPECT_EQ(evaluate("device.sm >= 80"), 1);
  EXPECT_EQ(evaluate("  tile_m\t/ tile_k "), 4);
}

TEST(Expression, Precedence) {
  EXPECT_EQ(evaluate("2 + 3 * 4"), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4"), 20);
  EXPECT_EQ(evaluate("20 - 5 - 3"), 12);
  EXPECT_EQ(evaluate("100 / 5 / 2"), 10);
  EXPECT_EQ(evaluate("-3 * -2"), 6);
  EXPECT_EQ(evaluate("- -3"), 3);
  EXPECT_EQ(evaluate("1 + 1 == 2"), 1);
  EXPECT_EQ(evaluate("(1 < 2) == true"), 1);
  EXPECT_EQ(evaluate("1 || 0 && 0"), 1);
  EXPECT_EQ(evaluate("(1 || 0) && 0"), 0);
  EXPECT_EQ(evaluate("!0 && !!7"), 1);
  EXPECT_EQ(evaluate("!tile_m == zero"), 1);
  EXPECT_EQ(evaluate("1 != 2"), 1);
}

TEST(Expression, LogicGivesZeroOrOne) {
  EXPECT_EQ(evaluate("5 && 7"), 1);
  EXPECT_EQ(evaluate("5 || 7"), 1);
  EXPECT_EQ(evaluate("0 || 7"), 1);
  EXPECT_EQ(evaluate("0 || 0"), 0);
  EXPECT_EQ(evaluate("7 && 0"), 0);
  EXPECT_EQ(evaluate("1 && 2 && 3 || 0"), 1);
  EXPECT_EQ(evaluate("(5 && 7) + (5 || 0)"), 2);
}

TEST(Expression, Choice) {
  EXPECT_EQ(evaluate("1 ? 10 : 20"), 10);
  EXPECT_EQ(evaluate("zero ? 10 : 20"), 20);
  EXPECT_EQ(evaluate("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(evaluate("1 ? 0 ? 1 : 2 : 3"), 2);
  EXPECT_EQ(evaluate("2 * (tile_m > tile_k ? 3 : 4) + 1"), 7);
}

// A constant or a name on the right becomes part of its operator, unless a jump leads behind it.
TEST(Expression, AChoiceMayBeARightOperand) {
  for (const auto& [text, value] :
       std::vector<std::pair<const char*, std::int64_t>>{{"10 - (1 ? 2 : 3)", 8},
                                                         {"10 - (0 ? 2 : 3)", 7},
                                                         {"min(10, 1 ? 2 : 3)", 2},
                                                         {"min(10, 0 ? 2 : 3, 5)", 3},
                                                         {"ceil_div(10, 0 ? 2 : 3)", 4},
                                                         {"10 + (0 && 3)", 10},
                                                         {"10 + (2 || 3)", 11},
                                                         {"1 ? 10 - 3 : 4", 7}}) {
    EXPECT_EQ(evaluate(text), value) << text;
  }
}

TEST(Expression, DivisionTruncates) {
  EXPECT_EQ(evaluate("-7 / 2"), -3);
  EXPECT_EQ(evaluate("-7 % 2"), -1);
  EXPECT_EQ(evaluate("7 / -2"), -3);
}

TEST(Expression, Functions) {
  EXPECT_EQ(evaluate("min(3, 1, 2)"), 1);
  EXPECT_EQ(evaluate("max(3, 1, 2, 9)"), 9);
  EXPECT_EQ(evaluate("ceil_div(7, 2)"), 4);
  EXPECT_EQ(evaluate("ceil_div(8, 2)"), 4);
  EXPECT_EQ(evaluate("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(evaluate("ceil_div(-7, -2)"), 4);
  EXPECT_EQ(evaluate("round_up(7, 4)"), 8);
  EXPECT_EQ(evaluate("round_up(8, 4)"), 8);
  EXPECT_EQ(evaluate("gcd(12, 18)"), 6);
  EXPECT_EQ(evaluate("gcd(0, 5)"), 5);
  EXPECT_EQ(evaluate("gcd(-12, 18)"), 6);
  EXPECT_EQ(evaluate("is_pow2(64)"), 1);
  EXPECT_EQ(evaluate("is_pow2(48) + is_pow2(0) + is_pow2(-8)"), 0);
  EXPECT_EQ(evaluate("log2(1)"), 0);
  EXPECT_EQ(evaluate("log2(1023)"), 9);
  EXPECT_EQ(evaluate("abs(-5) + abs(5)"), 10);
  EXPECT_EQ(evaluate("min (tile_m, max(tile_k, 64))"), 64);
}

TEST(Expression, UndefinedValues) {
  for (const auto* text : {"1 / zero",
                           "1 % zero",
                           "ceil_div(1, zero)",
                           "round_up(1, zero)",
                           "log2(0)",
                           "log2(-1)",
                           "9223372036854775807 + 1",
                           "-9223372036854775807 - 2",
                           "9223372036854775807 * 2",
                           "-(-9223372036854775807 - 1)",
                           "(-9223372036854775807 - 1) / -1",
                           "(-9223372036854775807 - 1) % -1",
                           "abs(-9223372036854775807 - 1)",
                           "gcd(-9223372036854775807 - 1, 0)",
                           "(-9223372036854775807 - 1) * -1",
                           "-1 * (-9223372036854775807 - 1)",
                           "round_up(9223372036854775807, 2)",
                           "4294967296 * 4294967296",
                           "1 / zero || 1",
                           "1 && 1 / zero",
                           "1 / zero ? 1 : 2"}) {
    EXPECT_EQ(evaluate(text), std::nullopt) << text;
  }
}

TEST(Expression, RealNumbersDoNotOverflow) {
  EXPECT_EQ(evaluate("9223372036854775807 * 4"), std::nullopt);
  EXPECT_EQ(evaluate_real("9223372036854775807 * 4"), 0x1p65);
  EXPECT_EQ(evaluate_real("-7 / 2"), -3.0) << "division truncates all the same";
  EXPECT_EQ(evaluate_real("ceil_div(7, 2) + round_up(9, 4)"), 16.0);
  EXPECT_EQ(evaluate_real("1 / 0"), std::nullopt);
  EXPECT_EQ(evaluate_real("1 % 0"), std::nullopt);
  EXPECT_EQ(evaluate_real("log2(0)"), std::nullopt);
  EXPECT_EQ(evaluate_real("gcd(4611686018427387904, 2)"), std::nullopt)
      << "has no exact bits there";
}

TEST(Expression, WhatIsNotReachedMayBeUndefined) {
  EXPECT_EQ(evaluate("zero != 0 && 10 / zero > 1"), 0);
  EXPECT_EQ(evaluate("zero == 0 || 10 / zero > 1"), 1);
  EXPECT_EQ(evaluate("zero == 0 ? 5 : 10 / zero"), 5);
}

TEST(Expression, ExtremesThatFit) {
  EXPECT_EQ(evaluate("-9223372036854775807 - 1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(evaluate("3037000499 * 3037000499"), 9223372030926249001);
  EXPECT_EQ(evaluate("-4294967296 * 2147483648"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(evaluate("4294967296 * 2147483648"), std::nullopt);
}

TEST(Expression, NamesUsed) {
  NameTable names;
  for (const auto* name : {"a", "b", "c", "d"}) names.intern(name);
  EXPECT_EQ(names.intern("b"), 1);
  EXPECT_EQ(names.find("x"), -1);
  const auto expression = Expression::parse(" d * (a + d) - 3 ", names, {"x", 1, 1});
  EXPECT_EQ(expression.names_used(), (std::vector<int>{0, 3}));
  EXPECT_EQ(expression.text(), " d * (a + d) - 3");
}

TEST(ExpressionError, ShowsPlaceLineAndCaret) {
  EXPECT_THAT(why_refused("tile_m + tiel_k"),
              AllOf(StartsWith("test.cu:7:21: "), HasSubstr("\"tiel_k\""),
                    EndsWith("\"tile_k\"?\n  tile_m + tiel_k\n           ^")));
}

TEST(ExpressionError, ASiblingOfANameIsNotTakenForItsTypo) {
  NameTable names;
  for (const auto* name : {"rows", "tile_x", "tile_h"}) names.intern(name);
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] {
                           (void)Expression::parse("tile_y", names, {"test.cu", 1, 1});
                         }),
              HasSubstr("unknown name \"tile_y\"; there are rows, tile_x, tile_h\n"));
  for (int i = 0; i < 20; ++i) names.intern("a" + std::to_string(i));
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] {
                           (void)Expression::parse("tile_y", names, {"test.cu", 1, 1});
                         }),
              HasSubstr("\"tile_x\"?"));
}

TEST(ExpressionError, ShowsTheWholeLineWhenKnown) {
  NameTable names;
  const SourcePlace place{"test.cu", 3, 15, "//@ require    1 +"};
  EXPECT_EQ(error_text(ErrorKind::template_, [&] { (void)Expression::parse("1 +", names, place); }),
            "test.cu:3:18: a value is missing at the end of the expression\n"
            "  //@ require    1 +\n"
            "                   ^");
}

TEST(ExpressionError, SaysWhatIsWrong) {
  EXPECT_THAT(why_refused(""), HasSubstr(":12: an expression is missing"));
  EXPECT_THAT(why_refused("1 )"), HasSubstr(":14: expected here: an operator or the end"));
  EXPECT_THAT(why_refused("(1 + 2"), HasSubstr("expected here: ')'"));
  EXPECT_THAT(why_refused("1 + )"), HasSubstr("expected here: a value"));
  EXPECT_THAT(why_refused("1 ? 2"), HasSubstr(":17: expected here: ':'"));
  EXPECT_THAT(why_refused("1 == 1 < 1"), HasSubstr(":19: C++ and Python read this chain"));
  EXPECT_THAT(why_refused("tile_m = 3"), HasSubstr("write '=='"));
  EXPECT_THAT(why_refused("1 & 2"), HasSubstr("write '&&'"));
  EXPECT_THAT(why_refused("9223372036854775808"), HasSubstr("64 bits"));
  for (const char* number : {"12ab", "0x", "0x-5"}) {
    EXPECT_THAT(why_refused(number), HasSubstr("not an integer")) << number;
  }
  EXPECT_THAT(why_refused("mix(1, 2)"), HasSubstr("unknown function \"mix\""));
  EXPECT_THAT(why_refused("min(1)"), HasSubstr("at least two arguments"));
  EXPECT_THAT(why_refused("gcd(1)"), HasSubstr("gcd takes 2 arguments, not 1"));
  EXPECT_THAT(why_refused("log2(1, 2)"), HasSubstr("log2 takes 1 argument, not 2"));
  EXPECT_THAT(why_refused("min(1, 2"), HasSubstr("to close the arguments of min"));
  EXPECT_THAT(why_refused("completely_different"), Not(HasSubstr("did you mean")));
}

TEST(ExpressionError, SaysThatACommaOrAnOperatorIsMissing) {
  EXPECT_EQ(why_refused("ceil_div(tile_m 4)"),
            "test.cu:7:28: a comma or an operator is missing between \"tile_m\" and \"4\"\n"
            "  ceil_div(tile_m 4)\n"
            "                  ^");
  EXPECT_THAT(why_refused("min(1, (2) device.sm)"), HasSubstr("\")\" and \"device.sm\""));
  EXPECT_THAT(why_refused("1 2"), HasSubstr(":14: an operator (or, in a list, a comma) is missing "
                                            "between \"1\" and \"2\""));
  EXPECT_THAT(why_refused("(tile_m 4)"),
              HasSubstr(": an operator is missing between \"tile_m\" and \"4\""));
  EXPECT_THAT(why_refused("tile_m (4)"), HasSubstr("\"tile_m\" and \"(\""));
  EXPECT_THAT(why_refused("ceil_div(tile_m ? 4)"), HasSubstr(":31: expected here: ':'"));
}

TEST(ExpressionError, BoundsItsDepth) {
  std::string right_heavy;
  for (int i = 0; i < 90; ++i) right_heavy += "1 + (";
  for (const std::string& deep : {std::string(10000, '('), std::string(10000, '-') + "1",
                                  right_heavy + "1" + std::string(90, ')')}) {
    EXPECT_THAT(why_refused(deep), HasSubstr("is nested too deeply")) << deep.substr(0, 5);
  }
  std::string sum = "1";
  for (int i = 0; i < 10000; ++i) sum += " + 1";
  EXPECT_EQ(evaluate(sum), 10001);
}

}  // namespace
}  // namespace kiln
