// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What front matter has in common with Python's restrictions: words, chains, lists; and decimal
// numbers, booleans and names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Tunables of each kind: layout (aos, soa), unroll, ratio (0.25, 2), n, x = 3, zero.
struct Typed {
  Typed() {
    add("n", 48);
    add("x", 3);
    add("zero", 0);
    add("layout", *value_of_name("soa"));
    add("other", *value_of_name("aos"));
    add("unroll", value_of_bool(false));
    add("ratio", *parse_value("0.25"));
    add("scale", 2);
    names.set_values(names.find("layout"), std::vector{*value_of_name("aos"), *value_of_name("soa"),
                                                       *value_of_name("n")});
    names.set_values(names.find("other"),
                     std::vector{*value_of_name("aos"), *value_of_name("blocked")});
    names.set_values(names.find("unroll"), std::vector{value_of_bool(false), value_of_bool(true)});
    names.set_values(names.find("ratio"), std::vector{*parse_value("0.25"), *parse_value("0.5")});
    names.set_values(names.find("scale"), std::vector{std::int64_t{2}, *parse_value("0.5")});
  }
  void add(std::string_view name, std::int64_t value) {
    names.intern(name);
    values.push_back(value);
  }
  [[nodiscard]] std::optional<std::int64_t> evaluate(std::string_view text) const {
    return Expression::parse(text, names, {"x", 1, 1}).evaluate(values);
  }
  [[nodiscard]] std::string refusal(std::string_view text) const {
    return error_text(ErrorKind::template_, [&] {
      (void)Expression::parse(text, names, {"x.cu", 1, 1});
    });
  }

  NameTable names;
  std::vector<std::int64_t> values;
};

void expect_all(const Typed& typed, std::int64_t value, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) EXPECT_EQ(typed.evaluate(text), value) << text;
}

TEST(ExpressionWords, AreOperators) {
  const Typed typed;
  expect_all(typed, 1,
             {"n == 48 and x == 3", "n == 1 or x == 3", "not n == 1", "not zero",
              "not (n == 1) and x == 3", "zero or not zero and x", "(not zero) == 1", "not not x",
              "n == 48 && x == 3 or zero"});
  expect_all(typed, 0, {"not n == 48", "n == 48 and not x == 3", "not n == 48 or zero", "!x == 1"});
  EXPECT_EQ(typed.evaluate("zero == 0 or 1 / zero"), 1) << "short-circuit";
  EXPECT_EQ(typed.evaluate("zero and 1 / zero"), 0);
}

TEST(ExpressionWords, BelongToNamesThatBeginWithThem) {
  NameTable names;
  for (const auto* name : {"notes", "order", "in", "android"}) names.intern(name);
  const std::vector<std::int64_t> values{1, 2, 3, 4};
  const auto evaluate = [&](std::string_view text) {
    return Expression::parse(text, names, {"x", 1, 1}).evaluate(values);
  };
  EXPECT_EQ(evaluate("notes + order + android"), 7);
  EXPECT_EQ(evaluate("in in (2, 3)"), 1) << "a name where a value belongs";
  EXPECT_EQ(evaluate("order in (in, android)"), 0);
}

TEST(ExpressionChains, MeanWhatTheyMeanInPython) {
  const Typed typed;
  expect_all(
      typed, 1,
      {"32 <= n <= 64", "32 <= n * 2 <= 96", "1 < x < n < 100", "x == 3 == 3", "64 >= n > x >= 3",
       "(1 < x) == 1", "0 < 1 < 2 && 2 < x <= 3", "not 1 < 2 < 2", "x > 1 ? 1 < x < 4 : 0"});
  expect_all(
      typed, 0,
      {"32 <= n <= 40", "64 <= n <= 100", "3 == x == 1", "1 < 2 < 2", "5 < 4 < 9", "2 > 1 > 1"});
  EXPECT_EQ(typed.evaluate("5 < 4 < 1 / zero"), 0) << "short-circuit";
  EXPECT_EQ(typed.evaluate("4 < 5 < 1 / zero"), std::nullopt);
}

TEST(ExpressionChains, OfMixedComparisonsAreRefused) {
  const Typed typed;
  EXPECT_THAT(typed.refusal("1 == x < 3"),
              AllOf(HasSubstr("x.cu:1:8: "), HasSubstr("parentheses")));
  EXPECT_THAT(typed.refusal("1 < x in (1, 2)"), HasSubstr("parentheses"));
  EXPECT_THAT(typed.refusal("x in (1, 2) == 1"), HasSubstr("parentheses"));
  EXPECT_EQ(typed.evaluate("(x in (1, 3)) == 1"), 1);
}

TEST(ExpressionLists, AreSearched) {
  const Typed typed;
  expect_all(
      typed, 1,
      {"x in (1, 2, 3)", "x in [3]", "x in (3,)", "x not in (1, 2)", "not x in (1, 2)",
       "x + 1 in (n / 12, 9)", "x in (1, 3) && n not in [1]", "x not in (4) and n in (48,)"});
  expect_all(typed, 0, {"x in (1, 2)", "x not in (1, 3)", "x in [n]", "!(x in (3, 4))"});
  EXPECT_THAT(typed.refusal("x in ()"), HasSubstr("the list has no values"));
  EXPECT_THAT(typed.refusal("x in 3"), HasSubstr("a list of values, such as (1, 2, 4)"));
  EXPECT_THAT(typed.refusal("x in (1, 2"), HasSubstr("to close the list"));
  EXPECT_THAT(typed.refusal("x in (1 2)"), HasSubstr("is missing between \"1\" and \"2\""));
  EXPECT_THAT(typed.refusal("x not 3"), HasSubstr("x.cu:1:3: "));
  EXPECT_THAT(typed.refusal("x == not n"), HasSubstr("(not a)"));
}

