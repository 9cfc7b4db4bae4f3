// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/cubin_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::PlainSqlite;
using test::TempFolder;

CubinKey key(const std::string& digest) {
  return {digest, "-std=c++20 -arch=sm_90a", "nvrtc 13.0", "sm_90a"};
}

CubinRecord record(std::size_t bytes, int seed = 1) {
  CubinRecord record;
  for (std::size_t i = 0; i < bytes; ++i) {
    record.cubin.push_back(static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed)));
  }
  record.lowered_names = {"_Z4gemm", "_Z6reduce"};
  record.resources = {168, 0, 8, 16, 1024, 98304, 0.1875};
  return record;
}

void expect_equal(const std::optional<CubinRecord>& found, const CubinRecord& expected) {
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin, expected.cubin);
  EXPECT_EQ(found->lowered_names, expected.lowered_names);
  EXPECT_EQ(found->resources, expected.resources);
}

class Cubins : public testing::Test {
 protected:
  CubinStore open(std::int64_t limit_bytes = 1 << 20) {
    return {path, limit_bytes, [this](const std::string& text) { warnings.push_back(text); }};
  }
  TempFolder folder;
  std::string path = folder.file("cubins.db");
  std::vector<std::string> warnings;
};

TEST_F(Cubins, AnotherProcessFindsWhatOnePut) {
  open().put(key("r1"), record(5000));
  CubinStore store = open();
  EXPECT_TRUE(store.usable());
  expect_equal(store.get(key("r1")), record(5000));
  EXPECT_EQ(store.entries(), 1);
  EXPECT_EQ(store.total_bytes(), 5000);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(Cubins, EveryPartOfTheKeyCounts) {
  CubinStore store = open();
  store.put(key("r1"), record(10));
  for (int part = 0; part < 4; ++part) {
    CubinKey other = key("r1");
    (part == 0   ? other.rendered_digest
     : part == 1 ? other.options
     : part == 2 ? other.compiler
                 : other.arch) += "x";
    EXPECT_FALSE(store.get(other)) << part;
  }
}

TEST_F(Cubins, PuttingAgainReplaces) {
  CubinStore store = open();
  store.put(key("r1"), record(10));
  store.put(key("r1"), record(20, 9));
  expect_equal(store.get(key("r1")), record(20, 9));
  EXPECT_EQ(store.total_bytes(), 20);
}

TEST_F(Cubins, NoNamesAndNoBytesSurvive) {
  CubinStore store = open();
  CubinRecord empty;
  store.put(key("r1"), empty);
  expect_equal(store.get(key("r1")), empty);
}

TEST_F(Cubins, TheLeastRecentlyUsedGoFirst) {
  CubinStore store = open(3000);
  store.put(key("a"), record(1000));
  store.put(key("b"), record(1000));
  store.put(key("c"), record(1000));
  EXPECT_TRUE(store.get(key("a")));
  store.put(key("d"), record(1000));
  EXPECT_FALSE(store.get(key("b")));
  EXPECT_TRUE(store.get(key("a")) && store.get(key("c")) && store.get(key("d")));
  EXPECT_EQ(store.total_bytes(), 3000);
  store.put(key("e"), record(3001));
  EXPECT_FALSE(store.get(key("e"))) << "more than the limit is not kept";
  EXPECT_EQ(store.entries(), 3);
  const std::int64_t before = store.entries();
  EXPECT_EQ(store.shrink(1000, true), 2);
  EXPECT_EQ(store.entries(), before);
  EXPECT_EQ(store.shrink(1000), 2);
  EXPECT_TRUE(store.get(key("d")));
  EXPECT_EQ(store.shrink(0), 1);
  EXPECT_EQ(store.entries(), 0);
}

TEST_F(Cubins, ADamagedEntryIsAMissAndGoes) {
  CubinStore store = open();
  store.put(key("r1"), record(100));
  PlainSqlite(path).execute("UPDATE cubins SET cubin = x'00'");
  EXPECT_FALSE(store.get(key("r1")));
  EXPECT_EQ(store.entries(), 0);
  store.put(key("r1"), record(100));
  PlainSqlite(path).execute("UPDATE cubins SET registers = 1");
  EXPECT_FALSE(store.get(key("r1")));
  EXPECT_TRUE(warnings.empty());
}

/// Overwrites all pages but the first, where the header and the schema are.
void damage(const std::string& path) {
  std::string bytes = test::read_file(path);
  std::fill(bytes.begin() + 4096, bytes.end(), '\xa5');
  test::write_file(path, bytes);
}

/// Names in the folder, sorted.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(Cubins, AFileOfTheUsersThatWasNamedByMistakeStaysUntouched) {
  std::string foreign = "SQLite format 3";
  foreign.resize(9000, '\0');
  for (const std::string& text : {std::string("a note\n"), std::string(9000, 'z'), foreign}) {
    test::write_file(path, text);
    ::chmod(path.c_str(), 0600);
    for (int round = 0; round < 2; ++round) {
      CubinStore store = open();
      store.put(key("r1"), record(10));
      EXPECT_FALSE(store.usable());
      EXPECT_FALSE(store.get(key("r1")));
    }
    EXPECT_EQ(test::read_file(path), text);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"cubins.db"});
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_NE(warnings[0].find(path), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find("Next: move the file away"), std::string::npos) << warnings[0];
    warnings.clear();
  }
}

