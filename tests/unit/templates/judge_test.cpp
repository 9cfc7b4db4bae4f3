// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a verdict depends on, and what it does not.
#include "templates/operation/judge.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "templates/operation/operation.hpp"
#include "tests/unit/templates/softmax_operation.hpp"

namespace kiln {
namespace {

using test::kSoftmaxOperation;
using test::replaced;

/// With a checker and parts beside what the usual one has.
constexpr const char* kSortOperation = R"(//@ operation  order
//@ purpose    Any order
//@ size       rows 1..65536
//@ size       cols 1..4096
//@ type       x f32
//@ type       y f32
//@ operand    x in: rows, cols
//@ operand    y out: rows, cols
//@ right      y checker
//@ ragged     rows=3 cols=5
//@ independent rows
//@ flops      rows * cols
//@ checker    order_checker
//@   grid     rows
//@   block    32
//@   args     x, y, wrong, rows, cols
#include "common/meta.cuh"
__global__ void order_checker(const float* x, const float* y, unsigned long long* wrong, int rows,
                              int cols) {
  if (y[0] < x[0]) atomicAdd(wrong, 1);  // to begin with
}
)";

std::string judge_of_text(const std::string& text) {
  return judge_digest(Operation::parse("some/where.cu", text));
}

struct Edit {
  const char* what;
  const char* from;
  const char* to;
};

TEST(JudgeDigest, ChangesWithWhateverDecidesWhichResultsAreRight) {
  const std::vector<Edit> edits{
      {"reference", "__global__ void soft_reference(const double* x) {}",
       "__global__ void soft_reference(const double* x) { return; }"},
      {"kernel of the reference", "soft_reference<x, float>", "soft_reference<x, double>"},
      {"grid of the reference", "grid     rows", "grid     2 * rows"},
      {"arguments of the reference", "y.magnitude}, i, m", "y.magnitude}, m, i"},
      {"rule", "y bound 16 +", "y bound 17 +"},
      {"kind of rule", "m within 1e-5 1e-6", "m exact"},
      {"fill", "fill uniform", "fill positive"},
      {"range of a fill", "sorted 0 (cols - 1)", "sorted 0 (cols - 2)"},
      {"integers", "integers   2", "integers   3"},
      {"a ragged size", "ragged     rows=1 cols=1", "ragged     rows=1 cols=2"},
      {"one ragged size less", "//@ ragged     rows=1 cols=1\n", ""},
      {"deterministic", "deterministic 0", "deterministic 1"},
      {"a scalar's default", "scale f32 = 1.5", "scale f32 = 2.5"},
      {"least size", "cols 1..4096", "cols 0..4096"},
  };
  std::map<std::string, std::string> seen{{judge_of_text(kSoftmaxOperation), "nothing"}};
  for (const auto& [what, from, to] : edits) {
    const auto [known, is_new] =
        seen.emplace(judge_of_text(replaced(kSoftmaxOperation, from, to)), what);
    EXPECT_TRUE(is_new) << what << " is like " << known->second;
  }
  const std::string sort = judge_of_text(kSortOperation);
  for (const auto& [what, from, to] : std::vector<Edit>{
           {"checker", "y[0] < x[0]", "y[0] > x[0]"},
           {"kernel of the checker", "//@ checker    order_checker\n",
            "//@ checker    order_checker<x>\n"},
           {"independent", "//@ independent rows\n", ""},
           {"header", "#include \"common/meta.cuh\"\n", ""},
           {"CUDA's header", "#include \"common/meta.cuh\"", "#include <cuda_fp16.h>"}}) {
    EXPECT_NE(judge_of_text(replaced(kSortOperation, from, to)), sort) << what;
  }
}

TEST(JudgeDigest, StaysWithCommentsSpacePurposeAndCosts) {
  const std::string softmax = judge_of_text(kSoftmaxOperation);
  for (const auto& [what, from, to] : std::vector<Edit>{
           {"purpose", "Softmax of every row", "The softmax of every row"},
           {"flops", "5 * rows * cols", "7 * rows * cols"},
           {"bytes", "//@ flops", "//@ bytes      4 * rows\n//@ flops"},
           {"comment of a line", "// of the exponent", "// what x is multiplied by"},
           {"comment at the top", "// Softmax.", "/* Softmax,\nby rows. */"},
           {"space in front matter", "right      m within", "right   m   within"},
           {"lines of front matter", "//@ ragged     cols=33\n//@              rows=7",
            "//@ ragged     cols=33 rows=7"},
           {"space in an expression", "sorted 0 (cols - 1)", "sorted 0 (cols-1)"},
           {"space of arguments", "y.magnitude}, i, m", "y.magnitude},i,m"},
           {"space in the code", "template <class X, class T>",
            "\n\ntemplate  <class X,  class T>"},
       }) {
    EXPECT_EQ(judge_of_text(replaced(kSoftmaxOperation, from, to)), softmax) << what;
  }
  EXPECT_EQ(judge_of_text(replaced(kSortOperation, "  // to begin with", "  /* at first */")),
            judge_of_text(kSortOperation));
  // Wherever the file lies.
  EXPECT_EQ(judge_digest(Operation::parse("/else/where.cu", kSoftmaxOperation)), softmax);
}

TEST(JudgeDigest, ThatOfABuiltInJudgeIsKnownForOldTrials) {
  const Operation& gemm = *find_operation("gemm");
  EXPECT_EQ(judge_digest(gemm), judge_before_digests("gemm"))
      << "since the first version of the verifier has changed, gemm's old trials are history; if "
         "that is meant, expect it here";
  EXPECT_EQ(judge_before_digests("softmax"), "");
}

TEST(KernelInterface, IsWhatTheDeclarationSaysOfArguments) {
  const auto interface_of = [](const std::string& text) {
    return kernel_interface(Operation::parse("soft.cu", text));
  };
  const std::string softmax = interface_of(kSoftmaxOperation);
  for (const auto& [from, to] : std::vector<std::pair<const char*, const char*>>{
           {"y bound 16 +", "y bound 17 +"},
           {"ragged     rows=1 cols=1", "ragged     rows=1 cols=2"},
           {"(const double* x) {}", "(const double* x) { return; }"},
           {"; fill uniform", ""},
           {"fill sorted 0 (cols - 1)", "fill normal"},
           {"scale f32 = 1.5", "scale f32 = 2.5"},
           {"Softmax of every row", "The softmax of every row"}}) {
    EXPECT_EQ(interface_of(replaced(kSoftmaxOperation, from, to)), softmax) << to;
  }
  for (const auto& [from, to] : std::vector<std::pair<const char*, const char*>>{
           {"x in: rows, cols", "x in: cols, rows"},
           {"scalar     skipped s64", "scalar     skipped s32"},
           {"halves = ceil_div(cols, 2)", "halves = ceil_div(cols, 4)"}}) {
    EXPECT_NE(interface_of(replaced(kSoftmaxOperation, from, to)), softmax) << to;
  }
}

TEST(CodeWithoutComments, KeepsLiteralsAndDirectives) {
  EXPECT_EQ(code_without_comments("int a;  // b\n\n  /* c\n d */ int  e;\t\n"), "int a;int e;\n");
  EXPECT_EQ(code_without_comments("#line 7 \"x.cu\"\n#define A 1 // one\nf(A)"),
            "#define A 1\nf(A)\n");
  EXPECT_EQ(code_without_comments("s = \"a  // b\"; c = '\"'; d = '\\'';  // e"),
            "s=\"a  // b\";c='\"';d='\\'';\n");
  EXPECT_EQ(code_without_comments("s = R\"x(  // \" )\" )x\"; // y"), "s=R\"x(  // \" )\" )x\";\n");
  EXPECT_EQ(code_without_comments("n = 1'000'000; // million"), "n=1'000'000;\n");
  EXPECT_EQ(code_without_comments("a // one \\\n two\nb"), "a b\n");
  EXPECT_EQ(code_without_comments("a /* without end"), "a\n");
  EXPECT_EQ(code_without_comments("// don't\nb"), "b\n");
  EXPECT_EQ(code_without_comments("\"open\nb // c"), "\"open b\n");
}

TEST(CodeWithoutComments, HasNoSpaceThatTokensCanDoWithout) {
  EXPECT_EQ(code_without_comments("y[ i ] = x + 4 ;\nif (a<b) return;"),
            code_without_comments("y[i]=x+4; if(a < b)\n  return ;"));
  EXPECT_EQ(code_without_comments("a + +b - -c"), "a+ +b- -c\n");
  EXPECT_NE(code_without_comments("a + ++b"), code_without_comments("a++ + b"));
  EXPECT_EQ(code_without_comments("a & &b > > c . 5"), "a& &b> >c . 5\n");
  EXPECT_EQ(code_without_comments("long  long x; R (1) \"a\" \"b\""),
            "long long x;R(1)\"a\" \"b\"\n");
  EXPECT_EQ(code_without_comments("a;\n  #  define F  (x)  \\\n  y\nb"),
            "a;\n#define F (x) \\ y\nb\n");
  EXPECT_NE(code_without_comments("#define F (x)\n"), code_without_comments("#define F(x)\n"));
}

}  // namespace
}  // namespace kiln
