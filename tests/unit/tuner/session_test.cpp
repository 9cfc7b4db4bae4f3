// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "kiln/error.hpp"
#include "tests/unit/tuner/session_fixture.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SessionTest, TriesEveryCandidateAndFindsTheFastest) {
  ScriptedEvaluator evaluator(by_config);
  selection.choices = {{"x", {1, 2, 3}}};
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.session.space_size, 9U);
  EXPECT_EQ(result.session.evaluated, 9U);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "x=1 y=0");
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), 9U);
  EXPECT_EQ(evaluator.setups().size(), 1U);
  EXPECT_THAT(observer.phases, ElementsAre("preparing", "searching", "finalists", "done"));
}

TEST_F(SessionTest, TrialsAreStoredAsTheyWereReported) {
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  const auto trials = stored();
  ASSERT_EQ(trials.size(), 12U);
  EXPECT_EQ(trials, observer.trials);
  for (const auto& trial : trials) {
    EXPECT_EQ(trial.session_id, result.session.id);
    EXPECT_EQ(trial.key.template_digest, catalog.digest("toy"));
    EXPECT_EQ(trial.key.device, evaluator.info().device_class);
    EXPECT_EQ(trial.environment.toolkit, "nvrtc 99.0");
    EXPECT_EQ(trial.environment.policy, request.policy.canonical());
    EXPECT_EQ(trial.provenance, Provenance::measured);
    EXPECT_TRUE(trial.verification && trial.verification->passed);
    EXPECT_TRUE(trial.resources && trial.resources->registers == 64);
    EXPECT_NE(trial.rendered_digest, "");
  }
  EXPECT_THAT(open().open_attempts(request.tuned.problem, evaluator.info().device_class),
              IsEmpty());
  EXPECT_THAT(open().check(), IsEmpty());
}

TEST_F(SessionTest, DefaultsOfAllTemplatesComeFirstTheLargestSpaceLeading) {
  selection.templates = {"toy", "toy_slow"};
  request.strategy = "random";
  ScriptedEvaluator evaluator(by_config);
  (void)run(evaluator);
  ASSERT_EQ(evaluator.evaluated().size(), 32U);
  EXPECT_EQ(evaluator.evaluated()[0], "toy_slow x=0 y=0");
  EXPECT_EQ(evaluator.evaluated()[1], "toy x=0 y=0");
  const std::set<std::string> distinct(evaluator.evaluated().begin(), evaluator.evaluated().end());
  EXPECT_EQ(distinct.size(), 32U);
}

TEST_F(SessionTest, TellsHowLongTheDeviceHadWork) {
  request.policy.finalists = 0;
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return by_config(job);
  });
  const Progress progress = run(evaluator).progress;
  EXPECT_GE(progress.device_s, 0.002 * static_cast<double>(evaluator.evaluated().size()));
  EXPECT_LE(progress.device_s, progress.elapsed_s);
}

TEST_F(SessionTest, CompilersAreNotWaitedForAtTheEnd) {
  compiler = std::make_shared<PatientCompiler>([](const CompileRequest& compile) {
    const auto& names = compile.name_expressions;
    return !names.empty() && config_value(names[0], "x") > 0;
  });
  request.budget.seconds = 2.0;
  ScriptedEvaluator evaluator(by_config);
  const TuneResult result = run(evaluator);
  EXPECT_EQ(result.session.state, "budget");
  ASSERT_TRUE(result.best);
  EXPECT_LE(result.progress.done, 3U) << "those with x = 0; what was given up has no outcome";
}

