// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Faults that a kernel of a declared operation might have, each of which must be found and named;
// and what the reference is given to find them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/support/typed_kernel.hpp"
#include "tests/unit/tuner/declared_verifier_fixture.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tuner/local_evaluator.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(DeclaredVerifierTest, ARightKernelPasses) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}}, {}, {{"scale", 0.3}});
  const Verification found = judge("scale_right");
  EXPECT_TRUE(found.passed) << found.evidence;
  EXPECT_GT(found.worst_ratio, 0.0) << "0.3 x is rounded";
  EXPECT_LE(found.worst_ratio, 1.0);
}

TEST_F(DeclaredVerifierTest, ATailThatIsNotWrittenIsFoundOnARaggedCase) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}});
  expect_found("scale_leaves_tail",
               AllOf(HasSubstr("rows=3 cols=5 (integers): row 2 column 2: never written, expected"),
                     HasSubstr("3 elements wrong")),
               "scale_right");
}

WrongOutput wrong_output(double value, double expected, double bound) {
  WrongOutput wrong;
  wrong.row = 3;
  wrong.col = 1;
  wrong.compared = 8;
  wrong.found.failures = 1;
  wrong.found.first_value = value;
  wrong.found.first_expected = expected;
  wrong.found.first_bound = bound;
  return wrong;
}

TEST(WrongOutputs, SayHowFarOffWhereNumbersLookTheSame) {
  EXPECT_EQ(describe(wrong_output(7, 3, 0)), "row 3 column 1: 7, expected 3 (allowed error 0)");
  EXPECT_EQ(describe(wrong_output(0.1 + 1.3e-9, 0.1, 1e-8)),
            "row 3 column 1: 0.1, error 1.3e-09 (allowed error 1e-08)");
  EXPECT_EQ(describe(wrong_output(16777217, 16777216, 0)),
            "row 3 column 1: 1.67772e+07, error 1 (allowed error 0)");
}

TEST(WrongOutputs, SayThatABoundIsLessThanOneRounding) {
  EXPECT_EQ(describe(wrong_output(0.1 + 1.3e-9, 0.1, 1e-9)),
            "row 3 column 1: 0.1, error 1.3e-09 (allowed error 1e-09, which is less than one "
            "rounding error of f32: 6e-09)");
  WrongOutput wide = wrong_output(0.1 + 1.3e-9, 0.1, 1e-9);
  wide.type = DType::f64;
  EXPECT_THAT(describe(wide), ::testing::EndsWith("(allowed error 1e-09)"));
  EXPECT_THAT(describe(wrong_output(8, 7, 0)), ::testing::EndsWith("(allowed error 0)")) << "exact";
}

TEST(WrongOutputs, NameElementsOfOneExtentByOneNumber) {
  WrongOutput wrong = wrong_output(7, 3, 0);
  wrong.line = true;
  wrong.row = 0;
  wrong.col = 512;
  EXPECT_EQ(describe(wrong), "element 512: 7, expected 3 (allowed error 0)");
}

TEST(WrongOutputs, SayByHowManyTimesTheBound) {
  EXPECT_EQ(excess_text(7.83, 534), "; the largest error is 7.8 times the allowed error");
  EXPECT_EQ(excess_text(1.004, 1), "; the error is 1.00 times the allowed error");
  EXPECT_EQ(excess_text(12345.6, 2), "; the largest error is 12346 times the allowed error");
  EXPECT_EQ(excess_text(std::numeric_limits<double>::infinity(), 2), "")
      << "exact, or not a number";
  EXPECT_EQ(excess_text(0.0, 2), "") << "a checker has no bound";
}

TEST(WrongOutputs, TellAReferenceWithoutAResultAndMemoryThatNothingWrote) {
  const double nan = std::nan("");
  EXPECT_THAT(describe(wrong_output(7, nan, nan)),
              ::testing::StartsWith("row 3 column 1: 7, but the reference gives NaN: "));
  WrongOutput unwritten = wrong_output(nan, 3, 0.5);
  unwritten.unwritten = true;
  EXPECT_EQ(describe(unwritten), "row 3 column 1: never written, expected 3 (allowed error 0.5)");
  WrongOutput complex = wrong_output(1, 1, 1e-9);
  complex.type = DType::cf64;
  complex.found.first_value_imaginary = 2 + 3e-9;
  complex.found.first_expected_imaginary = 2;
  EXPECT_EQ(describe(complex), "row 3 column 1: (1, 2), error 3e-09 (allowed error 1e-09)");
  unwritten.checker = "check";
  EXPECT_EQ(describe(unwritten), "row 3 column 1: never written, which check rejects");
}

