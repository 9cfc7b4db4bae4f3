// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Trials that know which machine code they are of: what one says of the code holds for all that
// have it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;
using test::PlainSqlite;
using test::TempFolder;

const std::string kCode(32, 'c');
const std::string kOther(32, 'd');

class SameCode : public testing::Test {
 protected:
  /// One of `code`, each a millisecond later than the one before.
  Trial add(double median_ns, int tile, const std::string& code = kCode,
            const std::function<void(Trial&)>& change = {}) {
    Trial trial = good_trial(median_ns, tile);
    trial.code_digest = code;
    trial.created_unix_ms += ++added;
    if (change) change(trial);
    trial.id = store.record(trial);
    return trial;
  }
  [[nodiscard]] static CodeQuery query() {
    const Trial any = good_trial(1);
    return {any.key.problem, any.key.device, any.environment, Provenance::measured, kCode, "",
            judge_of(any)};
  }
  [[nodiscard]] std::optional<Trial> best() const {
    BestQuery query;
    query.problem = good_trial(1).key.problem;
    query.device = good_trial(1).key.device;
    return store.best(query);
  }

  int added = 0;
  TempFolder folder;
  std::string path = folder.file("t.db");
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
};

TEST_F(SameCode, TheLatestTrialOfACodeIsFoundWhicheverCandidateItWasOf) {
  EXPECT_FALSE(store.trial_of_code(query()));
  add(500, 16);
  const Trial latest = add(600, 32, kCode, [](Trial& t) { t.key.template_digest = "d2"; });
  add(700, 64, kOther);
  add(800, 128, "");
  EXPECT_EQ(store.trial_of_code(query()), latest);
}

TEST_F(SameCode, NothingAnswersForACodeThatIsNotKnown) {
  add(500, 16, "");
  CodeQuery unknown = query();
  unknown.code_digest = "";
  EXPECT_FALSE(store.trial_of_code(unknown));
}

TEST_F(SameCode, AnotherProblemDeviceEnvironmentOrProvenanceAnswersNothing) {
  const std::vector<std::function<void(Trial&)>> differences{
      [](Trial& t) { t.key.problem = test::gemm_problem(8, 8, 8); },
      [](Trial& t) { t.key.device.mig_profile = "1g"; },
      [](Trial& t) { t.environment.driver = "570.9"; },
      [](Trial& t) { t.environment.toolkit = "nvrtc 12.0"; },
      [](Trial& t) { t.environment.policy = "warm"; },
      [](Trial& t) { t.provenance = Provenance::modelled; },
  };
  for (const auto& differ : differences) add(500, 16, kCode, differ);
  EXPECT_FALSE(store.trial_of_code(query()));
  add(500, 16);
  EXPECT_TRUE(store.trial_of_code(query()));
}

TEST_F(SameCode, ASessionCanAskForItsOwn) {
  add(500, 16);
  CodeQuery own = query();
  own.session_id = "s2";
  EXPECT_FALSE(store.trial_of_code(own));
  const Trial later = add(600, 32, kCode, [](Trial& t) { t.session_id = "s2"; });
  add(700, 64);
  EXPECT_EQ(store.trial_of_code(own), later);
}

TEST_F(SameCode, AWrongResultIsRememberedBeforeLaterRightOnes) {
  const Trial wrong = add(500, 16, kCode, [](Trial& t) { t.outcome = Outcome::wrong_result; });
  add(600, 32);
  EXPECT_EQ(store.trial_of_code(query()), wrong);
}

TEST_F(SameCode, ADamagedTrialIsPassedOver) {
  const Trial older = add(500, 16);
  const Trial newer = add(600, 32);
  PlainSqlite(path).execute("UPDATE trials SET median_ns = 1 WHERE trial_id = '" + newer.id + "'");
  EXPECT_EQ(store.trial_of_code(query()), older);
  EXPECT_EQ(store.corrupt_rows(), 1U);
}

// Whatever came first: the shortlist is brought up to date trial by trial.
TEST_F(SameCode, CodeThatGaveAWrongResultInOneCandidateIsBestInNone) {
  const auto be_wrong = [](Trial& t) { t.outcome = Outcome::wrong_result; };
  const Trial slow = add(900, 128, kOther);
  const Trial fast = add(500, 16);
  EXPECT_EQ(best(), fast);
  add(500, 32, kCode, be_wrong);
  EXPECT_EQ(best(), slow);
  add(400, 64);
  EXPECT_EQ(best(), slow);
  EXPECT_EQ(store.check(), std::vector<std::string>{});
  EXPECT_EQ(PlainSqlite(path).value("SELECT trial_id FROM best"), slow.id);
}

TEST_F(SameCode, ACrashSpeaksAgainstItsCandidateOnly) {
  const Trial fast = add(500, 16);
  add(500, 32, kCode, [](Trial& t) { t.outcome = Outcome::crashed; });
  EXPECT_EQ(best(), fast);
}

TEST_F(SameCode, PruningKeepsTheTrialThatAnotherSharesAndTheEvidenceAgainstTheCode) {
  const auto old = [](Trial& t) { t.session_id = "old"; };
  add(700, 16, kOther, old);
  const Trial source = add(500, 16, kCode, old);
  const Trial wrong = add(500, 32, kCode, [&](Trial& t) {
    old(t);
    t.outcome = Outcome::wrong_result;
  });
  const Trial sharer = add(500, 64, kCode, [&](Trial& t) {
    t.session_id = "new";
    t.shared_from = source.id;
  });
  EXPECT_EQ(store.prune(0, 0), 1U);
  EXPECT_EQ(store.trials({}), (std::vector<Trial>{source, wrong, sharer}));
}

TEST_F(SameCode, PeopleSeeWhatIsShared) {
  const Trial source = add(500, 16);
  add(500, 64, kCode, [&](Trial& t) { t.shared_from = source.id; });
  EXPECT_EQ(PlainSqlite(path).rows("SELECT config, shared_from FROM history"),
            (std::vector<std::vector<std::string>>{{"stages=3 tile_m=16", "NULL"},
                                                   {"stages=3 tile_m=64", source.id}}));
}

}  // namespace
}  // namespace kiln
