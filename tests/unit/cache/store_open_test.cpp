// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Opening: what is created, and what is refused, with which advice.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "cache/files/file_guard.hpp"
#include "cache/schema/schema.hpp"
#include "cache/store/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::PlainSqlite;
using test::TempFolder;

unsigned mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777U;
}

std::string refusal(const std::string& path, OpenMode mode) {
  return error_of(ErrorKind::database, [&] { (void)TuningStore::open(path, mode); });
}

/// Refused for reading and for writing, naming the file and every one of the words; left as it is.
void expect_refused(const std::string& path, const std::vector<std::string>& words) {
  const std::string before = test::read_file(path);
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    const std::string text = refusal(path, mode);
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_NE(text.find("Next: "), std::string::npos) << text;
    for (const std::string& word : words) {
      EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
    }
  }
  EXPECT_EQ(test::read_file(path), before);
}

TEST(StoreOpen, CreatesFolder0700AndFile0600WhateverTheUmask) {
  const TempFolder folder;
  const mode_t umask_before = ::umask(0);
  const std::string path = folder.file("a/b/tuning.db");
  const TuningStore store = TuningStore::open(path, OpenMode::read_write);
  ::umask(umask_before);
  EXPECT_EQ(mode_of(folder.file("a")), 0700U);
  EXPECT_EQ(mode_of(folder.file("a/b")), 0700U);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(store.path(), path);
  EXPECT_EQ(store.schema_version(), kSchemaVersion);
  EXPECT_EQ(store.check(), std::vector<std::string>{});
}

TEST(StoreOpen, CreatesManyNestedFoldersSoon) {
  const TempFolder folder;
  std::string nested = folder.path();
  for (int i = 0; i < 600; ++i) nested += "/n" + std::to_string(i % 10);
  const std::clock_t start = std::clock();
  EXPECT_EQ(file_guard::resolve(nested + "/tuning.db", true), nested + "/tuning.db");
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1.0);
  EXPECT_EQ(mode_of(nested), 0700U);
}

TEST(StoreOpen, AFileInPlaceOfAFolderIsNamed) {
  const TempFolder folder;
  test::write_file(folder.file("a"), "x");
  const std::string text = refusal(folder.file("a/b/c/tuning.db"), OpenMode::read_write);
  EXPECT_NE(text.find("cannot create the folder " + folder.file("a/b")), std::string::npos) << text;
}

TEST(StoreOpen, LeavesNothingButTheDatabase) {
  const TempFolder folder;
  { (void)TuningStore::open(folder.file("t.db"), OpenMode::read_write); }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(names, std::vector<std::string>{"t.db"});
}

TEST(StoreOpen, ReadingNeverCreatesAnything) {
  const TempFolder folder;
  const std::string text = refusal(folder.file("no/tuning.db"), OpenMode::read_only);
  EXPECT_NE(text.find("does not exist"), std::string::npos) << text;
  EXPECT_NE(text.find("kiln tune"), std::string::npos) << text;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(StoreOpen, RefusesWhatIsNoDatabase) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  test::write_file(path, std::string(5000, 'x'));
  ::chmod(path.c_str(), 0600);
  expect_refused(path, {"not an SQLite database", "move the file away"});
}

TEST(StoreOpen, RefusesAnEmptyFile) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  test::write_file(path, "");
  ::chmod(path.c_str(), 0600);
  expect_refused(path, {"is empty", "rm "});
}

TEST(StoreOpen, RefusesAnotherApplicationsDatabase) {
  const TempFolder folder;
  const std::string path = folder.file("mail.db");
  PlainSqlite(path).execute("CREATE TABLE mail (x); PRAGMA user_version = 2");
  ::chmod(path.c_str(), 0600);
  expect_refused(path, {"another application"});
}

TEST(StoreOpen, RefusesANewerSchemaForReadingAndWriting) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  { (void)TuningStore::open(path, OpenMode::read_write); }
  PlainSqlite(path).execute("PRAGMA user_version = " + std::to_string(kSchemaVersion + 1));
  expect_refused(path,
                 {"schema " + std::to_string(kSchemaVersion + 1), "newer Kiln", "update Kiln"});
}

// No row of it is lost silently: the Kiln that made it exports them.
TEST(StoreOpen, RefusesADatabaseFromBeforeTheFirstRelease) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  { (void)TuningStore::open(path, OpenMode::read_write); }
  PlainSqlite(path).execute("PRAGMA application_id = 0x4b494c4e; PRAGMA user_version = 9");
  const std::vector<std::string> next{"pre-release version of Kiln",
                                      "kiln export --database --db " + path, "kiln import"};
  expect_refused(path, next);
  PlainSqlite(path).execute("PRAGMA user_version = 1");
  expect_refused(path, next);
}