TEST_F(SessionTest, RunsAreReproducibleWhateverTheCompilerTakes) {
  selection.templates = {"toy", "toy_slow"};
  request.strategy = "random";
  request.seed = 11;
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
    const auto x =
        compile.name_expressions.empty() ? 0 : config_value(compile.name_expressions[0], "x");
    std::this_thread::sleep_for(std::chrono::microseconds(x * 300));
    return FakeCompilation{};
  });
  std::vector<std::string> orders[2];
  for (int i = 0; i < 2; ++i) {
    request.compile_threads = 1 + 3 * i;
    request.again = true;
    ScriptedEvaluator evaluator(by_config);
    (void)run(evaluator);
    orders[i] = evaluator.evaluated();
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST_F(SessionTest, PlantedFailuresAreRecordedAndNoneBecomesBest) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
    FakeCompilation compilation;
    if (compile.name_expressions.empty()) return compilation;
    const std::string& name = compile.name_expressions[0];
    const auto y = config_value(name, "y");
    if (config_value(name, "x") == 1 && y == 0) {
      compilation.ok = false;
      compilation.log = "planted error";
    }
    if (config_value(name, "x") == 1 && y == 1) compilation.resources.registers = 1000;
    if (config_value(name, "x") == 1 && y == 2)
      compilation.warnings = {"C7510 wgmma is serialised"};
    return compilation;
  });
  // The failing ones would all be faster than the others.
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    if (label_value(job.label, "x") != 2) return by_config(job);
    switch (label_value(job.label, "y")) {
      case 0:
        return failed_with(Outcome::wrong_result, "row 1");
      case 1:
        return failed_with(Outcome::timed_out, "after 10 s");
      default:
        return failed_with(Outcome::crashed, "illegal address");
    }
  });
  selection.choices = {{"x", {3, 1, 2}}};
  request.policy.finalists = 3;
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "complete");
  std::map<std::string, Outcome> outcomes;
  for (const auto& trial : stored()) {
    if (trial.outcome != Outcome::ok) outcomes[trial.key.config.canonical()] = trial.outcome;
  }
  const std::map<std::string, Outcome> expected{
      {"x=1 y=0", Outcome::compile_failed}, {"x=1 y=1", Outcome::out_of_resources},
      {"x=1 y=2", Outcome::rejected},       {"x=2 y=0", Outcome::wrong_result},
      {"x=2 y=1", Outcome::timed_out},      {"x=2 y=2", Outcome::crashed}};
  EXPECT_EQ(outcomes, expected);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.at("x"), 3);
  for (const auto& finalist : result.finalists) EXPECT_EQ(finalist.key.config.at("x"), 3);
}

TEST_F(SessionTest, FailedTrialsKeepTheirEvidence) {
  ScriptedEvaluator evaluator(
      [](const EvaluationJob&) { return failed_with(Outcome::wrong_result, "two elements"); });
  const auto result = run(evaluator);
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.session.state, "complete");
  for (const auto& trial : stored()) {
    EXPECT_EQ(trial.message, "two elements");
    ASSERT_TRUE(trial.verification);
    EXPECT_EQ(trial.verification->evidence, "row 1 column 2");
    EXPECT_FALSE(trial.timing);
  }
}

TEST_F(SessionTest, WhenEverythingIsSerialisedTheDefaultIsStillMeasured) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest&) {
    FakeCompilation compilation;
    compilation.resources.spill_store_bytes = 1600;
    compilation.warnings = {"C7510 wgmma is serialised"};
    return compilation;
  });
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_THAT(evaluator.evaluated(), ElementsAre("toy x=0 y=0"));
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::rejected), 11U);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->resources->spill_store_bytes, 1600);
}

TEST_F(SessionTest, ATemplateFarBehindIsGivenUp) {
  selection.templates = {"toy", "toy_slow"};
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    return job.label.starts_with("toy_slow") ? passed_in(25000.0) : by_config(job);
  });
  const auto result = run(evaluator);
  const auto slow =
      std::count_if(evaluator.evaluated().begin(), evaluator.evaluated().end(),
                    [](const std::string& label) { return label.starts_with("toy_slow"); });
  EXPECT_EQ(slow, 1);
  EXPECT_EQ(evaluator.evaluated().size(), 13U);
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.progress.planned, 13U);
  EXPECT_THAT(observer.notes, Contains(HasSubstr("toy_slow so far takes 25 times as long")));
}

