// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What references and checkers get, and pointers, against the parameters of kernels.

#include "templates/check/argument_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/templates/row_operation.hpp"

namespace kiln {
namespace {

using test::row_problem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ArgumentCheck, ParametersOfTheReferenceAreComparedWithItsArguments) {
  Operation operation = Operation::parse("row.cu", test::kRowOperation);
  const auto why = [&](const std::string& name) {
    return why_wrong_judges(operation, {name}, row_problem(3, 5));
  };
  EXPECT_EQ(why("_Z13row_referencePKdPdif"), "");
  EXPECT_EQ(why("row_reference"), "") << "extern \"C\": its source is read";
  operation.scalars[0].type = operation.judge.reference->args[3].type = NumberType::f16;
  EXPECT_EQ(why("_Z13row_referencePKdPdi6__half"), "");
  EXPECT_THAT(
      why("_Z13row_referencePKdPdif"),
      AllOf(StartsWith(
          "row.cu:17: argument 4 of row_reference, \"scale\", is a half, but the "
          "parameter is \"float\" (line 19). Next: write \"(float) scale\" in the \"args\" line, "
          "or change the parameter's type to \"half\".")));
  EXPECT_THAT(why("_Z13row_referencePKdPdi13__nv_bfloat16"), HasSubstr("is a half"));
  EXPECT_THAT(why("_Z13row_referencePKdPdi7__half2"),
              AllOf(StartsWith("row.cu:17: argument 4 of row_reference, \"scale\", is a half"),
                    HasSubstr("\"__half2\" (line 19). Next:")));
  operation.judge.reference->args[3].type = NumberType::boolean;
  EXPECT_EQ(why("_Z13row_referencePKdPdib"), "");
  EXPECT_THAT(why("_Z13row_referencePKdPdis"), HasSubstr("is a bool, but"));
  operation.judge.reference->args[3].type = NumberType::f32;
  EXPECT_THAT(
      why("_Z13row_referencePKfPdif"),
      StartsWith("row.cu:19: parameter 1 of row_reference is \"float*\", but the launch passes "
                 "\"x.f64\", whose elements are f64. Next:"));
  EXPECT_THAT(why("_Z13row_referencePKfPfif"), HasSubstr(" The same applies to parameter 2."));
}

TEST(ArgumentCheck, ABoolIsNoIntegerOfOneByte) {
  Operation operation = Operation::parse("row.cu", test::kRowOperation);
  const auto why = [&](NumberType scalar, const std::string& parameter) {
    operation.scalars[0].type = operation.judge.reference->args[3].type = scalar;
    return why_wrong_judges(operation, {"_Z13row_referencePKdPdi" + parameter}, row_problem(3, 5));
  };
  for (const NumberType byte : {NumberType::u8, NumberType::s8}) {
    EXPECT_THAT(
        why(byte, "b"),
        AllOf(StartsWith(
                  "row.cu:17: argument 4 of row_reference, \"scale\", is an integer of 1 byte"),
              HasSubstr("\"bool\" (line 19)"),
              HasSubstr("declare the scalar in row.cu as \"scalar scale bool = ...\"")));
  }
  EXPECT_EQ(why(NumberType::u8, "h"), "");
  EXPECT_EQ(why(NumberType::u8, "a"), "") << "signs do not matter";
  EXPECT_EQ(why(NumberType::boolean, "b"), "");
  EXPECT_THAT(why(NumberType::boolean, "h"),
              AllOf(HasSubstr("is a bool"), HasSubstr("\"unsigned char\" (line 19)"),
                    HasSubstr("\"(unsigned char) scale\"")));
}

TEST(ArgumentCheck, PointersToWideComplexAndDistantElementsAreCompared) {
  Operation operation = Operation::parse("row.cu", test::kRowOperation);
  for (ArgumentSpec& arg : operation.judge.reference->args) {
    if (arg.kind == ArgumentSpec::Kind::float64) arg.kind = ArgumentSpec::Kind::operand;
  }
  const auto why = [&](DType x, const std::string& pointer) {
    const auto lowered = "_Z13row_reference" + pointer + "Pfif";
    return why_wrong_judges(operation, {lowered}, row_problem(3, 5, x));
  };
  const std::string cuda_complex = "PKN4cuda3std3__47complexIfEE";
  EXPECT_EQ(why(DType::s16, "PKs"), "");
  EXPECT_EQ(why(DType::u16, "PKi"), "") << "two at a time";
  EXPECT_EQ(why(DType::u32, "PKj"), "");
  EXPECT_EQ(why(DType::s64, "PKl"), "") << "long is as wide";
  EXPECT_EQ(why(DType::u64, "PKy"), "");
  for (const auto& pointer : {std::string("PK6float2"), std::string("PKf"), cuda_complex}) {
    EXPECT_EQ(why(DType::cf32, pointer), "") << pointer;
  }
  EXPECT_EQ(why(DType::cf64, "PK7double2"), "");
  EXPECT_THAT(why(DType::s16, "PK6__half"), HasSubstr("\"__half*\""));
  EXPECT_THAT(why(DType::u32, "PKy"), HasSubstr("u32"));
  EXPECT_THAT(why(DType::s64, "PKi"), HasSubstr("s64"));
  EXPECT_THAT(why(DType::u64, "PKd"), HasSubstr("u64"));
  EXPECT_THAT(why(DType::cf32, "PKd"), HasSubstr("cf32"));
  EXPECT_THAT(why(DType::cf64, "PKf"), HasSubstr("cf64"));
  EXPECT_THAT(why(DType::f32, "PKPKf"), HasSubstr("write \"pointers\" after"));
  operation.operands[0].pointers = true;
  EXPECT_EQ(why(DType::f32, "PKPKf"), "");
  EXPECT_EQ(why(DType::f32, "PKPK6float4"), "");
  EXPECT_EQ(why(DType::f32, "PKv"), "") << "anything";
  EXPECT_EQ(why(DType::f32, "PKy"), "") << "addresses as numbers";
  EXPECT_THAT(
      why(DType::f32, "PKPKd"),
      AllOf(HasSubstr("\"double**\""), HasSubstr("pointers to arrays of f32. Next: "
                                                 "change the parameter's type, or change the type "
                                                 "of the operand x (row.cu:6, --x).")));
  EXPECT_THAT(why(DType::f32, "PKf"), HasSubstr("remove \"pointers\""));
}

}  // namespace
}  // namespace kiln
