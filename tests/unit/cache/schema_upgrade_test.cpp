// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Databases of schema 1, which has no energy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cache/schema/schema.hpp"
#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;
using test::PlainSqlite;
using test::TempFolder;
using ::testing::IsEmpty;

/// A database as the first schema had it, with one trial and one session.
void make_first(const std::string& path) {
  {
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    store.begin_session(test::session("s1"));
    (void)store.record(good_trial(50'000.0));
  }
  PlainSqlite(path).execute(
      "DROP VIEW energies;"
      "ALTER TABLE trials DROP COLUMN energy_j; ALTER TABLE trials DROP COLUMN energy_spread_j;"
      "ALTER TABLE sessions DROP COLUMN objective;"
      "ALTER TABLE shortlists DROP COLUMN by_energy;"
      "ALTER TABLE shortlists DROP COLUMN by_energy_delay; PRAGMA user_version = 1");
}

std::optional<Trial> best_in(const TuningStore& store, const std::string& objective) {
  BestQuery query;
  query.problem = good_trial(1.0).key.problem;
  query.device = test::h200();
  query.objective = Objective::read(objective).value();
  return store.best(query);
}

TEST(SchemaUpgrade, OldDatabasesAreReadAsTheyAre) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  make_first(path);
  const TuningStore store = TuningStore::open(path, OpenMode::read_only);
  EXPECT_EQ(store.schema_version(), 1);
  EXPECT_EQ(store.trials({}).size(), 1U);
  ASSERT_EQ(store.sessions().size(), 1U);
  EXPECT_EQ(store.sessions()[0].objective, "time");
  EXPECT_TRUE(best_in(store, "time"));
  EXPECT_FALSE(best_in(store, "energy"));
  EXPECT_EQ(store.summaries().size(), 1U);
  EXPECT_THAT(store.check(), IsEmpty());
  EXPECT_EQ(store.corrupt_rows(), 0U);
}

TEST(SchemaUpgrade, WritersBringThemToThePresentSchema) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  make_first(path);
  const TuningStore reader = TuningStore::open(path, OpenMode::read_only);
  EXPECT_TRUE(best_in(reader, "time"));
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  EXPECT_EQ(store.schema_version(), kSchemaVersion);
  Trial frugal = good_trial(60'000.0, 64);
  frugal.timing->energy_j = 0.01;
  (void)store.record(frugal);
  EXPECT_THAT(store.check(), IsEmpty());
  for (const TuningStore* each : {static_cast<const TuningStore*>(&store), &reader}) {
    EXPECT_EQ(best_in(*each, "time")->timing->median_ns, 50'000.0);
    EXPECT_EQ(best_in(*each, "energy")->timing->energy_j, 0.01);
    EXPECT_EQ(each->corrupt_rows(), 0U);
  }
  EXPECT_EQ(TuningStore::open(path, OpenMode::read_write).schema_version(), kSchemaVersion);
}

TEST(SchemaUpgrade, AForeignOldSchemaIsRefusedAndItsRowsCanBeSaved) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  make_first(path);
  PlainSqlite(path).execute("CREATE TABLE notes (text TEXT)");
  const std::string text = test::error_of(
      ErrorKind::database, [&] { (void)TuningStore::open(path, OpenMode::read_write); });
  EXPECT_THAT(text, ::testing::HasSubstr("notes"));
  const TuningStore saved = TuningStore::open(path, OpenMode::salvage);
  EXPECT_EQ(saved.trials({}).size(), 1U);
  EXPECT_EQ(saved.sessions().size(), 1U);
  EXPECT_EQ(saved.corrupt_rows(), 0U);
}

TEST(SchemaUpgrade, AFileThatOnlyClaimsToBeNewIsForeign) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  make_first(path);
  PlainSqlite(path).execute("PRAGMA user_version = 2");
  (void)test::error_of(ErrorKind::database,
                       [&] { (void)TuningStore::open(path, OpenMode::read_only); });
}

}  // namespace
}  // namespace kiln