TEST_F(SessionTest, CandidatesOfATemplateThatWasGivenUpAreCounted) {
  selection.templates = {"toy", "toy_slow"};
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    return job.label.starts_with("toy_slow") ? passed_in(30000.0) : by_config(job);
  });
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.progress.given_up, 32U - result.progress.done);
  EXPECT_GT(result.progress.given_up, 0U);
}

TEST_F(SessionTest, ATemplateIsNotComparedWithItself) {
  // Its default is hopeless, but there is nothing else.
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    return passed_in(job.label == "toy x=0 y=0" ? 1e6 : 1000.0);
  });
  EXPECT_EQ(run(evaluator).progress.done, 12U);
}

TEST_F(SessionTest, EachJobIsToldTheBestTimeSoFar) {
  request.candidate_timeout_s = 3.5;
  double timeout_s = 0.0;
  ScriptedEvaluator evaluator([&](const EvaluationJob& job) {
    timeout_s = job.timeout_s;
    return by_config(job);
  });
  (void)run(evaluator);
  EXPECT_EQ(evaluator.best_ns()[0], 0.0);
  EXPECT_EQ(evaluator.best_ns()[1], 1000.0);
  EXPECT_EQ(timeout_s, 3.5);
}

TEST_F(SessionTest, CountsWhatRacingDropped) {
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    return label_value(job.label, "x") < 2 ? passed_in(1000.0) : passed_in(1600.0, 3);
  });
  EXPECT_EQ(run(evaluator).progress.dropped, 6U);
}

TEST_F(SessionTest, TheCountBudgetIsKeptExactly) {
  request.budget.candidates = 5;
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_EQ(result.progress.done, 5U);
  EXPECT_EQ(stored().size(), 5U);
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_EQ(observer.progresses.back().planned, 5U);
}

TEST_F(SessionTest, TheTimeBudgetEndsTheSearch) {
  selection.templates = {"toy", "toy_slow"};
  request.budget.seconds = 1.0;
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return by_config(job);
  });
  const auto start = std::chrono::steady_clock::now();
  const auto result = run(evaluator);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_LT(result.progress.done, 12U);
  EXPECT_TRUE(result.best);
  // Generous, because the machine may be busy; without a budget it would take 3.2 s.
  EXPECT_LT(took.count(), 2.5);
}

TEST_F(SessionTest, ABudgetThatEndsWhileCompilingLeavesNoResult) {
  request.budget.seconds = 0.1;
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
    if (!compile.name_expressions.empty() && compile.name_expressions[0].starts_with("toy")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    return FakeCompilation{};
  });
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_FALSE(result.best);
  EXPECT_THAT(evaluator.evaluated(), IsEmpty());
}

TEST_F(SessionTest, TheObserverHearsFromALongCompilation) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
    if (!compile.name_expressions.empty() && compile.name_expressions[0].starts_with("toy")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2300));
    }
    return FakeCompilation{};
  });
  selection.choices = {{"x", {0}}, {"y", {0}}};
  ScriptedEvaluator evaluator(by_config);
  (void)run(evaluator);
  const auto waiting =
      std::count_if(observer.progresses.begin(), observer.progresses.end(),
                    [](const Progress& p) { return p.phase == "searching" && p.done == 0; });
  // On entering the phase, then once a second.
  EXPECT_GE(waiting, 3);
}

TEST_F(SessionTest, TheStopFlagEndsTheRunAfterTheCandidateInFlight) {
  after_trial = [this](std::size_t trials) { stop = trials == 4; };
  request.policy.finalists = 4;
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "interrupted");
  EXPECT_EQ(evaluator.evaluated().size(), 4U);
  EXPECT_EQ(stored().size(), 4U);
  EXPECT_TRUE(result.best);
  EXPECT_THAT(evaluator.comparisons(), IsEmpty());
}

