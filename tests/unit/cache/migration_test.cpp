// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A database of schema 1, as its SQL text made it, is brought up to date without losing a row.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cache/schema/schema.hpp"
#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::PlainSqlite;
using test::TempFolder;

/// What Kiln 1 created besides the tables, and what it stored.
constexpr const char* kContent1 = R"sql(
CREATE VIEW history AS SELECT * FROM trials;

INSERT INTO problems VALUES (7, 'gemm', 'gemm a=f16 b=f16 c=f16 d=f16 acc=f32 trans_a=0 trans_b=0 '
  || 'align_a=16 align_b=16 align_c=16 align_d=16 reads_c=0', 'm=4096 n=4096 k=4096');
INSERT INTO devices VALUES (1, 'NVIDIA H200', 'sm_90a', 132, 62914560, '');
INSERT INTO templates VALUES (1, 'gemm_wmma', 'd1');
INSERT INTO environments VALUES (1, '580.1', 'nvrtc 13.0', 'cold l2x3 graph');
INSERT INTO sessions VALUES (1, 's1', 7, 1, 1, 'random seed=1', 'time=50s count=-', 4092, 0,
  'running', 1760000000000, 0, 'b6abc7274ddd35c3d5e046a8a1097653');
INSERT INTO attempts VALUES (7, 1, 1, 'stages=3 tile_m=128', 's1',
  'f29a76623dcca40a05aead35de2088b5');
INSERT INTO trials VALUES (1, '0123456789abcdef0123456789abcdef', 7, 1, 1, 'stages=3 tile_m=128', 1,
  'measured', 'ok', '', 128, 0, 0, 0, 1024, 65536, 0.25, 1, 0.5, '', 1000, 1, '[999,1000,1001]',
  1980, 650.5, 61, 'r1', 0.75, 's1', 1760000000000, '8a48db9f8693a6ab6e9e3275b6bc5b64');
PRAGMA application_id = 0x4b494c4e;
PRAGMA user_version = 1;
)sql";

std::string sql_file(const std::string& name) {
  return test::read_file(KILN_SOURCE_DIR "/cache/" + name);
}

/// The text without the lines that have one of the words in them.
std::string without_lines(const std::string& text, const std::vector<std::string>& words) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool has_one = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return line.find(word) != std::string::npos;
    });
    if (!has_one) kept += line + "\n";
  }
  return kept;
}

/// A fresh file of schema 2 to 8, which no migration made: its tables are today's, except for a
/// factor of schema 2, the indexes that schemas 5 and 6 dropped, and what schemas 7 and 9 added.
/// The eighth has two views more than the seventh.
std::string fresh_schema(int version) {
  std::string tables = sql_file("schema.sql");
  if (version < 9) tables = without_lines(tables, {"judge_digest", "checked "});
  if (version < 7) tables = without_lines(tables, {"code_digest", "shared_from"});
  if (version == 2) tables.replace(tables.find("1.25"), 4, "1.125");
  if (version < 6) {
    const std::string indexes = sql_file(version < 5 ? "migrate_1_to_2.sql" : "migrate_4_to_5.sql");
    tables += indexes.substr(indexes.find("CREATE INDEX"));
  }
  if (version >= 5) tables += sql_file("shortlists.sql");
  std::string views = sql_file("views.sql");
  if (version < 9) views = without_lines(views, {"judge_digest"});
  if (version < 7) views = without_lines(views, {"shared_from"});
  return tables + views +
         "PRAGMA application_id = 0x4b494c4e; PRAGMA user_version = " + std::to_string(version);
}

class Migration : public testing::Test {
 protected:
  Migration() {
    PlainSqlite(path).execute(sql_file("schema_1.sql") + kContent1);
    ::chmod(path.c_str(), 0600);
  }
  static void expect_everything(const TuningStore& store) {
    EXPECT_EQ(store.schema_version(), kSchemaVersion);
    Trial expected = test::good_trial(1000);
    expected.id = "0123456789abcdef0123456789abcdef";
    EXPECT_EQ(store.trials({}), std::vector<Trial>{expected});
    EXPECT_EQ(store.sessions(), std::vector<SessionRecord>{test::session("s1")});
    EXPECT_EQ(store.open_attempts(expected.key.problem, expected.key.device),
              std::vector<CandidateKey>{expected.key});
    BestQuery query;
    query.problem = expected.key.problem;
    query.device = expected.key.device;
    EXPECT_EQ(store.best(query), expected);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
  }
  TempFolder folder;
  std::string path = folder.file("tuning.db");
};

