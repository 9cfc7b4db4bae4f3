// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/epilogue/epilogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <thread>

#include "templates/epilogue/epilogue_value.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string canonical(std::string_view text) {
  return EpilogueExpression::parse(text).canonical();
}

std::string error_of(std::string_view text) {
  return error_text(ErrorKind::usage, [&] { (void)EpilogueExpression::parse(text); });
}

TEST(Epilogue, CanonicalTextDropsSpacesAndNeedlessParentheses) {
  EXPECT_EQ(canonical(" silu( (acc * alpha) + bias [ n ] ) "), "silu(acc*alpha+bias[n])");
  EXPECT_EQ(canonical("acc+(alpha*beta)"), "acc+alpha*beta");
  EXPECT_EQ(canonical("((acc))"), "acc");
  EXPECT_EQ(canonical("acc*1.50"), "acc*1.5");
  EXPECT_EQ(canonical("max(0, acc) / x[m, n]"), "max(0,acc)/x[m,n]");
  EXPECT_EQ(canonical("acc < 0 ? acc * 0.1 : acc"), "acc<0?acc*0.1:acc");
}

TEST(Epilogue, CanonicalTextKeepsParenthesesThatCount) {
  EXPECT_EQ(canonical("acc-(alpha-beta)"), "acc-(alpha-beta)");
  EXPECT_EQ(canonical("acc/(alpha/beta)"), "acc/(alpha/beta)");
  EXPECT_EQ(canonical("(acc+alpha)*beta"), "(acc+alpha)*beta");
  EXPECT_EQ(canonical("-(acc+alpha)"), "-(acc+alpha)");
  EXPECT_EQ(canonical("(acc<0?1:2)*acc"), "(acc<0?1:2)*acc");
  EXPECT_EQ(canonical("acc<0?1:alpha<0?2:3"), "acc<0?1:alpha<0?2:3");
}

TEST(Epilogue, OperandsComeInOrderOfAppearanceWithTheirTypes) {
  const auto expression = EpilogueExpression::parse("acc*s:f32[m]+bias[n]+s[m]+top[]-r:bf16[m,n]");
  ASSERT_EQ(expression.operands().size(), 4U);
  EXPECT_EQ(expression.operands()[0], (EpilogueSlot{"s", OperandExtent::row, DType::f32}));
  EXPECT_EQ(expression.operands()[1], (EpilogueSlot{"bias", OperandExtent::column, std::nullopt}));
  EXPECT_EQ(expression.operands()[2].extent, OperandExtent::one);
  EXPECT_EQ(expression.operands()[3].extent, OperandExtent::both);
  EXPECT_EQ(expression.canonical(DType::f16),
            "acc*s:f32[m]+bias:f16[n]+s:f32[m]+top:f16[]-r:bf16[m,n]");
  // Whole numbers of D are no type to add a bias in.
  EXPECT_EQ(expression.canonical(DType::s8),
            "acc*s:f32[m]+bias:f32[n]+s:f32[m]+top:f32[]-r:bf16[m,n]");
}

TEST(Epilogue, AmaxRecordsInAnOperandThatIsF32OrF64) {
  const auto expression = EpilogueExpression::parse(
      "amax( relu(acc + bias[n]), peak[ ] ) * s[] + amax(acc,all:f64[m])");
  ASSERT_EQ(expression.operands().size(), 4U);
  EXPECT_FALSE(expression.operands()[0].recorded);
  EXPECT_EQ(expression.operands()[1], (EpilogueSlot{"peak", OperandExtent::one, {}, true}));
  EXPECT_EQ(expression.canonical(), "amax(relu(acc+bias[n]),peak[])*s[]+amax(acc,all:f64[m])");
  EXPECT_EQ(expression.canonical(DType::f16),
            "amax(relu(acc+bias:f16[n]),peak:f32[])*s:f16[]+amax(acc,all:f64[m])");
  EXPECT_EQ(canonical("amax(acc,p[n])"), EpilogueExpression::parse("amax(acc,p[n])").canonical());
  EXPECT_EQ(EpilogueExpression::parse("amax(acc,p[n])").canonical(DType::f64),
            "amax(acc,p:f64[n])");
  EXPECT_EQ(EpilogueExpression::parse("amax(acc,p[n])").canonical(DType::s8), "amax(acc,p:f32[n])");
  const auto several =
      EpilogueExpression::parse("x[]+amax(acc,b[m])+amax(acc,c1[n])+amax(acc,d[])+amax(acc,e[m])");
  EXPECT_EQ(several.peaks(OperandExtent::one), 0b1000U);
  EXPECT_EQ(several.peaks(OperandExtent::row), 0b10010U);
  EXPECT_EQ(several.peaks(OperandExtent::column), 0b100U);
}