TEST_F(SessionTest, AnEvaluatorThatIsNeverReadyEndsWithTheBudget) {
  request.budget.seconds = 0.2;
  ScriptedEvaluator evaluator(by_config);
  evaluator.ready = [] { return false; };
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_LT(result.progress.elapsed_s, 5.0);
  EXPECT_EQ(result.progress.device_s, 0.0);
  EXPECT_THAT(evaluator.evaluated(), IsEmpty());
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(SessionTest, AnEvaluatorThatIsNotReadyAgainLeavesNoAttempt) {
  request.policy.finalists = 2;
  ScriptedEvaluator evaluator(by_config);
  evaluator.ready = [&] {
    if (evaluator.evaluated().size() == 3) stop = true;
    return !stop;
  };
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "interrupted");
  EXPECT_EQ(evaluator.evaluated().size(), 3U);
  EXPECT_EQ(stored().size(), 3U);
  EXPECT_THAT(open().open_attempts(request.tuned.problem, evaluator.info().device_class),
              IsEmpty());
}

TEST_F(SessionTest, AComparisonWaitsForTheEvaluatorNoLongerThanItMay) {
  request.policy.finalists = 2;
  request.budget.seconds = 2.0;
  request.budget.candidates = 3;
  ScriptedEvaluator evaluator(by_config);
  evaluator.ready = [&] { return evaluator.evaluated().size() < 3; };
  const auto result = run(evaluator);
  EXPECT_THAT(evaluator.comparisons(), IsEmpty());
  EXPECT_THAT(observer.notes, Contains(HasSubstr("not ready in time")));
  EXPECT_TRUE(result.best);
}

TEST_F(SessionTest, FinalistsAreMeasuredAgainAndDecide) {
  request.policy.finalists = 3;
  request.policy.finalist_rounds = 7;
  ScriptedEvaluator evaluator(by_config);
  // Interleaved, the third turns out to be the fastest.
  evaluator.compare_script = [](const EvaluationJob& job) {
    return passed_in(1100.0 - 10.0 * static_cast<double>(label_value(job.label, "y")));
  };
  const auto result = run(evaluator);
  ASSERT_EQ(evaluator.comparisons().size(), 1U);
  EXPECT_EQ(evaluator.comparisons()[0].rounds, 7);
  EXPECT_EQ(evaluator.comparisons()[0].jobs[0].label, "toy x=0 y=0");
  EXPECT_FALSE(evaluator.comparisons()[0].jobs[0].unit.cubin.empty());
  ASSERT_EQ(result.finalists.size(), 3U);
  EXPECT_EQ(result.finalists[0].key.config.canonical(), "x=0 y=2");
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->id, result.finalists[0].id);
  EXPECT_EQ(result.progress.best->id, result.best->id);
  // Their trials are added, none is changed.
  const auto trials = stored();
  ASSERT_EQ(trials.size(), 15U);
  for (std::size_t i = 12; i < 15; ++i) {
    EXPECT_TRUE(trials[i].timing->interleaved);
    EXPECT_TRUE(trials[i].verification && trials[i].verification->passed);
  }
  EXPECT_EQ(result.progress.done, 12U);
}

TEST_F(SessionTest, UnlikeOnesAreFinalistsAsWellIfTheyAreNotFarBehind) {
  request.policy.finalists = 2;
  request.policy.unlike_finalists = 2;
  const auto compared = [&](const ScriptedEvaluator::Script& script) {
    request.again = true;
    ScriptedEvaluator evaluator(script);
    (void)run(evaluator);
    std::vector<std::string> labels;
    EXPECT_EQ(evaluator.comparisons().size(), 1U);
    if (evaluator.comparisons().empty()) return labels;
    for (const EvaluationJob& job : evaluator.comparisons()[0].jobs) labels.push_back(job.label);
    return labels;
  };
  // Of x=1, only y=2 differs in two tunables from both; of x=2 and x=3, none from all three.
  EXPECT_THAT(compared(by_config), ElementsAre("toy x=0 y=0", "toy x=0 y=1", "toy x=1 y=2"));
  EXPECT_THAT(
      compared([](const EvaluationJob& job) {
        const double behind = label_value(job.label, "x") == 0 ? 0.0 : 200.0;
        return passed_in(1000.0 + behind + static_cast<double>(label_value(job.label, "y")));
      }),
      ElementsAre("toy x=0 y=0", "toy x=0 y=1"));
}

