// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/transfer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::error_of;
using test::good_trial;
using test::TempFolder;

RC_GTEST_PROP(TrialJson, AnyTrialComesBackFromItsLine, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  Trial trial = test::random_trial(random);
  if (trial.verification && random() % 2 == 0) trial.verification->worst_ratio = INFINITY;
  trial.message = "quote \" backslash \\ \xe2\x82\xac\ttab\n";
  const std::string line = trial_to_json(trial);
  RC_ASSERT(line.find('\n') == std::string::npos);
  RC_ASSERT(trial_from_json(line) == trial);
}

RC_GTEST_PROP(TrialJson, NoTextCrashesTheReader, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::string line = trial_to_json(test::random_trial(random));
  for (int change = 0; change < 3; ++change) {
    line[random() % line.size()] = static_cast<char>(random() % 256);
  }
  if (random() % 4 == 0) line.resize(random() % line.size());
  try {
    (void)trial_from_json(line);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::usage);
  }
}

TEST(TrialJson, IsReadable) {
  Trial trial = good_trial(1000);
  trial.id = "0123456789abcdef0123456789abcdef";
  trial.verification->worst_ratio = INFINITY;
  const std::string line = trial_to_json(trial);
  for (const std::string part :
       {R"("problem":"gemm a=f16 b=f16)", R"(| m=4096 n=4096 k=4096")", R"("template":"gemm_wmma")",
        R"("config":"stages=3 tile_m=128")", R"("worst_ratio":"inf")", R"("median_ns":1000.0)"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in " << line;
  }
}

class Transfer : public testing::Test {
 protected:
  TempFolder folder;
  TuningStore source = TuningStore::open(folder.file("a.db"), OpenMode::read_write);
  TuningStore target = TuningStore::open(folder.file("b.db"), OpenMode::read_write);
};

TEST_F(Transfer, WhatIsExportedCanBeImportedOnce) {
  std::mt19937_64 random(3);
  (void)source.record_all(test::random_trials(random, 1200));
  std::ostringstream out;
  EXPECT_EQ(export_trials(source, {}, out), 1200U);
  std::istringstream in(out.str());
  EXPECT_EQ(import_trials(target, in, "x.jsonl").written, 1200U);
  EXPECT_EQ(target.trials({}), source.trials({}));
  std::istringstream again(out.str());
  const TransferCount second = import_trials(target, again, "x.jsonl");
  EXPECT_EQ(second.written, 0U);
  EXPECT_EQ(second.present, 1200U);
}

TEST_F(Transfer, BadLinesAreCountedAndNamed) {
  Trial trial = good_trial(1000);
  trial.id = source.record(trial);
  std::string changed = trial_to_json(trial);
  changed.replace(changed.find("1000.0"), 6, "1.0000");
  const std::string unverified = R"({"id":"x"})";
  std::istringstream in("{\"kiln\":\"trials\",\"schema\":1}\n" + trial_to_json(trial) + "\n" +
                        unverified + "\n\nno json\n" + changed + "\n");
  const TransferCount count = import_trials(target, in, "x.jsonl");
  EXPECT_EQ(count.written, 1U);
  EXPECT_EQ(count.refused, 3U);
  ASSERT_EQ(count.complaints.size(), 3U);
  EXPECT_EQ(count.complaints[0].substr(0, 10), "x.jsonl:3:");
  EXPECT_EQ(count.complaints[1].substr(0, 10), "x.jsonl:5:");
  EXPECT_NE(count.complaints[2].find("x.jsonl:6: trial " + trial.id), std::string::npos);
}

TEST_F(Transfer, NumbersThatDoNotFitAreNamedAndNotCut) {
  Trial trial = good_trial(1000);
  trial.id = random_id();
  std::string text = "{\"kiln\":\"trials\",\"schema\":1}\n";
  const std::vector<std::pair<std::string, std::string>> changes{
      {"\"sm_count\":132", "\"sm_count\":4294967428"},  // 132 + 2^32
      {"\"registers\":128", "\"registers\":128.5"},
      {"\"l2_bytes\":62914560", "\"l2_bytes\":18446744073709551615"},
      {"\"temperature_c\":61", "\"temperature_c\":-2147483649"},
      {"\"stack_bytes\":0", "\"stack_bytes\":true"},
  };
  for (const auto& [from, to] : changes) {
    std::string line = trial_to_json(trial);
    ASSERT_NE(line.find(from), std::string::npos) << line;
    text += line.replace(line.find(from), from.size(), to) + "\n";
  }
  std::istringstream in(text);
  const TransferCount count = import_trials(target, in, "x.jsonl");
  EXPECT_EQ(count.written, 0U);
  ASSERT_EQ(count.complaints.size(), changes.size());
  EXPECT_NE(count.complaints[0].find("x.jsonl:2: trial field 'sm_count' is 4294967428"),
            std::string::npos)
      << count.complaints[0];
  EXPECT_EQ(count.complaints[4].substr(0, 10), "x.jsonl:6:");
}

TEST_F(Transfer, OnlyTwentyComplaintsAreKept) {
  std::string text = "{\"kiln\":\"trials\",\"schema\":1}\n";
  for (int i = 0; i < 50; ++i) text += "bad\n";
  std::istringstream in(text);
  const TransferCount count = import_trials(target, in, "x");
  EXPECT_EQ(count.refused, 50U);
  EXPECT_EQ(count.complaints.size(), 20U);
}

TEST_F(Transfer, AForeignHeaderIsAnError) {
  for (const std::string text :
       {"", "no json\n", "[1]\n", "{\"kiln\":\"kernels\",\"schema\":1}\n",
        "{\"kiln\":\"trials\",\"schema\":2}\n", "{\"kiln\":\"trials\"}\n"}) {
    std::istringstream in(text);
    const std::string error =
        error_of(ErrorKind::usage, [&] { (void)import_trials(target, in, "x.jsonl"); });
    EXPECT_NE(error.find("x.jsonl"), std::string::npos) << error;
  }
}

TEST_F(Transfer, AnExportThatCannotBeWrittenIsAnError) {
  source.record(good_trial(1000));
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  (void)error_of(ErrorKind::usage, [&] { (void)export_trials(source, {}, out); });
}

TEST_F(Transfer, MergeNamesTrialsOfOneIdAndOtherContent) {
  Trial trial = good_trial(1000);
  trial.id = target.record(trial);
  trial.timing->median_ns = 1;
  (void)source.record_all({trial});
  const TransferCount count = merge(target, source);
  EXPECT_EQ(count.refused, 1U);
  ASSERT_EQ(count.complaints.size(), 1U);
  EXPECT_EQ(target.trials({})[0].timing->median_ns, 1000);
}

/// Everything a database answers, whatever the order of its rows.
struct Answers {
  std::vector<Trial> trials;
  std::vector<Trial> latest;
  std::vector<std::string> best;
  std::vector<SessionRecord> sessions;
  friend bool operator==(const Answers&, const Answers&) = default;
};
Answers answers_of(const TuningStore& store) {
  Answers answers;
  answers.trials = store.trials({});
  for (const ProblemSummary& summary : store.summaries()) {
    BestQuery query;
    query.problem = summary.problem;
    query.device = summary.device;
    const auto best = store.best(query);
    answers.best.push_back(summary.best ? summary.best->id : "");
    answers.best.push_back(best ? best->id : "");
    answers.best.push_back(summary.last_session_state);
    for (Trial& trial : store.latest_trials(summary.problem, summary.device)) {
      answers.latest.push_back(std::move(trial));
    }
  }
  answers.sessions = store.sessions();
  return answers;
}

RC_GTEST_PROP(Merge, IsCommutativeAssociativeAndIdempotent, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const TempFolder folder;
  const std::vector<Trial> pool = test::random_trials(random, 12);
  std::vector<SessionRecord> states;
  for (const char* state : {"running", "interrupted", "complete"}) {
    SessionRecord record = test::session("s1");
    record.state = state;
    record.evaluated = random() % 3;
    record.ended_unix_ms = record.state == "running" ? 0 : record.started_unix_ms + 5;
    states.push_back(record);
  }
  // Another session of the problem, older or newer or of the very same moment.
  SessionRecord other = test::session("s2");
  other.state = "budget";
  other.started_unix_ms += static_cast<std::int64_t>(random() % 3) - 1;
  states.push_back(other);
  const auto fresh = [&] {
    return TuningStore::open(folder.file(random_id()), OpenMode::read_write);
  };
  std::vector<TuningStore> stores;
  for (int i = 0; i < 3; ++i) {
    stores.push_back(fresh());
    std::vector<Trial> part;
    for (const Trial& trial : pool) {
      if (random() % 2 == 0) part.push_back(trial);
    }
    (void)stores.back().record_all(part);
    (void)stores.back().adopt_sessions({states[random() % 4], states[random() % 4]});
  }
  TuningStore forward = fresh();
  for (int i = 0; i < 3; ++i) (void)merge(forward, stores[static_cast<std::size_t>(i)]);
  TuningStore backward = fresh();
  for (int i = 2; i >= 0; --i) (void)merge(backward, stores[static_cast<std::size_t>(i)]);
  const Answers expected = answers_of(forward);
  RC_ASSERT(answers_of(backward) == expected);

  (void)merge(stores[1], stores[2]);
  (void)merge(stores[0], stores[1]);
  RC_ASSERT(answers_of(stores[0]) == expected);

  RC_ASSERT(merge(forward, stores[2]).written == 0U);
  RC_ASSERT(answers_of(forward) == expected);

  RC_ASSERT(forward.prune(0, 1) == backward.prune(0, 1));
  RC_ASSERT(answers_of(forward) == answers_of(backward));
}

}  // namespace
}  // namespace kiln
