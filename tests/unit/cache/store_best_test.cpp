// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// "best" exists three times: C++ over a set of trials, the shortlists of TuningStore::best, and the
// view for people.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "cache/lookup/ranking.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/store/store.hpp"
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

// The row is intact except for its date: anyone who can write the file can make its digest fit.
TEST(StoreBest, ARowFromTheEndOfTimeNeitherBansNorIsTheNewest) {
  const TempFolder folder;
  const std::string path = folder.file("t.db");
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  Trial good = good_trial(500);
  good.id = store.record(good);
  SessionRecord session = test::session("late");
  (void)store.adopt_sessions({session, test::session("s1")});
  session.started_unix_ms = std::numeric_limits<std::int64_t>::max();
  PlainSqlite(path).execute(
      "UPDATE sessions SET started_unix_ms = 9223372036854775807, digest = '" +
      row_digest(session) + "' WHERE session_id = 'late'");
  for (const Outcome outcome : {Outcome::crashed, Outcome::timed_out, Outcome::wrong_result}) {
    Trial fault = good_trial(500);
    fault.outcome = outcome;
    fault.id = store.record(fault);
    fault.created_unix_ms = std::numeric_limits<std::int64_t>::max();
    PlainSqlite(path).execute(
        "UPDATE trials SET created_unix_ms = 9223372036854775807, digest = '" + row_digest(fault) +
        "' WHERE trial_id = '" + fault.id + "'");
  }
  BestQuery query;
  query.problem = good.key.problem;
  query.device = good.key.device;
  EXPECT_EQ(store.best(query), good);
  EXPECT_EQ(store.latest_trials(query.problem, query.device), std::vector<Trial>{good});
  EXPECT_EQ(store.summaries().at(0).best, good);
  EXPECT_EQ(store.sessions(), std::vector<SessionRecord>{test::session("s1")});
  EXPECT_EQ(store.corrupt_rows(), 4U);
}

TEST(StoreBest, ANewMeasurementMakesUpForACrashUnderAClockThatWasAhead) {
  const TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
  Trial crash = good_trial(500);
  EXPECT_NEAR(static_cast<double>(store.date_after(crash.key)), static_cast<double>(next_unix_ms()),
              60e3);
  crash.outcome = Outcome::crashed;
  crash.created_unix_ms = next_unix_ms() + std::int64_t{50} * 365 * 86'400'000;
  store.record(crash);
  Trial again = good_trial(500);
  again.created_unix_ms = store.date_after(again.key);
  EXPECT_EQ(again.created_unix_ms, crash.created_unix_ms + 1);
  again.id = store.record(again);
  BestQuery query;
  query.problem = again.key.problem;
  query.device = again.key.device;
  EXPECT_EQ(store.best(query), again);
  // Another candidate has nothing to make up for.
  EXPECT_LT(store.date_after(good_trial(500, 64).key), crash.created_unix_ms);
}

// Shortlists follow, in whatever order the trials come.
TEST(StoreBest, WhatChecksFoundBarsUncheckedSiblingsWhicheverComesFirst) {
  Trial racy = good_trial(400, 32);
  Trial unchecked = good_trial(500, 64);
  Trial clean = good_trial(600, 128);
  for (Trial* trial : {&racy, &unchecked, &clean}) trial->provenance = Provenance::modelled;
  racy.outcome = Outcome::wrong_result;
  racy.verification = Verification{false, 0.0, "race at a.cu:7", true};
  clean.verification->checked = true;
  clean.session_id = "s2";
  clean.created_unix_ms += 1;
  BestQuery query;
  query.problem = racy.key.problem;
  query.device = racy.key.device;
  std::vector<const Trial*> order{&racy, &unchecked, &clean};
  std::sort(order.begin(), order.end());
  do {
    const TempFolder folder;
    TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
    for (const Trial* trial : order) store.record(*trial);
    const auto best = store.best(query);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->timing->median_ns, 600);
    EXPECT_TRUE(store.check().empty()) << "the shortlist is what its trials make it";
    EXPECT_EQ(store.prune(0, 1, true), 1U) << "the finding stays as long as its template does";
  } while (std::next_permutation(order.begin(), order.end()));
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
  query.admits = [](std::string_view, const Config& config) { return config.at("tile_m") < 100; };
  EXPECT_EQ(median(query), 0);

  BestQuery of_compiled;
  of_compiled.problem = compiled.key.problem;
  of_compiled.device = compiled.key.device;
  EXPECT_EQ(median(of_compiled), 0);
  of_compiled.compiled_too = true;
  EXPECT_EQ(median(of_compiled), 1);
}

