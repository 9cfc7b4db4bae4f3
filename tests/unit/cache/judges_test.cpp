// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A verdict holds for what judged it: under another judge it is history, good or bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/exchange/trial_json.hpp"
#include "cache/lookup/contender.hpp"
#include "cache/lookup/lookup.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/store/store.hpp"
#include "templates/operation/judge.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;
using test::TempFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kOld(32, '1');
const std::string kNew(32, '2');
const std::string kJudgedCode(32, 'c');

class Judges : public testing::Test {
 protected:
  /// Each a millisecond later than the one before.
  Trial add(double median_ns, int tile, const std::string& judge,
            const std::function<void(Trial&)>& change = {}) {
    Trial trial = good_trial(median_ns, tile);
    trial.judge_digest = judge;
    trial.created_unix_ms += ++added;
    if (change) change(trial);
    trial.id = store.record(trial);
    return trial;
  }
  Trial add_fault(Outcome outcome, int tile, const std::string& judge,
                  const std::string& code = "") {
    return add(500, tile, judge, [&](Trial& trial) {
      trial.outcome = outcome;
      trial.timing.reset();
      trial.verification = Verification{false, 2.0, "row 0"};
      trial.code_digest = code;
    });
  }
  [[nodiscard]] std::optional<Trial> best_by(const std::string& judge,
                                             std::optional<Trial>* unavailable = nullptr) const {
    BestQuery query;
    query.problem = good_trial(1).key.problem;
    query.device = good_trial(1).key.device;
    query.judge = judge;
    return store.best(query, unavailable);
  }
  [[nodiscard]] LookupAnswer answer_by(const std::string& judge,
                                       const std::string& digest = "d1") const {
    LookupRequest request;
    request.problem = good_trial(1).key.problem;
    request.device = good_trial(1).key.device;
    request.environment = test::environment();
    request.current_digest = [digest](std::string_view) { return digest; };
    request.is_valid = [](std::string_view, const Config&) { return true; };
    request.judge = judge;
    return look_up({&store}, request);
  }
  /// What is stored answers as all trials would.
  void expect_sound() const { EXPECT_THAT(store.check(), IsEmpty()); }

  int added = 0;
  TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
};

TEST_F(Judges, AVerdictOfAnotherJudgeIsNoAnswer) {
  add(500, 64, kOld);
  EXPECT_FALSE(best_by(kNew));
  const Trial slower = add(900, 128, kNew);
  EXPECT_EQ(best_by(kNew), slower);
  expect_sound();
}

TEST_F(Judges, ALookUpSaysThatABetterKernelWasJudgedByAnother) {
  add(500, 64, kOld);
  const LookupAnswer answer = answer_by(kNew);
  EXPECT_EQ(answer.match, Match::none);
  EXPECT_THAT(answer.unavailable, HasSubstr("gemm_wmma"));
  EXPECT_THAT(
      answer.unavailable,
      HasSubstr("the operation has changed (reference, tolerances, input data or verified sizes) "
                "since Kiln verified the kernel; `kiln tune --stale`"));
  EXPECT_EQ(answer.warnings.size(), 1U);
  EXPECT_EQ(answer_by(kOld).match, Match::exact);
  // Where both have changed, the template is what people know of.
  EXPECT_THAT(answer_by(kNew, "d2").unavailable, HasSubstr("`kiln tune --stale` retunes"));
}

TEST_F(Judges, ResultsOfRelatedProblemsByAnotherJudgeAreLeftOut) {
  add(500, 64, kOld);
  LookupRequest request;
  request.problem = test::gemm_problem(4096, 4096, 2048);
  request.device = good_trial(1).key.device;
  request.environment = test::environment();
  request.current_digest = [](std::string_view) { return "d1"; };
  request.is_valid = [](std::string_view, const Config&) { return true; };
  request.judge = kNew;
  std::vector<Config> seen;
  request.suggest = [&](const std::vector<RelatedTrial>& related) {
    for (const RelatedTrial& trial : related) {
      seen.push_back(Config::parse(trial.contender.config));
    }
    return std::vector<Suggestion>{};
  };
  EXPECT_EQ(look_up({&store}, request).match, Match::none);
  EXPECT_THAT(seen, IsEmpty());
  const Trial judged_again = add(900, 128, kNew);
  EXPECT_EQ(look_up({&store}, request).match, Match::none);
  EXPECT_EQ(seen, std::vector<Config>{judged_again.key.config});
}

