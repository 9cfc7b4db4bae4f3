// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cache/lookup/ranking.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;
using test::PlainSqlite;
using test::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Objective objective(const std::string& text) {
  return Objective::parse(text, "--objective");
}

std::string objective_error(const std::string& text) {
  return test::error_of(ErrorKind::usage, [&] { (void)objective(text); });
}

/// An interleaved trial with that energy, of which another one is not a tie.
Trial with_energy(double median_ns, double energy_j, int tile) {
  Trial trial = good_trial(median_ns, tile);
  trial.timing->interleaved = true;
  trial.timing->energy_j = energy_j;
  trial.timing->energy_spread_j = energy_j / 1000.0;
  trial.timing->power_w = energy_j / median_ns * 1e9;
  return trial;
}

TEST(Objective, IsTheTimeByDefault) {
  EXPECT_EQ(Objective().canonical(), "time");
  EXPECT_FALSE(Objective().needs_energy());
  EXPECT_EQ(objective("time"), Objective());
  EXPECT_DOUBLE_EQ(Objective().value_of(good_trial(5000.0))->value, 5000.0);
  EXPECT_DOUBLE_EQ(Objective().value_of(good_trial(5000.0))->noise, 1.0);
}

TEST(Objective, NamedOnesAreMadeOfTheFigures) {
  const Trial trial = with_energy(2000.0, 0.5, 128);
  EXPECT_DOUBLE_EQ(objective("energy").value_of(trial)->value, 0.5);
  EXPECT_NEAR(objective("energy").value_of(trial)->noise, 0.0005, 1e-12);
  EXPECT_DOUBLE_EQ(objective("energy_delay").value_of(trial)->value, 0.5 * 2e-6);
  EXPECT_DOUBLE_EQ(objective("energy_delay").value_of(trial, 1.25)->value, 0.5 * 2e-6 * 1.5625);
  EXPECT_TRUE(objective("energy").needs_energy());
  EXPECT_TRUE(objective("energy_delay").follows_time());
  EXPECT_FALSE(objective("energy").value_of(good_trial(2000.0))) << "it has no energy";
}

TEST(Objective, ExpressionsAreRealNumbers) {
  const Trial trial = with_energy(3000.0, 0.75, 128);
  EXPECT_DOUBLE_EQ(objective("time_ns / 2").value_of(trial)->value, 1500.0);
  EXPECT_DOUBLE_EQ(objective("registers / 256").value_of(trial)->value, 0.5);
  EXPECT_DOUBLE_EQ(objective("smem_bytes + spill_bytes").value_of(trial)->value, 66560.0);
  EXPECT_DOUBLE_EQ(objective(" energy_j * time_s ").value_of(trial)->value, 0.75 * 3e-6);
  EXPECT_DOUBLE_EQ(objective("registers").value_of(trial)->noise, 0.0);
  EXPECT_EQ(objective(" time_ns  * 2 ").canonical(), "time_ns  * 2");
  EXPECT_TRUE(objective("power_w").needs_energy());
  EXPECT_FALSE(objective("time_ns * (2 - occupancy)").needs_energy());
  EXPECT_FALSE(objective("time_ns").follows_time());
}

TEST(Objective, ValuesMustBeAboveZero) {
  const Trial trial = good_trial(3000.0);
  EXPECT_FALSE(objective("spill_bytes").value_of(trial));
  const auto complaint = [&](const std::string& text) {
    return test::error_of(ErrorKind::usage, [&] { objective(text).require_value(trial); });
  };
  EXPECT_THAT(complaint("spill_bytes"), HasSubstr("is 0, but must be above 0"));
  EXPECT_FALSE(objective("time_ns / spill_bytes").value_of(trial));
  EXPECT_THAT(complaint("time_ns / spill_bytes"), HasSubstr("no value"));
  objective("energy").require_value(trial);  // it has no energy, which is no mistake
}

// A candidate of value 0 is better than those with a value, and must not be left out silently.
TEST(Objective, AStoreRefusesAnObjectiveThatIsNotAboveZero) {
  const TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("tuning.db"), OpenMode::read_write);
  const Trial trial = good_trial(3000.0);
  store.record(trial);
  BestQuery query;
  query.problem = trial.key.problem;
  query.device = trial.key.device;
  query.objective = objective("spill_bytes");
  EXPECT_THAT(test::error_of(ErrorKind::usage, [&] { (void)store.best(query); }),
              HasSubstr("must be above 0"));
  query.objective = objective("spill_bytes + 1");
  EXPECT_TRUE(store.best(query));
}