/// A query drawn at random, and the same over plain vectors.
struct Restriction {
  BestQuery query;
  bool templates = false;
  bool configs = false;

  explicit Restriction(std::mt19937_64& random, const Trial& of) {
    query.problem = of.key.problem;
    query.device = of.key.device;
    query.compiled_too = random() % 2 == 0;
    if (random() % 2 == 0) query.environment = of.environment;
    if (random() % 2 == 0) query.provenance = of.provenance;
    if (random() % 2 == 0) query.judge = judge_of(of);
    templates = random() % 2 == 0;
    configs = random() % 2 == 0;
    if (templates) query.admits_template = admits_template;
    if (configs) query.admits = admits_config;
  }
  static bool admits_template(std::string_view name, std::string_view digest) {
    return name == "gemm_wmma" && digest == "d1";
  }
  static bool admits_config(std::string_view, const Config& config) {
    return config.at("tile_m") != 32;
  }
  [[nodiscard]] std::optional<Trial> expected(const std::vector<Trial>& trials) const {
    std::vector<Trial> chosen;
    for (const Trial& trial : trials) {
      if (trial.key.problem != query.problem || trial.key.device != query.device) continue;
      // Evidence counts wherever it comes from.
      if (speaks_against(trial) || admitted(trial)) chosen.push_back(trial);
    }
    const Trial* best = best_of(chosen);
    return best == nullptr ? std::nullopt : std::optional(*best);
  }

 private:
  [[nodiscard]] bool admitted(const Trial& trial) const {
    if (trial.provenance == Provenance::compiled && !query.compiled_too) return false;
    if (query.provenance && trial.provenance != *query.provenance) return false;
    if (query.environment && trial.environment.driver != query.environment->driver) return false;
    const bool is_judged = trial.provenance != Provenance::compiled;
    if (query.judge && is_judged && judge_of(trial) != *query.judge) return false;
    if (templates && !admits_template(trial.key.template_name, trial.key.template_digest)) {
      return false;
    }
    return !configs || admits_config(trial.key.template_name, trial.key.config);
  }
};

RC_GTEST_PROP(StoreBest, ShortlistsAnswerEveryRestrictionHoweverTheTrialsCame,
              (std::uint64_t seed)) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  std::mt19937_64 random(seed);
  const std::vector<Trial> trials = test::random_trials(random, 1 + random() % 80);
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  for (std::size_t i = 0; i < trials.size();) {
    const std::size_t end = std::min(trials.size(), i + 1 + random() % 20);
    if (end == i + 1) {
      store.record(trials[i]);
    } else {
      const auto at = [&](std::size_t place) {
        return trials.begin() + static_cast<std::ptrdiff_t>(place);
      };
      (void)store.record_all({at(i), at(end)});
    }
    i = end;
  }
  RC_ASSERT(store.check() == std::vector<std::string>{});
  for (int i = 0; i < 12; ++i) {
    const Restriction restriction(random, trials[random() % trials.size()]);
    RC_ASSERT(store.best(restriction.query) == restriction.expected(trials));
  }
  (void)store.prune(0, 1);
  RC_ASSERT(store.check().empty());
  // Derived rows may be lost: they are rebuilt, and until then the answers stay the same.
  PlainSqlite(path).execute(random() % 2 == 0 ? "DELETE FROM shortlists" : "DELETE FROM families");
  const std::vector<Trial> left = store.trials({});
  const Restriction restriction(random, trials[0]);
  const auto before = TuningStore::open(path, OpenMode::read_only).best(restriction.query);
  RC_ASSERT(before == restriction.expected(left));
  RC_ASSERT(TuningStore::open(path, OpenMode::read_write).best(restriction.query) == before);
  RC_ASSERT(PlainSqlite(path).value("SELECT count(*) > 0 FROM families JOIN shortlists") == "1");
}

TEST(StoreBest, TrialsChangedByHandAreSeenAtOnce) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  store.record(good_trial(500, 32));
  store.record(good_trial(600, 64));
  BestQuery query;
  query.problem = test::gemm_problem(4096, 4096, 4096);
  query.device = test::h200();
  ASSERT_EQ(store.best(query)->timing->median_ns, 500);
  PlainSqlite(path).execute("DELETE FROM trials WHERE median_ns = 500");
  EXPECT_EQ(store.best(query)->timing->median_ns, 600);
  EXPECT_EQ(store.summaries()[0].trials, 1U);
  EXPECT_EQ(store.corrupt_rows(), 0U) << "a person may do that";
  (void)TuningStore::open(path, OpenMode::read_write);
  EXPECT_EQ(PlainSqlite(path).value("SELECT count(*) FROM shortlists WHERE digest = ''"), "0");

  PlainSqlite(path).execute("DELETE FROM trials");
  EXPECT_TRUE(TuningStore::open(path, OpenMode::read_write).summaries().empty());
  EXPECT_TRUE(TuningStore::open(path, OpenMode::read_only).summaries().empty());
}

