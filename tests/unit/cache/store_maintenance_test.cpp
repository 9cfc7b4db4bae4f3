// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cache/rows/trial_check.hpp"
#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;
using test::TempFolder;

class Prune : public testing::Test {
 protected:
  std::vector<double> medians() const {
    std::vector<double> medians;
    for (const Trial& trial : store.trials({})) medians.push_back(trial.timing->median_ns);
    return medians;
  }
  void add(double median_ns, int tile, const std::string& session) {
    Trial trial = good_trial(median_ns, tile);
    trial.session_id = session;
    trial.created_unix_ms += ++added;
    store.record(trial);
  }

  int added = 0;
  TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
};

TEST_F(Prune, KeepsTheBestAndTheNewestSession) {
  add(500, 16, "old");
  add(600, 32, "old");
  add(700, 64, "old");
  add(900, 128, "new");
  EXPECT_EQ(TuningStore::open(folder.file("t.db"), OpenMode::read_only).prune(0, 2, true), 1U);
  EXPECT_EQ(medians(), (std::vector<double>{500, 600, 700, 900}));
  EXPECT_EQ(store.prune(0, 2), 1U);
  EXPECT_EQ(medians(), (std::vector<double>{500, 600, 900}));
  EXPECT_EQ(store.prune(0, 0), 2U);
  EXPECT_EQ(medians(), (std::vector<double>{900}));
}

TEST_F(Prune, AnOldSessionThatWasMergedLateIsNotTheNewest) {
  add(900, 128, "new");
  Trial merged = good_trial(700, 64);
  merged.session_id = "old";
  merged.created_unix_ms -= 1;
  store.record(merged);
  EXPECT_EQ(store.prune(0, 0), 1U);
  EXPECT_EQ(medians(), (std::vector<double>{900}));
}

TEST_F(Prune, SparesWhatIsYoung) {
  Trial young = good_trial(800, 16);
  young.session_id = "old";
  young.created_unix_ms = next_unix_ms();
  store.record(young);
  add(700, 64, "older");
  add(900, 128, "older");
  EXPECT_EQ(store.prune(3'600'000, 0), 2U);
  EXPECT_EQ(medians(), (std::vector<double>{800}));
  EXPECT_EQ(store.prune(0, 0), 0U) << "it is of the newest session";
}

TEST_F(Prune, KeepsTheEvidenceAgainstACandidateThatStays) {
  Trial wrong = good_trial(500, 16);
  wrong.outcome = Outcome::wrong_result;
  wrong.session_id = "old";
  store.record(wrong);
  add(500, 16, "new");
  EXPECT_EQ(store.prune(0, 3), 0U);
  EXPECT_FALSE(store.summaries()[0].best);
}

RC_GTEST_FIXTURE_PROP(Prune, NeverChangesTheBest, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  (void)store.record_all(test::random_trials(random, 40));
  const auto best_ids = [&] {
    std::vector<std::string> ids;
    for (const ProblemSummary& summary : store.summaries()) {
      ids.push_back(summary.best ? summary.best->id : "");
    }
    return ids;
  };
  const auto before = best_ids();
  (void)store.prune(0, 1);
  RC_ASSERT(best_ids() == before);
  RC_ASSERT(store.check().empty());
}

}  // namespace
}  // namespace kiln