TEST_F(Migration, OpeningForWritingBringsTheFileUpToDate) {
  { expect_everything(TuningStore::open(path, OpenMode::read_write)); }
  EXPECT_EQ(PlainSqlite(path).value("PRAGMA user_version"), std::to_string(kSchemaVersion));
  EXPECT_EQ(PlainSqlite(path).value("SELECT tflops FROM best"), "137439.0");
  TuningStore again = TuningStore::open(path, OpenMode::read_write);
  again.record(test::good_trial(500, 64));
  EXPECT_EQ(again.trials({}).size(), 2U);
}

TEST_F(Migration, OpeningForReadingLeavesTheFileAsItIs) {
  const std::string before = test::read_file(path);
  expect_everything(TuningStore::open(path, OpenMode::read_only));
  EXPECT_EQ(test::read_file(path), before);
}

TEST_F(Migration, AMigratedSchemaHasTheColumnsOfAFreshOne) {
  { (void)TuningStore::open(path, OpenMode::read_write); }
  const std::string fresh = folder.file("fresh.db");
  { (void)TuningStore::open(fresh, OpenMode::read_write); }
  for (const std::string sql :
       {"SELECT m.name, lower(c.type), c.name, c.\"notnull\", c.hidden, c.pk FROM sqlite_schema m, "
        "pragma_table_xinfo(m.name) c ORDER BY m.name, c.name",
        "SELECT type, name FROM sqlite_schema ORDER BY 1, 2"}) {
    EXPECT_EQ(PlainSqlite(path).rows(sql), PlainSqlite(fresh).rows(sql));
  }
}

// Its columns are in a different order from those of a migrated file.
TEST_F(Migration, FreshFilesOfLaterSchemasAreBroughtUpToDate) {
  for (const int version : {2, 3, 4, 5, 6, 7, 8}) {
    const std::string file = folder.file(std::to_string(version));
    PlainSqlite(file).execute(fresh_schema(version));
    ::chmod(file.c_str(), 0600);
    EXPECT_EQ(TuningStore::open(file, OpenMode::read_only).trials({}).size(), 0U);
    TuningStore store = TuningStore::open(file, OpenMode::read_write);
    EXPECT_EQ(store.schema_version(), kSchemaVersion);
    store.record(test::good_trial(1000));
    EXPECT_EQ(store.check(), std::vector<std::string>{});
  }
}

TEST_F(Migration, AForeignSchemaIsNotMigrated) {
  PlainSqlite(path).execute("CREATE INDEX mine ON trials (median_ns)");
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    const std::string text =
        test::error_of(ErrorKind::database, [&] { (void)TuningStore::open(path, mode); });
    EXPECT_NE(text.find("not Kiln's: index mine was added. Next: `kiln merge"), std::string::npos)
        << text;
  }
  EXPECT_EQ(PlainSqlite(path).value("PRAGMA user_version"), "1");
}

TEST_F(Migration, TheRowsOfAForeignOldSchemaCanBeSaved) {
  PlainSqlite(path).execute("CREATE INDEX mine ON trials (median_ns)");
  const TuningStore store = TuningStore::open(path, OpenMode::salvage);
  EXPECT_NE(store.salvage_fault(), "");
  Trial expected = test::good_trial(1000);
  expected.id = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(store.trials({}), std::vector<Trial>{expected});
  EXPECT_EQ(store.sessions(), std::vector<SessionRecord>{test::session("s1")});
  EXPECT_EQ(PlainSqlite(path).value("PRAGMA user_version"), "1");
}

TEST_F(Migration, AFailureHalfWayChangesNothing) {
  // The migration will hit a view, which a person may add, with the name of an index.
  PlainSqlite(path).execute("CREATE VIEW trials_wrong AS SELECT 1");
  (void)test::error_of(ErrorKind::database,
                       [&] { (void)TuningStore::open(path, OpenMode::read_write); });
  EXPECT_EQ(PlainSqlite(path).value("PRAGMA user_version"), "1");
  EXPECT_EQ(PlainSqlite(path).value("SELECT count(*) FROM pragma_table_xinfo('trials') "
                                    "WHERE name = 'eligible'"),
            "0");
  PlainSqlite(path).execute("DROP VIEW trials_wrong");
  expect_everything(TuningStore::open(path, OpenMode::read_write));
}

}  // namespace
}  // namespace kiln