// What takes long to verify would not be done in time.
TEST_F(SessionTest, UnlikeOnesAreLeftOutWhereTheFastestTakeTheTime) {
  request.policy.finalists = 2;
  request.policy.unlike_finalists = 2;
  selection.choices = {{"x", {0, 1}}};
  request.budget.seconds = 3.0;
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return by_config(job);
  });
  (void)run(evaluator);
  ASSERT_EQ(evaluator.comparisons().size(), 1U);
  EXPECT_EQ(evaluator.comparisons()[0].jobs.size(), 2U);
}

TEST_F(SessionTest, AmongEqualFinalistsFewerRegistersWinThenText) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
    FakeCompilation compilation;
    if (compile.name_expressions.empty()) return compilation;
    compilation.resources.registers = config_value(compile.name_expressions[0], "y") == 2 ? 32 : 64;
    return compilation;
  });
  request.policy.finalists = 6;
  selection.choices = {{"x", {0, 1}}};
  ScriptedEvaluator evaluator([](const EvaluationJob&) { return passed_in(1000.0); });
  const auto result = run(evaluator);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=2");
}

TEST_F(SessionTest, AFinalistThatFailsIsRecordedAndPassedOver) {
  request.policy.finalists = 3;
  ScriptedEvaluator evaluator(by_config);
  evaluator.compare_script = [](const EvaluationJob& job) {
    return job.label == "toy x=0 y=0" ? failed_with(Outcome::crashed, "in the comparison")
                                      : passed_in(1000.0);
  };
  const auto result = run(evaluator);
  ASSERT_EQ(result.finalists.size(), 2U);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=1");
}

// Which of them ended the worker is unknown, so none of them may be blamed.
TEST_F(SessionTest, AComparisonThatEndedTheWorkerSaysNothingAgainstAnyFinalist) {
  request.policy.finalists = 3;
  ScriptedEvaluator evaluator(by_config);
  evaluator.compare_note = "the worker process was killed";
  evaluator.compare_script = [](const EvaluationJob&) {
    return failed_with(Outcome::timed_out, "took too long");
  };
  const auto result = run(evaluator);
  EXPECT_THAT(result.finalists, IsEmpty());
  EXPECT_EQ(stored().size(), 12U);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=0");
  EXPECT_THAT(observer.notes, Contains(HasSubstr("the worker process was killed")));
}

TEST_F(SessionTest, AFinalistThatNeverHadItsTurnGetsNoTrial) {
  request.policy.finalists = 3;
  ScriptedEvaluator evaluator(by_config);
  evaluator.compare_script = [](const EvaluationJob& job) {
    return job.label == "toy x=0 y=1" ? Evaluation{} : by_config(job);
  };
  const auto result = run(evaluator);
  EXPECT_EQ(result.finalists.size(), 2U);
  EXPECT_EQ(stored().size(), 14U);
}

TEST_F(SessionTest, SlowFinalistsGetFewerRoundsOrNone) {
  request.policy.finalists = 2;
  request.policy.finalist_rounds = 15;
  request.budget.seconds = 5.0;
  request.budget.candidates = 2;
  ScriptedEvaluator slow([](const EvaluationJob&) { return passed_in(0.2e9); });
  (void)run(slow);
  ASSERT_EQ(slow.comparisons().size(), 1U);
  EXPECT_LT(slow.comparisons()[0].rounds, 9);
  EXPECT_GE(slow.comparisons()[0].rounds, 3);

  request.again = true;
  ScriptedEvaluator slower([](const EvaluationJob&) { return passed_in(2e9); });
  (void)run(slower);
  EXPECT_THAT(slower.comparisons(), IsEmpty());
  EXPECT_THAT(observer.notes, Contains(HasSubstr("too short to compare")));
}

