// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_trials.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cache/exchange/foreign_writer.hpp"
#include "cache/exchange/offer_check.hpp"
#include "cache/exchange/transfer.hpp"
#include "cache/rows/trial_check.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using nlohmann::json;
using test::error_of;
using test::good_trial;
using test::h200;
using test::TempFolder;

/// The numbers include times that a conversion to nanoseconds and back would change in the last
/// bit.
constexpr std::string_view kCacheText = R"({"device_name": "NVIDIA A100",
"kernel_name": "tiled", "problem_size": [4096, 4096],
"tune_params_keys": ["tile_n", "mode", "tile_m"],
"tune_params": {"tile_n": [32, 64], "mode": ["aos", "soa"], "tile_m": [16, 8]},
"objective": "time",
"cache": {
"32,aos,16": {"tile_n": 32, "mode": "aos", "tile_m": 16, "time": 0.07368064123456789,
 "times": [0.07517183780670166, 0.0711111111111111, 0.1, 0.07], "compile_time": 211.51181496679783,
 "verification_time": 0, "benchmark_time": 18.7, "GFLOP/s": 2258.069303411222, "strategy_time": 0,
 "framework_time": 0.48, "timestamp": "2023-01-24 01:03:17.677311+00:00"},
"64,soa,8": {"tile_n": 64, "mode": "soa", "tile_m": 8, "time": "CompilationFailedConfig",
 "compile_time": 0.1, "verification_time": 0, "timestamp": "2023-01-24 01:03:18.000001+00:00"},
"64,aos,8": {"tile_n": 64, "mode": "aos", "tile_m": 8, "time": 0.0625, "times": [0.0625],
 "compile_time": 3}}
})";

constexpr std::string_view kT4Text = R"({"metadata": {"timeunit": "milliseconds"}, "results": [
 {"timestamp": "2023-01-24 01:03:17.677311+00:00", "configuration": {"b": 2, "a": 32},
  "times": {"compilation": 0.17, "compilation_time": 0.17, "benchmark": 1.5,
            "framework": 69.37538087368011, "search_algorithm": 0, "validation": 0,
            "runtimes": [7.517183780670166, 7.1]},
  "invalidity": "correct", "correctness": 1,
  "measurements": [{"name": "time", "value": 7.368064, "unit": "ms"},
                   {"name": "GFLOP/s", "value": 12.5, "unit": ""}],
  "objectives": ["time"]},
 {"timestamp": "2023-01-24 01:03:18.0+00:00", "configuration": {"b": 4, "a": 32},
  "times": {"compilation": 5, "compilation_time": 5, "framework": 47.0, "search_algorithm": 0,
            "validation": 0},
  "invalidity": "compile", "correctness": 0,
  "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": "ms"}],
  "objectives": ["time"]},
 {"configuration": {"b": 8, "a": 32},
  "times": {"compilation": 6, "compilation_time": 6}, "invalidity": "runtime", "correctness": 1,
  "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": "ms"}],
  "objectives": ["time"]}], "schema_version": "1.0.0"})";

