// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a session does with what earlier ones left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/judge.hpp"
#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ResumeTest : public SessionTest {
 protected:
  [[nodiscard]] CandidateKey key(std::int64_t x, std::int64_t y) const {
    return {request.tuned.problem,
            fake_device_info().device_class,
            "toy",
            catalog.digest("toy"),
            {{"x", x}, {"y", y}}};
  }
  /// What a run leaves behind if it is killed while the candidate is on the device.
  void leave_attempt(const CandidateKey& attempted) {
    TuningStore store = open();
    SessionRecord session;
    session.id = random_id();
    session.problem = attempted.problem;
    session.device = attempted.device;
    session.state = "running";
    store.begin_session(session);
    store.record_attempt(attempted, session.id);
    killed_session = session.id;
  }
  [[nodiscard]] std::vector<Outcome> outcomes_of(const CandidateKey& wanted) const {
    std::vector<Outcome> outcomes;
    for (const auto& trial : stored()) {
      if (trial.key == wanted) outcomes.push_back(trial.outcome);
    }
    return outcomes;
  }
  std::string killed_session;
};

TEST_F(ResumeTest, EveryTrialCarriesItsJudge) {
  ScriptedEvaluator evaluator(by_config);
  (void)run(evaluator);
  for (const Trial& trial : stored()) {
    EXPECT_EQ(trial.judge_digest, judge_digest(*find_operation("gemm")));
  }
}

// Wrong under one reference, right under the next; and the other way round.
TEST_F(ResumeTest, WhatAnotherJudgeFoundIsJudgedAgain) {
  ScriptedEvaluator first([](const EvaluationJob& job) {
    return label_value(job.label, "x") == 0 ? by_config(job)
                                            : failed_with(Outcome::wrong_result, "wrong");
  });
  (void)run(first);
  make_verdicts_of(std::string(32, '1'));
  for (const bool again : {false, true}) {
    request.again = again;
    ScriptedEvaluator second([](const EvaluationJob& job) {
      return label_value(job.label, "x") != 0 ? by_config(job)
                                              : failed_with(Outcome::wrong_result, "wrong");
    });
    const auto result = run(second);
    EXPECT_EQ(second.evaluated().size(), 12U);
    EXPECT_EQ(result.progress.known, 0U);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.best->key.config.canonical(), "x=1 y=0");
  }
}

TEST_F(ResumeTest, NothingIsMeasuredTwice) {
  request.budget.candidates = 5;
  ScriptedEvaluator first(by_config);
  (void)run(first);
  ScriptedEvaluator second(by_config);
  const auto result = run(second);
  EXPECT_EQ(result.progress.known, 5U);
  EXPECT_EQ(second.best_ns()[0], 1000.0);
  request.budget.candidates = 0;
  ScriptedEvaluator third(by_config);
  EXPECT_EQ(run(third).session.state, "complete");
  std::set<std::string> distinct;
  for (const auto* evaluator : {&first, &second, &third}) {
    distinct.insert(evaluator->evaluated().begin(), evaluator->evaluated().end());
  }
  EXPECT_EQ(distinct.size(), 12U);
  EXPECT_EQ(first.evaluated().size() + second.evaluated().size() + third.evaluated().size(), 12U);
  EXPECT_EQ(stored().size(), 12U);
}

TEST_F(ResumeTest, ACompleteSearchIsNotEvenSetUp) {
  ScriptedEvaluator first(by_config);
  request.policy.finalists = 3;
  const auto before = run(first);
  ScriptedEvaluator second(by_config);
  const auto after = run(second);
  EXPECT_EQ(after.session.state, "complete");
  EXPECT_EQ(after.progress.known, 12U);
  EXPECT_EQ(after.progress.planned, 0U);
  EXPECT_EQ(after.best, before.best);
  EXPECT_THAT(second.setups(), IsEmpty());
  EXPECT_THAT(second.comparisons(), IsEmpty());
}

TEST_F(ResumeTest, FailuresAreKnownAsWell) {
  ScriptedEvaluator first(
      [](const EvaluationJob&) { return failed_with(Outcome::timed_out, "after 10 s"); });
  (void)run(first);
  ScriptedEvaluator second(by_config);
  EXPECT_FALSE(run(second).best);
  EXPECT_THAT(second.evaluated(), IsEmpty());
}

TEST_F(ResumeTest, AgainMeasuresEverythingAfresh) {
  ScriptedEvaluator first(by_config);
  (void)run(first);
  request.again = true;
  ScriptedEvaluator second(by_config);
  const auto result = run(second);
  EXPECT_EQ(result.progress.known, 0U);
  EXPECT_EQ(second.evaluated().size(), 12U);
  EXPECT_EQ(second.best_ns()[0], 0.0);
  EXPECT_EQ(stored().size(), 24U);
}

