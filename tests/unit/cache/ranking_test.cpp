// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/ranking.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;

TEST(Ranking, OnlyVerifiedSuccessesWithATimeAreEligible) {
  EXPECT_TRUE(eligible(good_trial(10.0)));
  Trial trial = good_trial(10.0);
  trial.verification->passed = false;
  EXPECT_FALSE(eligible(trial));
  trial.verification.reset();
  EXPECT_FALSE(eligible(trial));
  trial = good_trial(10.0);
  trial.timing.reset();
  EXPECT_FALSE(eligible(trial));
  trial.provenance = Provenance::compiled;
  EXPECT_TRUE(eligible(trial));
  trial.outcome = Outcome::rejected;
  EXPECT_FALSE(eligible(trial));
}

TEST(Ranking, AClearWinnerWinsWhateverItsRegisters) {
  std::vector<Trial> trials{good_trial(1000, 32), good_trial(900, 64)};
  trials[1].resources->registers = 255;
  EXPECT_EQ(best_of(trials), &trials[1]);
}

TEST(Ranking, ATieWithinNoiseGoesToFewerRegistersThenToTheSmallerName) {
  std::vector<Trial> trials{good_trial(1001, 32), good_trial(1000, 64)};
  trials[0].resources->registers = 64;
  EXPECT_EQ(best_of(trials), &trials[0]);
  trials[0].resources->registers = 128;
  EXPECT_EQ(best_of(trials), &trials[0]) << "tile_m=32 sorts before tile_m=64";
}

TEST(Ranking, TiesAreWithTheFastestOnly) {
  // 1000 ties with 1002 and 1002 with 1004, but 1004 is clearly slower than 1000.
  std::vector<Trial> trials{good_trial(1004, 32), good_trial(1002, 64), good_trial(1000, 128)};
  for (Trial& trial : trials) trial.timing->interleaved = true;
  trials[0].resources->registers = 16;
  trials[1].resources->registers = 32;
  EXPECT_EQ(best_of(trials), &trials[1]);
}

TEST(Ranking, NoiseIsNoMerit) {
  // Its interval reaches below the leader's time, but that does not show that it is as fast.
  std::vector<Trial> trials{good_trial(1500, 32), good_trial(1000, 64)};
  for (Trial& trial : trials) trial.timing->interleaved = true;
  trials[0].resources->registers = 16;
  trials[0].timing->spread_ns = 800;
  EXPECT_EQ(best_of(trials), &trials[1]);
  trials[0].timing->median_ns = 1015;
  EXPECT_EQ(best_of(trials), &trials[0]) << "within a 64th of the leader";
  trials[0].timing->median_ns = 1016;
  EXPECT_EQ(best_of(trials), &trials[1]);
}

TEST(Ranking, ATimeTakenAloneMustBeAFifthShorterThanOneTakenInTurns) {
  std::vector<Trial> trials{good_trial(1000, 32), good_trial(850, 64)};
  trials[0].timing->interleaved = true;
  EXPECT_EQ(best_of(trials), &trials[0]);
  trials[1].timing->median_ns = 790;
  EXPECT_EQ(best_of(trials), &trials[1]);
}

TEST(Ranking, OneWrongResultOutweighsEveryRightOne) {
  std::vector<Trial> trials{good_trial(1000, 32), good_trial(900, 64), good_trial(900, 64)};
  trials[2].outcome = Outcome::wrong_result;
  EXPECT_EQ(best_of(trials), &trials[0]);
  trials[2].key.template_digest = "d2";  // another state of the template does not count
  EXPECT_EQ(best_of(trials), &trials[1]);
}

TEST(Ranking, ACandidateThatCrashedCountsOnlyByWhatCameAfter) {
  for (const Outcome fault : {Outcome::crashed, Outcome::timed_out}) {
    std::vector<Trial> trials{good_trial(1000, 32), good_trial(900, 64), good_trial(900, 64),
                              good_trial(950, 64)};
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].created_unix_ms = 100 + static_cast<std::int64_t>(i);
    }
    trials[2].outcome = fault;
    EXPECT_EQ(best_of(trials), &trials[3]);
    trials[2].created_unix_ms = 104;
    EXPECT_EQ(best_of(trials), &trials[0]);
    trials[2].outcome = Outcome::launch_failed;  // a full device, say
    EXPECT_EQ(best_of(trials), &trials[1]);
  }
}