TEST_F(Cubins, DamageFoundWhenReadingStartsTheStoreAfresh) {
  {
    CubinStore store = open();
    for (int i = 0; i < 50; ++i) store.put(key(std::to_string(i)), record(3000));
  }
  damage(path);
  CubinStore store = open();
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(store.get(key(std::to_string(i)))) << i;
  }
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(path + ".damaged"), std::string::npos) << warnings[0];
  store.put(key("new"), record(10));
  EXPECT_TRUE(store.get(key("new")));
}

TEST_F(Cubins, AStoreWhoseSchemaIsDamagedIsReplacedToo) {
  open().put(key("r1"), record(100));
  std::string bytes = test::read_file(path);
  // The header stays, and with it the sign that this is Kiln's.
  std::fill(bytes.begin() + 100, bytes.begin() + 4096, '\xa5');
  test::write_file(path, bytes);
  CubinStore store = open();
  EXPECT_TRUE(store.usable());
  EXPECT_TRUE(test::read_file(path + ".damaged") == bytes);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(path + ".damaged"), std::string::npos) << warnings[0];
}

TEST_F(Cubins, AStoreWithAForeignSchemaIsSetAsideAndNothingOfItRuns) {
  const std::vector<std::string> changes{
      "CREATE TRIGGER t AFTER INSERT ON cubins BEGIN DELETE FROM cubins; END",
      "CREATE INDEX mine ON cubins (occupancy)",
      "CREATE TABLE notes (text)",
      "DROP INDEX cubins_by_use",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
      "'bytes           INTEGER NOT NULL', "
      "'bytes INTEGER GENERATED ALWAYS AS (length(hex(zeroblob(225000000)))) VIRTUAL')",
  };
  for (const std::string& change : changes) {
    open().put(key("r1"), record(100));
    PlainSqlite(path).execute(change);
    const std::string altered = test::read_file(path);
    {
      CubinStore store = open();
      EXPECT_FALSE(store.get(key("r1"))) << change;
      store.put(key("r2"), record(10));
      EXPECT_TRUE(store.get(key("r2"))) << change;
    }
    EXPECT_TRUE(test::read_file(path + ".damaged") == altered) << change;
    ASSERT_EQ(warnings.size(), 1U) << change;
    EXPECT_NE(warnings[0].find(path + ".damaged"), std::string::npos) << warnings[0];
    fs::remove(path);
    fs::remove(path + ".damaged");
    warnings.clear();
  }
}

TEST_F(Cubins, StatisticsAndViewsAreNoHarm) {
  open().put(key("r1"), record(100));
  PlainSqlite(path).execute("CREATE VIEW mine AS SELECT * FROM cubins; ANALYZE");
  EXPECT_TRUE(open().get(key("r1")));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(Cubins, SettingAsideNeverReplacesAFile) {
  test::write_file(path + ".damaged", "the user's own");
  std::vector<std::string> damaged;
  for (int round = 0; round < 3; ++round) {
    open().put(key("r1"), record(9000));
    damage(path);
    damaged.push_back(test::read_file(path));
    EXPECT_FALSE(open().get(key("r1")));
    EXPECT_TRUE(open().usable());
  }
  EXPECT_EQ(test::read_file(path + ".damaged"), "the user's own");
  for (int round = 0; round < 3; ++round) {
    const std::string aside = path + ".damaged-" + std::to_string(round + 2);
    EXPECT_TRUE(test::read_file(aside) == damaged[static_cast<std::size_t>(round)]) << aside;
  }
}

TEST_F(Cubins, AJournalThatSomebodyStillNeedsStays) {
  open().put(key("r1"), record(9000));
  PlainSqlite other(path);
  other.execute("CREATE TABLE other (x); INSERT INTO other VALUES (1)");
  damage(path);
  // It writes to the intact page, so it has not noticed.
  other.execute("PRAGMA writable_schema = ON; BEGIN IMMEDIATE; PRAGMA user_version = 1");
  const std::vector<std::string> before = names_in(folder.path());
  ASSERT_EQ(before, (std::vector<std::string>{"cubins.db", "cubins.db-journal"}));
  CubinStore store = open();
  EXPECT_FALSE(store.get(key("r1")));
  EXPECT_EQ(names_in(folder.path()), before);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("in use by another process"), std::string::npos) << warnings[0];
  other.execute("ROLLBACK");
  EXPECT_FALSE(store.get(key("r1")));
  EXPECT_TRUE(fs::exists(path + ".damaged"));
  store.put(key("r1"), record(10));
  EXPECT_TRUE(store.get(key("r1")));
}

