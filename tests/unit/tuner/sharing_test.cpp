// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Candidates that compile to the same machine code: each code runs once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "kiln/error.hpp"
#include "tests/unit/tuner/elf_builder.hpp"
#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A cubin with one kernel of that symbol and that code.
std::vector<std::byte> cubin_of(const std::string& symbol, const std::string& code) {
  constexpr std::uint8_t kKernel = 0x12;
  ElfBuilder module;
  module.sections = {{".text." + symbol, 1, code}};
  module.symbols.push_back({symbol, kKernel, ElfBuilder::kFirstFree, 0});
  return module.bytes();
}

/// Of the twelve candidates of toy those with y=0 and y=1 compile to the same: eight codes.
class SharingTest : public SessionTest {
 protected:
  SharingTest() {
    compiler = std::make_shared<FakeCompiler>([this](const CompileRequest& compile) {
      FakeCompilation compilation;
      if (compile.name_expressions.empty()) return compilation;
      const std::string& name = compile.name_expressions[0];
      const auto x = config_value(name, "x");
      const auto y = config_value(name, "y");
      if (names_differ_only) {
        compilation.symbol = fmt::format("_Z3toyILi{}ELi{}EEvv", x, y);
        compilation.code = cubin_of(compilation.symbol, fmt::format("code {} {}", x, y / 2));
      }
      if (spilled == y) compilation.warnings = {"C7510 wgmma is serialised"};
      return compilation;
    });
  }
  /// What the code of a candidate takes.
  [[nodiscard]] static Evaluation by_code(const EvaluationJob& job) {
    return passed_in(1000.0 + 10.0 * static_cast<double>(label_value(job.label, "x")) +
                     static_cast<double>(label_value(job.label, "y") / 2));
  }
  /// The latest of each candidate.
  [[nodiscard]] std::map<std::string, Trial> by_config_text() const {
    std::map<std::string, Trial> trials;
    for (const Trial& trial : stored()) trials[trial.key.config.canonical()] = trial;
    return trials;
  }
  void edit_template() {
    std::ofstream(folder.path() / "toy.cu", std::ios::app) << "// another remark\n";
    catalog = Catalog::with_directories({folder.path().string()});
  }

  bool names_differ_only = true;  ///< else the code is not understood
  std::int64_t spilled = -1;      ///< value of y that spills
};

TEST_F(SharingTest, EachCodeRunsOnce) {
  ScriptedEvaluator evaluator(by_code);
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(evaluator.evaluated().size(), 8U);
  EXPECT_EQ(result.progress.done, 12U);
  EXPECT_EQ(result.progress.compiled, 12U);
  EXPECT_EQ(result.progress.codes, 8U);
  EXPECT_EQ(result.progress.shared, 4U);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), 12U);
  EXPECT_EQ(result.session.evaluated, 12U);
  EXPECT_EQ(stored(), observer.trials);
  EXPECT_THAT(open().check(), IsEmpty());
  EXPECT_THAT(open().open_attempts(request.tuned.problem, evaluator.info().device_class),
              IsEmpty());
}

TEST_F(SharingTest, ASharedTrialSaysWhoseOutcomeItHas) {
  ScriptedEvaluator evaluator(by_code);
  (void)run(evaluator);
  auto trials = by_config_text();
  const Trial& ran = trials.at("x=2 y=0");
  const Trial& sharer = trials.at("x=2 y=1");
  EXPECT_EQ(ran.shared_from, "");
  EXPECT_EQ(ran.code_digest.size(), 32U);
  EXPECT_EQ(sharer.shared_from, ran.id);
  EXPECT_EQ(sharer.code_digest, ran.code_digest);
  EXPECT_EQ(sharer.timing, ran.timing);
  EXPECT_EQ(sharer.verification, ran.verification);
  EXPECT_NE(sharer.rendered_digest, ran.rendered_digest);
  EXPECT_TRUE(eligible(sharer));
  EXPECT_NE(trials.at("x=2 y=2").code_digest, ran.code_digest);
}