TEST(Ranking, AFaultOfAnEmulatedDeviceSpeaksAgainstNoMeasurement) {
  std::vector<Trial> trials{good_trial(900, 64), good_trial(900, 64)};
  trials[0].created_unix_ms = 100;
  trials[1].created_unix_ms = 101;
  trials[1].outcome = Outcome::timed_out;
  trials[1].provenance = Provenance::modelled;
  EXPECT_EQ(best_of(trials), &trials[0]);
  trials[0].provenance = Provenance::modelled;
  EXPECT_EQ(best_of(trials), nullptr);
  trials[1].provenance = Provenance::measured;
  EXPECT_EQ(best_of(trials), nullptr) << "what hangs for real is no good prediction";
}

TEST(Ranking, WhatChecksFoundInASiblingBarsPredictionsThatWereNotChecked) {
  std::vector<Trial> trials{good_trial(800, 32), good_trial(900, 64), good_trial(1000, 128)};
  for (Trial& trial : trials) trial.provenance = Provenance::modelled;
  trials[0].outcome = Outcome::wrong_result;
  trials[0].verification = Verification{false, 0.0, "race at a.cu:7", true};
  trials[2].verification->checked = true;
  EXPECT_EQ(best_of(trials), &trials[2]);
  EXPECT_EQ(standing_of(trials, Suspects::admitted).best, &trials[1]) << "to be checked next";
  trials[2].verification->checked = false;
  EXPECT_EQ(best_of(trials), nullptr);

  trials[1].provenance = Provenance::measured;
  EXPECT_EQ(best_of(trials), &trials[1]) << "a GPU has no checks";
  trials[1].provenance = Provenance::modelled;
  trials[1].judge_digest = std::string(32, '7');
  EXPECT_EQ(best_of(trials), &trials[1]) << "what another judge found says nothing";
  trials[1].judge_digest = "";
  trials[1].key.template_digest = "d2";
  EXPECT_EQ(best_of(trials), &trials[1]) << "nor does another state of the template";
  trials[1].key.template_digest = "d1";
  trials[0].verification->checked = false;
  EXPECT_EQ(best_of(trials), &trials[1]) << "a wrong result may be one configuration's alone";
}

TEST(Ranking, MeasuredBeatsModelledBeatsCompiled) {
  std::vector<Trial> trials{good_trial(10, 32), good_trial(20, 64), good_trial(30, 128)};
  trials[0].provenance = Provenance::compiled;
  trials[1].provenance = Provenance::modelled;
  std::sort(trials.begin(), trials.end(),
            [](const Trial& left, const Trial& right) { return better(left, right); });
  EXPECT_EQ(trials[0].provenance, Provenance::measured);
  EXPECT_EQ(trials[2].provenance, Provenance::compiled);
}

RC_GTEST_PROP(Ranking, BetterIsAStrictTotalOrder, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const std::vector<Trial> trials = test::random_trials(random, 12);
  for (const Trial& a : trials) {
    RC_ASSERT(!better(a, a));
    for (const Trial& b : trials) {
      if (a.id != b.id) RC_ASSERT(better(a, b) != better(b, a));
      for (const Trial& c : trials) {
        if (better(a, b) && better(b, c)) RC_ASSERT(better(a, c));
      }
    }
  }
}

RC_GTEST_PROP(Ranking, BestOfASetDoesNotDependOnItsOrder, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::vector<Trial> trials = test::random_trials(random, 20);
  const Trial* first = best_of(trials);
  const std::string id = first == nullptr ? "" : first->id;
  std::shuffle(trials.begin(), trials.end(), random);
  const Trial* second = best_of(trials);
  RC_ASSERT((second == nullptr ? "" : second->id) == id);
}

}  // namespace
}  // namespace kiln