/// The file's results through a database, in their order.
std::vector<Trial> stored(const ForeignResults& file) {
  const TempFolder folder;
  auto store = TuningStore::open(folder.file("x.db"), OpenMode::read_write);
  CandidateKey any = good_trial(50'000).key;
  any.device = {file.device.empty() ? "NVIDIA A100" : file.device, "sm_80", 0, 0, ""};
  std::vector<std::string> ids;
  for (const ForeignResult& result : file.results) {
    CandidateKey key = any;
    key.config = Config();
    for (std::size_t i = 0; i < file.names.size(); ++i) {
      key.config.set(file.names[i], parse_value(result.values[i].text).value());
    }
    Trial trial = checked(trial_of_foreign(file, result, key));
    check_offer(trial);
    ids.push_back(store.record(trial));
  }
  std::vector<Trial> trials;
  for (const std::string& id : ids) {
    for (Trial& trial : store.trials({})) {
      if (trial.id == id) trials.push_back(std::move(trial));
    }
  }
  return trials;
}

TEST(ForeignTrials, OfACacheFileGiveTheSameFileAgain) {
  const ForeignResults file = parse_foreign_results(std::string(kCacheText), "x.json");
  const ForeignResults back = foreign_of_trials(stored(file), {"mode", "tile_m", "tile_n"});
  const auto values = [](const std::vector<std::string>& texts, ForeignValue::Kind kind) {
    std::vector<ForeignValue> list;
    for (const auto& text : texts) list.push_back({kind, text});
    return list;
  };
  using Kind = ForeignValue::Kind;
  const std::string text =
      cache_file_text(back, {values({"32", "64"}, Kind::number), values({"aos", "soa"}, Kind::text),
                             values({"16", "8"}, Kind::number)});
  EXPECT_EQ(json::parse(text), json::parse(kCacheText)) << text;
  EXPECT_TRUE(text.ends_with("}}\n}")) << "Kernel Tuner takes other ends for an open file";
}

TEST(ForeignTrials, OfAT4FileGiveTheSameFileAgain) {
  const ForeignResults file = parse_foreign_results(std::string(kT4Text), "x.json");
  const std::string text = t4_file_text(foreign_of_trials(stored(file), {}));
  EXPECT_EQ(json::parse(text), json::parse(kT4Text)) << text;
}

TEST(ForeignTrials, GoFromOneFormatToTheOther) {
  const ForeignResults file = parse_foreign_results(std::string(kCacheText), "x.json");
  const auto t4 =
      parse_foreign_results(t4_file_text(foreign_of_trials(stored(file), {})), "t4.json");
  EXPECT_EQ(t4.names, file.names);
  ASSERT_EQ(t4.results.size(), file.results.size());
  for (std::size_t i = 0; i < t4.results.size(); ++i) {
    EXPECT_EQ(t4.results[i].values, file.results[i].values);
    EXPECT_EQ(t4.results[i].outcome, file.results[i].outcome);
    EXPECT_EQ(t4.results[i].time_ms, file.results[i].time_ms);
    EXPECT_EQ(t4.results[i].samples_ms, file.results[i].samples_ms);
    EXPECT_EQ(t4.results[i].compile_ms, file.results[i].compile_ms);
    EXPECT_EQ(t4.results[i].created_unix_ms, file.results[i].created_unix_ms);
  }
}

TEST(ForeignTrials, AreNeverTheBestAndSpeakAgainstNothing) {
  const TempFolder folder;
  auto store = TuningStore::open(folder.file("x.db"), OpenMode::read_write);
  ForeignResults file;
  ForeignResult result;
  result.time_ms = 0.04;
  result.created_unix_ms = good_trial(1).created_unix_ms + 1000;
  const Trial own = good_trial(90'000);
  // The same candidate on the same device: faster, then wrong, as the other program says.
  store.record(own);
  store.record(trial_of_foreign(file, result, own.key));
  result.outcome = Outcome::wrong_result;
  result.time_ms = 0.0;
  result.created_unix_ms += 1000;
  store.record(trial_of_foreign(file, result, own.key));
  Trial other = good_trial(95'000, 64);
  result.outcome = Outcome::ok;
  result.time_ms = 0.04;
  store.record(trial_of_foreign(file, result, other.key));

  BestQuery query{own.key.problem, own.key.device, {}, {}, {}, true, {}, {}};
  const auto best = store.best(query);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->timing->median_ns, 90'000);
  EXPECT_EQ(store.check(), std::vector<std::string>{});
  for (const Trial& trial : store.trials({})) {
    EXPECT_EQ(eligible(trial), trial.provenance == Provenance::measured);
    EXPECT_TRUE(trial.provenance == Provenance::measured || judge_of(trial).empty());
  }
}

TEST(ForeignTrials, AloneLeaveAProblemWithoutABest) {
  const TempFolder folder;
  auto store = TuningStore::open(folder.file("x.db"), OpenMode::read_write);
  ForeignResult result;
  result.time_ms = 0.04;
  const Trial own = good_trial(90'000);
  store.record(trial_of_foreign({}, result, own.key));
  EXPECT_FALSE(store.best({own.key.problem, own.key.device, {}, {}, {}, true, {}, {}}));
  const auto summaries = store.summaries();
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].provenance, Provenance::imported);
  EXPECT_FALSE(summaries[0].best);
  EXPECT_EQ(summaries[0].ok, 1U);
}

TEST(ForeignTrials, MustNotLookVerified) {
  Trial trial = good_trial(90'000);
  trial.provenance = Provenance::imported;
  const std::string error = error_of(ErrorKind::usage, [&] { (void)checked(trial); });
  EXPECT_NE(error.find("'provenance' is 'imported'"), std::string::npos) << error;
  trial.verification.reset();
  trial.resources.reset();
  trial.judge_digest = std::string(32, 'a');
  EXPECT_NE(error_of(ErrorKind::usage, [&] { (void)checked(trial); }).find("judge_digest"),
            std::string::npos);
}

TEST(ForeignTrials, HaveAnIdThatOnlyTheContentDecides) {
  const ForeignResults file = parse_foreign_results(std::string(kCacheText), "x.json");
  const CandidateKey key = good_trial(1).key;
  const Trial first = trial_of_foreign(file, file.results[0], key);
  EXPECT_EQ(trial_of_foreign(file, file.results[0], key), first);
  EXPECT_NE(trial_of_foreign(file, file.results[1], key).id, first.id);
  // Without a time stamp two imports have two dates.
  const Trial undated = trial_of_foreign(file, file.results[2], key);
  const Trial later = trial_of_foreign(file, file.results[2], key);
  EXPECT_NE(undated.id, later.id);
  EXPECT_EQ(content_of_import(undated), content_of_import(later));
}

TEST(ForeignTrials, AreMergedAndExportedWithTheirTime) {
  const TempFolder folder;
  auto source = TuningStore::open(folder.file("a.db"), OpenMode::read_write);
  const ForeignResults file = parse_foreign_results(std::string(kCacheText), "x.json");
  source.record(trial_of_foreign(file, file.results[0], good_trial(1).key));
  auto target = TuningStore::open(folder.file("b.db"), OpenMode::read_write);
  const TransferCount count = merge(target, source);
  EXPECT_EQ(count.written, 1U) << (count.complaints.empty() ? "" : count.complaints[0]);
  EXPECT_EQ(target.trials({}), source.trials({}));
}

TEST(ForeignTrials, OfKilnsOwnResultsHaveWhatKernelTunerReads) {
  Trial good = good_trial(50'000);
  Trial wrong = good_trial(1, 64);
  wrong.outcome = Outcome::wrong_result;
  wrong.timing.reset();
  const ForeignResults file = foreign_of_trials(std::vector{good, wrong}, {"tile_m"});
  const auto cache =
      json::parse(cache_file_text(file, {{foreign_value_of(64), foreign_value_of(128)}}));
  EXPECT_EQ(cache["device_name"], good.key.device.name);
  EXPECT_EQ(cache["kernel_name"], "gemm_wmma");
  EXPECT_EQ(cache["tune_params"]["tile_m"], json({64, 128}));
  const auto& entry = cache["cache"]["128"];
  EXPECT_EQ(entry["time"], 0.05);
  for (const char* const name : {"compile_time", "verification_time", "benchmark_time",
                                 "strategy_time", "framework_time", "timestamp"}) {
    EXPECT_TRUE(entry.contains(name)) << name;
  }
  EXPECT_EQ(cache["cache"]["64"]["time"], "RuntimeFailedConfig");
  const auto t4 = json::parse(t4_file_text(file));
  EXPECT_EQ(t4["results"][1]["invalidity"], "correctness");
  EXPECT_EQ(t4["results"][1]["correctness"], 0);
  EXPECT_EQ(t4["results"][0]["times"]["compilation"],
            t4["results"][0]["times"]["compilation_time"]);
}

}  // namespace
}  // namespace kiln