TEST(Epilogue, ErrorsOfAmaxPointAtThePlace) {
  EXPECT_EQ(
      error_of("amax(acc, peak[m,n])"),
      "epilogue: column 11: amax cannot record a number for each element of D. Next: write [] (one "
      "number for all of D), [m] (one for each row) or [n] (one for each column)\n  amax(acc, "
      "peak[m,n])\n            ^");
  EXPECT_THAT(error_of("amax(acc)"), HasSubstr("column 9: expected here: ','"));
  EXPECT_THAT(error_of("amax(acc peak[])"),
              AllOf(HasSubstr("column 10: "), HasSubstr("\"acc\" and \"peak\"")));
  EXPECT_THAT(error_of("max(acc 3)"),
              AllOf(HasSubstr("column 9: "), HasSubstr("\"acc\" and \"3\"")));
  EXPECT_THAT(error_of("(acc 3)"),
              AllOf(HasSubstr("column 6: an operator"), HasSubstr("\"acc\" and \"3\"")));
  EXPECT_THAT(error_of("acc bias[n]"),
              AllOf(HasSubstr("column 5: an operator"), HasSubstr("\"acc\" and \"bias\"")));
  EXPECT_THAT(error_of("amax(acc, 3)"),
              HasSubstr("column 11: expected here: the operand that amax"));
  EXPECT_THAT(error_of("amax(acc, alpha)"),
              HasSubstr("column 11: expected here: the operand that amax"));
  EXPECT_THAT(error_of("amax(acc, c[])"), HasSubstr("column 11: \"c\" is a reserved name"));
  EXPECT_THAT(error_of("amax(acc, p[], 1)"), HasSubstr("column 14: expected here: ')'"));
  EXPECT_THAT(error_of("amax(acc, p:f16[])"),
              HasSubstr("column 11: amax cannot record a maximum as"));
  EXPECT_THAT(error_of("amax[n]"), HasSubstr("column 1: \"amax\""));
  for (const char* twice : {"amax(acc,p[])*p[]", "amax(acc,p[])*p[m]", "amax(amax(acc,p[]),p[])"}) {
    EXPECT_THAT(error_of(twice), HasSubstr("\"p\" appears twice")) << twice;
  }
  EXPECT_THAT(error_of("p[]*amax(acc,p[])"), HasSubstr("column 14: \"p\""));
}

TEST(Epilogue, AmaxRecordsTheTypeThatIsComputedIn) {
  Gemm gemm = Gemm::of(DType::f16, 8, 8, 8);
  gemm.epilogue = Epilogue("amax(acc, p:f64[])");
  EXPECT_THAT(
      error_text(ErrorKind::usage, [&] { (void)normalised(gemm); }),
      HasSubstr("amax computes a maximum in f32, but the operand p has the type f64; write p:f32"));
  gemm = Gemm::of(DType::f64, 8, 8, 8);
  gemm.epilogue = Epilogue("amax(acc, p[])");
  EXPECT_EQ(to_problem(gemm).epilogue, "amax(acc,p:f64[])");
}

TEST(Epilogue, ErrorsPointAtThePlace) {
  EXPECT_THAT(error_of("silo(acc)"),
              AllOf(StartsWith("epilogue: column 1: unknown function \"silo\""),
                    EndsWith("\"silu\"?\n  silo(acc)\n  ^")));
  EXPECT_THAT(error_of("acc + bias"), AllOf(HasSubstr("column 7: "), HasSubstr("\"bias\"")));
  EXPECT_THAT(error_of("acc + bias"), HasSubstr("bias[n]"));
  EXPECT_THAT(error_of("alpa*acc"), HasSubstr("\"alpha\"?"));
  EXPECT_THAT(error_of("acc +"), HasSubstr("column 6: a number, a name or '(' is missing"));
  EXPECT_THAT(error_of("(acc"), HasSubstr("column 5: expected here: ')'"));
  EXPECT_THAT(error_of("acc )"), HasSubstr("column 5: expected here: an operator or the end"));
  EXPECT_THAT(error_of("2acc"), HasSubstr("column 2: a letter follows the number"));
  EXPECT_THAT(error_of("relu(acc,1)"), HasSubstr("relu takes 1 argument, not 2"));
  EXPECT_THAT(error_of("bias[k]"),
              HasSubstr("column 6: expected here: [n] (one element for each column"));
  EXPECT_THAT(error_of("bias[n,m]"), HasSubstr("[m,n]"));
  EXPECT_THAT(error_of("b:f61[n]"),
              HasSubstr("column 3: an operand of an epilogue cannot have the type \"f61\""));
  EXPECT_THAT(error_of("x[n]+x[m]"),
              HasSubstr("column 6: \"x\" appears earlier in the epilogue with different indices"));
  EXPECT_THAT(error_of("acc[n]"), HasSubstr("column 1: \"acc\""));
  EXPECT_THAT(error_of("acc<0"), HasSubstr("a comparison with '<' needs"));
  EXPECT_THAT(error_of("relu"), HasSubstr("relu is a function"));
  EXPECT_THAT(error_of("1e999"), HasSubstr("not a finite number"));
  EXPECT_THAT(error_of("a[]+b[]+d[]+e[]+f[]+g[]+h[]"),
              HasSubstr("too many operands; the limit is 6"));
  EXPECT_THAT(error_of(""), HasSubstr("missing"));
  EXPECT_THAT(error_of("acc\x01+"), HasSubstr("column 4"));
  EXPECT_THAT(error_of(std::string(60, '(') + "acc"), HasSubstr("nested"));
  EXPECT_THAT(error_of(std::string(1001, ' ')), HasSubstr("the limit is 1000"));
}

