// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From the declaration of an operation to what is run, and to what says whether it is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "kiln/error.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/verify/roundoff.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using PatchSource = ArgumentPatch::Source;

/// An operation whose every operand has something special.
constexpr std::string_view kPooled = R"(//@ operation  pooled
//@ purpose    Many extents
//@ size       batch 0..100
//@ size       side 1..2000000000
//@ size       step 1..64
//@ let        outer = ceil_div(side, step)
//@ type       x f16 f64
//@ type       weight f32
//@ type       y f32
//@ trait      weighted 0 1
//@ scalar     gain f64 = 0.25
//@ scalar     shift s32 = -3
//@ operand    x in: batch, side, side; fill uniform
//@ operand    weight in: step; when weighted; fill integers (0 - step) step
//@ operand    y out: batch, outer
//@ right      y bound 16 + log2(side) of x
//@ ragged     batch=0 side=5 step=2
//@ ragged     batch=3 side=5 step=2
//@ flops      2 * batch * side * side
//@ reference  pooled_reference<y>
//@   grid     outer, 1, 2
//@   block    32, 4
//@   args     y.f64, x, (float) side, gain

template <class Y>
__global__ void pooled_reference(double* y, const __half* x, float side, double gain);
)";

std::string pooled_text(const std::string& from = "", const std::string& to = "") {
  std::string text(kPooled);
  if (from.empty()) return text;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// A variant needs a name of its own.
std::string named(const std::string& name, std::string text) {
  return text.replace(text.find("pooled\n"), 6, name);
}

const Operation& pooled() {
  return planted_operation(pooled_text());
}

Problem pooled_problem(std::int64_t batch, std::int64_t side, std::int64_t step,
                       std::int64_t weighted = 1) {
  return problem_of(pooled(), {{"batch", batch}, {"side", side}, {"step", step}},
                    {{"weighted", weighted}});
}

template <class Work>
std::string refusal(ErrorKind kind, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(DeclaredCase, OperandsAreRowsOfTheirInnermostExtent) {
  const ProblemCase one = declared_case(pooled(), pooled_problem(6, 10, 4), {});
  ASSERT_EQ(one.operands.size(), 3U);
  const auto& [x, weight, y] = std::tie(one.operands[0], one.operands[1], one.operands[2]);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.role, OperandRole::in);
  EXPECT_EQ(x.shape.rows, 60);
  EXPECT_EQ(x.shape.cols, 10);
  EXPECT_EQ(x.shape.ld, 10) << "no gaps";
  EXPECT_EQ(x.shape.type, DType::f16);
  EXPECT_EQ(x.shape.bytes(), 6 * 10 * 10 * 2);
  EXPECT_EQ(x.shape.alignment, 256) << "what allocators give";
  EXPECT_EQ(x.fill.kind, FillSpec::Kind::uniform);
  EXPECT_EQ(weight.shape.rows, 1);
  EXPECT_EQ(weight.shape.cols, 4);
  EXPECT_EQ(weight.fill.kind, FillSpec::Kind::integers);
  EXPECT_EQ(weight.fill.low, -4);
  EXPECT_EQ(weight.fill.high, 4);
  EXPECT_EQ(y.role, OperandRole::out);
  EXPECT_EQ(y.shape.rows, 6);
  EXPECT_EQ(y.shape.cols, 3) << "a derived size";
  EXPECT_EQ(describe(one), "batch=6 side=10 step=4");
}

TEST(DeclaredCase, WhatTheConditionLeavesOutIsNotPresent) {
  EXPECT_TRUE(declared_case(pooled(), pooled_problem(6, 10, 4, 1), {}).operands[1].present);
  const ProblemCase without = declared_case(pooled(), pooled_problem(6, 10, 4, 0), {});
  EXPECT_FALSE(without.operands[1].present);
  FakeDevice device;
  MemoryLedger ledger(device, 1 << 20);
  const OperandSet operands(ledger, without, "a test");
  EXPECT_EQ(operands.arguments({}, 0).operands[1], 0U);
  EXPECT_FALSE(operands.is_input(1));
  EXPECT_EQ(OperandSet::touched_bytes(without), (6 * 10 * 10 * 2) + (6 * 3 * 4));
}

TEST(DeclaredCase, ScalarsHaveTheirUsualValuesUnlessNamed) {
  const Problem problem = pooled_problem(1, 2, 1);
  EXPECT_THAT(declared_case(pooled(), problem, {}).scalars, ElementsAre(0.25, -3.0));
  EXPECT_THAT(declared_case(pooled(), problem, {{"shift", 7.0}}).scalars, ElementsAre(0.25, 7.0));
  EXPECT_THAT(refusal(ErrorKind::usage,
                      [&] {
                        (void)declared_case(pooled(), problem, {{"gains", 1.0}});
                      }),
              HasSubstr("pooled has no scalar \"gains\""));
}

TEST(DeclaredCase, ScalarsOf64BitsAreExact) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const Operation& deep = planted_operation(
      named("deep", pooled_text("shift s32 = -3", "shift s64 = -9007199254740993")));
  const Problem problem =
      problem_of(deep, {{"batch", 1}, {"side", 2}, {"step", 1}}, {{"weighted", 1}});
  const ProblemCase usual = declared_case(deep, problem, {});
  EXPECT_THAT(usual.scalars, ElementsAre(0.25, -9007199254740993));
  EXPECT_NE(declared_case(deep, problem, {{"shift", -9007199254740992}}).scalars, usual.scalars);
  const ProblemCase least = declared_case(deep, problem, {{"shift", kLeast + 1}});
  EXPECT_THAT(least.scalars, ElementsAre(0.25, kLeast + 1));
  const EvaluationSetup setup = declared_setup(least);
  EXPECT_EQ(setup.reference_plans[0].scalars, least.scalars);
  EXPECT_THAT(setup.reference_plans[1].scalars, ElementsAre(0.1875, kLeast + 1));
  EXPECT_EQ(setup.reference_plans[1].scalars_text, "gain=0.1875 shift=-9223372036854775807");
  EXPECT_THAT(
      refusal(ErrorKind::usage,
              [&] {
                (void)declared_case(deep, problem, {{"shift", 0x1p63}});
              }),
      AllOf(HasSubstr("deep: the scalar shift: 9.223372036854776e+18 "), HasSubstr("-2^63 to")));
}