TEST_F(DeclaredVerifierTest, ScalarsMustBeApplied) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}}, {}, {{"scale", 3.0}});
  expect_found("scale_forgets_scalar", HasSubstr("rows=3 cols=5 (integers): row 0 column"),
               "scale_right");
  // By itself 1 would hide it.
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}}, {}, {{"scale", 1.0}});
  expect_found("scale_forgets_scalar", HasSubstr("rows=3 cols=5 (normal data, scale=0.75): row 0"),
               "scale_right");
}

TEST_F(DeclaredVerifierTest, TheBoundIsOfRoundingErrors) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}});
  expect_found("scale_is_inaccurate",
               AllOf(HasSubstr("rows=3 cols=5 (normal data, scale=1.125): row 0 column"),
                     HasSubstr("allowed error")),
               "scale_right");
}

TEST_F(DeclaredVerifierTest, WritesOutsideAreFound) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}});
  expect_found("scale_writes_behind", AllOf(HasSubstr("after y"), HasSubstr("offset 4 ")),
               "scale_right");
  expect_found("scale_writes_before", AllOf(HasSubstr("before y"), HasSubstr("offset -4 ")),
               "scale_right");
}

TEST_F(DeclaredVerifierTest, ChangedInputsAreFound) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}});
  expect_found("scale_changes_input", AllOf(HasSubstr("input x"), HasSubstr("row 2 column 4")),
               "scale_right");
}

TEST_F(DeclaredVerifierTest, RacesShowAsRunsThatDiffer) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}});
  expect_found(
      "scale_is_unstable",
      AllOf(HasSubstr("(normal data, scale=1.125): two runs"), HasSubstr("row 0 column 0")),
      "scale_right");
}

TEST_F(DeclaredVerifierTest, AnArgumentListThatTheKernelHasNotIsALaunchThatFails) {
  prepare(kScaleRows, {{"rows", 4}, {"cols", 8}});
  EvaluationJob job = declared_job(setup_, "scale_right");
  for (auto& arguments : job.arguments) arguments[0].image.resize(32);
  const Verdict verdict = judge(job);
  EXPECT_EQ(verdict.status.code, DeviceStatus::Code::launch_failed);
  EXPECT_THAT(verdict.status.message, HasSubstr("takes 28 bytes"));
  EXPECT_THAT(verdict.place, HasSubstr("rows=3 cols=5"));
}

TEST_F(DeclaredVerifierTest, WhatIsUpdatedStartsAfreshInEveryRun) {
  prepare(kAddTo, {{"n", 40}});
  expect_right("add_right");
  expect_found("add_twice", HasSubstr("n=7 (integers): element"), "add_right");
  expect_found("add_overwrites", HasSubstr("n=7 (integers): element"), "add_right");
  expect_found("add_unstable", HasSubstr("n=7 (normal data, alpha=0.375): two runs"), "add_right");
}

TEST_F(DeclaredVerifierTest, ADistanceIsTheSameEverywhere) {
  prepare(kAddTo, {{"n", 40}});
  const Verification almost = judge("add_almost");
  EXPECT_TRUE(almost.passed) << almost.evidence;
  EXPECT_NEAR(almost.worst_ratio, 0.9, 0.01);
  expect_found("add_off",
               AllOf(HasSubstr("n=7 (normal data, alpha=0.375): element 0"),
                     HasSubstr("allowed error 0.001"), HasSubstr("7 elements wrong")),
               "add_right");
}

TEST_F(DeclaredVerifierTest, AnOperationNeedNotBeDeterministic) {
  prepare(variant_of(variant_of(kAddTo, "operation  add_to", "operation  add_somehow"), "//@ flops",
                     "//@ deterministic 0\n//@ flops"),
          {{"n", 40}});
  expect_right("add_unstable");
  expect_found("add_off", HasSubstr("allowed error 0.001"), "add_right");
  // Each of two runs is held to the rule.
  expect_found("add_right_once",
               HasSubstr("n=7 (integers): only the second run is wrong: element 0"), "add_right");
}

