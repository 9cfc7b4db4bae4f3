// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Databases whose schema has more than Kiln's, or something else: none of it is evaluated.
#include <gtest/gtest.h>

#include <chrono>

#include "cache/exchange/transfer.hpp"
#include "cache/schema/schema.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::error_of;
using test::PlainSqlite;
using test::TempFolder;

class ForeignSchema : public testing::Test {
 protected:
  ForeignSchema() {
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    Trial fast = test::good_trial(1'000'000, 64);
    Trial slow = test::good_trial(2'000'000, 128);
    fast.id = store.record(fast);
    slow.id = store.record(slow);
    (void)store.adopt_sessions({test::session("s1")});
    trials = store.trials({});
  }

  /// Replaces `from` by `to` in the text of the schema, which SQLite then believes.
  void edit(const std::string& from, const std::string& to) {
    PlainSqlite plain(path);
    plain.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '" +
                  from + "', '" + to + "')");
    ASSERT_NE(plain.value("SELECT count(*) FROM sqlite_schema WHERE instr(sql, '" + to + "')"),
              "0");
  }

  std::string refusal(OpenMode mode) {
    return error_of(ErrorKind::database, [&] { (void)TuningStore::open(path, mode); });
  }
  void expect_refused(const std::string& fault) {
    for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
      const std::string text = refusal(mode);
      EXPECT_NE(text.find(path), std::string::npos) << text;
      EXPECT_NE(text.find(fault), std::string::npos) << text;
      EXPECT_NE(text.find("Next: "), std::string::npos) << text;
    }
  }
  void expect_rows_can_be_saved() {
    TuningStore rescued = TuningStore::open(folder.file("new.db"), OpenMode::read_write);
    const TuningStore source = TuningStore::open(path, OpenMode::salvage);
    EXPECT_NE(source.salvage_fault(), "");
    EXPECT_EQ(merge(rescued, source).written, 3U);
    EXPECT_EQ(rescued.trials({}), trials);
    EXPECT_EQ(rescued.check(), std::vector<std::string>{});
  }

  TempFolder folder;
  std::string path = folder.file("tuning.db");
  std::vector<Trial> trials;
};

TEST_F(ForeignSchema, AHugeGeneratedColumnIsNeverComputed) {
  edit("coalesce(spread_ns, 0.0)",
       "coalesce(spread_ns, 0.0) + length(hex(zeroblob(225000000))) - 450000000");
  const auto begin = std::chrono::steady_clock::now();
  expect_refused("table trials is altered");
  expect_rows_can_be_saved();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(ForeignSchema, AnotherOrderOfBestIsRefused) {
  edit("ELSE median_ns * (", "ELSE -median_ns * (");
  // SQLite re-sorts the index by what the column now says; to SQLite nothing is damaged.
  PlainSqlite(path).execute("REINDEX");
  expect_refused("`kiln merge NEW.db " + path + "`");
  expect_rows_can_be_saved();
}

TEST_F(ForeignSchema, AnIndexThatLeavesRowsOutIsRefused) {
  edit("trials (problem_id, device_id, template_id, config)",
       "trials (problem_id, device_id, template_id, config) WHERE median_ns > 1500000");
  expect_refused("index trials_by_candidate is altered");
  expect_rows_can_be_saved();
}

TEST_F(ForeignSchema, WhatWasAddedIsNamed) {
  const std::vector<std::pair<std::string, std::string>> additions{
      {"CREATE INDEX mine ON trials (median_ns)", "index mine was added"},
      {"CREATE TABLE notes (text)", "table notes was added"},
      {"CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END",
       "trigger t was added"},
      {"ALTER TABLE trials ADD COLUMN note TEXT", "table trials is altered"},
      {"DROP INDEX trials_by_session", "index trials_by_session is missing"},
      {"CREATE TABLE \"bad\nname\x1b[31m\" (x)", "an object with an unprintable name was added"},
  };
  const std::string before = test::read_file(path);
  for (const auto& [statement, fault] : additions) {
    PlainSqlite(path).execute(statement);
    expect_refused(fault);
    test::write_file(path, before);
  }
}

TEST_F(ForeignSchema, StatisticsAndViewsOfAPersonsOwnAreNoHarm) {
  PlainSqlite(path).execute("CREATE VIEW mine AS SELECT * FROM trials; ANALYZE");
  EXPECT_EQ(TuningStore::open(path, OpenMode::read_only).trials({}), trials);
  EXPECT_EQ(TuningStore::open(path, OpenMode::read_write).check(), std::vector<std::string>{});
}

TEST_F(ForeignSchema, AnAlteredViewOfKilnsIsNamedByTheCheck) {
  edit("ORDER BY provenance_rank, cost", "ORDER BY provenance_rank, -cost");
  const auto faults = TuningStore::open(path, OpenMode::read_only).check();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].substr(0, 20), "view best is altered") << faults[0];
}

TEST_F(ForeignSchema, AColumnThatWouldBeReadIsNotSaved) {
  edit("message            TEXT NOT NULL",
       "message TEXT GENERATED ALWAYS AS (hex(zeroblob(225000000))) VIRTUAL");
  const std::string text = refusal(OpenMode::salvage);
  EXPECT_NE(text.find("table trials is altered"), std::string::npos) << text;
  EXPECT_EQ(text.find("merge"), std::string::npos) << text;
}

TEST_F(ForeignSchema, SpacingCommentsAndOrderOfColumnsHaveNoMeaning) {
  edit("  occupancy          REAL,", "/* was here */ -- and here\n OCCUPANCY real ,");
  EXPECT_EQ(TuningStore::open(path, OpenMode::read_only).trials({}), trials);
}

}  // namespace
}  // namespace kiln
