// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which problems are an operation's.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/operation.hpp"
#include "templates/template_names.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kSoftmaxOperation;
using test::replaced;
using test::softmax_problem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const Problem& problem, const std::string& text = kSoftmaxOperation) {
  const Operation operation = Operation::parse("soft.cu", text);
  return error_text(ErrorKind::usage, [&] { operation.check(problem); });
}

TEST(OperationCheck, TakesItsProblems) {
  const Operation operation = Operation::parse("soft.cu", kSoftmaxOperation);
  operation.check(softmax_problem(1, 1));
  operation.check(softmax_problem(65536, 4096));
  find_operation("gemm")->check(to_problem(Gemm::of(DType::f16, 100, 70, 64)));
}

TEST(OperationCheck, NamesWhatIsOutside) {
  EXPECT_THAT(
      refusal(softmax_problem(0, 1)),
      AllOf(HasSubstr("does not fit the operation soft: rows is 0, but must be from 1 to 65536"),
            HasSubstr("kiln operations soft")));
  EXPECT_THAT(refusal(softmax_problem(1, 4097)),
              AllOf(HasSubstr("cols is 4097"), HasSubstr("1 to 4096")));
  Problem problem = softmax_problem(1, 1);
  problem.types[0].type = DType::f64;
  EXPECT_THAT(refusal(problem), HasSubstr("x is f64, but the allowed types are f32 f16 bf16"));
  problem = softmax_problem(1, 1);
  problem.traits[0].value = 2;
  EXPECT_THAT(refusal(problem), HasSubstr("masked is 2, but the allowed values are 0 1"));
  problem = softmax_problem(1, 1);
  problem.operation = "gemm";
  EXPECT_THAT(refusal(problem), HasSubstr("the problem names the operation \"gemm\""));
  problem = softmax_problem(1, 1);
  problem.epilogue = "x";
  EXPECT_THAT(refusal(problem), HasSubstr("only gemm"));
}

TEST(OperationCheck, ComplexNumbersHaveNoOrder) {
  const std::string text = replaced(replaced(kSoftmaxOperation, "x f32", "x cf32"),
                                    "rows, cols; fill uniform", "rows, cols; fill sorted 0 9");
  Problem problem = softmax_problem(3, 5);
  problem.types[0].type = DType::cf32;
  EXPECT_THAT(
      refusal(problem, text),
      HasSubstr(
          "the operand x is filled with \"sorted\" numbers, but complex numbers have no order"));
}

TEST(OperationCheck, NamesWhatIsMissingOrTooMuch) {
  Problem problem = softmax_problem(1, 1);
  problem.sizes.pop_back();
  EXPECT_THAT(refusal(problem), HasSubstr("has no size \"cols\""));
  problem = softmax_problem(1, 1);
  problem.types.pop_back();
  EXPECT_THAT(refusal(problem), HasSubstr("has no type \"m\""));
  problem = softmax_problem(1, 1);
  problem.sizes.push_back({"colls", 1});
  EXPECT_THAT(refusal(problem), AllOf(HasSubstr("no size \"colls\""), HasSubstr("\"cols\"?")));
  problem = softmax_problem(1, 1);
  problem.sizes.push_back({"cols", 1});
  EXPECT_THAT(refusal(problem), HasSubstr("the size \"cols\" is given twice"));
}

TEST(OperationCheck, PackedTypesNeedAnOperationOfKilnsOwn) {
  Problem problem = softmax_problem(1, 1);
  problem.types[0].type = DType::u4;
  const std::string any = replaced(kSoftmaxOperation, "x f32 f16 bf16 ", "x ");
  EXPECT_THAT(refusal(problem, any), HasSubstr("x is u4, a packed type"));
}

