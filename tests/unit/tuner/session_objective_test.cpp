// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sessions that search for something other than the shortest time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/error.hpp"
#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// Larger x take longer and draw less power: the fastest is x=1, the most frugal one x=3.
Evaluation frugal_if_slow(const EvaluationJob& job) {
  const auto x = static_cast<double>(label_value(job.label, "x"));
  const auto y = static_cast<double>(label_value(job.label, "y"));
  Evaluation evaluation = passed_in(1000.0 + 100.0 * x + y);
  evaluation.timing->energy_j = (500.0 - 100.0 * x + y) * 1e-6;
  evaluation.timing->energy_spread_j = 1e-7;
  evaluation.timing->power_w = 400.0;
  return evaluation;
}

Objective wanted(const std::string& text) {
  return Objective::parse(text, "the test");
}

TEST_F(SessionTest, TheObjectiveDecidesWhichCandidateIsBest) {
  selection.choices = {{"x", {1, 2, 3}}};
  request.objective = wanted("energy");
  ScriptedEvaluator evaluator(frugal_if_slow);
  const auto result = run(evaluator);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "x=3 y=0");
  EXPECT_EQ(result.session.objective, "energy");
  ASSERT_EQ(open().sessions().size(), 1U);
  EXPECT_EQ(open().sessions()[0].objective, "energy");
  ASSERT_EQ(evaluator.setups().size(), 1U);
  EXPECT_TRUE(evaluator.setups()[0].policy.energy);
  // The same trials answer by time.
  BestQuery query;
  query.problem = request.tuned.problem;
  query.device = evaluator.info().device_class;
  EXPECT_EQ(open().best(query)->key.config.canonical(), "x=1 y=0");
}

TEST_F(SessionTest, ASessionByTimeMeasuresNoEnergy) {
  ScriptedEvaluator evaluator(by_config);
  (void)run(evaluator);
  EXPECT_FALSE(evaluator.setups().at(0).policy.energy);
  EXPECT_THAT(evaluator.comparisons(), ::testing::IsEmpty());
}

TEST_F(SessionTest, WhatLacksEnergyRunsAgainUnlessItIsHopeless) {
  selection.choices = {{"x", {1, 2, 3}}};
  const auto by_time = [](const EvaluationJob& job) {
    Evaluation evaluation = frugal_if_slow(job);
    evaluation.timing->energy_j = evaluation.timing->energy_spread_j = 0.0;
    if (label_value(job.label, "x") == 2) evaluation.timing->median_ns *= 10.0;
    return evaluation;
  };
  ScriptedEvaluator timed(by_time);
  EXPECT_EQ(run(timed).best->key.config.canonical(), "x=1 y=0");
  request.objective = wanted("energy");
  ScriptedEvaluator measured(frugal_if_slow);
  const auto result = run(measured);
  EXPECT_EQ(result.best->key.config.canonical(), "x=3 y=0");
  EXPECT_EQ(measured.evaluated().size(), 6U) << "those with x=2 are ten times slower";
  EXPECT_THAT(measured.evaluated(), Each(::testing::Not(HasSubstr("x=2"))));
  ScriptedEvaluator again(frugal_if_slow);
  (void)run(again);
  EXPECT_THAT(again.evaluated(), ::testing::IsEmpty());
}

TEST_F(SessionTest, FinalistsAreTheBestByTheObjectiveAndTakeEnergyTurns) {
  selection.choices = {{"x", {1, 2, 3}}};
  request.objective = wanted("energy_delay");
  request.policy.finalists = 2;
  ScriptedEvaluator evaluator(frugal_if_slow);
  const auto result = run(evaluator);
  ASSERT_EQ(evaluator.comparisons().size(), 1U);
  const ComparisonRequest& comparison = evaluator.comparisons()[0];
  EXPECT_EQ(comparison.energy_turns, request.policy.energy_turns);
  ASSERT_EQ(comparison.jobs.size(), 2U);
  EXPECT_THAT(comparison.jobs[0].label, HasSubstr("x=3"));
  EXPECT_THAT(comparison.jobs[1].label, HasSubstr("x=3"));
  ASSERT_FALSE(result.finalists.empty());
  EXPECT_GT(result.finalists[0].timing->energy_j, 0.0);
}

TEST_F(SessionTest, ExpressionsNeedNoRace) {
  selection.choices = {{"x", {1, 2, 3}}};
  request.objective = wanted("2e6 / time_ns");
  ScriptedEvaluator evaluator(frugal_if_slow);
  const auto result = run(evaluator);
  EXPECT_EQ(result.best->key.config.canonical(), "x=3 y=0") << "ties";
  EXPECT_THAT(evaluator.best_ns(), Each(0.0));
  EXPECT_FALSE(evaluator.setups().at(0).policy.energy);
}

TEST_F(SessionTest, AnExpressionWithoutAValueEndsTheSession) {
  request.objective = wanted("spill_bytes");
  ScriptedEvaluator evaluator(frugal_if_slow);
  try {
    (void)run(evaluator);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("is 0, but must be above 0; add a constant"));
  }
}

TEST_F(SessionTest, AnEmulatedDeviceHasNoEnergy) {
  request.objective = wanted("energy");
  ScriptedEvaluator evaluator(frugal_if_slow);
  evaluator.info_.provenance = Provenance::modelled;
  try {
    (void)run(evaluator);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not predict"));
  }
}

}  // namespace
}  // namespace kiln::testing