TEST(Epilogue, DeviceCode) {
  EXPECT_EQ(EpilogueExpression::parse("silu(acc*2+bias[n])").device_code(DType::bf16),
            "kiln::epilogue::silu((((x).acc * (x).number(2.0)) + "
            "(x).template of_column<0, __nv_bfloat16>()))");
  EXPECT_EQ(EpilogueExpression::parse("acc>=0?acc:-acc").device_code(DType::f32),
            "kiln::epilogue::select(kiln::epilogue::less_equal((x).number(0.0), (x).acc), (x).acc, "
            "(-(x).acc))");
}

TEST(Epilogue, DeviceCodeOfAmax) {
  EXPECT_EQ(EpilogueExpression::parse("amax(-acc,p[])+amax(amax(acc,r[m]),q[n])")
                .device_code(DType::bf16),
            "((x).template amax_only<0>((-(x).acc)) + "
            "(x).template amax_of_column<2>((x).template amax_of_row<1>((x).acc)))");
}

TEST(Epilogue, EqualExpressionsAreOneHandle) {
  const Epilogue first("relu(acc)");
  EXPECT_EQ(first, Epilogue(" relu( (acc) )"));
  EXPECT_NE(first, Epilogue("relu(-acc)"));
  EXPECT_NE(first, Epilogue());
  EXPECT_TRUE(Epilogue("").is_default());
  std::vector<std::thread> threads;
  std::vector<Epilogue> made(8);
  for (auto& one : made) threads.emplace_back([&one] { one = Epilogue("tanh(acc*alpha)"); });
  for (auto& thread : threads) thread.join();
  for (const auto& one : made) EXPECT_EQ(one, made.front());
}

TEST(Epilogue, IsPartOfTheProblem) {
  Gemm gemm = Gemm::of(DType::bf16, 64, 64, 64);
  gemm.reads_c = true;
  gemm.epilogue = Epilogue("relu(acc + bias[n])");
  const Problem problem = to_problem(gemm);
  // C is not named, so it is not read.
  EXPECT_EQ(problem.trait("reads_c"), 0);
  EXPECT_EQ(problem.epilogue, "relu(acc+bias:bf16[n])");
  EXPECT_THAT(problem.kind_text(), HasSubstr("reads_c=0 epilogue=relu(acc+bias:bf16[n])"));
  EXPECT_EQ(Problem::parse(problem.canonical()), problem);
  gemm.epilogue = Epilogue("acc + c");
  EXPECT_EQ(to_problem(gemm).trait("reads_c"), 1);
  EXPECT_NE(to_problem(gemm).kind_text(), problem.kind_text());
}