TEST_F(ResumeTest, AChangedTemplateIsAnotherOne) {
  ScriptedEvaluator first(by_config);
  (void)run(first);
  std::ofstream(folder.path() / "toy.cu", std::ios::app) << "// changed\n";
  catalog = Catalog::with_directories({folder.path().string()});
  ScriptedEvaluator second(by_config);
  EXPECT_EQ(run(second).progress.known, 0U);
  EXPECT_EQ(second.evaluated().size(), 12U);
}

TEST_F(ResumeTest, ResultsOutsideTheRequestedSpacePlayNoPart) {
  ScriptedEvaluator first(by_config);
  (void)run(first);
  selection.choices = {{"x", {2, 3}}};
  ScriptedEvaluator second(by_config);
  const auto result = run(second);
  EXPECT_EQ(result.progress.known, 6U);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "x=2 y=0");
}

TEST_F(ResumeTest, AnotherEnvironmentIsPointedOut) {
  ScriptedEvaluator first(by_config);
  (void)run(first);
  EXPECT_THAT(observer.notes, IsEmpty());
  request.policy.cold = false;
  ScriptedEvaluator second(by_config);
  (void)run(second);
  EXPECT_THAT(observer.notes, Contains(HasSubstr("this run uses stored results of 12 candidates")));
}

TEST_F(ResumeTest, KnownFinalistsCompeteWithNewOnes) {
  request.policy.finalists = 2;
  request.budget.candidates = 1;
  ScriptedEvaluator first(by_config);
  (void)run(first);
  EXPECT_THAT(first.comparisons(), IsEmpty());
  ScriptedEvaluator second(by_config);
  const auto result = run(second);
  ASSERT_EQ(second.comparisons().size(), 1U);
  EXPECT_EQ(second.comparisons()[0].jobs[0].label, "toy x=0 y=0");
  EXPECT_FALSE(second.comparisons()[0].jobs[0].unit.cubin.empty());
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=0");
  EXPECT_EQ(result.best->session_id, result.session.id);
}

TEST_F(ResumeTest, AKilledSessionIsMarkedInterrupted) {
  leave_attempt(key(2, 1));
  ScriptedEvaluator evaluator(by_config);
  (void)run(evaluator);
  const auto sessions = open().sessions();
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].id, killed_session);
  EXPECT_EQ(sessions[0].state, "interrupted");
  EXPECT_EQ(sessions[1].state, "complete");
}

TEST_F(ResumeTest, ASessionDoesNotTakeItselfForAKilledOne) {
  std::set<std::string> states;
  ScriptedEvaluator evaluator([&](const EvaluationJob& job) {
    states.insert(open().sessions().back().state);
    return by_config(job);
  });
  (void)run(evaluator);
  EXPECT_THAT(states, ElementsAre("running"));
}

TEST_F(ResumeTest, AnUnfinishedCandidateGetsOneMoreTry) {
  leave_attempt(key(2, 1));
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  // After the default, before the strategy's.
  EXPECT_EQ(evaluator.evaluated()[1], "toy x=2 y=1");
  EXPECT_EQ(evaluator.evaluated().size(), 12U);
  EXPECT_THAT(outcomes_of(key(2, 1)), ElementsAre(Outcome::crashed, Outcome::ok));
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), 12U);
  EXPECT_EQ(open().latest_trials(key(2, 1).problem, key(2, 1).device).size(), 12U);
}

TEST_F(ResumeTest, AnUnfinishedCandidateThatKillsAgainStaysCrashed) {
  leave_attempt(key(0, 0));
  // The second try ends without an outcome: nothing is recorded after the attempt.
  ScriptedEvaluator killer(
      [](const EvaluationJob&) -> Evaluation { throw Error(ErrorKind::device, "host died"); });
  EXPECT_THROW((void)run(killer), Error);
  EXPECT_THAT(outcomes_of(key(0, 0)), ElementsAre(Outcome::crashed));
  EXPECT_THAT(open().open_attempts(key(0, 0).problem, key(0, 0).device), Not(IsEmpty()));

  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_THAT(evaluator.evaluated(), Not(Contains("toy x=0 y=0")));
  EXPECT_EQ(evaluator.evaluated().size(), 11U);
  EXPECT_EQ(result.progress.known, 1U);
  const auto trials = stored();
  EXPECT_EQ(trials[0].message, "the run was killed while this candidate ran");
}

TEST_F(ResumeTest, AnAttemptBesideAnOutcomeIsLeftAlone) {
  ScriptedEvaluator first(by_config);
  (void)run(first);
  leave_attempt(key(1, 1));
  ScriptedEvaluator second(by_config);
  (void)run(second);
  EXPECT_THAT(second.evaluated(), IsEmpty());
  EXPECT_THAT(outcomes_of(key(1, 1)), ElementsAre(Outcome::ok));
}