TEST_F(DeclaredVerifierTest, WhatIsUpdatedMayBeGivenToTheReferenceInFloat64) {
  register_typed<const double*, double*, int, float>(
      device_, "add_in_f64", [](const FakeLaunch&, const double* x, double* y, int n, float alpha) {
        for (int i = 0; i < n; ++i) y[i] += static_cast<double>(alpha) * x[i];
      });
  prepare(variant_of(variant_of(variant_of(kAddTo, "operation  add_to", "operation  add_f64"),
                                "reference  add_to_reference", "reference  add_in_f64"),
                     "//@   block    1\n",
                     "//@   block    1\n//@   args     x.f64, y.f64, n, alpha\n") +
              "void add_in_f64(const double* x, double* y, int n, float alpha);\n",
          {{"n", 40}});
  expect_right("add_right");
  expect_found("add_twice", HasSubstr("n=7 (integers): element"), "add_right");
}

TEST_F(DeclaredVerifierTest, EachOfSeveralOutputsHasItsRule) {
  prepare(kLeastOfRows, {{"rows", 6}, {"cols", 9}}, {{"with_sum", 1}});
  expect_right("least_right");
  expect_found("least_ignores_last",
               AllOf(HasSubstr("(normal data): place, element"), HasSubstr("(allowed error 0);")),
               "least_right");
  expect_found("least_forgets_sum",
               AllOf(HasSubstr("rows=3 cols=5 (normal data): sum, element 0"),
                     HasSubstr("never written"), HasSubstr("3 elements wrong")),
               "least_right");
}

TEST_F(DeclaredVerifierTest, AnOutputThatIsLeftOutIsNotLookedAt) {
  prepare(kLeastOfRows, {{"rows", 6}, {"cols", 9}}, {{"with_sum", 0}});
  expect_right("least_right");
  expect_right("least_forgets_sum");
  expect_found("least_ignores_last", HasSubstr("place, element"), "least_right");
}

// The sum of numbers of both signs may be near 0; what its terms add up to is not.
TEST_F(DeclaredVerifierTest, TheMagnitudeOfTheReferenceScalesTheBound) {
  prepare(kLeastOfRows, {{"rows", 64}, {"cols", 64}}, {{"with_sum", 1}});
  expect_right("least_right");
  register_typed<const float*, double*, float*, int*, int, int>(
      device_, "least_plainly",
      [](const FakeLaunch&, const float* x, double* sum, float* least, int* place, int rows,
         int cols) {
        for (int row = 0; row < rows; ++row) {
          const float* const from = x + row * cols;
          place[row] = static_cast<int>(std::min_element(from, from + cols) - from);
          least[row] = from[place[row]];
          for (int i = 0; i < cols; ++i) sum[row] += static_cast<double>(from[i]);
        }
      });
  prepare(variant_of(variant_of(variant_of(kLeastOfRows, "operation  least_of_rows",
                                           "operation  least_strictly"),
                                "reference  least_of_rows_reference", "reference  least_plainly"),
                     "x, least, place, sum.f64, sum.magnitude,", "x, sum.f64, least, place,") +
              "void least_plainly();\n",
          {{"rows", 64}, {"cols", 64}}, {{"with_sum", 1}});
  EXPECT_THAT(judge("least_right").evidence, HasSubstr("(normal data): sum, element"));
}

TEST_F(DeclaredVerifierTest, OperandsAreFilledAsDeclared) {
  prepare(kGather, {{"n", 100}, {"m", 300}});
  expect_right("gather_right");
  expect_found("gather_next",
               AllOf(HasSubstr("n=5 m=9 (normal data): element 8"), HasSubstr("1 element wrong")),
               "gather_right");
}

