// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Writers die at random moments. What they reported as stored must be there.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "cache/files/cubin_store.hpp"
#include "cache/store/store.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::ChildProcess;
using test::good_trial;
using test::TempFolder;

/// Records trials until it is killed; reports each id once it is stored.
void write_for_ever(const std::string& path, int writer, int out) {
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  for (int i = 0;; ++i) {
    Trial trial = good_trial(1000.0 + i, writer * 100'000 + i);
    trial.message.assign(static_cast<std::size_t>(i % 7) * 700, 'm');  // rows of one to many pages
    store.record_attempt(trial.key, "s1");
    const std::string id = store.record(trial) + "\n";
    if (::write(out, id.data(), id.size()) != static_cast<ssize_t>(id.size())) return;
  }
}

TEST(CacheKill, NoAcknowledgedTrialIsLost) {
  constexpr int kRounds = 75;
  constexpr int kWriters = 4;
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  std::mt19937_64 random(20);
  std::set<std::string> acknowledged;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<ChildProcess>> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.push_back(std::make_unique<ChildProcess>(
          [&](int out) { write_for_ever(path, writer + round * kWriters, out); }));
    }
    for (const auto& writer : writers) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
      writer->kill_now();
    }
    for (const auto& writer : writers) {
      const std::string text = writer->output();
      const int status = writer->wait();
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << text;
      for (std::size_t at = 0; text.size() - at >= 33; at += 33) {
        acknowledged.insert(text.substr(at, 32));
      }
    }
    if (round % 15 != 14) continue;
    const TuningStore store = TuningStore::open(path, OpenMode::read_only);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    std::set<std::string> stored;
    for (const Trial& trial : store.trials({})) stored.insert(trial.id);
    for (const std::string& id : acknowledged) {
      EXPECT_TRUE(stored.contains(id)) << id << " was acknowledged and is gone";
    }
    // A writer dies between storing and reporting it at most once.
    EXPECT_LE(stored.size(), acknowledged.size() + static_cast<std::size_t>(round + 1) * kWriters);
  }
  EXPECT_GT(acknowledged.size(), 100U) << "the writers were killed before they wrote";
  RecordProperty("acknowledged", static_cast<int>(acknowledged.size()));
  RecordProperty("kills", kRounds * kWriters);
}

TEST(CacheKill, ManyProcessesCreateTheSameDatabaseAtOnce) {
  for (int round = 0; round < 25; ++round) {
    const TempFolder folder;
    const std::string path = folder.file("new/tuning.db");
    std::vector<std::unique_ptr<ChildProcess>> creators;
    for (int i = 0; i < 6; ++i) {
      creators.push_back(std::make_unique<ChildProcess>([&](int) {
        TuningStore::open(path, OpenMode::read_write).record(good_trial(1000.0 + i, i + 1));
      }));
    }
    for (const auto& creator : creators) {
      const std::string text = creator->output();
      EXPECT_EQ(creator->wait(), 0) << text;
    }
    const TuningStore store = TuningStore::open(path, OpenMode::read_only);
    EXPECT_EQ(store.trials({}).size(), 6U);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
  }
}

TEST(CacheKill, ACreatorThatDiesLeavesNothingUnderTheName) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 40; ++round) {
    const TempFolder folder;
    const std::string path = folder.file("tuning.db");
    ChildProcess creator([&](int) { (void)TuningStore::open(path, OpenMode::read_write); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4'000));
    creator.kill_now();
    (void)creator.wait();
    // Complete or absent: in both cases the next one gets an intact database.
    if (std::filesystem::exists(path)) {
      EXPECT_NO_THROW((void)TuningStore::open(path, OpenMode::read_only));
    }
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    store.record(good_trial(1000));
    EXPECT_EQ(store.check(), std::vector<std::string>{});
  }
}

// One of them sets the damaged file aside; the others must not do that to the good one after it.
TEST(CacheKill, ProcessesThatFindTheSameDamageSetItAsideOnce) {
  constexpr int kProcesses = 6;
  CubinRecord record;
  record.cubin.resize(20'000);
  const auto key = [](int number) { return CubinKey{std::to_string(number), "", "", ""}; };
  for (int round = 0; round < 25; ++round) {
    const TempFolder folder;
    const std::string path = folder.file("cubins.db");
    CubinStore(path, 1 << 30, {}).put(key(-1), record);
    std::string damaged = test::read_file(path);
    std::fill(damaged.begin() + 4096, damaged.end(), '\xa5');
    test::write_file(path, damaged);
    std::vector<std::unique_ptr<ChildProcess>> processes;
    for (int number = 0; number < kProcesses; ++number) {
      processes.push_back(std::make_unique<ChildProcess>([&, number](int) {
        CubinStore store(path, 1 << 30, {});
        (void)store.get(key(-1));
        // Running into a lock, or the old file, is a miss.
        for (int again = 0; again < 200 && !store.get(key(number)); ++again) {
          store.put(key(number), record);
        }
        if (!store.get(key(number))) throw Error(ErrorKind::internal, "what was put is gone");
      }));
    }
    for (const auto& process : processes) {
      const std::string text = process->output();
      EXPECT_EQ(process->wait(), 0) << text;
    }
    const std::string aside = test::read_file(path + ".damaged");
    std::size_t at = 0;
    while (at < aside.size() && at < damaged.size() && aside[at] == damaged[at]) ++at;
    EXPECT_TRUE(aside == damaged) << "round " << round << ": " << aside.size() << " of "
                                  << damaged.size() << " bytes, first difference at " << at;
    EXPECT_FALSE(std::filesystem::exists(path + ".damaged-2")) << "a good store was set aside";
    CubinStore store(path, 1 << 30, {});
    EXPECT_EQ(store.entries(), kProcesses) << "round " << round;
  }
}

}  // namespace
}  // namespace kiln
