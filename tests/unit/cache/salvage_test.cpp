// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Damaged databases: what is on intact pages is saved, by `kiln merge` and `kiln export` alike.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cache/exchange/transfer.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::PlainSqlite;
using test::TempFolder;

constexpr std::size_t kPage = 4096;
constexpr int kTrials = 300;
constexpr int kSessions = 100;

struct Rows {
  std::vector<Trial> trials;
  std::vector<SessionRecord> sessions;
  friend bool operator==(const Rows&, const Rows&) = default;
};
Rows rows_of(const TuningStore& store) {
  return {store.trials({}), store.sessions()};
}

class Salvage : public testing::Test {
 protected:
  Salvage() {
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    std::vector<Trial> trials;
    for (int i = 0; i < kTrials; ++i) {
      trials.push_back(test::good_trial(1e6, i + 1));
      trials.back().id = random_id();
      trials.back().rendered_digest = fmt::format("rendered {:04}", i);  // in no index
    }
    (void)store.record_all(trials);
    std::vector<SessionRecord> sessions;
    for (int i = 0; i < kSessions; ++i) {
      sessions.push_back(test::session(random_id()));
      sessions.back().strategy = fmt::format("random seed={:04}", i);
    }
    (void)store.adopt_sessions(sessions);
    all = rows_of(store);
    PlainSqlite(path).execute("VACUUM");  // no page has bytes of rows that are elsewhere
  }

  void destroy_page(std::size_t page) {
    std::string bytes = test::read_file(path);
    ASSERT_LE((page + 1) * kPage, bytes.size());
    bytes.replace(page * kPage, kPage, std::string(kPage, '\xee'));
    test::write_file(path, bytes);
  }
  void destroy_page_with(const std::string& text) {
    const std::size_t at = test::read_file(path).find(text);
    ASSERT_NE(at, std::string::npos);
    destroy_page(at / kPage);
  }
  void destroy_root_of(const std::string& name) {
    const std::string sql = "SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'";
    destroy_page(std::stoul(PlainSqlite(path).value(sql)) - 1);
  }

  /// What both verbs save, which must be the same.
  Rows saved() {
    TuningStore merged = TuningStore::open(folder.file(random_id()), OpenMode::read_write);
    TuningStore imported = TuningStore::open(folder.file(random_id()), OpenMode::read_write);
    const TuningStore source = TuningStore::open(path, OpenMode::salvage);
    EXPECT_EQ(source.salvage_fault().substr(0, 12), "is damaged: ");
    EXPECT_EQ(merge(merged, source).refused, 0U);
    std::stringstream lines;
    (void)export_rows(source, {}, lines);
    EXPECT_EQ(import_rows(imported, lines, "lines").refused, 0U);
    EXPECT_EQ(rows_of(merged), rows_of(imported));
    return rows_of(merged);
  }
  /// Fails unless `some` are rows of `of`; how many of them there are.
  template <class Row>
  static std::size_t count_of(const std::vector<Row>& some, const std::vector<Row>& of) {
    for (const Row& row : some) {
      EXPECT_NE(std::find(of.begin(), of.end(), row), of.end()) << row.id;
    }
    return some.size();
  }

  TempFolder folder;
  std::string path = folder.file("tuning.db");
  Rows all;
};

TEST_F(Salvage, ASoundDatabaseIsReadAsItIs) {
  const TuningStore store = TuningStore::open(path, OpenMode::salvage);
  EXPECT_EQ(store.salvage_fault(), "");
  EXPECT_EQ(rows_of(store), all);
}

TEST_F(Salvage, APageOfTrialsCostsItsOwnRows) {
  destroy_page_with("rendered 0150");
  destroy_page_with("rendered 0250");
  const Rows rows = saved();
  EXPECT_EQ(rows.sessions, all.sessions);
  EXPECT_LT(count_of(rows.trials, all.trials), all.trials.size());
  EXPECT_GT(rows.trials.size(), all.trials.size() * 4 / 5);
}

// After years of storing and pruning, keys are far above what fits into the file.
TEST_F(Salvage, LargeKeysAreFound) {
  PlainSqlite(path).execute("UPDATE trials SET seq = seq + 5000000000; VACUUM");
  destroy_page_with("rendered 0150");
  EXPECT_GT(count_of(saved().trials, all.trials), all.trials.size() * 4 / 5);
}

TEST_F(Salvage, TheFirstAndTheLastPageAreNoExceptions) {
  destroy_page_with("rendered 0000");
  destroy_page_with("rendered 0299");
  EXPECT_GT(count_of(saved().trials, all.trials), all.trials.size() * 4 / 5);
}

TEST_F(Salvage, APageOfSessionsCostsNoTrial) {
  destroy_page_with("seed=0050");
  const Rows rows = saved();
  EXPECT_EQ(rows.trials, all.trials);
  EXPECT_LT(count_of(rows.sessions, all.sessions), all.sessions.size());
  EXPECT_GT(rows.sessions.size(), all.sessions.size() / 2);
}

TEST_F(Salvage, ATableThatIsLostCostsNoOther) {
  destroy_root_of("trials");
  const Rows rows = saved();
  EXPECT_EQ(rows.trials, std::vector<Trial>{});
  EXPECT_EQ(rows.sessions, all.sessions);
}

TEST_F(Salvage, AnIndexCostsNothing) {
  for (const char* name : {"trials_by_candidate", "sqlite_autoindex_trials_1",
                           "sqlite_autoindex_sessions_1", "sqlite_autoindex_problems_1"}) {
    destroy_root_of(name);
  }
  EXPECT_EQ(saved(), all);
}

TEST_F(Salvage, ADatabaseThatIsBothDamagedAndForeignIsSavedToo) {
  PlainSqlite(path).execute("CREATE INDEX mine ON trials (median_ns)");
  destroy_page_with("rendered 0150");
  const TuningStore source = TuningStore::open(path, OpenMode::salvage);
  EXPECT_NE(source.salvage_fault().find("index mine was added"), std::string::npos);
  EXPECT_EQ(source.sessions(), all.sessions);
  EXPECT_GT(count_of(source.trials({}), all.trials), all.trials.size() * 4 / 5);
}

}  // namespace
}  // namespace kiln
