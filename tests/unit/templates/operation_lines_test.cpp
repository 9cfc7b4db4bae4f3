// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What an operation declares beside sizes, types and operands.
#include "templates/operation/operation_lines.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kSoftmaxOperation;
using test::replaced;
using test::softmax_problem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Operation declared(const std::string& from = "", const std::string& to = "") {
  return Operation::parse("soft.cu", replaced(kSoftmaxOperation, from, to));
}

std::string complaint_about(const std::string& from, const std::string& to) {
  return error_text(ErrorKind::template_, [&] { (void)declared(from, to); });
}

TEST(OperationLines, SayWhatSlotsMayBe) {
  const Operation operation = declared();
  ASSERT_EQ(operation.slots.size(), 4U);
  EXPECT_THAT(operation.slots[0].types, ElementsAre(DType::f32, DType::f16, DType::bf16));
  EXPECT_THAT(operation.slots[2].types, ElementsAre(DType::s32));
  EXPECT_THAT(find_operation("gemm")->slots[0].types, IsEmpty()) << "any";
  EXPECT_EQ(operation.origin.file, "soft.cu");
  EXPECT_EQ(operation.origin.source, kSoftmaxOperation);
}

TEST(OperationLines, DerivedSizesFollowFromOthers) {
  const Operation operation = declared();
  ASSERT_EQ(operation.derived.size(), 2U);
  EXPECT_EQ(operation.derived[0].first, "halves");
  EXPECT_EQ(operation.derived[1].second.text(), "ceil_div(halves, 2)");
  const auto values = operation.whole_values(softmax_problem(3, 9));
  ASSERT_EQ(values.size(), static_cast<std::size_t>(operation.names().size()));
  const auto value = [&](const char* name) {
    return values[static_cast<std::size_t>(operation.names().find(name))];
  };
  EXPECT_EQ(value("rows"), 3);
  EXPECT_EQ(value("cols"), 9);
  EXPECT_EQ(value("halves"), 5);
  EXPECT_EQ(value("quarters"), 3);
  EXPECT_EQ(value("masked"), 1);
  EXPECT_EQ(value("x_bytes"), 2);
  EXPECT_EQ(value("y_type"), static_cast<int>(DType::f32));
  EXPECT_EQ(value("type.f64"), static_cast<int>(DType::f64));
  const Operation costly = declared("5 * rows * cols", "rows * quarters");
  EXPECT_EQ(costly.flops(softmax_problem(3, 9)), 9.0);
}

TEST(OperationLines, WithoutAValueOfItsDerivedSizesAProblemIsRefused) {
  const Operation operation = declared("ceil_div(cols, 2)", "rows / (cols - 1)");
  EXPECT_THAT(
      error_text(ErrorKind::usage, [&] { (void)operation.whole_values(softmax_problem(2, 1)); }),
      AllOf(HasSubstr("\"rows=2 cols=1\""), HasSubstr("halves = rows / (cols - 1)")));
  EXPECT_EQ(operation.flops(softmax_problem(2, 1)), 0.0);
  Problem lacking = softmax_problem(2, 2);
  lacking.traits.clear();
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)operation.whole_values(lacking); }),
              HasSubstr("has no trait \"masked\""));
}

