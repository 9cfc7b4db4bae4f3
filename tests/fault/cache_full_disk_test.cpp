// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A file size limit stands in for a full disk.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "cache/files/cubin_store.hpp"
#include "cache/store/store.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::ChildProcess;
using test::good_trial;
using test::TempFolder;

/// SIGXFSZ keeps its default, which is to end the process.
void limit_file_size(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw Error(ErrorKind::internal, "setrlimit");
}

TEST(CacheFullDisk, WhatWasStoredStaysAndTheErrorNamesTheRemedy) {
  for (const rlim_t bytes : {180'000, 250'000, 600'000}) {
    const TempFolder folder;
    const std::string path = folder.file("tuning.db");
    ChildProcess writer([&](int out) {
      TuningStore store = TuningStore::open(path, OpenMode::read_write);
      limit_file_size(bytes);
      for (int i = 0;; ++i) {
        Trial trial = good_trial(1000.0 + i, i);
        trial.message.assign(3000, 'm');
        store.record(trial);
        (void)!::write(out, ".", 1);
      }
    });
    const std::string text = writer.output();
    EXPECT_NE(writer.wait(), 0);
    EXPECT_NE(text.find("Next: "), std::string::npos) << text;
    EXPECT_NE(text.find("`df`"), std::string::npos) << text;
    const auto stored = std::min(text.find_first_not_of('.'), text.size());
    EXPECT_GT(stored, 5U);
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    EXPECT_EQ(store.trials({}).size(), stored);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    store.record(good_trial(1.0));
  }
}

TEST(CacheFullDisk, CreatingLeavesNoHalfDatabase) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  ChildProcess creator([&](int) {
    limit_file_size(9000);
    (void)TuningStore::open(path, OpenMode::read_write);
  });
  const std::string text = creator.output();
  EXPECT_NE(creator.wait(), 0);
  EXPECT_NE(text.find("Next: "), std::string::npos) << text;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CacheFullDisk, TheCubinStoreWarnsOnceAndGoesOn) {
  const TempFolder folder;
  ChildProcess writer([&](int out) {
    CubinStore store(folder.file("cubins.db"), 1 << 30,
                     [&](const std::string&) { (void)!::write(out, "w", 1); });
    limit_file_size(300'000);
    CubinRecord record;
    record.cubin.resize(50'000);
    for (int i = 0; i < 20; ++i) store.put({std::to_string(i), "", "", ""}, record);
  });
  EXPECT_EQ(writer.output(), "w");
  EXPECT_EQ(writer.wait(), 0);
  CubinStore store(folder.file("cubins.db"), 1 << 30, {});
  EXPECT_TRUE(store.usable());
  EXPECT_TRUE(store.get({"0", "", "", ""}));
}

}  // namespace
}  // namespace kiln