TEST(OperationCheck, OperandsCanBeInMemory) {
  const std::string less = replaced(kSoftmaxOperation, "x in: rows, cols", "x in: rows, cols - 2");
  EXPECT_THAT(refusal(softmax_problem(3, 1), less),
              HasSubstr("the extent \"cols - 2\" of the operand x is -1"));
  const std::string much =
      replaced(kSoftmaxOperation, "x in: rows, cols", "x in: rows * 1000000000, cols * 100000");
  EXPECT_THAT(refusal(softmax_problem(65536, 4096), much), HasSubstr("more than 2^63 bytes"));
  const std::string undefined =
      replaced(kSoftmaxOperation, "x in: rows, cols", "x in: rows, cols / (rows - 1)");
  EXPECT_THAT(refusal(softmax_problem(1, 1), undefined), HasSubstr("is undefined"));
  const std::string empty = replaced(kSoftmaxOperation, "(cols - 1)", "(cols - 2)");
  EXPECT_THAT(refusal(softmax_problem(2, 1), empty), HasSubstr("from 0 to -1"));
  // One that takes no part need not be.
  Problem unmasked = softmax_problem(2, 1);
  unmasked.traits[0].value = 0;
  Operation::parse("soft.cu", empty).check(unmasked);
}

TEST(OperationCheck, AFillIsWithinItsTypeAndHasItsLine) {
  const auto filled = [](DType type, const std::string& fill) {
    const std::string text =
        replaced(replaced(kSoftmaxOperation, "x f32", "x f32 u8 s16 u16"), "fill uniform", fill);
    Problem problem = softmax_problem(3, 5);
    problem.types[0].type = type;
    return refusal(problem, text);
  };
  EXPECT_THAT(filled(DType::s16, "fill integers 0 40000"),
              HasSubstr("soft.cu:15: the operand x cannot be filled with numbers"));
  EXPECT_THAT(filled(DType::s16, "fill integers 0 40000"),
              AllOf(HasSubstr("from 0 to 40000"), HasSubstr("-32768 to 32767")));
  EXPECT_THAT(filled(DType::u8, "fill sorted 0 1000"), HasSubstr("0 to 255"));
  EXPECT_THAT(filled(DType::u16, "fill integers (0 - 5) 5"), HasSubstr("0 to 65535"));
  EXPECT_THAT(
      filled(DType::f32, "fill integers 0 (0 - 1)"),
      ::testing::AllOf(HasSubstr("soft.cu:15: "), HasSubstr("write the smaller number first")));
}

TEST(OperationCheck, FlopsAndBytesAreNotNegative) {
  const std::string less = replaced(kSoftmaxOperation, "5 * rows * cols", "5 * rows * (cols - 9)");
  EXPECT_THAT(refusal(softmax_problem(2, 1), less),
              HasSubstr("the value of \"flops\" is -80, but must be finite and not negative; "
                        "correct the line \"flops 5 * rows * (cols "
                        "- 9)\" of soft.cu"));
  Operation::parse("soft.cu", less).check(softmax_problem(2, 9));
  const std::string fewer = replaced(kSoftmaxOperation, "//@ flops", "//@ bytes -rows\n//@ flops");
  EXPECT_THAT(refusal(softmax_problem(2, 1), fewer), HasSubstr("\"bytes\" is -2"));
}

TEST(OperationCheck, TemplatesKnowDerivedSizes) {
  const Operation operation = Operation::parse("soft.cu", kSoftmaxOperation);
  const auto names = problem_names(operation);
  const auto limits = limits_of_arch("90a").value();
  const auto values = problem_values(operation, softmax_problem(3, 9), limits);
  ASSERT_EQ(values.size(), static_cast<std::size_t>(names.size()));
  EXPECT_EQ(values[static_cast<std::size_t>(names.find("quarters"))], 3);
  EXPECT_EQ(values[static_cast<std::size_t>(names.find("cols"))], 9);
  EXPECT_EQ(values[static_cast<std::size_t>(names.find("device.sm"))], 90);
  EXPECT_EQ(values[static_cast<std::size_t>(names.find("type.s32"))], static_cast<int>(DType::s32));
}

RC_GTEST_PROP(OperationCheckProperty, WhatIsTakenHasValues,
              (std::int64_t rows, std::int64_t cols, std::int64_t masked)) {
  static const Operation operation = Operation::parse("soft.cu", kSoftmaxOperation);
  Problem problem = softmax_problem(rows, cols);
  problem.traits[0].value = masked;
  const bool is_inside =
      rows >= 1 && rows <= 65536 && cols >= 1 && cols <= 4096 && (masked == 0 || masked == 1);
  try {
    operation.check(problem);
    RC_ASSERT(is_inside);
    RC_ASSERT(operation.flops(problem) > 0.0);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::usage);
    RC_ASSERT(!is_inside);
  }
}

}  // namespace
}  // namespace kiln
