// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How a session ends that was stopped, or has no time left, whatever it does at that moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "kiln/error.hpp"
#include "tests/unit/tuner/session_fixture.hpp"
#include "tuner/session/session.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool is_of_the_set_up(const CompileRequest& compile) {
  return compile.name_expressions.empty() || !compile.name_expressions[0].starts_with("toy");
}

class SessionEnd : public SessionTest {
 protected:
  /// Stops the session a while after its start.
  [[nodiscard]] std::jthread stopper() {
    return std::jthread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop = true;
    });
  }
  [[nodiscard]] std::vector<CandidateKey> open_attempts(const ScriptedEvaluator& evaluator) const {
    return open().open_attempts(request.tuned.problem, evaluator.info().device_class);
  }
};

TEST_F(SessionEnd, AReferenceThatCompilesForEverIsGivenUpWhenStopped) {
  compiler = std::make_shared<PatientCompiler>(is_of_the_set_up);
  ScriptedEvaluator evaluator(by_config);
  const auto stops = stopper();
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "interrupted");
  EXPECT_LT(result.progress.elapsed_s, 2.0);
  EXPECT_THAT(stored(), IsEmpty()) << "what was given up has no outcome";
}

TEST_F(SessionEnd, AReferenceThatCompilesForEverIsGivenUpAtTheBudgetsEnd) {
  compiler = std::make_shared<PatientCompiler>(is_of_the_set_up);
  request.budget.seconds = 0.2;
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_LT(result.progress.elapsed_s, 1.2);
  EXPECT_THAT(evaluator.setups(), IsEmpty());
}

TEST_F(SessionEnd, AReferenceThatFailsIsStillAnError) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
    FakeCompilation compilation;
    compilation.ok = !is_of_the_set_up(compile);
    return compilation;
  });
  ScriptedEvaluator evaluator(by_config);
  EXPECT_THROW((void)run(evaluator), Error);
  EXPECT_EQ(open().sessions().front().state, "failed");
}

TEST_F(SessionEnd, AnErrorDoesNotWaitForWhatIsCompiled) {
  compiler = std::make_shared<PatientCompiler>(
      [](const CompileRequest& compile) { return !is_of_the_set_up(compile); });
  ScriptedEvaluator evaluator(by_config);
  evaluator.ready = []() -> bool { throw Error(ErrorKind::device, "the device is gone"); };
  EXPECT_THROW((void)run(evaluator), Error);
}

TEST_F(SessionEnd, WhatACompileOnlySessionCompilesIsGivenUpWhenStopped) {
  compiler = std::make_shared<PatientCompiler>([](const CompileRequest&) { return true; });
  TuningStore store = open();
  const auto stops = stopper();
  const auto result =
      tune_compile_only(request, space(), "sm_90a", catalog, compiler, store, observer, stop);
  EXPECT_EQ(result.session.state, "interrupted");
  EXPECT_LT(result.progress.elapsed_s, 2.0);
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(SessionEnd, ACandidateThatRunsBeyondTheBudgetIsAbortedWithoutAnOutcome) {
  request.budget.seconds = 2.0;
  ScriptedEvaluator evaluator(by_config);
  evaluator.hangs = [](const EvaluationJob& job) { return label_value(job.label, "y") == 1; };
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_LT(result.progress.elapsed_s, 4.0);
  EXPECT_EQ(stored().size(), 1U);
  EXPECT_THAT(open_attempts(evaluator), IsEmpty());
  EXPECT_THAT(observer.notes, Contains(HasSubstr("the budget ended while toy x=0 y=1 ran")));
}

TEST_F(SessionEnd, AnErrorWhileACandidateRunsIsToldAlsoIfThatIsAborted) {
  // The strategy times its space when the defaults are under way, and finds a cost without a value.
  const std::string always = "true";
  catalog = catalog_with(
      folder, {{"bad", {{"x", {1, 2, 3}}}, always, "0", "128", {"waits = 100 / (3 - x)"}},
               {"one", {{"x", {0}}}},
               {"two", {{"x", {0}}}},
               {"three", {{"x", {0}}}}});
  selection.templates = {"bad", "one", "two", "three"};
  request.strategy = "model";
  request.compile_threads = 1;
  ScriptedEvaluator evaluator(by_config);
  evaluator.hangs = [this](const EvaluationJob&) { return stop = true; };
  EXPECT_THROW((void)run(evaluator), Error);
  EXPECT_EQ(open().sessions().front().state, "failed");
  EXPECT_THAT(open_attempts(evaluator), IsEmpty());
  EXPECT_EQ(evaluator.evaluated().size(), 1U);
}

}  // namespace
}  // namespace kiln::testing
