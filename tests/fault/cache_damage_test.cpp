// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Thousands of damaged copies of a database: never a crash, never a wrong answer.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "cache/files/cubin_store.hpp"
#include "cache/lookup/lookup.hpp"
#include "tests/fault/damage.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::damaged;
using test::gemm_problem;
using test::good_trial;
using test::TempFolder;

TEST(CacheDamage, TwoThousandDamagedDatabasesGiveNoWrongAnswer) {
  const TempFolder folder;
  const std::string sound = folder.file("sound.db");
  std::map<std::string, Trial> stored;
  std::mt19937_64 random(7);
  {
    TuningStore store = TuningStore::open(sound, OpenMode::read_write);
    for (int i = 0; i < 150; ++i) {
      Trial trial = good_trial(1000.0 + static_cast<double>(random() % 5000), i);
      trial.id = random_id();
      trial.key.problem = gemm_problem(256 << (i % 5), 1024, 1024);
      trial.timing->samples_ns.assign(15, 1234.5);
      store.record(trial);
      stored.emplace(trial.id, trial);
    }
  }
  const std::string bytes = test::read_file(sound);
  LookupRequest request;
  request.device = test::h200();
  request.environment = test::environment();
  request.current_digest = [](std::string_view) { return std::string("d1"); };
  request.suggest = [](const std::vector<RelatedTrial>& related) {
    std::vector<Suggestion> suggestions;
    for (std::size_t i = 0; i < related.size(); ++i) {
      suggestions.push_back({i, "gemm_wmma", Config{}, Match::related_problem, "tuned elsewhere"});
    }
    return suggestions;
  };

  const std::string path = folder.file("damaged.db");
  int refused = 0;
  int answered = 0;
  int noticed = 0;
  for (int round = 0; round < 2000; ++round) {
    std::filesystem::remove(path + "-journal");
    test::write_file(path, damaged(bytes, random));
    ::chmod(path.c_str(), 0600);
    try {
      const TuningStore store = TuningStore::open(path, OpenMode::read_only);
      for (const std::int64_t m : {256, 4096, 700}) {
        request.problem = gemm_problem(m, 1024, 1024);
        const LookupAnswer answer = look_up({&store}, request);
        if (!answer.trial) continue;
        ++answered;
        ASSERT_EQ(stored.at(answer.trial->id), *answer.trial) << "round " << round;
      }
      for (const Trial& trial : store.trials({})) ASSERT_EQ(stored.at(trial.id), trial);
      if (store.corrupt_rows() > 0) ++noticed;
    } catch (const Error& error) {
      ASSERT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::database));
      ASSERT_NE(std::string(error.what()).find("Next: "), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100) << "SQLite notices truncation at least";
  EXPECT_GT(noticed, 100) << "the digests notice what SQLite does not";
  EXPECT_GT(answered, 500);
  RecordProperty("refused", refused);
  RecordProperty("noticed_by_digest", noticed);
  RecordProperty("answers", answered);
}

TEST(CacheDamage, DamagedCubinStoresGiveTheRightCubinOrNone) {
  const TempFolder folder;
  const std::string sound = folder.file("sound.db");
  std::mt19937_64 random(8);
  std::vector<CubinRecord> records(20);
  {
    CubinStore store(sound, 1 << 30, {});
    for (std::size_t i = 0; i < records.size(); ++i) {
      for (int byte = 0; byte < 3000; ++byte) {
        records[i].cubin.push_back(static_cast<std::byte>(random() % 256));
      }
      records[i].lowered_names = {"kernel" + std::to_string(i)};
      store.put({std::to_string(i), "", "", ""}, records[i]);
    }
  }
  const std::string bytes = test::read_file(sound);
  const std::string path = folder.file("damaged.db");
  int found_count = 0;
  for (int round = 0; round < 500; ++round) {
    // Only so many are set aside; here each should be.
    std::filesystem::remove(path + ".damaged");
    test::write_file(path, damaged(bytes, random));
    ::chmod(path.c_str(), 0600);
    int warnings = 0;
    CubinStore store(path, 1 << 30, [&](const std::string&) { ++warnings; });
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto found = store.get({std::to_string(i), "", "", ""});
      if (!found) continue;
      ++found_count;
      ASSERT_EQ(found->cubin, records[i].cubin);
      ASSERT_EQ(found->lowered_names, records[i].lowered_names);
    }
    ASSERT_LE(warnings, 1);
  }
  EXPECT_GT(found_count, 1000);
}

}  // namespace
}  // namespace kiln
