// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/operation.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kStencil = R"(// Five points of a grid.
//@ operation  stencil
//@ purpose    Weighted sum of each point and its neighbours: y = w x
//@ size       height 3..65536   // points
//@ size       width
//@ type       x   // of the grid
//@ type       y
//@ trait      wraps 0 1  // beyond an edge: zeros, the other edge
//@ operand    x in: height,
//@                width
//@ operand    y inout: height - 2, width - 2; when wraps == 0
//@ flops      9 * (height - 2) *
//@              (width - 2)
)";

/// kStencil with one text in place of another.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kStencil;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  return error_text(ErrorKind::template_, [&] { (void)Operation::parse("s.cu", text); });
}

Problem stencil(std::int64_t height, std::int64_t width, std::int64_t wraps) {
  Problem problem;
  problem.operation = "stencil";
  problem.sizes = {{"height", height}, {"width", width}};
  problem.types = {{"x", DType::f32}, {"y", DType::f16}};
  problem.traits = {{"wraps", wraps}};
  return problem;
}

TEST(Operation, IsWhatItsFileDeclares) {
  const Operation operation = Operation::parse("s.cu", kStencil);
  EXPECT_EQ(operation.name, "stencil");
  EXPECT_EQ(operation.purpose, "Weighted sum of each point and its neighbours: y = w x");
  EXPECT_THAT(operation.size_names(), ElementsAre("height", "width"));
  EXPECT_EQ(operation.sizes[0].least, 3);
  EXPECT_EQ(operation.sizes[0].most, 65536);
  EXPECT_EQ(operation.sizes[0].comment, "points");
  EXPECT_EQ(operation.sizes[1].least, 1);
  EXPECT_EQ(operation.sizes[1].most, 2147483647);
  EXPECT_THAT(operation.type_slots(), ElementsAre("x", "y"));
  EXPECT_THAT(operation.trait_names(), ElementsAre("wraps"));
  EXPECT_THAT(operation.traits[0].values, ElementsAre(0, 1));
  ASSERT_EQ(operation.operands.size(), 2U);
  EXPECT_EQ(operation.operands[0].extents.size(), 2U);
  EXPECT_EQ(operation.operand("y")->role, OperandRole::inout);
  EXPECT_EQ(operation.operand("z"), nullptr);
}

TEST(Operation, CostsFollowFromItsLines) {
  const Operation operation = Operation::parse("s.cu", kStencil);
  EXPECT_EQ(operation.flops(stencil(10, 20, 0)), 9.0 * 8 * 18);
  // What is read and written counts twice.
  EXPECT_EQ(operation.bytes(stencil(10, 20, 0)), 4.0 * 10 * 20 + 2 * 2.0 * 8 * 18);
  EXPECT_EQ(operation.bytes(stencil(10, 20, 1)), 4.0 * 10 * 20) << "y takes no part";
  const Operation stated =
      Operation::parse("s.cu", std::string(kStencil) + "//@ bytes  width * x_bytes / 3\n");
  EXPECT_EQ(stated.bytes(stencil(10, 20, 0)), 26.0) << "division truncates, as everywhere";
}

TEST(Operation, CostsExceedSixtyFourBits) {
  constexpr std::int64_t kLong = 2147483647;
  const auto problem = to_problem(Gemm::of(DType::f16, kLong, kLong, kLong));
  const double exact = 2.0 * kLong * kLong * static_cast<double>(kLong);
  EXPECT_DOUBLE_EQ(find_operation("gemm")->flops(problem), exact);
}

TEST(Operation, AProblemThatLacksANameCostsNothing) {
  const Operation operation = Operation::parse("s.cu", kStencil);
  Problem problem = stencil(10, 20, 0);
  problem.sizes.pop_back();
  EXPECT_EQ(operation.flops(problem), 0.0);
  EXPECT_EQ(operation.bytes(problem), 0.0);
}

TEST(Operation, WithoutElementsToWriteThereAreNoResults) {
  const Operation operation = Operation::parse("s.cu", kStencil);
  EXPECT_FALSE(operation.has_no_results(stencil(5, 5, 0)));
  EXPECT_TRUE(operation.has_no_results(stencil(5, 2, 0)));
  EXPECT_TRUE(operation.has_no_results(stencil(5, 5, 1))) << "y is left out";
  (void)test::row_operation();
  EXPECT_EQ(why_nothing_to_tune(test::row_problem(3, 5)), "");
  EXPECT_EQ(why_nothing_to_tune(test::row_problem(3, 0)),
            "nothing to tune: every output has 0 elements, so a launch does nothing");
}