TEST(Objective, MistakesAreShown) {
  EXPECT_THAT(objective_error("enrgy"), AllOf(HasSubstr("--objective"), HasSubstr("enrgy"),
                                              HasSubstr("energy_delay"), HasSubstr("time_ns")));
  EXPECT_THAT(objective_error("time_ns + ener_j"), AllOf(HasSubstr("1:11"), HasSubstr("ener_j")));
  EXPECT_THAT(objective_error("time_ns * block_size"), HasSubstr("smem_bytes"));
  EXPECT_THAT(objective_error(""), HasSubstr("there is no objective"));
  EXPECT_THAT(objective_error("2 + 2"), HasSubstr("same for every candidate"));
  EXPECT_THAT(objective_error("time_ns\n+ 1"), HasSubstr("one line"));
  EXPECT_FALSE(Objective::read("time_ns +"));
}

TEST(Objective, DecidesWhichTrialIsBest) {
  const std::vector<Trial> trials{with_energy(1000.0, 0.9, 128), with_energy(1200.0, 0.5, 64),
                                  with_energy(1100.0, 0.6, 32), good_trial(900.0, 256)};
  EXPECT_EQ(best_of(trials), &trials[0]) << "the last one was not interleaved";
  EXPECT_EQ(best_of(trials, objective("energy")), &trials[1]);
  EXPECT_EQ(best_of(trials, objective("energy_delay")), &trials[1]);
  EXPECT_EQ(best_of(trials, objective("energy_j * time_ns * time_ns * time_ns")), &trials[2]);
  EXPECT_EQ(best_of({trials[3]}, objective("energy")), nullptr);
}

TEST(Objective, StoresAnswerEachByTheSameTrials) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  const std::vector<Trial> trials{with_energy(1000.0, 0.9, 128), with_energy(1200.0, 0.5, 64),
                                  with_energy(1100.0, 0.6, 32), good_trial(2000.0, 256)};
  for (const Trial& trial : trials) (void)store.record(trial);
  BestQuery query;
  query.problem = trials[0].key.problem;
  query.device = trials[0].key.device;
  const auto tile = [&](const TuningStore& asked, const std::string& text) {
    query.objective = objective(text);
    const auto best = asked.best(query);
    return best ? best->key.config.at("tile_m") : 0;
  };
  const TuningStore reader = TuningStore::open(path, OpenMode::read_only);
  for (const TuningStore* asked : {static_cast<const TuningStore*>(&store), &reader}) {
    EXPECT_EQ(tile(*asked, "time"), 128);
    EXPECT_EQ(tile(*asked, "energy"), 64);
    EXPECT_EQ(tile(*asked, "energy_delay"), 64);
    EXPECT_EQ(tile(*asked, "energy_j * time_ns * time_ns * time_ns"), 32);
  }
  EXPECT_THAT(store.check(), IsEmpty());
  // The lists of shortlists are read, and not all trials: without the row nothing is there.
  EXPECT_EQ(PlainSqlite(path).value("SELECT by_energy LIKE '%tile_m=64%' FROM shortlists"), "1");
  EXPECT_EQ(PlainSqlite(path).value("SELECT count(*) FROM energies"), "3");
}

TEST(Objective, EnergySurvivesStorageAndPruning) {
  const TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("tuning.db"), OpenMode::read_write);
  Trial frugal = with_energy(1200.0, 0.5, 64);
  Trial fast = with_energy(1000.0, 0.9, 128);
  Trial newest = with_energy(3000.0, 2.0, 256);
  for (Trial* trial : {&frugal, &fast, &newest}) {
    trial->created_unix_ms += trial == &newest ? 1 : 0;
    trial->session_id = trial == &newest ? "s2" : "s1";
    trial->id = store.record(*trial);
  }
  EXPECT_EQ(store.prune(0, 1), 0U) << "each is the best by something, or the newest";
  const std::vector<Trial> stored = store.trials({});
  ASSERT_EQ(stored.size(), 3U);
  EXPECT_THAT(stored, ::testing::UnorderedElementsAre(frugal, fast, newest));
}

TEST(Objective, EnergyIsPartOfARowsDigest) {
  Trial trial = good_trial(1000.0);
  trial.id = "00000000000000000000000000000001";
  const std::string without = row_digest(trial);
  trial.timing->energy_j = 0.5;
  const std::string with = row_digest(trial);
  EXPECT_NE(with, without);
  trial.timing->energy_spread_j = 0.1;
  EXPECT_NE(row_digest(trial), with);
  SessionRecord session = test::session("s1");
  const std::string by_time = row_digest(session);
  session.objective = "energy";
  EXPECT_NE(row_digest(session), by_time);
}

}  // namespace
}  // namespace kiln