TEST(EpilogueValue, BoundsCoverWhatFloatComputes) {
  // A product whose kernel has something a little off: the bound must reach from the exact value
  // to what float arithmetic makes of the perturbed one.
  const auto expression =
      EpilogueExpression::parse("gelu_tanh(acc*alpha)+exp(-abs(acc))/(1+acc*acc)-silu(acc)*0.3");
  for (int i = -400; i <= 400; ++i) {
    const double exact = i * 0.0173;
    const double error = 1e-5 * std::fabs(exact) + 1e-7;
    using Number = epilogue::Bounded<float>;
    const Number bounded = evaluate<float>(
        expression,
        [&](std::string_view name) { return name == "acc" ? Number(exact, error) : Number(1.5F); },
        [](int) { return Number(0.0F); }, [](int, const Number&) {});
    for (const double offset : {-error, 0.0, error}) {
      const auto x = static_cast<float>(exact + offset);
      const float y = x * 1.5F;
      const float gelu = y / (1.0F + std::exp(-y * (1.5957691F + 0.07135482F * y * y)));
      const float result =
          gelu + std::exp(-std::fabs(x)) / (1.0F + x * x) - x / (1.0F + std::exp(-x)) * 0.3F;
      EXPECT_LE(std::fabs(static_cast<double>(result) - bounded.value), bounded.error) << exact;
    }
    EXPECT_LT(bounded.error, 1e-3) << "a bound that large proves nothing at " << exact;
  }
}

TEST(EpilogueValue, BothSidesOfAChoiceAreRecorded) {
  const auto expression = EpilogueExpression::parse("acc<1?amax(acc,p[]):amax(acc*-4,q[])");
  using Number = epilogue::Bounded<float>;
  std::vector<double> recorded(2);
  const Number chosen = evaluate<float>(
      expression, [](std::string_view) { return Number(0.5F); }, [](int) { return Number(); },
      [&](int index, const Number& value) {
        recorded[static_cast<std::size_t>(index)] = value.value;
      });
  EXPECT_EQ(chosen.value, 0.5);
  EXPECT_EQ(recorded, (std::vector<double>{0.5, -2.0}));
}

TEST(EpilogueValue, AnUncertainChoiceCoversBothSides) {
  const auto expression = EpilogueExpression::parse("acc<1?5:acc");
  using Number = epilogue::Bounded<float>;
  const auto at = [&](double value, double error) {
    return evaluate<float>(
        expression, [&](std::string_view) { return Number(value, error); },
        [](int) { return Number(); }, [](int, const Number&) {});
  };
  EXPECT_LT(at(0.5, 0.1).error, 1e-6);
  EXPECT_GE(at(0.95, 0.1).error, 4.0);
  // Equal numbers are no uncertain case where both are exact.
  EXPECT_EQ(at(1.0, 0.0).value, 1.0);
  EXPECT_EQ(at(1.0, 0.0).error, 0.0);
}

// Zero times an infinite bound is no number, which no result would meet.
TEST(EpilogueValue, AnUnknownErrorStaysUnknown) {
  using Number = epilogue::Bounded<float>;
  const Number product = evaluate<float>(
      EpilogueExpression::parse("0*(1/acc)"), [](std::string_view) { return Number(0.5, 1.0); },
      [](int) { return Number(); }, [](int, const Number&) {});
  EXPECT_EQ(product.value, 0.0);
  EXPECT_EQ(product.error, epilogue::unknown_error());
}

/// Random trees in text, with more parentheses than needed.
std::string random_text(int depth) {
  const int choice = *rc::gen::inRange(0, depth > 0 ? 9 : 4);
  switch (choice) {
    case 0:
      return "acc";
    case 1:
      return "alpha";
    case 2:
      return *rc::gen::element<std::string>("0.5", "2", "1e-3", "7.25");
    case 3:
      return *rc::gen::element<std::string>("bias[n]", "s:f32[m]", "r[m,n]", "t[]", "c");
    case 4:
      return "(" + random_text(depth - 1) + ")";
    case 5:
      return "-" + random_text(depth - 1);
    case 6:
      return *rc::gen::element<std::string>("silu", "abs", "tanh") + "(" + random_text(depth - 1) +
             ")";
    case 7:
      return "(" + random_text(depth - 1) + "<" + random_text(depth - 1) + "?" +
             random_text(depth - 1) + ":" + random_text(depth - 1) + ")";
    default:
      return random_text(depth - 1) + *rc::gen::element<std::string>("+", "-", "*", "/") +
             random_text(depth - 1);
  }
}

RC_GTEST_PROP(EpilogueProperty, CanonicalTextMeansTheSame, ()) {
  const std::string text = "amax(" + random_text(3) + ",peak[m])/" + random_text(2);
  const auto expression = EpilogueExpression::parse(text);
  const std::string once = expression.canonical();
  const auto again = EpilogueExpression::parse(once);
  RC_ASSERT(again.canonical() == once);
  RC_ASSERT(again.device_code(DType::f16) == expression.device_code(DType::f16));
  RC_ASSERT(once.find(' ') == std::string::npos);
}

RC_GTEST_PROP(EpilogueProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  try {
    (void)EpilogueExpression::parse(text);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::usage);
  }
}

}  // namespace
}  // namespace kiln
