// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// What is reported of a comparison with cuBLASLt, above all if some of it failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "cache/files/cubin_store.hpp"
#include "runtime/compile/compiler.hpp"
#include "tests/support/built_in_config.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/scripted_evaluator.hpp"
#include "tests/support/toy_templates.hpp"
#include "tools/output/tune_report.hpp"
#include "tools/verbs/contest_time.hpp"
#include "tools/workbench.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/session.hpp"

namespace kiln::tools {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ComparisonRow timed(const std::string& label, double time_ns) {
  ComparisonRow row;
  row.label = label;
  row.timing.median_ns = time_ns;
  row.timing.spread_ns = time_ns / 100;
  return row;
}

ComparisonRow failed(const std::string& label, Outcome outcome, const std::string& message) {
  ComparisonRow row;
  row.label = label;
  row.outcome = outcome;
  row.message = message;
  return row;
}

Contest contest_with(std::vector<ComparisonRow> baselines) {
  Contest contest;
  contest.verification.passed = true;
  contest.ours = timed("ours", 2000.0);
  contest.baselines = std::move(baselines);
  if (!contest.baselines.empty()) {
    contest.ours->ratio = contest.baselines.front().timing.median_ns / 2000.0;
  }
  return contest;
}

TEST(Contest, TheRatioIsAgainstTheFastestOfThoseThatRan) {
  const auto contest = contest_with({timed("first", 1000.0), timed("second", 1500.0)});
  EXPECT_EQ(
      ratio_text(contest),
      "0.500 +- 0.000 of cuBLASLt's speed, timed in turns: Kiln 2.000 us, cuBLASLt 1.000 us (its "
      "fastest of 2)");
  EXPECT_EQ(contest_json(contest)["ratio"], 0.5);
}

TEST(Contest, AnAlgorithmThatFailedIsNamedAndNotCounted) {
  const auto contest = contest_with({timed("first", 1000.0), timed("second", 1500.0),
                                     failed("third", Outcome::launch_failed, "refused")});
  EXPECT_THAT(ratio_text(contest), AllOf(StartsWith("0.500 +- 0.000 "), HasSubstr("; 1 of 3 "),
                                         EndsWith(" launch_failed: refused")));
  const auto json = contest_json(contest);
  EXPECT_EQ(json["baselines"][0]["outcome"], "ok");
  EXPECT_FALSE(json["baselines"][0].contains("message"));
  EXPECT_EQ(json["baselines"][2]["outcome"], "launch_failed");
  EXPECT_EQ(json["baselines"][2]["message"], "refused");
  EXPECT_FALSE(json["baselines"][2].contains("time_ns"));
}

TEST(Contest, WithoutATimedAlgorithmThereIsNoRatio) {
  const auto contest = contest_with({failed("first", Outcome::launch_failed, "refused"),
                                     failed("second", Outcome::launch_failed, "refused")});
  EXPECT_FALSE(contest.compared());
  EXPECT_EQ(ratio_text(contest),
            "none, because cuBLASLt was not timed: 2 of 2 cuBLASLt algorithms failed; the first "
            "failure is launch_failed: refused");
  EXPECT_FALSE(contest_json(contest).contains("ratio"));
  TuneReport report;
  report.contest = contest;
  report.result.emplace().best.emplace();
  EXPECT_EQ(report_row(report).at(5), "");
}

TEST(Contest, AFastestAlgorithmThatIsWrongIsDenounced) {
  auto wrong = timed("first", 1000.0);
  wrong.outcome = Outcome::wrong_result;
  wrong.message = "row 1 column 2";
  EXPECT_THAT(
      ratio_text(contest_with({wrong})),
      AllOf(HasSubstr("0.500"),
            HasSubstr("cuBLASLt's fastest algorithm has the outcome wrong_result: row 1 column 2"),
            Not(HasSubstr("failed"))));
}

TEST(Contest, RatiosAgainstWrongResultsAreLeftOutOfTheMean) {
  const auto half = contest_with({timed("first", 1000.0)});
  const auto double_speed = contest_with({timed("first", 4000.0)});
  auto wrong = timed("first", 8000.0);
  wrong.outcome = Outcome::wrong_result;
  const auto against_wrong = contest_with({wrong, timed("second", 9000.0)});
  const auto untimed = contest_with({});
  const RatioMean mean = mean_ratio({&half, &double_speed, &against_wrong, &untimed});
  EXPECT_DOUBLE_EQ(mean.value, 1.0);
  EXPECT_EQ(mean.counted, 2);
  EXPECT_EQ(mean.against_wrong, 1);
  EXPECT_EQ(mean_ratio({&against_wrong}).value, 0.0);
}

TEST(Contest, ACandidateThatAnAlgorithmKeptFromBeingTimedIsNotMeasured) {
  auto contest = contest_with({failed("first", Outcome::crashed, "illegal address")});
  contest.ours->timing = {};
  EXPECT_FALSE(contest.measured());
  EXPECT_THAT(failure_text(contest),
              AllOf(HasSubstr("not timed"), HasSubstr("crashed: illegal address")));
  EXPECT_THAT(ratio_text(contest), HasSubstr("illegal address"));
  EXPECT_FALSE(contest_json(contest).contains("time_ns"));
}

TEST(Contest, WithoutALibraryTheNoteSaysWhy) {
  auto contest = contest_with({});
  contest.note = "libcublasLt.so was not found";
  EXPECT_EQ(ratio_text(contest), "no baseline: libcublasLt.so was not found");
}

TEST(Contest, LongTurnsReachTheWorkerAndGetTheTimeThatTheyTakeUnlessThereIsNone) {
  const testing::TempFolder folder;
  const auto store = std::make_shared<CubinStore>((folder.path() / "cubins.db").string(), 1 << 20,
                                                  [](const std::string&) {});
  auto scripted = std::make_unique<testing::ScriptedEvaluator>(
      [](const EvaluationJob&) { return testing::passed_in(1000.0); });
  const testing::ScriptedEvaluator& evaluator = *scripted;
  Workbench bench;
  bench.compiler =
      std::make_shared<CachingCompiler>(std::make_shared<testing::FakeCompiler>(), store);
  bench.evaluator = std::move(scripted);
  Context context;
  TuneRequest request;
  request.tuned = problem_case({Gemm::of(DType::f32, 64, 64, 64)});
  const Candidate candidate{"gemm_tiled", testing::built_in_config("gemm_tiled", {})};
  for (const double turn_ms : {2.0, 1000.0}) {
    request.policy.batch_ms = turn_ms;
    const Contest contest = hold_contest(context, bench, request, candidate, {true, 7});
    EXPECT_TRUE(contest.measured()) << contest.message;
  }
  const Contest late =
      hold_contest(context, bench, request, candidate, {.give_up = [] { return true; }});
  EXPECT_THAT(late.note, HasSubstr("out of time while"));

  ASSERT_EQ(evaluator.setups().size(), 2U);
  EXPECT_EQ(evaluator.setups()[0].policy.batch_ms, 2.0);
  EXPECT_EQ(evaluator.setups()[1].policy.batch_ms, 1000.0);
  ASSERT_EQ(evaluator.comparisons().size(), 2U);
  EXPECT_LT(evaluator.comparisons()[0].timeout_s, 61.0);
  // Seven rounds of nine in half of it.
  EXPECT_GT(evaluator.comparisons()[1].timeout_s, 2 * 7 * 9.0);
}

Context context_on(const std::string& device) {
  Context context;
  context.flags.device = device;
  return context;
}

TEST(TuneReport, ACompleteSearchSaysWhatItLeftOut) {
  TuneReport report;
  TuneResult& result = report.result.emplace();
  result.session.state = "complete";
  EXPECT_THAT(report_text(report, context_on("cuda:0")), HasSubstr("Kiln tried every candidate"));
  result.progress.given_up = 31;
  EXPECT_THAT(report_text(report, context_on("cuda:0")),
              AllOf(HasSubstr("31 candidates were skipped"), Not(HasSubstr("whole space"))));
}

TEST(TuneReport, SaysHowManyCandidatesShareAnOutcome) {
  TuneReport report;
  report.request = problem_case({Gemm::of(DType::f16, 64, 64, 64)});
  Progress& progress = report.result.emplace().progress;
  const auto text = [&] { return report_text(report, context_on("cuda:0")); };
  EXPECT_THAT(text(), Not(HasSubstr("distinct")));
  progress.codes = 1;
  EXPECT_THAT(text(), AllOf(HasSubstr("  code      1 "), HasSubstr(" 1 candidate\n")));
  progress.codes = 1155;
  progress.shared = 45;
  EXPECT_THAT(text(), HasSubstr("1,155 distinct binaries ran for 1,200 candidates; 45 candidates "
                                "(3.8 %) reused the result of an identical binary\n"));
  report.provenance = Provenance::compiled;
  EXPECT_THAT(text(), HasSubstr("1,155 distinct binaries among 1,200 candidates; 45 candidates "
                                "(3.8 %) have the same binary as another candidate\n"));
  progress.compiled = 1300;
  const Json json = report_json(report);
  EXPECT_EQ(json["compiled"], 1300);
  EXPECT_EQ(json["codes"], 1155);
  EXPECT_EQ(json["shared"], 45);
}

TEST(TuneReport, WhatIsLeftToCheckComesBeforeTheUse) {
  TuneReport report;
  report.request = problem_case({Gemm::of(DType::f16, 64, 64, 64)});
  TuneResult& result = report.result.emplace();
  result.best.emplace();
  EXPECT_THAT(report_text(report, context_on("cuda:0")), HasSubstr("\nuse this kernel\n"));
  result.unchecked = "the budget ended before the checks ended";
  EXPECT_THAT(report_text(report, context_on("cuda:0")),
              AllOf(HasSubstr("  next      kiln verify gemm"),
                    HasSubstr("\nuse this kernel only if the command above finds no fault\n")));
}

TEST(TuneReport, SaysWhoseOutcomeTheBestShares) {
  TuneReport report;
  report.request = problem_case({Gemm::of(DType::f16, 64, 64, 64)});
  Trial& best = report.result.emplace().best.emplace();
  EXPECT_THAT(report_text(report, context_on("cuda:0")), Not(HasSubstr("the same")));
  best.shared_from = std::string(32, 'a');
  EXPECT_THAT(
      report_text(report, context_on("cuda:0")),
      HasSubstr("copied from trial " + best.shared_from + ", which has the same machine code"));
}

TEST(TuneReport, WithoutAValidCandidateTheExitCodeSaysWhetherMoreTimeMayHelp) {
  TuneReport report;
  TuneResult& result = report.result.emplace();
  EXPECT_THAT(report_text(report, context_on("cuda:0")), HasSubstr("no candidate was tried"));
  result.progress.done = 3;
  result.progress.by_outcome[Outcome::compile_failed] = 3;
  EXPECT_THAT(report_text(report, context_on("cuda:0")),
              HasSubstr("all 3 candidates that were tried failed"));
  result.session.state = "budget";
  EXPECT_EQ(exit_code_of(report), kExitBudget);
  result.session.state = "complete";
  EXPECT_EQ(exit_code_of(report), kExitNoCandidate);
  result.session.state = "interrupted";
  EXPECT_EQ(exit_code_of(report), kExitInterrupted);
}

TEST(TuneReport, NamesARaceOfAnotherCandidateThatIsNotTheCommonestFailure) {
  TuneReport report;
  report.request = problem_case({Gemm::of(DType::f16, 64, 64, 64)});
  TuneResult& result = report.result.emplace();
  Trial failed;
  failed.outcome = Outcome::compile_failed;
  failed.message = "too much";
  result.failures.push_back({5, failed});
  EXPECT_THAT(report_text(report, context_on("emulated:h200")),
              Not(HasSubstr("in other candidates")));
  Trial racing;
  racing.outcome = Outcome::wrong_result;
  racing.provenance = Provenance::modelled;
  racing.message = "m=64: race at fast.cu:14 in fast";
  racing.key.template_name = "fast";
  racing.verification.emplace().checked = true;
  result.failures.push_back({1, racing});
  const std::string text = report_text(report, context_on("emulated:h200"));
  EXPECT_THAT(text, HasSubstr("5 compile_failed: too much"));
  EXPECT_THAT(text,
              HasSubstr("checks    Kiln found this fault in other candidates: 1 wrong_result: "
                        "m=64: race at fast.cu:14 in fast\n"));
  EXPECT_THAT(text, HasSubstr("next      kiln verify gemm --m 64 --n 64 --k 64 --dtype f16 "
                              "--template fast"));
  // Where that is all that failed, it is said as such.
  result.failures.erase(result.failures.begin());
  EXPECT_THAT(report_text(report, context_on("emulated:h200")),
              Not(HasSubstr("in other candidates")));
}

TEST(TuneReport, SaysWhichBudgetEndedTheSearch) {
  TuneReport report;
  TuneResult& result = report.result.emplace();
  result.session.state = "budget";
  result.progress.done = 3;
  EXPECT_THAT(report_text(report, context_on("cuda:0")),
              HasSubstr("ended     the budget is spent; to continue, run the same command again"));
  result.ended_by_count = true;
  EXPECT_THAT(report_text(report, context_on("cuda:0")),
              HasSubstr("ended     --max-candidates ended the search after 3 candidates"));
  result.session.state = "converged";
  EXPECT_THAT(report_text(report, context_on("cuda:0")),
              HasSubstr("ended     the search expects a gain of less than 0.3 %"));
}

TEST(TuneReport, APredictedWinnerIsCalledModelledAndUsedOnTheEmulatedDevice) {
  TuneReport report;
  report.request = problem_case({Gemm::of(DType::f16, 64, 64, 64)});
  Trial& best = report.result.emplace().best.emplace();
  best.provenance = Provenance::modelled;
  report.provenance = Provenance::modelled;
  best.key.problem = report.request.problem;
  best.timing.emplace().median_ns = 2500.0;
  const std::string text = report_text(report, context_on("emulated:h200"));
  EXPECT_THAT(text, HasSubstr(" on emulated "));
  EXPECT_THAT(text, HasSubstr("2.500 us, modelled: predicted, not measured"));
  EXPECT_THAT(text,
              HasSubstr("kiln run gemm --m 64 --n 64 --k 64 --dtype f16 --device emulated:h200"));
  EXPECT_THAT(text, HasSubstr("Library::open({.device = \"emulated:h200\"})"));
  EXPECT_THAT(text, Not(HasSubstr("kiln bench")));
  EXPECT_EQ(report_row(report).at(3), "2.500 us modelled");
}

// The promise is a second and a tenth of the budget, of which closing the device has its part.
TEST(ContestTime, EndsBeforeASessionIsLate) {
  const auto of = [](double seconds) { return ContestTime(Budget{seconds}, 0.0); };
  EXPECT_FALSE(of(3.0).fits());
  EXPECT_TRUE(of(5.0).fits());
  EXPECT_GT(of(5.0).share_s(), 0.5);
  EXPECT_EQ(of(25.0).share_s(), 0.0);
  EXPECT_TRUE(of(0.0).fits());
  EXPECT_EQ(of(0.0).share_s(), 0.0);
  EXPECT_FALSE(of(0.0).give_up());
  EXPECT_FALSE(of(5.0).give_up()());
  EXPECT_TRUE(ContestTime(Budget{5.0}, 7.0).give_up()());
  const BudgetClock clock({.seconds = 5.0, .outside_s = 4.0});
  EXPECT_LE(clock.left_s(), 1.0);
}

TEST(TuneReport, WhatWasOnlyCompiledRanOnNoDevice) {
  TuneReport report;
  report.provenance = Provenance::compiled;
  report.result.emplace();
  EXPECT_THAT(report_text(report, context_on("emulated:h200")), Not(HasSubstr("emulated")));
}

}  // namespace
}  // namespace kiln::tools