TEST_F(ResumeTest, AttemptsOfOtherProblemsAreNotTouched) {
  CandidateKey other = key(1, 1);
  other.problem = to_problem(Gemm::of(DType::f16, 64, 64, 64));
  leave_attempt(other);
  ScriptedEvaluator evaluator(by_config);
  (void)run(evaluator);
  EXPECT_THAT(outcomes_of(key(1, 1)), ElementsAre(Outcome::ok));
  EXPECT_EQ(open().open_attempts(other.problem, other.device).size(), 1U);
}

// A second session in the middle of the first one, on another device of the class, say.
TEST_F(ResumeTest, TwoSessionsShareTheWorkAndRepeatNothing) {
  std::vector<std::string> second_evaluated;
  std::vector<std::string> states;
  ScriptedEvaluator first([&](const EvaluationJob& job) {
    if (!states.empty()) return by_config(job);
    states.emplace_back("asked");
    ScriptedEvaluator second(by_config);
    TuneRequest few = request;
    few.budget.candidates = 4;
    TuningStore store = open();
    RecordingObserver quiet;
    EXPECT_EQ(tune(few, space(), catalog, compiler, second, store, quiet, stop).session.state,
              "budget");
    second_evaluated = second.evaluated();
    states.clear();
    for (const auto& session : store.sessions()) states.push_back(session.state);
    return by_config(job);
  });
  const auto result = run(first);
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_THAT(states, ElementsAre("running", "budget")) << "the first was taken for killed";
  EXPECT_EQ(second_evaluated.size(), 4U);
  std::set<std::string> distinct(second_evaluated.begin(), second_evaluated.end());
  distinct.insert(first.evaluated().begin(), first.evaluated().end());
  EXPECT_EQ(distinct.size(), 12U);
  EXPECT_EQ(first.evaluated().size() + second_evaluated.size(), 12U);
  EXPECT_EQ(stored().size(), 12U);
  EXPECT_THAT(observer.notes,
              Contains(HasSubstr("this run skipped 4 candidates, because another run")));
}

TEST_F(ResumeTest, ACandidateThatWasBrokenOffIsAsGoodAsUntried) {
  ScriptedEvaluator first(by_config);
  first.hangs = [&](const EvaluationJob& job) {
    stop = job.label == "toy x=0 y=2";
    return stop.load();
  };
  const auto start = std::chrono::steady_clock::now();
  const auto result = run(first);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 2.0);
  EXPECT_EQ(result.session.state, "interrupted");
  EXPECT_EQ(stored().size(), first.evaluated().size() - 1);
  EXPECT_THAT(outcomes_of(key(0, 2)), IsEmpty());
  EXPECT_THAT(open().open_attempts(key(0, 0).problem, key(0, 0).device), IsEmpty());

  stop = false;
  ScriptedEvaluator second(by_config);
  EXPECT_EQ(run(second).session.state, "complete");
  EXPECT_THAT(outcomes_of(key(0, 2)), ElementsAre(Outcome::ok));
}

TEST_F(ResumeTest, AKnownTemplateFarBehindIsGivenUpAtOnce) {
  selection.templates = {"toy", "toy_slow"};
  request.budget.candidates = 2;
  const auto script = [](const EvaluationJob& job) {
    return job.label.starts_with("toy_slow") ? passed_in(30000.0) : by_config(job);
  };
  ScriptedEvaluator first(script);
  (void)run(first);
  request.budget.candidates = 0;
  ScriptedEvaluator second(script);
  (void)run(second);
  EXPECT_EQ(second.evaluated().size(), 11U);
}

TEST_F(ResumeTest, WhatRelatedProblemsTellComesBehindTheDefault) {
  request.budget.candidates = 2;
  const auto last_is_best = [](const EvaluationJob& job) {
    return passed_in(1000.0 - 10.0 * static_cast<double>(label_value(job.label, "x")));
  };
  selection.choices = {{"x", {0, 3}}, {"y", {0}}};
  ScriptedEvaluator first(last_is_best);
  ASSERT_EQ(run(first).best->key.config.at("x"), 3);
  selection.choices.clear();
  request.tuned = problem_case({Gemm::of(DType::f16, 512, 512, 1024)});
  ScriptedEvaluator second(last_is_best);
  (void)run(second);
  EXPECT_EQ(second.evaluated(), (std::vector<std::string>{"toy x=0 y=0", "toy x=3 y=0"}));
  // Measured afresh, nothing is taken from what is known.
  request.again = true;
  ScriptedEvaluator third(last_is_best);
  (void)run(third);
  EXPECT_NE(third.evaluated(), second.evaluated());
}

}  // namespace
}  // namespace kiln::testing
