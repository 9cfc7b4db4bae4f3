// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sessions in which some candidates take long to compile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/tuner/session_fixture.hpp"
#include "tuner/session/compile_forecast.hpp"
#include "tuner/session/compiler.hpp"

namespace kiln::testing {
namespace {

using ::testing::ElementsAre;

class SessionPipelineTest : public SessionTest {
 protected:
  /// Candidate x=0 y=1 takes that long, all others take no time.
  void make_one_slow(std::chrono::milliseconds slow) {
    compiler = std::make_shared<FakeCompiler>([slow](const CompileRequest& wanted) {
      if (is_slow(wanted)) std::this_thread::sleep_for(slow);
      return FakeCompilation{};
    });
  }
  static bool is_slow(const CompileRequest& wanted) {
    if (wanted.name_expressions.empty()) return false;  // what the session needs itself
    const std::string& name = wanted.name_expressions[0];
    return name.find("toy") != std::string::npos && config_value(name, "x") == 0 &&
           config_value(name, "y") == 1;
  }
};

TEST_F(SessionPipelineTest, ASlowCompilationDelaysNoOtherCandidate) {
  make_one_slow(std::chrono::milliseconds(700));
  request.budget.seconds = 60;
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "complete");
  ASSERT_EQ(evaluator.evaluated().size(), 12U);
  EXPECT_EQ(evaluator.evaluated().back(), "toy x=0 y=1");
  EXPECT_GT(result.progress.compilers_busy, 0.0);
  EXPECT_EQ(result.progress.compilers, 2);
}

TEST_F(SessionPipelineTest, ARepeatableSessionKeepsTheOrderOfProposals) {
  make_one_slow(std::chrono::milliseconds(300));
  request.budget.candidates = 4;
  ScriptedEvaluator evaluator(by_config);
  static_cast<void>(run(evaluator));
  EXPECT_THAT(evaluator.evaluated(),
              ElementsAre("toy x=0 y=0", "toy x=0 y=1", "toy x=0 y=2", "toy x=1 y=0"));
}

TEST_F(SessionPipelineTest, EndsBeforeItsBudgetWhereNothingPromisesAGain) {
  const TempFolder wide;
  catalog = catalog_with(wide, {{"toy", {{"x", first_numbers(40)}, {"y", first_numbers(40)}}}});
  request.strategy = "surrogate";
  ScriptedEvaluator evaluator(by_config);
  const auto first = run(evaluator);
  EXPECT_EQ(first.session.state, "converged");
  EXPECT_LT(first.progress.done, 400U) << "of 1600";
  EXPECT_LE(first.best->timing->median_ns, 1003.0) << "of 1000 to 1429";
  // What is known is not tried again, and the search asks again what the rest promises.
  const auto second = run(evaluator);
  EXPECT_EQ(second.session.state, "converged");
  EXPECT_EQ(second.progress.known, first.progress.done);
  EXPECT_LT(second.progress.done, 200U);
}

TEST_F(SessionPipelineTest, WhatIsGivenUpForItsCompileTimeIsLeftOutAndCounted) {
  // It would never end; the budget is long enough for the others, and for more patience once.
  auto patient = std::make_shared<PatientCompiler>(is_slow);
  request.budget.seconds = 3.5;
  TuningStore store = open();
  ScriptedEvaluator evaluator(by_config);
  const auto start = std::chrono::steady_clock::now();
  const auto result = tune(request, space(), catalog, patient, evaluator, store, observer, stop);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_EQ(result.progress.done, 11U);
  ASSERT_TRUE(result.best);
  EXPECT_LT(taken.count(), 1.1 * request.budget.seconds + 1.0);
}

TEST(SessionCompilerTest, GivesUpWhatTakesLongerThanThePhaseAllows) {
  PatientCompiler patient([](const CompileRequest&) { return true; });
  SessionCompiler compiler(patient, [] { return false; });
  compiler.allow(0.2);
  const CompileResult result = compiler.compile({});
  EXPECT_TRUE(result.given_up);
  EXPECT_GE(result.seconds, 0.2);
}

TEST(CompileForecastTest, LearnsThatUnrolledExtentsMultiply) {
  const TempFolder folder;
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6, 7, 8};
  const Catalog catalog = catalog_with(folder, {{"toy", {{"x", values}, {"y", values}}}});
  const SearchSpace space = make_search_space(catalog, to_problem(Gemm::of(DType::f16, 64, 64, 64)),
                                              *limits_of_arch("sm_90a"), {{"toy"}, {}});
  const auto seconds = [](std::int64_t x, std::int64_t y) {
    return 0.5 + 0.25 * static_cast<double>(x * y);
  };
  CompileForecast forecast(space);
  EXPECT_FALSE(forecast.expected_s({"toy", {{"x", 8}, {"y", 8}}}));
  EXPECT_EQ(forecast.median_s(), 0.0);
  for (const std::int64_t x : {1, 3, 5, 7}) {
    for (const std::int64_t y : {1, 2, 4, 6, 8}) {
      forecast.observe({"toy", {{"x", x}, {"y", y}}}, seconds(x, y));
    }
  }
  for (const std::int64_t x : {2, 4, 6}) {
    for (const std::int64_t y : {3, 5, 7}) {
      const double expected = forecast.expected_s({"toy", {{"x", x}, {"y", y}}}).value();
      EXPECT_GT(expected, 0.6 * seconds(x, y)) << x << " " << y;
      EXPECT_LT(expected, 1.6 * seconds(x, y)) << x << " " << y;
    }
  }
}

}  // namespace
}  // namespace kiln::testing