TEST(ExpressionKinds, NamesAreComparedWithTheirTunable) {
  const Typed typed;
  expect_all(typed, 1,
             {"layout == soa", "soa == layout", "layout != aos", "layout in (aos, soa)",
              "layout not in (aos, n)", "layout.soa", "layout == soa || zero", "layout != other",
              "other == aos and layout != n", "layout == soa ? 1 : 2"});
  expect_all(typed, 0, {"layout == aos", "layout == n", "layout in [aos]", "not layout == soa"});
  EXPECT_THAT(typed.refusal("layout == sao"),
              AllOf(HasSubstr("x.cu:1:11: "),
                    HasSubstr("\"sao\" is not a value of layout; the values are: aos, soa, n")));
  EXPECT_THAT(typed.refusal("blocked == layout"),
              HasSubstr("\"blocked\" is not a value of layout"));
  EXPECT_THAT(typed.refusal("layout"),
              HasSubstr("compare layout with one of them, as in: layout == aos"));
  EXPECT_THAT(typed.refusal("layout + 1 == 2"), HasSubstr("the values of layout are names"));
  EXPECT_THAT(typed.refusal("layout == 1"), HasSubstr("the values of layout are names"));
  EXPECT_THAT(typed.refusal("n == soa"), HasSubstr("\"soa\" is a value of a tunable"));
  EXPECT_THAT(typed.refusal("soa"), HasSubstr("tunable == soa"));
  EXPECT_THAT(typed.refusal("layout < soa"), HasSubstr("== and !="));
  EXPECT_THAT(typed.refusal("soa in (layout)"), HasSubstr("the tunable belongs before \"in\""));
  EXPECT_THAT(typed.refusal("n == nothing"), HasSubstr("unknown name \"nothing\""));
}

TEST(ExpressionKinds, BooleansAreConditions) {
  const Typed typed;
  expect_all(typed, 1,
             {"!unroll", "not unroll", "unroll == false", "unroll == 0", "unroll in (False,)",
              "unroll || n == 48", "unroll + 1"});
  expect_all(typed, 0, {"unroll", "unroll == true", "unroll and n", "unroll.true"});
}

TEST(ExpressionKinds, DecimalNumbersAreComparedAndRounded) {
  const Typed typed;
  expect_all(typed, 1,
             {"ratio == 0.25", "ratio < 0.5", "ratio * 4 == 1", "n * ratio == 12",
              "0 < ratio <= 0.25", "ratio in (0.5, 0.25)", "ratio not in (1, 2.0)", "scale == 2",
              "scale * ratio == .5", "1e3 == 1000", "0.5f + ratio == 75e-2",
              "min(ratio, 1) == 0.25", "max(1, ratio) == 1", "abs(-ratio) == ratio",
              "floor(2.9) + ceil(0.1) == 3", "-ratio < 0", "(zero ? ratio : 1.5) == 1.5"});
  EXPECT_EQ(typed.evaluate("floor(n * ratio)"), 12);
  EXPECT_EQ(typed.evaluate("round(2.5)"), 3);
  EXPECT_EQ(typed.evaluate("round(n)"), 48) << "of an integer, itself";
  EXPECT_EQ(typed.evaluate("ceil(n / 5.0)"), 10);
  EXPECT_EQ(typed.evaluate("n / 5"), 9) << "integers divide as in C++";
  EXPECT_EQ(typed.evaluate("32 % (1.0 * 8 * 8 / 128) == 0"), 1) << "a real quotient, as in Python";
  EXPECT_EQ(typed.evaluate("32 % (8 * 8 / 128) == 0"), std::nullopt) << "the quotient is 0";
  EXPECT_EQ(typed.evaluate("floor(1.0 / zero)"), std::nullopt);
  EXPECT_EQ(typed.evaluate("floor(1e300)"), std::nullopt);
  EXPECT_EQ(typed.evaluate("1e300 * 1e300 > 0"), std::nullopt);
}

TEST(ExpressionKinds, DecimalNumbersAreNotIntegers) {
  const Typed typed;
  for (const char* text :
       {"ratio", "n * 0.5", "ratio || x", "x && 0.5", "!ratio", "ratio ? 1 : 2", "not ratio"}) {
    EXPECT_THAT(typed.refusal(text), HasSubstr("decimal number")) << text;
  }
  EXPECT_THAT(typed.refusal("ceil_div(n, ratio)"), HasSubstr("x.cu:1:13: \"ceil_div\" needs"));
  EXPECT_THAT(typed.refusal("zero ? 1 : 0.5"), HasSubstr("x.cu:1:8: one result of '?'"));
  EXPECT_THAT(typed.refusal("1.2.3"), HasSubstr("not a number"));
  EXPECT_THAT(typed.refusal("0.1234567890123456"), HasSubstr("at most 15 digits"));
  EXPECT_THAT(typed.refusal("n // 2"), HasSubstr("\"//\" is not an operator"));
  const auto rounded =
      Expression::parse("n * 0.26", typed.names, {"x", 1, 1}, Expression::Real::rounded_up);
  EXPECT_EQ(rounded.evaluate(typed.values), 13) << "a cost";
}

TEST(ExpressionKinds, RealEvaluationAgrees) {
  const Typed typed;
  const std::vector<double> values{48, 3, 0, 0, 0, 0, 0, 0};
  for (const char* text : {"32 <= n <= 64", "x in (1, 3)", "not zero", "floor(n * 0.5) == 24"}) {
    EXPECT_EQ(Expression::parse(text, typed.names, {"x", 1, 1}).evaluate_real(values), 1.0) << text;
  }
}

}  // namespace
}  // namespace kiln