TEST(StoreBest, ADamagedShortlistIsCountedAndTheTrialsAnswer) {
  const TempFolder folder;
  const std::string path = folder.file("tuning.db");
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
  store.record(good_trial(500, 32));
  store.record(good_trial(600, 64));
  PlainSqlite(path).execute("UPDATE shortlists SET contenders = replace(contenders, '32', '33')");
  BestQuery query;
  query.problem = test::gemm_problem(4096, 4096, 4096);
  query.device = test::h200();
  EXPECT_EQ(store.best(query)->timing->median_ns, 500);
  EXPECT_EQ(store.corrupt_rows(), 1U);
  store.record(good_trial(400, 128));
  const TuningStore again = TuningStore::open(path, OpenMode::read_only);
  EXPECT_EQ(again.best(query)->timing->median_ns, 400);
  EXPECT_EQ(again.corrupt_rows(), 0U) << "the next trial rebuilds it";
}

// Look-ups warn of it and name the doctor, so the doctor must find it.
TEST(StoreBest, WhatLookUpsMissInFamiliesTheCheckNames) {
  for (const std::string damage : {"UPDATE families SET problems = 7", "DELETE FROM families"}) {
    const TempFolder folder;
    const std::string path = folder.file("tuning.db");
    TuningStore::open(path, OpenMode::read_write).record(good_trial(500));
    PlainSqlite(path).execute(damage);
    const TuningStore store = TuningStore::open(path, OpenMode::read_only);
    (void)store.neighbours(test::gemm_problem(4096, 4096, 2048), test::h200(), {1.0, 1.0});
    EXPECT_GT(store.corrupt_rows(), 0U) << damage;
    EXPECT_NE(TuningStore::open(path, OpenMode::read_only).check(), std::vector<std::string>{})
        << damage;
    (void)TuningStore::open(path, OpenMode::read_write);
    EXPECT_EQ(TuningStore::open(path, OpenMode::read_only).check(), std::vector<std::string>{})
        << damage;
  }
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
  using ViewRows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(
      plain.rows("SELECT operation, sizes, device, template, config, median_us, tflops, "
                 "registers, driver, \"when\" FROM best"),
      (ViewRows{{"gemm", "m=4096 n=4096 k=4096", "NVIDIA H200", "gemm_wmma", "stages=3 tile_m=128",
                 "250.0", "549.8", "128", "580.1", "2025-10-09 08:53:20"}}));
  EXPECT_EQ(plain.rows("SELECT config, outcome, message FROM failures"),
            (ViewRows{{"stages=3 tile_m=64", "compile_failed", "kernel.cu(3): error: no"}}));
  EXPECT_EQ(plain.value("SELECT count(*) FROM history"), "2");
  EXPECT_EQ(plain.rows("SELECT sample, time_ns FROM samples WHERE time_ns > 200000"),
            (ViewRows{{"0", "249999"}, {"1", "250000"}, {"2", "250001"}}));
  EXPECT_EQ(plain.rows("SELECT t.name, t.value FROM tunables t JOIN history h USING (trial_id) "
                       "WHERE h.outcome = 'ok' ORDER BY t.name"),
            (ViewRows{{"stages", "3"}, {"tile_m", "128"}}));
  EXPECT_EQ(
      plain.rows("SELECT DISTINCT name, value, typeof(value) FROM sizes ORDER BY name"),
      (ViewRows{{"k", "4096", "integer"}, {"m", "4096", "integer"}, {"n", "4096", "integer"}}));
  EXPECT_EQ(plain.rows("SELECT state, trials, failed, fastest_us, space_size "
                       "FROM sessions_overview"),
            (ViewRows{{"complete", "2", "1", "250.0", "4092"}}));
  (void)TuningStore::open(path, OpenMode::read_write).adopt_sessions({test::session("s2")});
  EXPECT_EQ(plain.value("SELECT state FROM sessions_overview WHERE session_id = 's2'"),
            "running or killed");
}

}  // namespace
}  // namespace kiln
