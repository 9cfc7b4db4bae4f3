// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A database of schema 1, as its SQL text made it, is brought up to date without losing a row.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "cache/schema.hpp"
#include "cache/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::PlainSqlite;
using test::TempFolder;

constexpr const char* kSchema1 = R"sql(
CREATE TABLE problems (problem_id INTEGER PRIMARY KEY, operation TEXT NOT NULL, kind TEXT NOT NULL,
  sizes TEXT NOT NULL, UNIQUE (kind, sizes)) STRICT;
CREATE TABLE devices (device_id INTEGER PRIMARY KEY, name TEXT NOT NULL, arch TEXT NOT NULL,
  sm_count INTEGER NOT NULL, l2_bytes INTEGER NOT NULL, mig_profile TEXT NOT NULL,
  UNIQUE (name, arch, sm_count, l2_bytes, mig_profile)) STRICT;
CREATE TABLE templates (template_id INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL,
  UNIQUE (name, digest)) STRICT;
CREATE TABLE environments (environment_id INTEGER PRIMARY KEY, driver TEXT NOT NULL,
  toolkit TEXT NOT NULL, policy TEXT NOT NULL, UNIQUE (driver, toolkit, policy)) STRICT;
CREATE TABLE sessions (seq INTEGER PRIMARY KEY, session_id TEXT NOT NULL UNIQUE,
  problem_id INTEGER NOT NULL REFERENCES problems, device_id INTEGER NOT NULL REFERENCES devices,
  environment_id INTEGER NOT NULL REFERENCES environments, strategy TEXT NOT NULL,
  budget TEXT NOT NULL, space_size INTEGER NOT NULL, evaluated INTEGER NOT NULL,
  state TEXT NOT NULL, started_unix_ms INTEGER NOT NULL, ended_unix_ms INTEGER NOT NULL,
  digest TEXT NOT NULL) STRICT;
CREATE TABLE attempts (problem_id INTEGER NOT NULL REFERENCES problems,
  device_id INTEGER NOT NULL REFERENCES devices,
  template_id INTEGER NOT NULL REFERENCES templates, config TEXT NOT NULL,
  session_id TEXT NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY (problem_id, device_id, template_id, config)) STRICT, WITHOUT ROWID;
CREATE TABLE trials (seq INTEGER PRIMARY KEY, trial_id TEXT NOT NULL UNIQUE,
  problem_id INTEGER NOT NULL REFERENCES problems, device_id INTEGER NOT NULL REFERENCES devices,
  template_id INTEGER NOT NULL REFERENCES templates, config TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments, provenance TEXT NOT NULL,
  outcome TEXT NOT NULL, message TEXT NOT NULL, registers INTEGER, spill_store_bytes INTEGER,
  spill_load_bytes INTEGER, stack_bytes INTEGER, smem_static_bytes INTEGER,
  smem_dynamic_bytes INTEGER, occupancy REAL, verified INTEGER, worst_ratio REAL, evidence TEXT,
  median_ns REAL, spread_ns REAL, samples_ns TEXT, sm_clock_mhz INTEGER, power_w REAL,
  temperature_c INTEGER, rendered_digest TEXT NOT NULL, compile_seconds REAL NOT NULL,
  session_id TEXT NOT NULL, created_unix_ms INTEGER NOT NULL, digest TEXT NOT NULL) STRICT;
CREATE INDEX trials_by_candidate ON trials (problem_id, device_id, template_id, config);
CREATE INDEX trials_by_session ON trials (session_id);
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

class Migration : public testing::Test {
 protected:
  Migration() {
    PlainSqlite(path).execute(kSchema1);
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

// Whose columns stand in another order than those of a migrated file.
TEST_F(Migration, FreshFilesOfLaterSchemasAreBroughtUpToDate) {
  const std::string schema2 = test::read_file(KILN_SOURCE_DIR "/tests/data/schema_2.sql") +
                              test::read_file(KILN_SOURCE_DIR "/cache/views.sql");
  std::string schema3 = schema2;
  schema3.replace(schema3.find("1.125"), 5, "1.25");
  for (const auto& [version, text] : {std::pair(2, schema2), {3, schema3}, {4, schema3}}) {
    const std::string file = folder.file(std::to_string(version));
    PlainSqlite(file).execute(text + "PRAGMA application_id = 0x4b494c4e; PRAGMA user_version = " +
                              std::to_string(version));
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
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write, OpenMode::salvage}) {
    const std::string text =
        test::error_of(ErrorKind::database, [&] { (void)TuningStore::open(path, mode); });
    EXPECT_NE(text.find("not Kiln's: index mine was added. Next: undo"), std::string::npos) << text;
  }
  EXPECT_EQ(PlainSqlite(path).value("PRAGMA user_version"), "1");
}

TEST_F(Migration, AFailureHalfWayChangesNothing) {
  // The migration will stumble over a view, which a person may add, with the name of an index.
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