TEST(DeclaredCase, WorkIsFlopsOrElementsWhicheverIsMore) {
  EXPECT_EQ(declared_case(pooled(), pooled_problem(6, 10, 4), {}).products, 622.0)
      << "600 of x, 4 of weight and 18 of y";
  EXPECT_EQ(declared_case(pooled(), pooled_problem(6, 10, 4, 0), {}).products, 618.0);
  const auto& costly =
      planted_operation(named("costly", pooled_text("2 * batch * side * side", "1000000")));
  EXPECT_EQ(declared_case(
                costly,
                problem_of(costly, {{"batch", 1}, {"side", 1}, {"step", 1}}, {{"weighted", 0}}), {})
                .products,
            500000.0);
}

TEST(DeclaredCase, ProblemsThatAreNotAsDeclaredAreRefused) {
  Problem packed = pooled_problem(1, 2, 1);
  packed.types[1].type = DType::s4;
  EXPECT_THAT(refusal(ErrorKind::usage, [&] { (void)declared_case(pooled(), packed, {}); }),
              HasSubstr("weight is s4"));
  Problem unknown = pooled_problem(1, 2, 1);
  unknown.traits[0].value = 2;
  EXPECT_THAT(refusal(ErrorKind::usage, [&] { (void)declared_case(pooled(), unknown, {}); }),
              HasSubstr("weighted is 2"));
  EXPECT_THAT(refusal(ErrorKind::usage,
                      [&] { (void)declared_case(pooled(), pooled_problem(1, 0, 1), {}); }),
              HasSubstr("side is 0"));
  EXPECT_THAT(
      refusal(ErrorKind::usage,
              [&] { (void)declared_case(pooled(), pooled_problem(100, 2000000000, 1), {}); }),
      AllOf(HasSubstr("x"), HasSubstr("more than 2^")));
}

