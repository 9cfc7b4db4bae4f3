// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The best of a session on an emulated device is looked at with the device's checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>

#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionChecks : public SessionTest {
 protected:
  SessionChecks() { selection.choices = {{"x", {0}}}; }
  /// Three candidates; of these the checks find some wrong.
  ScriptedEvaluator evaluator(std::set<std::int64_t> racy = {}) {
    ScriptedEvaluator made([this, racy = std::move(racy)](const EvaluationJob& job) {
      if (!job.check) return by_config(job);
      checked.push_back(job.label);
      if (racy.contains(label_value(job.label, "y"))) {
        Evaluation found = failed_with(Outcome::wrong_result, "race at toy.cu:7");
        found.verification.checked = true;
        return found;
      }
      Evaluation evaluation = by_config(job);
      evaluation.verification.checked = true;
      return evaluation;
    });
    made.info_.provenance = Provenance::modelled;
    return made;
  }
  [[nodiscard]] std::vector<Outcome> outcomes_of(const Config& config) const {
    std::vector<Outcome> outcomes;
    for (const Trial& trial : stored()) {
      if (trial.key.config == config) outcomes.push_back(trial.outcome);
    }
    return outcomes;
  }
  std::vector<std::string> checked;
};

TEST_F(SessionChecks, TheBestIsLookedAtBeforeItIsTold) {
  auto device = evaluator();
  const auto result = run(device);
  EXPECT_THAT(checked, ElementsAre("toy x=0 y=0"));
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.best->verification->checked);
  EXPECT_EQ(result.best->timing->median_ns, 1000.0);
  EXPECT_EQ(stored().size(), 4U) << "a trial of its own";
  EXPECT_THAT(observer.notes, IsEmpty());
}

TEST_F(SessionChecks, WhatTheyFindIsStoredAndTheNextBestIsLookedAt) {
  auto device = evaluator({0, 1});
  const auto result = run(device);
  EXPECT_THAT(checked, ElementsAre("toy x=0 y=0", "toy x=0 y=1", "toy x=0 y=2"));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=2");
  EXPECT_THAT(outcomes_of({{"x", 0}, {"y", 0}}), ElementsAre(Outcome::ok, Outcome::wrong_result));
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), 1U);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::wrong_result), 2U);
  EXPECT_THAT(observer.notes,
              Contains(HasSubstr("the best candidate so far, toy x=0 y=0, failed the checks: race "
                                 "at toy.cu:7")));
}

TEST_F(SessionChecks, NoneIsBestWhereTheyFindAllWrong) {
  auto device = evaluator({0, 1, 2});
  const auto result = run(device);
  EXPECT_FALSE(result.best);
  EXPECT_EQ(checked.size(), 3U);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0].count, 3U);
  EXPECT_EQ(result.failures[0].example.message, "race at toy.cu:7");
  EXPECT_TRUE(result.failures[0].example.verification->checked) << "no result disagreed";
  EXPECT_EQ(result.unchecked, "");
  // The next session says the same of what it knows.
  auto second = evaluator({0, 1, 2});
  const auto again = run(second);
  ASSERT_EQ(again.failures.size(), 1U);
  EXPECT_EQ(again.failures[0].example.message, "race at toy.cu:7");
}

TEST_F(SessionChecks, WhatTheyHadNoTimeForIsNotTheBestOnceTheyFoundItsTemplateWrong) {
  auto device = evaluator({0});
  device.hangs = [](const EvaluationJob& job) {
    return job.check && label_value(job.label, "y") == 1;
  };
  request.budget.seconds = 2.0;
  const auto result = run(device);
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.unchecked, "the budget ended before the checks ended");
  EXPECT_EQ(result.session.state, "budget");
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0].example.message, "race at toy.cu:7");
  EXPECT_THAT(observer.notes,
              Contains(HasSubstr("the new best candidate was not checked for races, missing "
                                 "waits and similar faults: ")));
  BestQuery query;
  query.problem = request.tuned.problem;
  query.device = device.info().device_class;
  EXPECT_FALSE(open().best(query)) << "no application gets it either";

  request.budget.seconds = 0.0;
  auto second = evaluator({0});
  const auto next = run(second);
  ASSERT_TRUE(next.best);
  EXPECT_EQ(next.best->key.config.canonical(), "x=0 y=1");
  EXPECT_EQ(next.unchecked, "");
  EXPECT_TRUE(open().best(query));
}

TEST_F(SessionChecks, AreInterruptedWhileTheirReferenceOrTheBestCompiles) {
  for (const bool is_the_best : {false, true}) {
    std::filesystem::remove(folder.path() / "tuning.db");
    stop = false;
    std::atomic<std::size_t> ran = 0;
    after_trial = [&](std::size_t count) { ran = count; };
    compiler = std::make_shared<PatientCompiler>([&](const CompileRequest& compile) {
      const auto& names = compile.name_expressions;
      const bool is_candidate = !names.empty() && names[0].starts_with("toy");
      if (is_candidate != is_the_best || ran < 3) return false;
      stop = true;
      return true;
    });
    auto device = evaluator();
    const auto result = run(device);
    EXPECT_EQ(result.session.state, "interrupted") << is_the_best;
    EXPECT_EQ(result.unchecked, "the run was stopped before the checks ended") << is_the_best;
    EXPECT_THAT(stored(), SizeIs(3));
  }
}

TEST_F(SessionChecks, WhatWasFoundCleanIsNotLookedAtAgain) {
  auto first = evaluator();
  (void)run(first);
  auto second = evaluator();
  const auto result = run(second);
  EXPECT_EQ(checked.size(), 1U);
  EXPECT_THAT(second.setups(), IsEmpty()) << "nothing was left to do";
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.best->verification->checked);
}

TEST_F(SessionChecks, WhatCouldNotBeLookedAtIsToldAndLookedAtNextTime) {
  ScriptedEvaluator slow([](const EvaluationJob& job) {
    return job.check ? failed_with(Outcome::timed_out, "took longer than 10 s") : by_config(job);
  });
  slow.info_.provenance = Provenance::modelled;
  const auto unchecked = run(slow);
  ASSERT_TRUE(unchecked.best);
  EXPECT_FALSE(unchecked.best->verification->checked);
  EXPECT_EQ(unchecked.unchecked, "took longer than 10 s");
  EXPECT_EQ(stored().size(), 3U) << "which says nothing about the candidate";
  EXPECT_THAT(observer.notes, Contains(HasSubstr("took longer than 10 s")));
  // Nor do they go on for longer than the budget.
  auto hanging = evaluator();
  hanging.hangs = [](const EvaluationJob& job) { return job.check; };
  request.budget.seconds = 0.3;
  (void)run(hanging);
  EXPECT_THAT(observer.notes, Contains(HasSubstr(": the budget ended")));

  request.budget.seconds = 0.0;
  auto third = evaluator({0});
  const auto result = run(third);
  EXPECT_EQ(result.progress.known, 3U);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=1");
}

TEST_F(SessionChecks, AGpuHasNone) {
  auto device = evaluator();
  device.info_.provenance = Provenance::measured;
  ASSERT_TRUE(run(device).best);
  EXPECT_THAT(checked, IsEmpty());
}

}  // namespace
}  // namespace kiln::testing