TEST(Operation, MistakesAreShownWhereTheyAre) {
  EXPECT_THAT(complaint(with("//@ flops", "//@ flop")),
              AllOf(HasSubstr("s.cu:12:5: "), HasSubstr("\"flops\"?")));
  EXPECT_THAT(complaint(with("9 * (height - 2)", "9 * (hight - 2)")),
              AllOf(HasSubstr("s.cu:12:"), HasSubstr("hight")));
  EXPECT_THAT(complaint(with("3..65536", "3-65536")),
              AllOf(HasSubstr("s.cu:4:23: "), HasSubstr("1..4096")));
  EXPECT_THAT(complaint(with("3..65536", "9..3")), HasSubstr("the smaller end first"));
  EXPECT_THAT(complaint(with("3..65536", "3..many")), HasSubstr("\"many\" is not an integer"));
  EXPECT_THAT(complaint(with("size       width", "size       height")),
              AllOf(HasSubstr("s.cu:5:16: "), HasSubstr("\"height\"")));
  EXPECT_THAT(complaint(with("wraps 0 1", "wraps 0 0")), HasSubstr("0 is listed twice"));
  EXPECT_THAT(complaint(with("wraps 0 1", "wraps")), HasSubstr("the values of the trait"));
  EXPECT_THAT(complaint(with("type       y", "type       x")),
              AllOf(HasSubstr("s.cu:7:16: "), HasSubstr("\"x\"")));
  EXPECT_THAT(complaint(with("y inout", "z inout")), HasSubstr("no type slot \"z\""));
  EXPECT_THAT(complaint(with("y inout", "x inout")), HasSubstr("two operands \"x\""));
  EXPECT_THAT(complaint(with("y inout", "y both")), HasSubstr("write in, out or inout"));
  EXPECT_THAT(complaint(with("y inout:", "y inout")), HasSubstr("name in: rows, columns"));
  EXPECT_THAT(complaint(with("; when wraps", "; if wraps")), HasSubstr("\"when CONDITION\""));
  EXPECT_THAT(complaint(with("operation  stencil", "operation  2d")), HasSubstr("name consists"));
  EXPECT_THAT(complaint(with("//@ purpose", "// purpose")), HasSubstr("no \"//@ purpose\" line"));
  EXPECT_THAT(complaint(std::string(kStencil) + "//@ flops 1\n"), HasSubstr("two \"flops\""));
  EXPECT_THAT(complaint(std::string(kStencil) + "//@ bytes\n"), HasSubstr("needs a value"));
}

TEST(Operation, AFileWithATemplateIsNone) {
  EXPECT_TRUE(declares_operation(kStencil));
  EXPECT_FALSE(declares_operation("int x;\n"));
  EXPECT_FALSE(declares_operation("//@ operation gemm\n//@ template mine\n"));
  EXPECT_FALSE(declares_operation("//@ purpose nothing\n"));
}

RC_GTEST_PROP(OperationProperty, AnyTextIsReadOrRefused, (std::string noise, std::uint16_t at)) {
  std::string text = kStencil;
  text.insert(at % text.size(), noise);
  try {
    const Operation operation = Operation::parse("s.cu", text);
    RC_ASSERT(!operation.size_names().empty());
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::template_);
  }
}

TEST(Operation, GemmCosts) {
  const Operation* gemm = find_operation("gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(find_operation("gem"), nullptr);
  auto description = Gemm::of(DType::f16, 10, 20, 30);
  EXPECT_EQ(gemm->flops(to_problem(description)), 2.0 * 10 * 20 * 30);
  EXPECT_EQ(gemm->bytes(to_problem(description)), 2.0 * (10 * 30 + 30 * 20 + 10 * 20));
  description.reads_c = true;
  description.c = DType::f32;
  EXPECT_EQ(gemm->bytes(to_problem(description)),
            2.0 * (10 * 30 + 30 * 20 + 10 * 20) + 4.0 * 10 * 20);
}

TEST(Operation, NamesAreThoseOfItsProblems) {
  const Operation* gemm = find_operation("gemm");
  const auto problem = to_problem(Gemm::of(DType::f32, 1, 1, 1));
  std::vector<std::string> sizes, types, traits;
  for (const auto& each : problem.sizes) sizes.push_back(each.name);
  for (const auto& each : problem.types) types.push_back(each.slot);
  for (const auto& each : problem.traits) traits.push_back(each.name);
  EXPECT_EQ(sizes, gemm->size_names());
  EXPECT_EQ(types, gemm->type_slots());
  EXPECT_EQ(traits, gemm->trait_names());
}

}  // namespace
}  // namespace kiln
