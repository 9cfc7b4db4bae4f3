// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Operands whose rows lie apart, results that a checker judges, and sizes that are independent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::replaced;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kJudged = R"(//@ operation  judged
//@ purpose    Rows, sorted, and where their numbers were
//@ size       rows 1..1000
//@ size       cols 1..1000
//@ size       ldx 1..100000 = cols
//@ size       ldy = ldx + 2 * cols
//@ let        all = rows * cols
//@ type       x f32 f64
//@ type       table f32
//@ type       y f32 f64
//@ type       place s32
//@ trait      align_x 16 8 4 3
//@ operand    x in: rows, cols; ld ldx; align align_x
//@ operand    table in: cols
//@ operand    y inout: rows, 2, cols; ld ldy; fill uniform
//@ operand    place out: rows, cols
//@ right      y exact
//@ right      place checker
//@ independent rows
//@ ragged     rows=3 cols=5 ldx=7
//@ ragged     rows=3 cols=5 ldy=9
//@ flops      rows * cols
//@ reference  judged_reference<y>
//@   grid     rows
//@   block    32
//@   args     x, y, cols, ldx, ldy
//@ checker    judged_checker<x>
//@   grid     rows, 2
//@   block    64
//@   args     x.f64, y.before, {place, wrong}, first_wrong, all

template <class T> void judged_reference();
template <class T> void judged_checker();
)";

Operation judged(const std::string& from = "", const std::string& to = "") {
  return Operation::parse("judged.cu", replaced(kJudged, from, to));
}

std::string judged_complaint(const std::string& from, const std::string& to) {
  return error_text(ErrorKind::template_, [&] { (void)judged(from, to); });
}

Problem judged_problem(const Operation& operation, std::vector<NamedValue> sizes,
                       std::int64_t align_x = 16) {
  Problem problem;
  problem.operation = operation.name;
  problem.sizes = operation.with_defaults(std::move(sizes));
  problem.types = {
      {"x", DType::f32}, {"table", DType::f32}, {"y", DType::f64}, {"place", DType::s32}};
  problem.traits = {{"align_x", align_x}};
  return problem;
}

std::string judged_refusal(std::vector<NamedValue> sizes, std::int64_t align_x = 16) {
  const Operation operation = judged();
  const Problem problem = judged_problem(operation, std::move(sizes), align_x);
  return error_text(ErrorKind::usage, [&] { operation.check(problem); });
}

TEST(DefaultSizes, FollowFromTheSizesAbove) {
  const Operation operation = judged();
  EXPECT_FALSE(operation.sizes[1].value.has_value());
  EXPECT_EQ(operation.sizes[2].value->text(), "cols");
  EXPECT_EQ(operation.sizes[2].most, 100000);
  EXPECT_EQ(operation.sizes[3].most, 2147483647);
  EXPECT_EQ(judged("ldy = ldx", "ldy=ldx").sizes[3].name, "ldy");
  EXPECT_THAT(operation.with_defaults({{"cols", 5}, {"rows", 3}}),
              ElementsAre(NamedValue{"rows", 3}, NamedValue{"cols", 5}, NamedValue{"ldx", 5},
                          NamedValue{"ldy", 15}));
  EXPECT_THAT(operation.with_defaults({{"rows", 3}, {"cols", 5}, {"ldx", 8}}),
              ElementsAre(NamedValue{"rows", 3}, NamedValue{"cols", 5}, NamedValue{"ldx", 8},
                          NamedValue{"ldy", 18}));
  EXPECT_THAT(operation.judge.ragged[0], ElementsAre(NamedValue{"rows", 3}, NamedValue{"cols", 5},
                                                     NamedValue{"ldx", 7}, NamedValue{"ldy", 17}));
}

TEST(DefaultSizes, WhatIsMissingOrTooMuchIsLeftToTheCheck) {
  const Operation operation = judged();
  EXPECT_THAT(operation.with_defaults({{"cols", 5}}), ElementsAre(NamedValue{"cols", 5}));
  EXPECT_THAT(judged_refusal({{"cols", 5}}), HasSubstr("has no size \"rows\""));
  EXPECT_THAT(judged_refusal({{"rows", 1}, {"cols", 5}, {"rows", 2}}), HasSubstr("\"rows\""));
  EXPECT_THAT(judged_refusal({{"rows", 1}, {"cols", 5}, {"clos", 2}}),
              HasSubstr("no size \"clos\""));
}