TEST_F(Judges, AnOldVerdictIsHistoryOnceItsTemplateWasJudgedAgain) {
  add(500, 64, kOld);
  const Trial judged_again = add(900, 64, kNew);
  std::optional<Trial> unavailable;
  EXPECT_EQ(best_by(kNew, &unavailable), judged_again);
  EXPECT_FALSE(unavailable) << "the better time was of what is now wrong";
  EXPECT_EQ(answer_by(kNew).match, Match::exact);
  EXPECT_EQ(answer_by(kNew).unavailable, "");
}

TEST_F(Judges, WhatWasJudgedAgainAndRefusedIsNotOfferedToBeJudgedAgain) {
  add(500, 64, kOld);
  add_fault(Outcome::wrong_result, 64, kNew);
  std::optional<Trial> unavailable;
  EXPECT_FALSE(best_by(kNew, &unavailable));
  EXPECT_FALSE(unavailable);
  EXPECT_EQ(answer_by(kNew).unavailable, "");
  EXPECT_THAT(answer_by(kNew, "d2").unavailable, HasSubstr("`kiln tune --stale` retunes"));
  const Trial other = add(700, 128, kOld);
  EXPECT_FALSE(best_by(kNew, &unavailable));
  EXPECT_EQ(unavailable, other) << "nobody has judged that one again";
  RelatedProblem here{other.key.problem, other.key.device, 0.0};
  EXPECT_FALSE(store.judged_again(here, contender_of(other), "d1", kNew));
  add_fault(Outcome::launch_failed, 128, kNew);
  EXPECT_TRUE(store.judged_again(here, contender_of(other), "d1", kNew));
  EXPECT_FALSE(store.judged_again(here, contender_of(other), "d2", kNew));
}

TEST_F(Judges, AWrongResultByAnotherJudgeBarsNeitherCandidateNorCode) {
  add_fault(Outcome::wrong_result, 64, kOld, kJudgedCode);
  const Trial right = add(500, 64, kNew, [](Trial& trial) { trial.code_digest = kJudgedCode; });
  add(600, 32, kNew, [](Trial& trial) { trial.code_digest = kJudgedCode; });
  EXPECT_EQ(best_by(kNew), right);
  add_fault(Outcome::wrong_result, 16, kNew, kJudgedCode);
  EXPECT_FALSE(best_by(kNew)) << "all of them have that code";
  expect_sound();
}

TEST_F(Judges, ACrashUnderAnotherJudgeDoesNotCountAgainstAnEarlierResult) {
  const Trial right = add(500, 64, kNew);
  add_fault(Outcome::crashed, 64, kOld);
  EXPECT_EQ(best_by(kNew), right);
  add_fault(Outcome::crashed, 64, kNew);
  EXPECT_FALSE(best_by(kNew));
  expect_sound();
}

TEST_F(Judges, OutcomesOfACodeAreFoundByTheSameJudgeOnly) {
  const auto with_code = [](Trial& trial) { trial.code_digest = kJudgedCode; };
  const Trial old = add(500, 64, kOld, with_code);
  const Trial any = good_trial(1);
  CodeQuery query{any.key.problem,
                  any.key.device,
                  any.environment,
                  Provenance::measured,
                  kJudgedCode,
                  "",
                  kNew};
  EXPECT_FALSE(store.trial_of_code(query));
  const Trial judged_again = add(700, 64, kNew, with_code);
  add(600, 64, kOld, with_code);
  EXPECT_EQ(store.trial_of_code(query), judged_again);
}