TEST(DeclaredCase, AnEmptyOperandHasNoElements) {
  const ProblemCase one = declared_case(pooled(), pooled_problem(0, 10, 4), {});
  EXPECT_EQ(one.operands[0].shape.elements(), 0);
  EXPECT_EQ(one.operands[2].shape.bytes(), 0);
  EXPECT_EQ(work_of(one.problem), Work::none);
}

TEST(DeclaredSetup, RaggedCasesWithoutResultsAreLeftOut) {
  const ProblemCase tuned = declared_case(pooled(), pooled_problem(6, 10, 4, 0), {{"gain", 2.0}});
  const auto cases = verification_cases(tuned, Thoroughness::deep);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(describe(cases[0]), "batch=6 side=10 step=4");
  EXPECT_EQ(describe(cases[1]), "batch=3 side=5 step=2");
  EXPECT_EQ(cases[1].problem.traits, tuned.problem.traits);
  EXPECT_EQ(cases[1].problem.types, tuned.problem.types);
  EXPECT_EQ(cases[1].scalars, tuned.scalars);
  EXPECT_FALSE(cases[1].operands[1].present);
}

TEST(DeclaredSetup, TheReferenceIsCompiledFromTheDeclaration) {
  std::vector<CompileRequest> requests;
  FakeCompiler compiler([&](const CompileRequest& request) {
    requests.push_back(request);
    return FakeCompilation{};
  });
  TuneRequest request;
  request.tuned = declared_case(pooled(), pooled_problem(6, 10, 4), {});
  request.seed = 23;
  DeviceInfo device = fake_device_info();
  device.code = CodeKind::ptx;
  const EvaluationSetup setup = make_setup(request, compiler, device);
  ASSERT_EQ(requests.size(), 2U) << "the kernels that verify, and the reference";
  EXPECT_THAT(requests[1].name_expressions, ElementsAre("pooled_reference<float>"));
  EXPECT_THAT(requests[1].source, HasSubstr("//@ operation  pooled"));
  EXPECT_EQ(requests[1].code, CodeKind::ptx);
  EXPECT_EQ(requests[1].arch, "sm_90a");
  EXPECT_EQ(setup.seed, 23U);
  EXPECT_EQ(setup.reference.names, requests[1].name_expressions);
  EXPECT_TRUE(setup.epilogue.cubin.empty());

  ASSERT_EQ(setup.reference_geometry.size(), 2U);
  EXPECT_THAT(setup.reference_geometry[0].grid, ElementsAre(3, 1, 2));
  EXPECT_THAT(setup.reference_geometry[0].block, ElementsAre(32, 4, 1));
  ASSERT_EQ(setup.reference_plans.size(), 2U);
  const ReferencePlan& plan = setup.reference_plans[0];
  EXPECT_THAT(plan.argument.parameters, ElementsAre(0, 8, 16, 24));
  ASSERT_EQ(plan.argument.patches.size(), 3U);
  EXPECT_EQ(plan.argument.patches[0].source, PatchSource::float64);
  EXPECT_EQ(plan.argument.patches[0].index, 2);
  EXPECT_EQ(plan.argument.patches[1].source, PatchSource::operand);
  EXPECT_EQ(plan.argument.patches[2].source, PatchSource::scalar);
  EXPECT_EQ(plan.argument.patches[2].type, NumberType::f64);
  EXPECT_EQ(plan.integer_range, 0) << "nothing is declared to be exact";
  EXPECT_TRUE(plan.deterministic);
}

TEST(DeclaredSetup, RulesHaveTheirNumbers) {
  const EvaluationSetup setup =
      declared_setup(declared_case(pooled(), pooled_problem(6, 64, 4), {}));
  ASSERT_EQ(setup.reference_plans[0].rules.size(), 1U);
  const OutputRule& bound = setup.reference_plans[0].rules[0];
  EXPECT_EQ(bound.kind, RightSpec::Kind::bound);
  EXPECT_EQ(bound.operand, 2);
  EXPECT_EQ(bound.relative, unit_roundoff(DType::f32)) << "y rounds once";
  EXPECT_EQ(bound.magnitude, 22.0 * unit_roundoff(DType::f16)) << "of the type of x";
  EXPECT_EQ(bound.absolute, 0.0);
  EXPECT_EQ(setup.reference_plans[1].rules[0].magnitude, 18.0 * unit_roundoff(DType::f16));

  const auto& within = planted_operation(kAddTo);
  const EvaluationSetup near =
      declared_setup(declared_case(within, problem_of(within, {{"n", 9}}), {}));
  EXPECT_EQ(near.reference_plans[0].rules[0].kind, RightSpec::Kind::within);
  EXPECT_EQ(near.reference_plans[0].rules[0].relative, 0.0);
  EXPECT_EQ(near.reference_plans[0].rules[0].absolute, 1e-3);
  EXPECT_EQ(near.reference_plans[0].integer_range, 100);
}