TEST(DefaultSizes, MistakesAreShown) {
  EXPECT_THAT(judged_complaint("= ldx + 2", "= all + 2"),
              AllOf(HasSubstr("judged.cu:6:22: "), HasSubstr("\"all\"")));
  EXPECT_THAT(judged_complaint("ldx 1..100000 = cols", "= cols"), HasSubstr("the name of a size"));
  EXPECT_THAT(judged_complaint("ldx 1..100000 = cols", "ldx 1 = cols"),
              HasSubstr("judged.cu:5:20: write the range directly after the name"));
  EXPECT_THAT(judged_complaint("ldx 1..100000 = cols", "ldx = ldx"),
              AllOf(HasSubstr("judged.cu:5:22: "), HasSubstr("\"ldx\"")));
  EXPECT_THAT(judged_complaint("ldx 1..100000 = cols", "ldx ="),
              HasSubstr("judged.cu:5:21: an expression"));
  EXPECT_THAT(
      judged_complaint("cols=5 ldy=9", "cols=5"),
      AllOf(HasSubstr("judged.cu:6:16: "), HasSubstr("would pass"), HasSubstr("add \"ldy=...\"")));
  EXPECT_THAT(judged_complaint("cols=5 ldx=7", "ldx=7"),
              HasSubstr("give a value to every size that has no default"));
  EXPECT_THAT(judged_complaint("= ldx + 2 * cols", "= ldx / (ldx - 7)"),
              HasSubstr("the default of the size \"ldy\" is undefined"));
}

TEST(OperandLayout, RowsLieApart) {
  const Operation operation = judged();
  const Problem problem = judged_problem(operation, {{"rows", 3}, {"cols", 5}, {"ldx", 7}}, 4);
  operation.check(problem);
  const auto values = operation.whole_values(problem);
  const OperandLayout x = layout_of(*operation.operand("x"), values);
  EXPECT_EQ(x.rows, 3);
  EXPECT_EQ(x.cols, 5);
  EXPECT_EQ(x.ld, 7);
  EXPECT_EQ(x.alignment, 4);
  EXPECT_EQ(x.elements(), 19) << "it ends with the last element";
  const OperandLayout y = layout_of(*operation.operand("y"), values);
  EXPECT_EQ(y.rows, 6);
  EXPECT_EQ(y.ld, 17);
  EXPECT_EQ(y.alignment, 16);
  EXPECT_EQ(layout_of(*operation.operand("table"), values).elements(), 5);
  // What lies between rows is not moved.
  EXPECT_EQ(operation.bytes(problem), 15 * 4 + 5 * 4 + 2 * 30 * 8 + 15 * 4);
}

TEST(OperandLayout, ProblemsMustBeOnes) {
  EXPECT_THAT(
      judged_refusal({{"rows", 3}, {"cols", 5}, {"ldx", 4}}),
      HasSubstr("the operand x has rows of 5 elements, but a leading dimension of only 4 (ldx)"));
  EXPECT_THAT(
      judged_refusal({{"rows", 3}, {"cols", 5}}, 3),
      HasSubstr("the alignment \"align_x\" of the operand x is 3, but the allowed values are "
                "1 2 4 8 16 bytes"));
  const Operation vast = judged("ld ldy", "ld ldy * 1000000000000");
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           vast.check(judged_problem(vast, {{"rows", 1000}, {"cols", 1000}}));
                         }),
              HasSubstr("the operand y"));
}

TEST(OperandLayout, MistakesAreShown) {
  EXPECT_THAT(judged_complaint("table in: cols", "table in: cols; ld cols"),
              HasSubstr("table has only one extent"));
  EXPECT_THAT(judged_complaint("ld ldx;", "ld ldx; ld ldx;"), HasSubstr("two \"ld\""));
  EXPECT_THAT(judged_complaint("ld ldx;", "ld lxd;"),
              AllOf(HasSubstr("judged.cu:13:37: "), HasSubstr("\"lxd\"")));
  EXPECT_THAT(judged_complaint("align align_x", "aligm 4"), HasSubstr("\"align\""));
  EXPECT_THAT(judged_complaint("align align_x", "align"),
              HasSubstr("judged.cu:13:47: an expression"));
}

TEST(Checkers, JudgeWhatTheirRulesSay) {
  const Operation operation = judged();
  EXPECT_TRUE(operation.is_declared());
  EXPECT_EQ(operation.judge.rights[1].kind, RightSpec::Kind::checker);
  ASSERT_TRUE(operation.judge.checker.has_value());
  EXPECT_EQ(operation.judge.checker->kernel, "judged_checker<x>");
  EXPECT_EQ(operation.judge.checker->grid.size(), 2U);
  EXPECT_EQ(operation.judge.checker->block[0].text(), "64");
  EXPECT_EQ(argument_text(operation.judge.checker->args, operation),
            "x.f64, y.before, {place, wrong}, first_wrong, all");
  EXPECT_EQ(operation.judge.reference->block[0].text(), "32");
}