TEST(StoreOpen, RefusesATruncatedFile) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  { (void)TuningStore::open(path, OpenMode::read_write); }
  fs::resize_file(path, fs::file_size(path) / 2);
  expect_refused(path, {"is damaged", "kiln export"});
}

TEST(StoreOpen, RefusesASymbolicLinkButFollowsThoseOfFolders) {
  const TempFolder folder;
  fs::create_directory(folder.file("real"));
  fs::permissions(folder.file("real"), fs::perms::owner_all);
  { (void)TuningStore::open(folder.file("real/tuning.db"), OpenMode::read_write); }
  fs::create_symlink(folder.file("real/tuning.db"), folder.file("link.db"));
  fs::create_directory_symlink(folder.file("real"), folder.file("folder"));
  expect_refused(folder.file("link.db"), {"symbolic link"});
  EXPECT_NO_THROW((void)TuningStore::open(folder.file("folder/tuning.db"), OpenMode::read_only));
}

TEST(StoreOpen, RefusesADirectoryAndAPipe) {
  const TempFolder folder;
  fs::create_directory(folder.file("tuning.db"));
  EXPECT_NE(refusal(folder.file("tuning.db"), OpenMode::read_write).find("not a regular file"),
            std::string::npos);
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(folder.file("pipe"), OpenMode::read_only).find("regular"), std::string::npos);
}

TEST(StoreOpen, RefusesWhatOthersCanWrite) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  { (void)TuningStore::open(path, OpenMode::read_write); }
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    ::chmod(path.c_str(), mode);
    expect_refused(path, {"other users can write to the file", "chmod go-w"});
  }
  ::chmod(path.c_str(), 0644);
  EXPECT_NO_THROW((void)TuningStore::open(path, OpenMode::read_only));

  ::chmod(folder.path().c_str(), 0770);
  expect_refused(path, {"the folder", "chmod go-w"});
  ::chmod(folder.path().c_str(), 0700);

  test::write_file(path + "-journal", "");
  ::chmod((path + "-journal").c_str(), 0666);
  expect_refused(path, {"the journal"});
}

// In a sticky folder others cannot replace the database, but they can create what is missing: a
// journal that the next process to open would replay.
TEST(StoreOpen, RefusesAStickyFolderLikeTmp) {
  const TempFolder folder;
  const std::string path = folder.file("t.db");
  { (void)TuningStore::open(path, OpenMode::read_write); }
  ::chmod(folder.path().c_str(), 01777);
  expect_refused(path, {"other users can write to the folder " + folder.path(), "mkdir -m 700"});
  EXPECT_NE(refusal(folder.file("new.db"), OpenMode::read_write).find("the folder"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder.file("new.db")));
}

TEST(StoreOpen, RefusesAFolderThatOthersCouldExchange) {
  const TempFolder folder;
  const std::string shared = folder.file("shared");
  const std::string path = shared + "/a/b/t.db";
  { (void)TuningStore::open(path, OpenMode::read_write); }
  for (const mode_t mode : {0770U, 0707U, 0777U}) {
    ::chmod(shared.c_str(), mode);
    // A group that only the user is in does not count as others.
    if (mode == 0770U && ::chown(shared.c_str(), static_cast<uid_t>(-1), 12345) != 0) continue;
    expect_refused(path, {"folder " + shared, "replace", "mkdir -m 700"});
    EXPECT_NE(refusal(shared + "/new/t.db", OpenMode::read_write).find("replace"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(shared + "/new")) << "nothing is created where it would not be safe";
  }
  ::chmod(shared.c_str(), 01777);
  EXPECT_NO_THROW((void)TuningStore::open(path, OpenMode::read_write));
  if (::geteuid() != 0) return;
  ::chmod(shared.c_str(), 0755);
  ASSERT_EQ(::chown(shared.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused(path, {"folder " + shared, "belongs to another user (user ID 12345)"});
}

TEST(StoreOpen, AStoreForReadingRefusesToWrite) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  { (void)TuningStore::open(path, OpenMode::read_write); }
  TuningStore store = TuningStore::open(path, OpenMode::read_only);
  const std::string text =
      error_of(ErrorKind::usage, [&] { (void)store.record(test::good_trial(1.0)); });
  EXPECT_NE(text.find("reading only"), std::string::npos) << text;
}

TEST(StoreOpen, ReadersAndAWriterShareAFile) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  TuningStore writer = TuningStore::open(path, OpenMode::read_write);
  const TuningStore reader = TuningStore::open(path, OpenMode::read_only);
  writer.record(test::good_trial(1000.0));
  EXPECT_EQ(reader.trials({}).size(), 1U);
}

}  // namespace
}  // namespace kiln
