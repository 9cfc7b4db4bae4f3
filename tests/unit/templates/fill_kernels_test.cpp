// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Operands that kernels of the operation's file make.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation/judge.hpp"
#include "templates/operation/operation.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `squares` needs `roots`, which `numbers` come before; `both` makes two operands.
constexpr const char* kMade = R"(//@ operation  made
//@ purpose    Sums of what kernels have made
//@ size       n 1..1000
//@ type       x f32
//@ type       root f32
//@ type       square f32
//@ type       turned f32
//@ type       y f32
//@ scalar     factor f32 = 2
//@ operand    square in: n; fill kernel squares
//@ operand    x in: n; fill uniform
//@ operand    root in: n; fill kernel roots
//@ operand    turned in: n; fill kernel roots
//@ operand    y out: n
//@ right      y exact
//@ ragged     n=3
//@ flops      n
//@ fill       squares
//@   grid     1
//@   block    32
//@   args     square, root, n
//@ fill       roots<x, 2>
//@   grid     ceil_div(n, 32)
//@   block    32
//@   args     {x, n}, root, turned, factor, (long long) n, seed
//@   constant table = x
//@ reference  sum_reference
//@   grid     1
//@   block    32

__constant__ float table[1000];
__global__ void squares(float* square, const float* root, int n);
template <class T, int N> __global__ void roots();
__global__ void sum_reference();
)";

std::string changed_made(const std::string& from, const std::string& to) {
  std::string text = kMade;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string made_complaint(const std::string& from, const std::string& to) {
  return error_text(ErrorKind::template_,
                    [&] { (void)Operation::parse("made.cu", changed_made(from, to)); });
}

TEST(FillKernels, RunAfterThoseThatMakeWhatTheyRead) {
  const Operation operation = Operation::parse("made.cu", kMade);
  const auto& fills = operation.judge.fills;
  ASSERT_EQ(fills.size(), 2U);
  EXPECT_EQ(fills[0].kernel.kernel, "roots<x, 2>");
  EXPECT_THAT(fills[0].operands, ElementsAre(2, 3));
  EXPECT_EQ(argument_text(fills[0].kernel.args, operation),
            "{x, n}, root, turned, factor, (long long) n, seed");
  ASSERT_EQ(fills[0].kernel.constants.size(), 1U);
  EXPECT_EQ(fills[0].kernel.grid.front().text(), "ceil_div(n, 32)");
  EXPECT_EQ(fills[1].kernel.kernel, "squares");
  EXPECT_THAT(fills[1].operands, ElementsAre(0));
  EXPECT_EQ(operation.operand("root")->fill.kind, FillSpec::Kind::kernel);
  EXPECT_EQ(operation.operand("root")->fill.kernel, "roots");
  EXPECT_EQ(judge_kernels(operation).size(), 3U);
}

TEST(FillKernels, ArePartOfTheJudge) {
  const auto digest = [](const std::string& text) {
    return judge_digest(Operation::parse("made.cu", text));
  };
  const std::string as_is = digest(kMade);
  EXPECT_NE(digest(changed_made("args     square, root, n", "args     square, root, (int) (n)")),
            as_is);
  EXPECT_NE(digest(changed_made("const float* root, int n);", "const float* root, int count);")),
            as_is);
  EXPECT_EQ(digest(changed_made("Sums of", "All of")), as_is);
  EXPECT_EQ(kernel_interface(Operation::parse("made.cu", kMade)),
            kernel_interface(
                Operation::parse("made.cu", changed_made("x in: n; fill uniform", "x in: n"))));
}

TEST(FillKernels, NameEachOther) {
  EXPECT_THAT(made_complaint("fill kernel squares", "fill kernel square"),
              HasSubstr("made.cu:10:42: no \"fill\" line names the kernel square; did you mean "
                        "\"squares\"?"));
  EXPECT_THAT(made_complaint("fill kernel squares", "fill kernel"),
              HasSubstr("made.cu:10:35: after \"kernel\", write only the name"));
  EXPECT_THAT(made_complaint("; fill kernel squares", ""),
              HasSubstr("made.cu:18:16: no operand is filled by this kernel"));
  EXPECT_THAT(made_complaint("//@ fill       squares", "//@ fill       roots<square>"),
              HasSubstr("two \"fill\" lines name the kernel roots"));
  EXPECT_THAT(made_complaint("//@ fill       squares", "//@ fill       cubes"),
              HasSubstr("made.cu:18:16: this file has no function \"cubes\""));
}

TEST(FillKernels, HaveTheArgumentsThatTheyNeed) {
  EXPECT_THAT(made_complaint("//@   args     square, root, n\n", ""),
              HasSubstr("made.cu:18:5: the fill kernel has no \"args\" line"));
  EXPECT_THAT(made_complaint("//@   grid     1\n", ""), HasSubstr("the fill has no \"grid\" line"));
  EXPECT_THAT(made_complaint("args     square, root", "args     root, root"),
              HasSubstr("the operand square has \"fill kernel squares\", but square is not among"));
  EXPECT_THAT(made_complaint("args     square, root", "args     square.f64, root"),
              HasSubstr("so it must write the element type of square"));
  EXPECT_THAT(made_complaint("args     square, root", "args     square, y"),
              HasSubstr("made.cu:21:16: y is an output, which has no data before"));
  EXPECT_THAT(made_complaint("constant table = x", "constant table = root"),
              HasSubstr("remove the line \"constant table = root\""));
  EXPECT_THAT(made_complaint("args     square, root", "args     square, root, workspace"),
              HasSubstr("a fill kernel cannot use a workspace"));
  EXPECT_THAT(made_complaint("args     square, root", "args     square, x.magnitude"),
              HasSubstr("only a reference can use the suffix"));
}

TEST(FillKernels, MustNotNeedEachOther) {
  EXPECT_THAT(made_complaint("args     {x, n}", "args     {square, n}"),
              HasSubstr("made.cu:18:16: these fill kernels need each other's results, so none of "
                        "them can run first: squares needs roots needs squares"));
}

TEST(FillKernels, AreOnlyForDeclarationsWithAReference) {
  constexpr std::string_view kNone = R"(//@ operation  made
//@ purpose    Nothing
//@ size       n
//@ type       x f32
//@ operand    x in: n
//@ flops      n
//@ fill       squares
)";
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)Operation::parse("made.cu", kNone); }),
              HasSubstr("made.cu:7:5: \"fill\" needs a \"//@ reference\" line"));
}

}  // namespace
}  // namespace kiln