TEST(Checkers, NeedNoReference) {
  std::string text = replaced(kJudged, "right      y exact", "right      y checker");
  const auto begin = text.find("//@ reference");
  text.erase(begin, text.find("//@ checker") - begin);
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)Operation::parse("j.cu", text); }),
              HasSubstr("the arguments of the checker do not include the output y"));
  const Operation operation = Operation::parse("j.cu", replaced(text, "y.before", "y, y.before"));
  EXPECT_TRUE(operation.is_declared());
  EXPECT_FALSE(operation.judge.reference.has_value());
}

TEST(Checkers, MistakesAreShown) {
  EXPECT_THAT(
      judged_complaint("right      place checker", "right      place exact"),
      AllOf(HasSubstr("judged.cu:27:5: "), HasSubstr("no \"right\" line uses this checker")));
  EXPECT_THAT(judged_complaint("right      y exact", "right      y checker"),
              HasSubstr("this reference"));
  EXPECT_THAT(judged_complaint("checker\n", "cheker\n"), HasSubstr("\"checker\"?"));
  EXPECT_THAT(judged_complaint("checker\n", "checker 3\n"), HasSubstr("after \"checker\""));
  EXPECT_THAT(judged_complaint("{place, wrong}", "{place, 3}"),
              AllOf(HasSubstr("judged.cu:30:"),
                    HasSubstr("the arguments of the checker do not include \"wrong\"")));
  EXPECT_THAT(judged_complaint("{place, wrong}", "wrong"),
              HasSubstr("do not include the output place"));
  EXPECT_THAT(judged_complaint("y.before", "place.before"), HasSubstr("place is not \"inout\""));
  EXPECT_THAT(judged_complaint("y.before", "y.magnitude"), HasSubstr("\".magnitude\""));
  EXPECT_THAT(judged_complaint("x, y, cols, ldx", "x, y, y.before, ldx"),
              HasSubstr("only a checker can use the suffix \".before\""));
  EXPECT_THAT(judged_complaint("x, y, cols, ldx", "x, y, wrong, ldx"),
              AllOf(HasSubstr("judged.cu:26:22: "), HasSubstr("\"wrong\"")));
  EXPECT_THAT(judged_complaint("first_wrong, all", "workspace"),
              HasSubstr("a checker cannot use a workspace"));
  EXPECT_THAT(judged_complaint("//@   block    64\n", ""),
              HasSubstr("the checker has no \"block\" line"));
  EXPECT_THAT(judged_complaint("judged_checker<x>\n", "other<x>\n"),
              HasSubstr("write the checker kernel below the declaration"));
  EXPECT_THAT(judged_complaint("let        all", "let        wrong"),
              AllOf(HasSubstr("judged.cu:7:16: "), HasSubstr("\"wrong\"")));
  std::string text = kJudged;
  text.erase(text.find("//@ checker"), text.find("\n\n") - text.find("//@ checker"));
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)Operation::parse("j.cu", text); }),
              AllOf(HasSubstr("j.cu:18:16: "), HasSubstr("\"//@ checker NAME\"")));
}

TEST(IndependentSizes, AreFirstExtentsOnly) {
  EXPECT_EQ(judged().judge.independent, "rows");
  EXPECT_EQ(judged("//@ independent rows\n", "").judge.independent, "");
  EXPECT_THAT(judged_complaint("independent rows", "independent row"),
              AllOf(HasSubstr("judged.cu:19:17: "), HasSubstr("\"rows\"?")));
  EXPECT_THAT(judged_complaint("independent rows", "independent cols"),
              HasSubstr("the extent \"cols\" of the operand x depends on cols"));
  EXPECT_THAT(judged_complaint("place out: rows, cols", "place out: cols, 3"),
              HasSubstr("the first extent of the output place is not"));
  EXPECT_THAT(judged_complaint("table in: cols", "table in: all"), HasSubstr("the extent \"all\""));
  EXPECT_THAT(judged_complaint("ld ldx;", "ld ldx + rows;"), HasSubstr("\"ld ldx + rows\""));
  EXPECT_THAT(judged_complaint("fill uniform", "fill integers 0 (rows - 1)"),
              HasSubstr("the fill of the operand y"));
  EXPECT_THAT(judged_complaint("independent rows", "independent rows\n//@ independent rows"),
              HasSubstr("two \"independent\""));
}

}  // namespace
}  // namespace kiln