TEST_F(SharingTest, EveryOutcomeOfTheDeviceIsShared) {
  selection.choices = {{"y", {0, 1}}};
  const std::vector<Outcome> outcomes{Outcome::wrong_result, Outcome::crashed, Outcome::timed_out,
                                      Outcome::launch_failed};
  ScriptedEvaluator evaluator([&](const EvaluationJob& job) {
    return failed_with(outcomes[static_cast<std::size_t>(label_value(job.label, "x"))], "because");
  });
  const auto result = run(evaluator);
  EXPECT_EQ(evaluator.evaluated().size(), 4U);
  EXPECT_FALSE(result.best);
  auto trials = by_config_text();
  for (std::size_t x = 0; x < outcomes.size(); ++x) {
    const Trial& sharer = trials.at(fmt::format("x={} y=1", x));
    EXPECT_EQ(sharer.outcome, outcomes[x]);
    EXPECT_EQ(sharer.message, "because");
    EXPECT_EQ(sharer.shared_from, trials.at(fmt::format("x={} y=0", x)).id);
  }
  EXPECT_EQ(trials.at("x=0 y=1").verification->evidence, "row 1 column 2");
}

TEST_F(SharingTest, WhatTheCompilerDecidesIsEachCandidatesOwn) {
  spilled = 1;
  selection.choices = {{"x", {1, 2}}};
  ScriptedEvaluator evaluator(by_code);
  const auto result = run(evaluator);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::rejected), 2U);
  EXPECT_EQ(result.progress.compiled, 6U);
  EXPECT_EQ(result.progress.codes, 4U);
  EXPECT_EQ(result.progress.shared, 0U);
  EXPECT_EQ(by_config_text().at("x=1 y=1").shared_from, "");
}

TEST_F(SharingTest, CodeThatIsNotUnderstoodRunsForEveryCandidate) {
  names_differ_only = false;
  ScriptedEvaluator evaluator(by_code);
  const auto result = run(evaluator);
  EXPECT_EQ(evaluator.evaluated().size(), 12U);
  EXPECT_EQ(result.progress.codes, 12U);
  EXPECT_EQ(result.progress.shared, 0U);
  for (const Trial& trial : stored()) EXPECT_EQ(trial.code_digest, "");
}

TEST_F(SharingTest, AnotherLaunchIsMeasuredByItself) {
  catalog = catalog_with(
      folder, {{.name = "toy", .tunables = {{"x", {0}}, {"y", {0, 1}}}, .block = "128 + 32 * y"}});
  ScriptedEvaluator evaluator(by_code);
  const auto result = run(evaluator);
  EXPECT_EQ(evaluator.evaluated().size(), 2U);
  EXPECT_EQ(result.progress.codes, 2U);
}

TEST_F(SharingTest, SharedCandidatesCountAsTried) {
  request.budget.candidates = 5;
  ScriptedEvaluator evaluator(by_code);
  const auto result = run(evaluator);
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_EQ(result.progress.done, 5U);
  EXPECT_EQ(evaluator.evaluated().size(), 3U);
}

TEST_F(SharingTest, ALaterSessionSharesWhatAnEarlierOneMeasured) {
  selection.choices = {{"y", {0}}};
  ScriptedEvaluator first(by_code);
  (void)run(first);
  EXPECT_EQ(first.evaluated().size(), 4U);
  selection.choices = {{"y", {0, 1}}};
  request.policy.finalists = 4;
  ScriptedEvaluator second(by_code);
  const auto result = run(second);
  EXPECT_THAT(second.evaluated(), IsEmpty());
  EXPECT_EQ(result.progress.known, 4U);
  EXPECT_EQ(result.progress.done, 4U);
  EXPECT_EQ(result.progress.codes, 0U);
  EXPECT_EQ(result.progress.shared, 4U);
  EXPECT_THAT(second.comparisons(), IsEmpty()) << "nothing new was measured";
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.at("x"), 0);
}