TEST(OperationLines, ScalarsHaveATypeAndAValue) {
  const Operation operation = declared();
  ASSERT_EQ(operation.scalars.size(), 2U);
  EXPECT_EQ(operation.scalars[0].name, "scale");
  EXPECT_EQ(operation.scalars[0].type, NumberType::f32);
  EXPECT_EQ(operation.scalars[0].value, 1.5);
  EXPECT_EQ(operation.scalars[0].comment, "of the exponent");
  EXPECT_EQ(operation.scalars[1].type, NumberType::s64);
  EXPECT_EQ(operation.scalars[1].value, -3.0);
  EXPECT_EQ(declared("f32 = 1.5", "f64 = -1e-300").scalars[0].value, -1e-300);
  EXPECT_EQ(declared("f32 = 1.5", "bool = true").scalars[0].value, true);
  EXPECT_EQ(declared("f32 = 1.5", "u64 = 0x9E3779B97F4A7C15").scalars[0].value,
            std::uint64_t{0x9e3779b97f4a7c15});
  EXPECT_EQ(declared("f32 = 1.5", "u64 = 18446744073709551615").scalars[0].value,
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(declared("f32 = 1.5", "s64 = -9223372036854775808").scalars[0].value,
            std::numeric_limits<std::int64_t>::min());
}

TEST(OperationLines, OperandsSayWhatTheyAreFilledWith) {
  const Operation operation = declared();
  EXPECT_EQ(operation.operand("x")->fill.kind, FillSpec::Kind::uniform);
  EXPECT_EQ(operation.operand("m")->fill.kind, FillSpec::Kind::normal);
  const OperandSpec& indices = *operation.operand("i");
  EXPECT_EQ(indices.fill.kind, FillSpec::Kind::sorted);
  EXPECT_EQ(indices.fill.low->text(), "0");
  EXPECT_EQ(indices.fill.high->text(), "(cols - 1)");
  ASSERT_TRUE(indices.when.has_value());
  EXPECT_EQ(indices.when->text(), "masked");
  EXPECT_EQ(declared("fill uniform", "fill positive").operand("x")->fill.kind,
            FillSpec::Kind::positive);
  const Operation spaced = declared("fill uniform", "fill integers  -4   min(cols, (rows) + 2)");
  EXPECT_EQ(spaced.operand("x")->fill.high->text(), "min(cols, (rows) + 2)");
}

TEST(OperationLines, SayWhatIsRight) {
  const Operation operation = declared();
  ASSERT_EQ(operation.judge.rights.size(), 2U);
  EXPECT_EQ(operation.judge.rights[0].kind, RightSpec::Kind::bound);
  EXPECT_EQ(operation.judge.rights[0].operand, 1);
  EXPECT_EQ(operation.judge.rights[0].factor->text(), "16 + log2(cols)");
  EXPECT_EQ(operation.judge.rights[0].roundoff_of, "f32");
  EXPECT_EQ(operation.judge.rights[0].line, 19);
  EXPECT_EQ(operation.judge.rights[1].kind, RightSpec::Kind::within);
  EXPECT_EQ(operation.judge.rights[1].operand, 3);
  EXPECT_EQ(operation.judge.rights[1].relative, 1e-5);
  EXPECT_EQ(operation.judge.rights[1].absolute, 1e-6);
  EXPECT_EQ(declared("bound 16 + log2(cols) of f32", "exact").judge.rights[0].kind,
            RightSpec::Kind::exact);
  EXPECT_EQ(declared("of f32", "of x").judge.rights[0].roundoff_of, "x");
  ASSERT_TRUE(operation.judge.integers.has_value());
  EXPECT_EQ(operation.judge.integers->text(), "2");
  EXPECT_FALSE(operation.judge.deterministic);
  EXPECT_TRUE(declared("deterministic 0", "deterministic 1").judge.deterministic);
  EXPECT_TRUE(declared("//@ deterministic 0\n", "").judge.deterministic);
  ASSERT_EQ(operation.judge.ragged.size(), 2U);
  EXPECT_THAT(operation.judge.ragged[1],
              ElementsAre(NamedValue{"rows", 7}, NamedValue{"cols", 33}));
}

TEST(OperationLines, AReferenceIsAKernelAndItsLaunch) {
  const Operation operation = declared();
  ASSERT_TRUE(operation.judge.reference.has_value());
  const JudgeKernel& reference = *operation.judge.reference;
  EXPECT_EQ(reference.kernel, "soft_reference<x, float>");
  EXPECT_EQ(reference.line, 27);
  ASSERT_EQ(reference.grid.size(), 1U);
  ASSERT_EQ(reference.block.size(), 2U);
  EXPECT_EQ(argument_text(reference.args, operation),
            "x.f64, {y.f64, y.magnitude}, i, m, rows, (long long) cols, scale, skipped");
  const Operation unlisted = declared(
      "//@   args     x.f64, {y.f64, y.magnitude}, i, m, rows,\n"
      "//@            (long long) cols, scale, skipped\n",
      "");
  EXPECT_EQ(argument_text(unlisted.judge.reference->args, unlisted),
            "x, y, i, m, rows, cols, scale, skipped");
  EXPECT_EQ(declared("soft_reference<x, float>", "soft_reference").judge.reference->kernel,
            "soft_reference");
}

TEST(OperationLines, MistakesInNamesAreShown) {
  EXPECT_THAT(complaint_about("let        halves = ceil", "let        cols = ceil"),
              AllOf(HasSubstr("soft.cu:6:16: "), HasSubstr("\"cols\"")));
  EXPECT_THAT(complaint_about("let        halves = ceil_div(cols", "let        halves = f(halves"),
              HasSubstr("unknown function \"f\""));
  EXPECT_THAT(complaint_about("halves = ceil_div(cols, 2)", "halves = quarters"),
              AllOf(HasSubstr("soft.cu:6:25: "), HasSubstr("\"quarters\"")));
  EXPECT_THAT(complaint_about("halves = ceil_div(cols, 2)", "halves"),
              HasSubstr("let name = expression"));
  EXPECT_THAT(complaint_about("halves = ceil_div(cols, 2)", "halves ="),
              HasSubstr("soft.cu:6:24: an expression"));
  EXPECT_THAT(complaint_about("size       rows", "size       sm"),
              HasSubstr("\"sm\" is reserved in every operation"));
  EXPECT_THAT(complaint_about("size       rows", "size       workspace"),
              AllOf(HasSubstr("soft.cu:4:16: "), HasSubstr("\"workspace\"")));
  EXPECT_THAT(complaint_about("size       rows", "size       y_bytes"),
              AllOf(HasSubstr("soft.cu:9:16: "), HasSubstr("\"y_bytes\"")));
  EXPECT_THAT(complaint_about("scalar     scale", "scalar     x"),
              AllOf(HasSubstr("soft.cu:12:16: "), HasSubstr("\"x\"")));
  EXPECT_THAT(complaint_about("trait      masked", "trait      x"), HasSubstr("\"x\""));
  EXPECT_THAT(complaint_about("5 * rows", "5 * scale"),
              AllOf(HasSubstr("soft.cu:26:20: "), HasSubstr("\"scale\"")));
}

TEST(OperationLines, MistakesInScalarsAreShown) {
  EXPECT_THAT(complaint_about("scale f32 = 1.5", "scale f32"), HasSubstr("scale f32 = 1"));
  EXPECT_THAT(complaint_about("scale f32 = 1.5", "scale = 1.5"), HasSubstr("scale f32 = 1"));
  EXPECT_THAT(complaint_about("scale f32 = 1.5", "scale f23 = 1.5"),
              AllOf(HasSubstr("soft.cu:12:22: "), HasSubstr("s32 u32 s64 u64 f32 f64")));
  EXPECT_THAT(
      complaint_about("f32 = 1.5", "f32 = one"),
      AllOf(HasSubstr("soft.cu:12:28: "), HasSubstr("\"one\" is not a number such as 1e-5")));
  EXPECT_THAT(complaint_about("f32 = 1.5", "f32 = 1e39"), HasSubstr("-3.4028234663852886e+38"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "f64 = inf"), HasSubstr("inf is not finite"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "s32 = 1.5"), HasSubstr("soft.cu:12:28: 1.5"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "u32 = -1"), HasSubstr("0 to 4294967295"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "u64 = 18446744073709551616"),
              HasSubstr("0 to 2^64 - 1"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "s64 = -9223372036854775809"),
              HasSubstr("-2^63 to 2^63 - 1"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "u32 = 0x100000000"), HasSubstr("0 to 4294967295"));
  EXPECT_THAT(complaint_about("f32 = 1.5", "bool = 2"), HasSubstr("0 to 1"));
}

TEST(OperationLines, MistakesInTypesAndOperandsAreShown) {
  EXPECT_THAT(complaint_about("x f32 f16", "x f32 f166"),
              AllOf(HasSubstr("soft.cu:8:22: "), HasSubstr("\"f16\"?")));
  EXPECT_THAT(complaint_about("x f32 f16", "x f32 f32"), HasSubstr("f32 is listed twice"));
  EXPECT_THAT(complaint_about("x f32 f16", "x s4 f16"),
              AllOf(HasSubstr("soft.cu:8:18: "), HasSubstr("several values per byte")));
  EXPECT_THAT(complaint_about("fill uniform", "fill unifrm"),
              AllOf(HasSubstr("soft.cu:15:39: "), HasSubstr("\"uniform\"?")));
  EXPECT_THAT(complaint_about("fill uniform", "fill"), HasSubstr("normal, uniform, positive"));
  EXPECT_THAT(complaint_about("fill uniform", "fill uniform 3"),
              HasSubstr("remove the text after"));
  EXPECT_THAT(complaint_about("fill uniform", "fill integers 0"), HasSubstr("integers 0 (n - 1)"));
  EXPECT_THAT(complaint_about("fill uniform", "fill integers 0 cols - 1"),
              HasSubstr("If an expression contains spaces, put parentheses around it"));
  EXPECT_THAT(complaint_about("fill uniform", "fill integers 0 clos"),
              AllOf(HasSubstr("soft.cu:15:50: "), HasSubstr("\"clos\"")));
  EXPECT_THAT(complaint_about("fill uniform", "fil uniform"),
              AllOf(HasSubstr("soft.cu:15:34: "), HasSubstr("\"fill\"?")));
  EXPECT_THAT(complaint_about("fill uniform", "fill uniform; fill normal"),
              HasSubstr("two \"fill\""));
  EXPECT_THAT(complaint_about("; when masked", "; when masked; when masked"),
              HasSubstr("two \"when\""));
  EXPECT_THAT(complaint_about("; when masked", "; when"),
              HasSubstr("soft.cu:17:58: an expression"));
  EXPECT_THAT(complaint_about("; when masked", ";"),
              HasSubstr("expected after ';': \"when CONDITION\""));
  EXPECT_THAT(complaint_about("y out: rows, cols", "y out: rows, cols; fill normal"),
              HasSubstr("y is an output"));
}

TEST(OperationLines, OperandsMayBeBehindPointers) {
  const Operation operation =
      declared("x in: rows, cols; fill", "x in: rows, cols; pointers; fill");
  EXPECT_TRUE(operation.operand("x")->pointers);
  EXPECT_FALSE(operation.operand("y")->pointers);
  const std::string rank3 = "x in: rows, 2, cols; pointers";
  const Operation deep = declared("x in: rows, cols", rank3);
  const auto values = deep.whole_values(softmax_problem(7, 5));
  EXPECT_EQ(layout_of(*deep.operand("x"), values).rows, 7);
  EXPECT_EQ(layout_of(*deep.operand("x"), values).cols, 10);
  EXPECT_THAT(complaint_about("x in: rows, cols; fill", "x in: rows; pointers; fill"),
              HasSubstr("x needs at least two extents"));
  EXPECT_THAT(
      complaint_about("x in: rows, cols; fill", "x in: rows, cols; ld cols; pointers; fill"),
      HasSubstr("remove \"ld\""));
  EXPECT_THAT(complaint_about("x in: rows, cols; fill", "x in: rows, cols; pointers 2; fill"),
              HasSubstr("write \"pointers\" only once"));
}

TEST(OperationLines, MistakesInWhatIsRightAreShown) {
  const std::string bound = "bound 16 + log2(cols) of f32";
  EXPECT_THAT(complaint_about("right      y", "right      z"), HasSubstr("no operand \"z\""));
  EXPECT_THAT(complaint_about("right      y", "right      x"), HasSubstr("x is an input"));
  EXPECT_THAT(complaint_about("right      m", "right      y"), HasSubstr("two \"right\""));
  EXPECT_THAT(complaint_about(bound, ""), HasSubstr("\"exact\", \"bound E of T\""));
  EXPECT_THAT(complaint_about(bound, "bund 3 of f32"),
              AllOf(HasSubstr("soft.cu:19:18: "), HasSubstr("\"bound\"?")));
  EXPECT_THAT(complaint_about(bound, "exact 3"), HasSubstr("remove the text after"));
  EXPECT_THAT(complaint_about(bound, "bound 16"), HasSubstr("\"bound E of T\""));
  EXPECT_THAT(complaint_about(bound, "bound of f32"), HasSubstr("\"bound E of T\""));
  EXPECT_THAT(complaint_about(bound, "bound 16 + clos of f32"),
              AllOf(HasSubstr("soft.cu:19:29: "), HasSubstr("\"clos\"")));
  EXPECT_THAT(complaint_about(bound, "bound 16 of f322"), HasSubstr("\"f32\"?"));
  EXPECT_THAT(complaint_about(bound, "bound 16 of s32"), HasSubstr("integers are not rounded"));
  EXPECT_THAT(complaint_about("within 1e-5 1e-6", "within 1e-5"),
              HasSubstr("soft.cu:20:25: after \"within\""));
  EXPECT_THAT(complaint_about("within 1e-5 1e-6", "within 1e-5 tiny"),
              AllOf(HasSubstr("soft.cu:20:30: "), HasSubstr("\"tiny\" is not a decimal")));
  EXPECT_THAT(complaint_about("within 1e-5 1e-6", "within 1e-5 -1"), HasSubstr("not be negative"));
  EXPECT_THAT(complaint_about("//@ right      m within 1e-5 1e-6\n", ""),
              AllOf(HasSubstr("soft.cu:26:5: "), HasSubstr("//@ right m bound 4 of m")));
  EXPECT_THAT(complaint_about("deterministic 0", "deterministic no"),
              HasSubstr("soft.cu:25:19: \"deterministic\" must be 1"));
  EXPECT_THAT(complaint_about("integers   2", "integers   two"),
              AllOf(HasSubstr("soft.cu:21:16: "), HasSubstr("\"two\"")));
}

TEST(OperationLines, MistakesInRaggedSizesAreShown) {
  EXPECT_THAT(complaint_about("rows=1 cols=1", "rows=1"),
              AllOf(HasSubstr("soft.cu:22:22: "), HasSubstr("\"cols\"")));
  EXPECT_THAT(complaint_about("rows=1 cols=1", "rows=1 colls=1"),
              AllOf(HasSubstr("soft.cu:22:23: "), HasSubstr("\"cols\"?")));
  EXPECT_THAT(complaint_about("rows=1 cols=1", "rows=1 rows=1"), HasSubstr("is given twice"));
  EXPECT_THAT(
      complaint_about("rows=1 cols=1", "rows=1 cols=0"),
      AllOf(HasSubstr("soft.cu:22:28: "), HasSubstr("cols is 0, but must be from 1 to 4096")));
  EXPECT_THAT(complaint_about("rows=1 cols=1", "rows 1"), HasSubstr("without spaces around '='"));
  EXPECT_THAT(complaint_about("rows=1 cols=1", "rows=one cols=1"), HasSubstr("\"one\""));
  const std::string none = replaced(kSoftmaxOperation, "//@ ragged     rows=1 cols=1\n", "");
  EXPECT_THAT(
      error_text(ErrorKind::template_,
                 [&] {
                   (void)Operation::parse(
                       "soft.cu",
                       replaced(none, "//@ ragged     cols=33\n//@              rows=7\n", ""));
                 }),
      HasSubstr("add \"//@ ragged rows=1 cols=1\""));
}

TEST(OperationLines, MistakesInReferencesAreShown) {
  EXPECT_THAT(complaint_about("//@   grid     rows\n", ""), HasSubstr("no \"grid\" line"));
  EXPECT_THAT(complaint_about("//@   block    256, quarters > 0 ? 1 : 1\n", ""),
              HasSubstr("\"block\""));
  EXPECT_THAT(complaint_about("grid     rows", "grid     rows, 1, 1, 1"),
              HasSubstr("at most three dimensions"));
  EXPECT_THAT(complaint_about("//@   grid     rows\n", "//@   grid     rows\n//@   grid     1\n"),
              HasSubstr("two \"grid\""));
  EXPECT_THAT(complaint_about("//@   grid     rows\n", "//@   grdi     rows\n"),
              AllOf(HasSubstr("soft.cu:28:7: "), HasSubstr("template arguments")));
  EXPECT_THAT(complaint_about("//@ flops", "//@ block 3\n//@ flops"),
              HasSubstr("\"block\" belongs below the \"reference\" line"));
  EXPECT_THAT(complaint_about("reference  soft_reference<x, float>", "reference  soft_refrence<x>"),
              AllOf(HasSubstr("this file has no function \"soft_refrence\""),
                    HasSubstr("write the reference kernel below")));
  EXPECT_THAT(complaint_about("reference  soft_reference<x, float>", "reference  the kernel"),
              HasSubstr("expected here: the name of the reference kernel"));
  EXPECT_THAT(complaint_about("{y.f64, y.magnitude}", "x"),
              AllOf(HasSubstr("soft.cu:30:"),
                    HasSubstr("the arguments of the reference do not include the output y")));
  EXPECT_THAT(complaint_about("{y.f64, y.magnitude}", "{y.f64, y}"),
              HasSubstr("both \"y\" and \"y.f64\""));
  EXPECT_THAT(complaint_about("scale, skipped", "scalle, skipped"),
              AllOf(HasSubstr("soft.cu:31:34: "), HasSubstr("\"scale\"?")));
  EXPECT_THAT(complaint_about("//@ reference  soft_reference<x, float>\n", ""),
              HasSubstr("\"right\" needs a \"//@ reference\" line"));
  EXPECT_THAT(complaint_about("//@ flops", "//@ reference soft_reference\n//@ flops"),
              HasSubstr("two \"reference\""));
  EXPECT_THAT(complaint_about("__global__", "int a;  //@ let 3\n__global__"),
              HasSubstr("an operation cannot have a config struct"));
}

RC_GTEST_PROP(OperationLinesProperty, AnyTextIsReadOrRefused,
              (std::string noise, std::uint16_t at)) {
  std::string text = kSoftmaxOperation;
  text.insert(at % text.size(), noise);
  try {
    const Operation operation = Operation::parse("s.cu", text);
    RC_ASSERT(operation.slots.size() == operation.type_slots().size());
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::template_);
    RC_ASSERT(std::string(error.what()).starts_with("s.cu:"));
  }
}

}  // namespace
}  // namespace kiln