TEST_F(Judges, TheLatestTrialOfACandidateIsOneForEachJudge) {
  const Trial old = add(500, 64, kOld);
  const Trial judged_again = add_fault(Outcome::wrong_result, 64, kNew);
  EXPECT_EQ(store.latest_trials(old.key.problem, old.key.device),
            (std::vector<Trial>{old, judged_again}));
}

TEST_F(Judges, WhatWasOnlyCompiledWasJudgedByNobody) {
  const auto compiled = [](Trial& trial) {
    trial.provenance = Provenance::compiled;
    trial.verification.reset();
    trial.timing.reset();
  };
  const Trial trial = add(1, 64, "", compiled);
  BestQuery query;
  query.problem = trial.key.problem;
  query.device = trial.key.device;
  query.compiled_too = true;
  query.judge = kNew;
  EXPECT_EQ(store.best(query), trial);
}

TEST_F(Judges, TrialsOfBeforeWereJudgedByTheFirstJudgeOfProducts) {
  const Trial trial = add(500, 64, "");
  EXPECT_EQ(judge_of(trial), judge_before_digests("gemm"));
  EXPECT_EQ(best_by(judge_before_digests("gemm")), trial);
  // One who says so has a rival in one who does not.
  add_fault(Outcome::wrong_result, 64, judge_before_digests("gemm"));
  EXPECT_FALSE(best_by(judge_before_digests("gemm")));
  expect_sound();
}

TEST_F(Judges, TrialsOfBeforeOfDeclaredOperationsAreOfAnUnknownJudge) {
  const auto declared = [](Trial& trial) {
    trial.key.problem = Problem::parse("thirds y=f32 x=f32 | len=1024");
  };
  const Trial trial = add(500, 64, "", declared);
  EXPECT_EQ(judge_of(trial), "");
  BestQuery query;
  query.problem = trial.key.problem;
  query.device = trial.key.device;
  query.judge = kNew;
  EXPECT_FALSE(store.best(query));
  const Trial judged = add(900, 64, kNew, declared);
  EXPECT_EQ(store.best(query), judged);
}

TEST_F(Judges, PruneKeepsTheBestOfEachJudge) {
  add(500, 16, kOld);
  add(400, 32, kOld);
  const Trial judged = add(900, 64, kNew);
  Trial last = good_trial(2000, 128);
  last.session_id = "s2";
  last.judge_digest = kNew;
  last.created_unix_ms += 100;
  store.record(last);
  EXPECT_EQ(store.prune(0, 1), 1U);
  EXPECT_EQ(best_by(kNew), judged);
  EXPECT_EQ(best_by(kOld)->timing->median_ns, 400);
}

TEST_F(Judges, TheJudgeIsPartOfTheRowAndOfTheExport) {
  Trial trial = add(500, 64, kOld);
  EXPECT_EQ(store.trials({}), std::vector<Trial>{trial});
  EXPECT_EQ(trial_from_json(trial_to_json(trial)), trial);
  const std::string digest = row_digest(trial);
  trial.judge_digest = kNew;
  EXPECT_NE(row_digest(trial), digest);
  trial.judge_digest = "by eye";
  EXPECT_THAT(test::error_of(ErrorKind::usage, [&] { (void)store.record(trial); }),
              HasSubstr("'judge_digest' is not 32 hexadecimal digits"));
}

TEST_F(Judges, ASummaryPrefersWhatItsFilterAdmits) {
  add(500, 64, kOld);
  ProblemFilter filter;
  filter.admits = [](const Problem&, const Contender& contender) {
    return contender.judge == kNew;
  };
  EXPECT_EQ(store.summaries(filter).at(0).best->timing->median_ns, 500);
  EXPECT_FALSE(store.summaries(filter).at(0).is_admitted);
  const Trial judged = add(900, 64, kNew);
  EXPECT_EQ(store.summaries(filter).at(0).best, judged);
  EXPECT_TRUE(store.summaries(filter).at(0).is_admitted);
}

}  // namespace
}  // namespace kiln