// Thirty inputs are more checks than have room at once.
TEST_F(DeclaredVerifierTest, ManyOperandsAreChecked) {
  constexpr int kInputs = 30;
  std::string text = "//@ operation  add_many\n//@ purpose    Adds\n//@ size       n 1..64\n";
  std::string parameters;
  for (int i = 0; i < kInputs; ++i) {
    text += fmt::format("//@ type       x{0} s32\n//@ operand    x{0} in: n\n", i);
  }
  text +=
      "//@ type       y s32\n//@ operand    y out: n\n//@ right      y exact\n"
      "//@ ragged     n=3\n//@ flops      n\n//@ reference  add_many\n//@   grid     1\n"
      "//@   block    1\n\nvoid add_many();\n";
  const auto add = [](const FakeLaunch& launch) {
    std::vector<int*> operands(kInputs + 1);
    std::memcpy(operands.data(), launch.arguments, operands.size() * sizeof(int*));
    int n = 0;
    std::memcpy(&n, static_cast<const std::byte*>(launch.arguments) + launch.parameters.back(),
                sizeof(n));
    for (int i = 0; i < n; ++i) {
      operands[kInputs][i] = 0;
      for (int j = 0; j < kInputs; ++j) operands[kInputs][i] += operands[j][i];
    }
    if (launch.name == "add_and_spoil") operands[kInputs - 1][0] += 1;
  };
  device_.register_kernel("add_many", add);
  device_.register_kernel("add_and_spoil", add);
  prepare(text, {{"n", 20}});
  expect_right("add_many");
  expect_found("add_and_spoil", HasSubstr("changed input x29 in 1 element"), "add_many");
}

TEST_F(DeclaredVerifierTest, AReferenceThatDoesNotRunIsAnError) {
  device_.register_kernel(
      "scale_rows_reference", [](const FakeLaunch&) {}, FakeParameters{});
  EXPECT_THROW(prepare(kScaleRows, {{"rows", 4}, {"cols", 8}}), Error);
  FakeDeviceOptions options;
  options.fault = [](const FakeLaunch& launch) -> std::optional<FakeFault> {
    if (launch.name != "scale_rows_reference") return std::nullopt;
    return FakeFault{{DeviceStatus::Code::faulted, "misaligned address", true}, true};
  };
  FakeDevice faulty(std::move(options));
  register_planted_operations(faulty);
  MemoryLedger ledger(faulty, 1 << 20);
  SupportKernels kernels(ledger, setup_.support);
  try {
    const Verifier verifier(ledger, kernels, setup_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::template_);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("reference"), HasSubstr("misaligned address")));
  }
}

TEST_F(DeclaredVerifierTest, ReturnsAllItsMemory) {
  const std::size_t before = device_.live_allocations();
  prepare(kLeastOfRows, {{"rows", 6}, {"cols", 9}}, {{"with_sum", 1}});
  EXPECT_GT(device_.live_allocations(), before);
  verifier_.reset();
  kernels_.reset();
  EXPECT_EQ(device_.live_allocations(), before);
}

TEST(DeclaredEvaluator, TimesWhatPassed) {
  auto device = std::make_unique<FakeDevice>();
  register_planted_operations(*device);
  LocalEvaluator evaluator(std::move(device), BaselineSource{});
  const Operation& operation = planted_operation(kAddTo);
  const EvaluationSetup setup =
      declared_setup(declared_case(operation, problem_of(operation, {{"n", 50}}), {}));
  evaluator.set_up(setup);
  const Evaluation right = evaluator.evaluate(declared_job(setup, "add_right"));
  EXPECT_EQ(right.outcome, Outcome::ok) << right.message;
  ASSERT_TRUE(right.timing);
  EXPECT_DOUBLE_EQ(right.timing->median_ns, 1000.0);
  const Evaluation wrong = evaluator.evaluate(declared_job(setup, "add_twice"));
  EXPECT_EQ(wrong.outcome, Outcome::wrong_result);
  EXPECT_FALSE(wrong.timing);
}

TEST(DeclaredEvaluator, AJobWithoutArgumentsHasNoLaunch) {
  auto device = std::make_unique<FakeDevice>();
  register_planted_operations(*device);
  LocalEvaluator evaluator(std::move(device), BaselineSource{});
  const Operation& operation = planted_operation(kAddTo);
  const EvaluationSetup setup =
      declared_setup(declared_case(operation, problem_of(operation, {{"n", 50}}), {}));
  evaluator.set_up(setup);
  EvaluationJob job = declared_job(setup, "add_right");
  job.arguments[1].clear();
  EXPECT_EQ(evaluator.evaluate(job).outcome, Outcome::launch_failed);
}

}  // namespace
}  // namespace kiln::testing