TEST_F(SessionTest, AnEvaluatorThatBreaksEndsTheSessionAsFailed) {
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    if (label_value(job.label, "x") == 2) throw Error(ErrorKind::device, "the device is gone");
    return by_config(job);
  });
  EXPECT_THROW((void)run(evaluator), Error);
  const auto sessions = open().sessions();
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "failed");
  EXPECT_EQ(sessions[0].evaluated, 6U);
  EXPECT_EQ(stored().size(), 6U);
}

TEST_F(SessionTest, WithoutASupportingTemplateThereIsNothingToDo) {
  request.tuned = problem_case({Gemm::of(DType::f64, 64, 64, 64)});
  ScriptedEvaluator evaluator(by_config);
  const auto result = run(evaluator);
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.session.space_size, 0U);
  EXPECT_THAT(result.unsupported, Contains(HasSubstr("a=f64")));
  EXPECT_THAT(evaluator.setups(), IsEmpty());
}

TEST_F(SessionTest, WithoutAProductThereIsNothingToTune) {
  ScriptedEvaluator evaluator(by_config);
  for (std::int64_t Gemm::*const size : {&Gemm::m, &Gemm::n, &Gemm::k}) {
    Gemm gemm = Gemm::of(DType::f16, 64, 64, 64);
    gemm.*size = 0;
    request.tuned = problem_case({gemm});
    try {
      static_cast<void>(run(evaluator));
      FAIL() << "tuned";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr("nothing"));
    }
  }
  EXPECT_THAT(evaluator.setups(), IsEmpty());
}

TEST_F(SessionTest, ProgressIsTruthful) {
  ScriptedEvaluator evaluator([](const EvaluationJob& job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return by_config(job);
  });
  (void)run(evaluator);
  std::uint64_t done = 0;
  for (const auto& progress : observer.progresses) {
    EXPECT_EQ(progress.space, 12U);
    EXPECT_EQ(progress.planned, 12U);
    EXPECT_GE(progress.done, done);
    done = progress.done;
    if (progress.phase == "searching" && done > 0 && done < 12) {
      EXPECT_GE(progress.remaining_s, 0.004 * static_cast<double>(12 - done));
      EXPECT_TRUE(progress.best);
    }
  }
  EXPECT_EQ(observer.progresses.back().phase, "done");
  EXPECT_EQ(observer.progresses.back().remaining_s, 0.0);
  EXPECT_GE(observer.progresses.size(), 12U);
}

TEST_F(SessionTest, TheShareIsThatOfWhatEndsFirst) {
  const auto slow = [](const EvaluationJob& job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return by_config(job);
  };
  request.budget = {};
  request.budget.seconds = 3600.0;
  ScriptedEvaluator whole(slow);
  (void)run(whole);
  for (const auto& progress : observer.progresses) {
    if (progress.phase != "searching" || progress.done == 0) continue;
    EXPECT_FALSE(progress.by_time);
    EXPECT_DOUBLE_EQ(progress.share, static_cast<double>(progress.done) / 12.0);
  }
  observer.progresses.clear();
  request.budget.seconds = 0.1;
  request.again = true;
  ScriptedEvaluator part(slow);
  (void)run(part);
  bool met = false;
  for (const auto& progress : observer.progresses) {
    if (progress.phase != "searching" || !progress.by_time) continue;
    met = true;
    EXPECT_NEAR(progress.share, std::min(1.0, progress.elapsed_s / 0.1), 0.05);
  }
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace kiln::testing