// Its digest is another, so all its candidates are new; its code is not.
TEST_F(SharingTest, ARemarkInATemplateCostsNoMeasurement) {
  ScriptedEvaluator first(by_code);
  (void)run(first);
  edit_template();
  ScriptedEvaluator second(by_code);
  const auto result = run(second);
  EXPECT_THAT(second.evaluated(), IsEmpty());
  EXPECT_EQ(result.progress.known, 0U);
  EXPECT_EQ(result.progress.shared, 12U);
  // Those that ran are named, not those that shared.
  std::set<std::string> ran;
  for (const Trial& trial : stored()) {
    if (trial.shared_from.empty()) ran.insert(trial.id);
  }
  EXPECT_EQ(ran.size(), 8U);
  for (const Trial& trial : stored()) {
    EXPECT_TRUE(trial.shared_from.empty() || ran.contains(trial.shared_from));
  }
}

TEST_F(SharingTest, NoOutcomeOfAnotherJudgeIsShared) {
  ScriptedEvaluator first(
      [](const EvaluationJob&) { return failed_with(Outcome::wrong_result, "1"); });
  EXPECT_FALSE(run(first).best);
  make_verdicts_of(std::string(32, '1'));
  edit_template();
  ScriptedEvaluator second(by_code);
  const auto result = run(second);
  EXPECT_EQ(second.evaluated().size(), 8U);
  EXPECT_EQ(result.progress.shared, 4U) << "with those of this run";
  ASSERT_TRUE(result.best) << "another judge's wrong results bar no code";
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=0");
}

TEST_F(SharingTest, AnotherEnvironmentMeasuresAnew) {
  ScriptedEvaluator first(by_code);
  (void)run(first);
  edit_template();
  ScriptedEvaluator second(by_code);
  second.info_.driver = "another";
  (void)run(second);
  EXPECT_EQ(second.evaluated().size(), 8U);
  request.policy.cold = false;
  edit_template();
  ScriptedEvaluator third(by_code);
  (void)run(third);
  EXPECT_EQ(third.evaluated().size(), 8U);
}

TEST_F(SharingTest, AgainMeasuresEachCodeAfreshAndOnce) {
  ScriptedEvaluator first(by_code);
  (void)run(first);
  request.again = true;
  ScriptedEvaluator second(by_code);
  const auto result = run(second);
  EXPECT_EQ(second.evaluated().size(), 8U);
  EXPECT_EQ(result.progress.shared, 4U);
  std::set<std::string> own;
  for (const Trial& trial : observer.trials) own.insert(trial.id);
  for (const Trial& trial : observer.trials) {
    EXPECT_TRUE(trial.shared_from.empty() || own.contains(trial.shared_from));
  }
}

TEST_F(SharingTest, ASessionBesideThisOneMeasuresForBoth) {
  bool asked = false;
  ScriptedEvaluator first([&](const EvaluationJob& job) {
    if (asked) return by_code(job);
    asked = true;
    ScriptedEvaluator second(by_code);
    const SearchSpace part = make_search_space(catalog, request.tuned.problem, second.info().limits,
                                               {{"toy"}, {{"x", {3}}, {"y", {0}}}});
    TuningStore store = open();
    RecordingObserver quiet;
    (void)tune(request, part, catalog, compiler, second, store, quiet, stop);
    EXPECT_EQ(second.evaluated().size(), 1U);
    return by_code(job);
  });
  (void)run(first);
  EXPECT_EQ(first.evaluated().size(), 7U);
  auto trials = by_config_text();
  EXPECT_EQ(trials.at("x=3 y=1").shared_from, trials.at("x=3 y=0").id);
  EXPECT_NE(trials.at("x=3 y=1").session_id, trials.at("x=3 y=0").session_id);
}

TEST_F(SharingTest, ACodeTakesOnePlaceAmongTheFinalistsAndSharesItsNewTime) {
  request.policy.finalists = 3;
  ScriptedEvaluator evaluator(by_code);
  evaluator.compare_script = [](const EvaluationJob& job) {
    return passed_in(900.0 + 10.0 * static_cast<double>(label_value(job.label, "x")) -
                     static_cast<double>(label_value(job.label, "y")));
  };
  const auto result = run(evaluator);
  ASSERT_EQ(evaluator.comparisons().size(), 1U);
  std::vector<std::string> labels;
  for (const auto& job : evaluator.comparisons()[0].jobs) labels.push_back(job.label);
  EXPECT_THAT(labels, ElementsAre("toy x=0 y=0", "toy x=0 y=2", "toy x=1 y=0"));
  EXPECT_EQ(result.finalists.size(), 3U);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=2");
  auto trials = by_config_text();
  for (const std::string x : {"x=0", "x=1"}) {
    const Trial& ran = trials.at(x + " y=0");
    const Trial& sharer = trials.at(x + " y=1");
    EXPECT_EQ(ran.shared_from, "");
    EXPECT_EQ(sharer.shared_from, ran.id);
    EXPECT_EQ(sharer.timing, ran.timing);
    EXPECT_TRUE(sharer.timing->interleaved);
  }
  EXPECT_FALSE(trials.at("x=2 y=1").timing->interleaved);
  EXPECT_EQ(stored().size(), 12U + 3U + 2U);
}