/// The message of a set-up for a changed declaration, which is named after the change.
std::string broken_setup(const std::string& name, const std::string& from, const std::string& to,
                         std::int64_t batch = 6) {
  const Operation& operation = planted_operation(named(name, pooled_text(from, to)));
  const Problem problem =
      problem_of(operation, {{"batch", batch}, {"side", 10}, {"step", 4}}, {{"weighted", 0}});
  return refusal(ErrorKind::template_,
                 [&] { (void)declared_setup(declared_case(operation, problem, {})); });
}

TEST(DeclaredSetup, ADeclarationWithoutAValueIsTheAuthorsFault) {
  EXPECT_THAT(broken_setup("no_grid", "grid     outer", "grid     outer - 3"),
              AllOf(HasSubstr("planted.cu:20: the reference for batch=6 side=10 step=4"),
                    HasSubstr("grid")));
  EXPECT_THAT(broken_setup("no_block", "block    32, 4", "block    1024, 2, 65"),
              HasSubstr("block"));
  EXPECT_THAT(broken_setup("no_argument", "(float) side", "side * 1000000000"),
              HasSubstr("an int;"));
  EXPECT_THAT(
      broken_setup("no_bound", "16 + log2(side)", "16 / (side - 10)"),
      HasSubstr("planted.cu:16: the bound \"16 / (side - 10)\" is negative or undefined for "
                "batch=6 side=10 step=4"));
  EXPECT_THAT(broken_setup("negative_bound", "16 + log2(side)", "3 - side"),
              HasSubstr("\"3 - side\""));
}

// Float64 has no more than 53 bits, and right kernels would be wrong.
TEST(DeclaredSetup, AnExactReferenceOfWideIntegersWritesThemAsTheyAre) {
  std::string text(kGather);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"operation  gather", "operation  far"},
        {"type       y f16", "type       y s64"},
        {"//@   block    1\n",
         "//@   block    1\n//@   args     x, index, "
         "first, y.f64, n, m\n"}}) {
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  const Operation& operation = planted_operation(text);
  const Problem problem = problem_of(operation, {{"n", 5}, {"m", 9}});
  EXPECT_THAT(
      refusal(ErrorKind::template_,
              [&] { (void)declared_setup(declared_case(operation, problem, {})); }),
      AllOf(HasSubstr("y is declared \"exact\", but the reference writes y.f64, an array of "
                      "doubles. A double cannot hold every 64-bit integer"),
            HasSubstr("Next: write y instead of y.f64")));
}

TEST(DeclaredSetup, AProblemWithoutResultsIsNotSetUp) {
  EXPECT_THAT(
      refusal(ErrorKind::usage,
              [] { (void)declared_setup(declared_case(pooled(), pooled_problem(0, 10, 4), {})); }),
      HasSubstr("nothing to verify"));
}

TEST(DeclaredSetup, AReferenceThatDoesNotCompileNamesTheLineAndTheLog) {
  FakeCompiler compiler([](const CompileRequest& request) {
    FakeCompilation compilation;
    compilation.ok = request.name_expressions.empty();
    compilation.log = "pooled.cu(30): error: no such thing";
    return compilation;
  });
  TuneRequest request;
  request.tuned = declared_case(pooled(), pooled_problem(6, 10, 4), {});
  EXPECT_THAT(refusal(ErrorKind::template_,
                      [&] { (void)make_setup(request, compiler, fake_device_info()); }),
              AllOf(HasSubstr("planted.cu:20"), HasSubstr("pooled_reference<float>"),
                    HasSubstr("no such thing"), HasSubstr("any kernel of pooled")));
}

}  // namespace
}  // namespace kiln::testing
