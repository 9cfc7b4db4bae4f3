// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/declared_flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "kiln/error.hpp"
#include "tests/unit/tools/rows_operation.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/output/how_to_use.hpp"

namespace kiln::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ProblemCase parse_declared(const Operation& operation, const std::string& line,
                           std::int64_t default_size = 0) {
  CLI::App app;
  ProblemFlags flags;
  flags.add_to(app, operation, ProblemFlags::Word::required);
  check_closed_values(app);
  app.parse(operation.name + " " + line);
  return flags.request(default_size);
}

std::string error_of_declared(const Operation& operation, const std::string& line) {
  try {
    static_cast<void>(parse_declared(operation, line));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DeclaredFlags, FollowFromTheDeclaration) {
  const Operation& rows = declare_rows_operation();
  const auto one = parse_declared(rows, "--rows 7 --cols 33 --y f16 --offset -2.5");
  EXPECT_EQ(one.problem.canonical(), "rows_test x=f32 y=f16 | rows=7 cols=33");
  EXPECT_THAT(one.scalars, ElementsAre(-2.5));
  EXPECT_EQ(one.operands.at(1).shape.type, DType::f16);
  EXPECT_THAT(parse_declared(rows, "--rows 7 --cols 33").scalars, ElementsAre(1.0));
}

TEST(DeclaredFlags, DtypeIsTheTypeOfAllThatMayHaveIt) {
  const Operation& rows = declare_rows_operation();
  const auto one = parse_declared(rows, "--rows 1 --cols 1 --dtype f16 --y f32");
  EXPECT_EQ(one.problem.canonical(), "rows_test x=f16 y=f32 | rows=1 cols=1");
  EXPECT_THAT(error_of_declared(rows, "--rows 1 --cols 1 --dtype s8"),
              StartsWith("--dtype s8: no operand of rows_test can have this type"));
}

TEST(DeclaredFlags, ErrorsNameTheFlag) {
  const Operation& rows = declare_rows_operation();
  EXPECT_EQ(error_of_declared(rows, "--rows 7"), "--cols is missing");
  EXPECT_THAT(error_of_declared(rows, "--rows 1001 --cols 1"),
              AllOf(StartsWith("--rows: 1001 "), EndsWith("1 to 1000")));
  EXPECT_EQ(error_of_declared(rows, "--rows 1 --cols 1 --x f64"),
            "--x f64: this operand cannot have this type; choose from f32, f16");
  EXPECT_THAT(error_of_declared(rows, "--rows 1 --cols 1 --x f61"), HasSubstr("f61"));
  EXPECT_EQ(error_of_declared(rows, "--rows 1 --cols 1 --offset 1x"),
            "--offset: 1x is not a number");
  EXPECT_THAT(error_of_declared(rows, "--rows 1 --cols 1 --offset 1e300"),
              AllOf(HasSubstr("--offset: 1e300 "), HasSubstr("-3.4028234663852886e+38 to ")));
  const Operation& causal = declare_causal_operation();
  EXPECT_EQ(error_of_declared(causal, "--causal_test-top 1 --causal 2"),
            "--causal: 2 is not one of 0, 1");
  EXPECT_THAT(error_of_declared(causal, "--causal_test-top 1 --turns 2.5"),
              AllOf(HasSubstr("--turns: 2.5 "), HasSubstr("u32")));
}

TEST(DeclaredFlags, SizesMayHaveADefaultWithinTheirRange) {
  const auto one = parse_declared(declare_rows_operation(), "--cols 5", 4096);
  EXPECT_EQ(one.problem.canonical(), "rows_test x=f32 y=f32 | rows=1000 cols=5");
}

TEST(DeclaredFlags, NamesThatVerbsHaveFlagsOfArePreceded) {
  const auto one =
      parse_declared(declare_causal_operation(), "--causal_test-top 9 --causal_test-output f16");
  EXPECT_EQ(one.problem.canonical(), "causal_test x=f32 output=f16 causal=0 | top=9");
}

TEST(DeclaredFlags, TheirTextGivesTheProblemBack) {
  const Operation& rows = declare_rows_operation();
  const Operation& causal = declare_causal_operation();
  const auto check = [](const Operation& operation, const std::string& line) {
    const ProblemCase one = parse_declared(operation, line);
    EXPECT_EQ(problem_words(one), operation.name + " " + line);
    const ProblemCase again = parse_declared(operation, declared_flags_text(operation, one));
    EXPECT_EQ(again.problem, one.problem) << line;
    EXPECT_EQ(again.scalars, one.scalars) << line;
  };
  check(rows, "--rows 7 --cols 0");
  check(rows, "--rows 7 --cols 33 --dtype f16");
  check(rows, "--rows 7 --cols 33 --y f16 --offset 0.125");
  check(causal, "--causal_test-top 9 --causal_test-output f16 --causal 1");
  check(causal, "--causal_test-top 9 --dtype s8 --turns 4");
}

/// One with scalars and elements that not every operation has.
const Operation& declare_typed_operation() {
  declare_operation(Operation::parse("typed_test.cu", R"(
//@ operation  typed_test
//@ purpose    Copies chosen elements
//@ size       n
//@ type       x cf32 s16
//@ type       index s64 u32
//@ scalar     clip bool = 1
//@ scalar     gain f16 = 0.5
//@ scalar     key u64 = 0x9e3779b97f4a7c15
//@ scalar     shift s64 = 0
//@ operand    x inout: n
//@ operand    index in: n; fill integers 0 (n - 1)
//@ right      x exact
//@ ragged     n=3
//@ flops      0
//@ reference  typed_reference
//@   grid     1
//@   block    32
void typed_reference();
)"));
  return *find_operation("typed_test");
}

TEST(DeclaredFlags, AnyTypeOfElementsAndScalarsHasThem) {
  const Operation& typed = declare_typed_operation();
  const auto one = parse_declared(typed, "--n 7 --index u32 --clip false --gain -65504");
  EXPECT_EQ(one.problem.canonical(), "typed_test x=cf32 index=u32 | n=7");
  EXPECT_THAT(one.scalars, ElementsAre(0.0, -65504.0, 0x9e3779b97f4a7c15, 0));
  EXPECT_EQ(one.operands[1].fill.high, 6);
  EXPECT_EQ(one.operands[0].shape.bytes(), 56);
  EXPECT_EQ(parse_declared(typed, "--n 7 --clip 0").scalars[0], 0.0);
  EXPECT_THAT(error_of_declared(typed, "--n 7 --clip 2"),
              AllOf(HasSubstr("--clip: 2 "), HasSubstr("0 to 1")));
  EXPECT_THAT(error_of_declared(typed, "--n 7 --gain 70000"),
              AllOf(HasSubstr("--gain: 70000 "), HasSubstr("-65504 to 65504")));
  EXPECT_THAT(error_of_declared(typed, "--n 7 --gain nan"), HasSubstr("--gain: nan "));
  EXPECT_EQ(error_of_declared(typed, "--n 7 --x f32"),
            "--x f32: this operand cannot have this type; choose from cf32, s16");
}

TEST(DeclaredFlags, ScalarsOf64BitsAreExact) {
  const Operation& typed = declare_typed_operation();
  const auto scalars = [&](const std::string& line) {
    return parse_declared(typed, "--n 7 " + line).scalars;
  };
  EXPECT_THAT(scalars("--key 9007199254740993 --shift -9007199254740993"),
              ElementsAre(1, 0.5, 9007199254740993, -9007199254740993));
  EXPECT_THAT(scalars("--key 0xffffffffffffffff --shift -9223372036854775808"),
              ElementsAre(1, 0.5, std::numeric_limits<std::uint64_t>::max(),
                          std::numeric_limits<std::int64_t>::min()));
  EXPECT_NE(scalars("--key 9007199254740993"), scalars("--key 9007199254740992"));
  EXPECT_EQ(scalars("--key 1e18"), scalars("--key 1000000000000000000"));
  EXPECT_THAT(error_of_declared(typed, "--n 7 --key 18446744073709551616"),
              AllOf(HasSubstr("--key: 18446744073709551616 "), HasSubstr("0 to 2^64 - 1")));
  EXPECT_THAT(error_of_declared(typed, "--n 7 --shift -9223372036854775809"),
              AllOf(HasSubstr("--shift: -9223372036854775809 "), HasSubstr("-2^63 to 2^63 - 1")));
  EXPECT_THAT(error_of_declared(typed, "--n 7 --key 0xfg"), StartsWith("--key: 0xfg "));
}

TEST(DeclaredFlags, TextAndSnippetGiveScalarsOf64BitsBack) {
  const Operation& typed = declare_typed_operation();
  for (const std::string line :
       {"--n 7", "--n 7 --key 18446744073709551615 --shift -9223372036854775807",
        "--n 7 --key 9007199254740992", "--n 7 --shift 9223372036854775807"}) {
    const ProblemCase one = parse_declared(typed, line);
    EXPECT_EQ(problem_words(one), "typed_test " + line);
    EXPECT_EQ(parse_declared(typed, declared_flags_text(typed, one)).scalars, one.scalars);
  }
  EXPECT_THAT(cpp_snippet(parse_declared(typed, "--n 7 --shift -9007199254740993")),
              HasSubstr(".scalars = {1, 0.5, 11400714819323198485u, -9007199254740993}});"));
}

/// An operation of rows that may lie apart.
const Operation& declare_apart_operation() {
  declare_operation(Operation::parse("apart_test.cu", R"(
//@ operation  apart_test
//@ purpose    Copies rows
//@ size       rows
//@ size       cols
//@ size       ldx = cols            // from row to row
//@ size       ldy 1..100000 = 2 * ldx
//@ type       x f32 f16
//@ type       y f32
//@ trait      align_x 16 4
//@ operand    x in: rows, cols; ld ldx; align align_x
//@ operand    y out: rows, cols; ld ldy
//@ right      y exact
//@ ragged     rows=3 cols=5 ldx=7 ldy=9
//@ flops      0
//@ reference  apart_reference
//@   grid     rows
//@   block    32
void apart_reference();
)"));
  return *find_operation("apart_test");
}

TEST(DeclaredFlags, SizesWithADefaultMayBeLeftOut) {
  const Operation& apart = declare_apart_operation();
  const auto sizes = [&](const std::string& line, std::int64_t default_size = 0) {
    return parse_declared(apart, line, default_size).problem.sizes_text();
  };
  EXPECT_EQ(sizes("--rows 7 --cols 33"), "rows=7 cols=33 ldx=33 ldy=66");
  EXPECT_EQ(sizes("--rows 7 --cols 33 --ldx 40"), "rows=7 cols=33 ldx=40 ldy=80");
  EXPECT_EQ(sizes("--rows 7", 64), "rows=7 cols=64 ldx=64 ldy=128");
  EXPECT_THAT(error_of_declared(apart, "--rows 7"), StartsWith("--cols "));
  EXPECT_THAT(error_of_declared(apart, "--rows 7 --cols 33 --ldx 32"), HasSubstr("only 32 (ldx)"));
  for (const std::string line :
       {"--rows 7 --cols 33", "--rows 7 --cols 33 --ldy 66000", "--rows 7 --cols 33 --ldx 34",
        "--rows 7 --cols 33 --ldx 34 --ldy 66 --align_x 4"}) {
    EXPECT_EQ(problem_words(parse_declared(apart, line)), "apart_test " + line);
  }
}

TEST(HeadingText, NamesSizesTypesAndTraits) {
  EXPECT_EQ(heading_text(parse_declared(declare_rows_operation(), "--rows 7 --cols 33").problem),
            "rows_test rows=7 cols=33 f32");
  EXPECT_EQ(heading_text(Problem::parse("unknown_here x=f16 y=f32 causal=1 | n=5")),
            "unknown_here n=5 x=f16 y=f32 causal=1");
}

TEST(CppSnippetOfDeclaredOperations, NamesAllThatTheProblemHas) {
  const Operation& rows = declare_rows_operation();
  EXPECT_EQ(cpp_snippet(parse_declared(rows, "--rows 7 --cols 33 --x f16 --offset 2.5")),
            "auto library = kiln::Library::open();\n"
            "auto kernel = library.get(kiln::OperationProblem{\n"
            "    .operation = \"rows_test\",\n"
            "    .sizes = {{\"rows\", 7}, {\"cols\", 33}},\n"
            "    .types = {{\"x\", kiln::DType::f16}, {\"y\", kiln::DType::f32}}});\n"
            "kernel.launch(stream, {.operands = {x, y}, .scalars = {2.5}});\n");
  EXPECT_THAT(cpp_snippet(parse_declared(declare_causal_operation(), "--causal_test-top 9")),
              HasSubstr(",\n    .traits = {{\"causal\", 0}}});\nkernel.launch(stream, "
                        "{.operands = {x, output}});\n"));
}

}  // namespace
}  // namespace kiln::tools