TEST_F(Cubins, WhoeverHasADamagedStoreOpenGoesOnWithTheNewOne) {
  CubinStore first = open();
  first.put(key("r1"), record(9000));
  damage(path);
  EXPECT_FALSE(open().get(key("r1")));  // sets it aside
  warnings.clear();
  first.put(key("r2"), record(10));  // finds the file gone
  first.put(key("r2"), record(10));
  EXPECT_TRUE(first.get(key("r2")));
  EXPECT_TRUE(open().get(key("r2")));
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST_F(Cubins, WhatOthersCanWriteIsNotRead) {
  open().put(key("r1"), record(100));
  ::chmod(path.c_str(), 0622);
  {
    CubinStore store = open();
    EXPECT_FALSE(store.usable());
    EXPECT_FALSE(store.get(key("r1")));
    store.put(key("r1"), record(1));
    EXPECT_EQ(store.entries(), 0);
    EXPECT_EQ(store.shrink(0), 0);
  }
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("chmod go-w"), std::string::npos) << warnings[0];
  EXPECT_EQ(warnings[0].find("KILN_DB"), std::string::npos) << warnings[0];
  ::chmod(path.c_str(), 0600);
  ::chmod(folder.path().c_str(), 01777);
  EXPECT_FALSE(open().usable()) << "a journal could be planted in such a folder";
  ::chmod(folder.path().c_str(), 0700);
  EXPECT_TRUE(open().usable());
}

TEST_F(Cubins, AFolderThatOthersCouldExchangeIsRefused) {
  fs::create_directory(folder.file("shared"));
  fs::create_directory(folder.file("shared/own"));
  path = folder.file("shared/own/cubins.db");
  ::chmod(folder.file("shared/own").c_str(), 0700);
  ::chmod(folder.file("shared").c_str(), 0777);
  EXPECT_FALSE(open().usable());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("the parent folder " + folder.file("shared")), std::string::npos)
      << warnings[0];
  ::chmod(folder.file("shared").c_str(), 01777);
  EXPECT_TRUE(open().usable()) << "no one else can rename a folder in a sticky one";
}

TEST_F(Cubins, LinksAndForeignDatabasesStayUntouched) {
  const std::string other = folder.file("other.db");
  PlainSqlite(other).execute("CREATE TABLE t (x)");
  ::chmod(other.c_str(), 0600);
  fs::create_symlink(other, path);
  EXPECT_FALSE(open().usable());
  fs::remove(path);
  fs::rename(other, path);
  EXPECT_FALSE(open().usable());
  EXPECT_EQ(PlainSqlite(path).value("SELECT count(*) FROM t"), "0");
  EXPECT_EQ(warnings.size(), 2U);
}

TEST_F(Cubins, AStoreThatWasLockedWhenItOpenedIsTriedAgain) {
  open().put(key("r1"), record(10));
  PlainSqlite other(path);
  other.execute("BEGIN EXCLUSIVE");
  CubinStore store = open();
  EXPECT_FALSE(store.usable());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("locked"), std::string::npos) << warnings[0];
  // Not the flag of the database.
  EXPECT_TRUE(
      warnings[0].ends_with("set --cubin-store or LibraryOptions::cubin_store to "
                            "another file."))
      << warnings[0];
  other.execute("COMMIT");
  expect_equal(store.get(key("r1")), record(10));
  EXPECT_TRUE(store.usable());
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(Cubins, AStoreThatKeepsNothingIsQuiet) {
  CubinStore store;
  store.put(key("r1"), record(1));
  EXPECT_FALSE(store.get(key("r1")));
  EXPECT_EQ(store.total_bytes(), 0);
  EXPECT_FALSE(store.usable());
}

TEST_F(Cubins, ThreadsAndConnectionsShareAStore) {
  CubinStore shared = open(1 << 16);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      CubinStore own(path, 1 << 16, {});
      for (int i = 0; i < 40; ++i) {
        const std::string name = std::to_string((i + thread) % 20);
        const CubinRecord expected = record(2000, (i + thread) % 20);
        CubinStore& store = i % 2 == 0 ? shared : own;
        store.put(key(name), expected);
        if (const auto found = store.get(key(name))) {
          EXPECT_EQ(found->cubin, expected.cubin);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(shared.entries(), 20);
}

}  // namespace
}  // namespace kiln