TEST_F(SharingTest, AFinalistThatFailsDoesSoForItsCode) {
  request.policy.finalists = 2;
  ScriptedEvaluator evaluator(by_code);
  evaluator.compare_script = [](const EvaluationJob& job) {
    return job.label == "toy x=0 y=0" ? failed_with(Outcome::crashed, "in the comparison")
                                      : passed_in(1000.0);
  };
  const auto result = run(evaluator);
  EXPECT_EQ(by_config_text().at("x=0 y=1").outcome, Outcome::crashed);
  EXPECT_EQ(result.best->key.config.canonical(), "x=0 y=2");
}

// Trials of earlier versions do not know their code.
TEST_F(SharingTest, KnownFinalistsOfUnknownCodeAreComparedOnce) {
  selection.choices = {{"x", {0}}, {"y", {0, 1}}};
  names_differ_only = false;
  ScriptedEvaluator first(by_code);
  (void)run(first);
  EXPECT_EQ(first.evaluated().size(), 2U);
  names_differ_only = true;
  selection.choices = {{"x", {0}}};
  request.policy.finalists = 4;
  ScriptedEvaluator second(by_code);
  (void)run(second);
  EXPECT_THAT(second.evaluated(), ElementsAre("toy x=0 y=2"));
  ASSERT_EQ(second.comparisons().size(), 1U);
  EXPECT_EQ(second.comparisons()[0].jobs.size(), 2U);
}

// The machine dies with the candidate, again and again: its twin would be the next to kill it.
TEST_F(SharingTest, WhatKilledTheRunTwiceIsTriedInNoOtherCandidate) {
  selection.choices = {{"x", {0}}, {"y", {0, 1}}};
  ScriptedEvaluator killer(
      [](const EvaluationJob&) -> Evaluation { throw Error(ErrorKind::device, "host died"); });
  EXPECT_THROW((void)run(killer), Error);
  EXPECT_THROW((void)run(killer), Error);
  EXPECT_THAT(killer.evaluated(), ElementsAre("toy x=0 y=0", "toy x=0 y=0"));
  ScriptedEvaluator evaluator(by_code);
  (void)run(evaluator);
  EXPECT_THAT(evaluator.evaluated(), IsEmpty());
  const Trial sharer = by_config_text().at("x=0 y=1");
  EXPECT_EQ(sharer.outcome, Outcome::crashed);
  EXPECT_THAT(sharer.message, HasSubstr("killed"));
}

TEST_F(SharingTest, WithoutADeviceWhatWouldBeSharedIsCounted) {
  TuningStore store = open();
  const auto compile = [&] {
    return tune_compile_only(request, space(), "sm_90a", catalog, compiler, store, observer, stop);
  };
  selection.choices = {{"y", {0, 2}}};
  EXPECT_EQ(compile().progress.codes, 8U);
  selection.choices.clear();
  const auto result = compile();
  EXPECT_EQ(result.progress.known, 8U);
  EXPECT_EQ(result.progress.done, 4U);
  EXPECT_EQ(result.progress.compiled, 4U);
  EXPECT_EQ(result.progress.codes, 0U);
  EXPECT_EQ(result.progress.shared, 4U);
  for (const Trial& trial : stored()) {
    EXPECT_EQ(trial.shared_from, "") << "nothing ran";
    EXPECT_EQ(trial.code_digest.size(), 32U);
  }
}

}  // namespace
}  // namespace kiln::testing
