// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// "best" has three homes: C++ over a set, SQL in TuningStore::best, and the view for people.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "cache/store.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;
using test::PlainSqlite;
using test::TempFolder;

RC_GTEST_PROP(StoreBest, SqlAndCxxAndTheViewAgree, (std::uint64_t seed)) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  std::mt19937_64 random(seed);
  const std::vector<Trial> trials = test::random_trials(random, 1 + random() % 60);
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  (void)store.record_all(trials);

  std::map<std::string, std::vector<Trial>> groups;
  for (const Trial& trial : trials) {
    groups[trial.key.problem.canonical() + trial.key.device.canonical()].push_back(trial);
  }
  std::vector<std::string> expected;
  for (const auto& [key, group] : groups) {
    const Trial* best = best_of(group);
    BestQuery query;
    query.problem = group[0].key.problem;
    query.device = group[0].key.device;
    query.compiled_too = true;
    const auto answer = store.best(query);
    RC_ASSERT(answer.has_value() == (best != nullptr));
    if (best == nullptr) continue;
    RC_ASSERT(*answer == *best);
    expected.push_back(best->id);
  }
  std::vector<std::string> viewed;
  for (const auto& row : PlainSqlite(path).rows("SELECT trial_id FROM best")) {
    viewed.push_back(row[0]);
  }
  std::sort(expected.begin(), expected.end());
  std::sort(viewed.begin(), viewed.end());
  RC_ASSERT(viewed == expected);
}

TEST(StoreBest, TheQueryRestricts) {
  const TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
  Trial fast = good_trial(500, 32);
  fast.key.template_digest = "d2";
  store.record(fast);
  Trial other_driver = good_trial(600, 64);
  other_driver.environment = test::environment("570.9");
  store.record(other_driver);
  store.record(good_trial(700, 128));
  Trial compiled = good_trial(1, 256);
  compiled.provenance = Provenance::compiled;
  compiled.key.problem = test::gemm_problem(8, 8, 8);
  store.record(compiled);

  const auto median = [&](const BestQuery& query) {
    const auto trial = store.best(query);
    return trial ? trial->timing->median_ns : 0.0;
  };
  BestQuery query;
  query.problem = fast.key.problem;
  query.device = fast.key.device;
  EXPECT_EQ(median(query), 500);
  query.admits_template = [](std::string_view, std::string_view digest) { return digest == "d1"; };
  EXPECT_EQ(median(query), 600);
  query.environment = test::environment();
  EXPECT_EQ(median(query), 700);
  query.admits = [](const Trial& trial) { return trial.key.config.at("tile_m") < 100; };
  EXPECT_EQ(median(query), 0);

  BestQuery of_compiled;
  of_compiled.problem = compiled.key.problem;
  of_compiled.device = compiled.key.device;
  EXPECT_EQ(median(of_compiled), 0);
  of_compiled.compiled_too = true;
  EXPECT_EQ(median(of_compiled), 1);
}

TEST(StoreBest, ViewsReadWell) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  {
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    store.begin_session(test::session("s1"));
    store.record(good_trial(250'000.0));
    Trial failed = good_trial(1, 64);
    failed.outcome = Outcome::compile_failed;
    failed.message = "kernel.cu(3): error: no\nmore";
    store.record(failed);
    store.end_session("s1", "complete", 2);
  }
  PlainSqlite plain(path);
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(
      plain.rows("SELECT operation, sizes, device, template, config, median_us, tflops, "
                 "registers, driver, \"when\" FROM best"),
      (Rows{{"gemm", "m=4096 n=4096 k=4096", "NVIDIA H200", "gemm_wmma", "stages=3 tile_m=128",
             "250.0", "549.8", "128", "580.1", "2025-10-09 08:53:20"}}));
  EXPECT_EQ(plain.rows("SELECT config, outcome, message FROM failures"),
            (Rows{{"stages=3 tile_m=64", "compile_failed", "kernel.cu(3): error: no"}}));
  EXPECT_EQ(plain.value("SELECT count(*) FROM history"), "2");
  EXPECT_EQ(plain.rows("SELECT sample, time_ns FROM samples WHERE time_ns > 200000"),
            (Rows{{"0", "249999"}, {"1", "250000"}, {"2", "250001"}}));
  EXPECT_EQ(plain.rows("SELECT state, trials, failed, fastest_us, space_size "
                       "FROM sessions_overview"),
            (Rows{{"complete", "2", "1", "250.0", "4092"}}));
}

}  // namespace
}  // namespace kiln
