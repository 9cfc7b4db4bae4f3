// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Records go in and come out again; damaged ones do not.
#include "cache/store/store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cache/rows/trial_check.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::error_of;
using test::good_trial;
using test::PlainSqlite;
using test::TempFolder;

class Store : public testing::Test {
 protected:
  TempFolder folder;
  std::string path = folder.file("tuning.db");
  TuningStore store = TuningStore::open(path, OpenMode::read_write);
};

TEST_F(Store, ATrialComesBackAsItWent) {
  Trial trial = good_trial(1234.5678901234567);
  trial.timing->samples_ns = {1e-300, 0.1, 1e300, 3.0, 1.0 / 3.0};
  trial.timing->interleaved = true;
  trial.verification->worst_ratio = INFINITY;
  trial.verification->evidence = "row 17; \"quoted\" 'text'";
  trial.message = "\xc2\xb5";
  trial.code_digest = std::string(32, 'c');
  trial.shared_from = std::string(32, 'a');
  trial.id = store.record(trial);
  const std::vector<Trial> trials = store.trials({});
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0], trial);
}

RC_GTEST_PROP(StoreProperty, AnyTrialsComeBackOldestFirst, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
  std::vector<Trial> trials = test::random_trials(random, 30);
  RC_ASSERT(store.record_all(trials).written == trials.size());
  trials = test::oldest_first(std::move(trials));
  RC_ASSERT(store.trials({}) == trials);
  TrialFilter newest;
  newest.limit = 7;
  RC_ASSERT(store.trials(newest) == std::vector<Trial>(trials.end() - 7, trials.end()));
  RC_ASSERT(store.check() == std::vector<std::string>{});
}

TEST_F(Store, RefusesAnInvalidTrialAndStoresNothing) {
  std::vector<Trial> trials{good_trial(1), good_trial(2)};
  trials[1].key.template_name = "";
  (void)error_of(ErrorKind::usage, [&] { (void)store.record_all(trials); });
  EXPECT_TRUE(store.trials({}).empty());
}

TEST_F(Store, TheSameTrialTwiceIsOneRowAndAnotherOfItsIdIsRefused) {
  Trial trial = good_trial(1000);
  trial.id = store.record(trial);
  EXPECT_EQ(store.record(trial), trial.id);
  EXPECT_EQ(store.trials({}).size(), 1U);
  trial.timing->median_ns = 1;
  (void)error_of(ErrorKind::usage, [&] { (void)store.record(trial); });
  Trial newer = good_trial(5);
  ++newer.created_unix_ms;
  EXPECT_EQ(store.record_all({newer, trial}).conflicts, std::vector<std::size_t>{1});
  EXPECT_EQ(store.trials({})[0].timing->median_ns, 1000);
}

TEST_F(Store, FiltersRestrict) {
  store.record(good_trial(1000, 32));
  Trial other = good_trial(2000, 64);
  other.key.problem = test::gemm_problem(512, 4096, 4096);
  other.key.device.name = "NVIDIA H100";
  other.key.template_name = "gemm_tiled";
  other.outcome = Outcome::crashed;
  other.provenance = Provenance::modelled;
  other.session_id = "s2";
  store.record(other);
  Trial newest = good_trial(3000, 128);
  newest.created_unix_ms += 1;
  store.record(newest);

  const auto count = [&](const TrialFilter& filter) { return store.trials(filter).size(); };
  TrialFilter filter;
  EXPECT_EQ(count(filter), 3U);
  filter.operation = "conv2d";
  EXPECT_EQ(count(filter), 0U);
  filter = {};
  filter.problem = other.key.problem;
  EXPECT_EQ(count(filter), 1U);
  filter = {};
  filter.kind_text = other.key.problem.kind_text();
  EXPECT_EQ(count(filter), 3U);
  filter = {};
  filter.device = other.key.device;
  EXPECT_EQ(count(filter), 1U);
  filter = {};
  filter.template_name = "gemm_wmma";
  EXPECT_EQ(count(filter), 2U);
  filter = {};
  filter.outcome = Outcome::crashed;
  EXPECT_EQ(count(filter), 1U);
  filter = {};
  filter.provenance = Provenance::measured;
  EXPECT_EQ(count(filter), 2U);
  filter = {};
  filter.session_id = "s2";
  EXPECT_EQ(count(filter), 1U);
  filter = {};
  filter.limit = 2;
  ASSERT_EQ(count(filter), 2U);
  EXPECT_EQ(store.trials(filter)[1].timing->median_ns, 3000) << "the newest, oldest first";
}

TEST_F(Store, TextFromOutsideNeverBecomesSql) {
  Trial trial = good_trial(1000);
  trial.key.device.name = "x'); DROP TABLE trials; --";
  trial.key.template_name = "a' OR '1'='1";
  store.record(trial);
  TrialFilter filter;
  filter.device = trial.key.device;
  filter.template_name = trial.key.template_name;
  EXPECT_EQ(store.trials(filter).size(), 1U);
}

TEST_F(Store, LatestTrialsHaveOnePerCandidate) {
  std::vector<Trial> trials{good_trial(1000, 32), good_trial(2000, 64), good_trial(1500, 32)};
  for (Trial& trial : trials) trial.created_unix_ms = next_unix_ms();
  // As after a merge: not stored in the order of creation.
  for (const int i : {2, 0, 1}) store.record(trials[static_cast<std::size_t>(i)]);
  const auto latest = store.latest_trials(test::gemm_problem(4096, 4096, 4096), test::h200());
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].timing->median_ns, 2000);
  EXPECT_EQ(latest[1].timing->median_ns, 1500);
}

TEST_F(Store, AttemptsStayUntilTheirTrialIsRecorded) {
  const Trial trial = good_trial(1000, 32);
  const CandidateKey other = good_trial(1000, 64).key;
  store.record_attempt(trial.key, "s1");
  store.record_attempt(other, "s1");
  store.record_attempt(other, "s2");
  EXPECT_EQ(store.open_attempts(trial.key.problem, trial.key.device).size(), 2U);
  EXPECT_TRUE(store.open_attempts(test::gemm_problem(1, 1, 1), test::h200()).empty());
  store.record(trial);
  EXPECT_EQ(store.open_attempts(trial.key.problem, trial.key.device),
            std::vector<CandidateKey>{other});
}

TEST_F(Store, AnAttemptBringsATrialAlong) {
  const CandidateKey next = good_trial(1000, 64).key;
  Trial done = good_trial(1000, 32);
  store.record_attempt(done.key, "s1");
  store.record_attempt(next, "s1", done);
  EXPECT_EQ(store.trials({}).size(), 1U);
  EXPECT_EQ(store.open_attempts(next.problem, next.device), std::vector<CandidateKey>{next});

  // All or nothing: a trial that may not be stored leaves no attempt either.
  done.id = "not an id";
  const CandidateKey third = good_trial(1000, 128).key;
  (void)error_of(ErrorKind::usage, [&] { store.record_attempt(third, "s1", done); });
  EXPECT_EQ(store.open_attempts(next.problem, next.device), std::vector<CandidateKey>{next});
}

TEST_F(Store, ATrialComesAlongEvenIfTheCandidateBelongsToAnother) {
  const SessionRecord own = test::session("s1");
  store.begin_session(own);
  store.begin_session(test::session("s2"));
  const Trial done = good_trial(1000, 32);
  const CandidateKey next = good_trial(1000, 64).key;
  store.record_attempt(next, "s2");
  const auto alive = [](const std::string&) { return true; };
  const auto dead = [](const std::string&) { return false; };
  EXPECT_FALSE(store.claim_attempt(next, own, alive, done));
  EXPECT_EQ(store.trials({}).size(), 1U);
  EXPECT_TRUE(store.claim_attempt(next, own, dead, good_trial(2000, 128)));
  EXPECT_EQ(store.trials({}).size(), 2U);
}

TEST_F(Store, SessionsBeginAndEnd) {
  store.begin_session(test::session("s1"));
  store.begin_session(test::session("s2"));
  store.end_session("s1", "interrupted", 17);
  const std::vector<SessionRecord> sessions = store.sessions();
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].state, "interrupted");
  EXPECT_EQ(sessions[0].evaluated, 17U);
  EXPECT_GT(sessions[0].ended_unix_ms, 0);
  EXPECT_EQ(sessions[1], test::session("s2"));
  TrialFilter filter;
  filter.session_id = "s2";
  EXPECT_EQ(store.sessions(filter).size(), 1U);
  (void)error_of(ErrorKind::usage, [&] { store.end_session("s3", "complete", 1); });
}

TEST_F(Store, SummariesCountAndNameTheBest) {
  store.begin_session(test::session("s1"));
  store.record(good_trial(1000, 32));
  store.record(good_trial(900, 64));
  Trial failed = good_trial(1, 128);
  failed.outcome = Outcome::wrong_result;
  store.record(failed);
  const std::vector<ProblemSummary> summaries = store.summaries();
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].trials, 3U);
  EXPECT_EQ(summaries[0].ok, 2U);
  EXPECT_EQ(summaries[0].failed, 1U);
  ASSERT_TRUE(summaries[0].best);
  EXPECT_EQ(summaries[0].best->timing->median_ns, 900);
  EXPECT_EQ(summaries[0].last_session, test::session("s1"));
}

constexpr std::size_t kPageBytes = 4096;

/// The page of the file on which a table or index begins, counted from 0.
std::size_t first_page(const std::string& path, const std::string& name) {
  return std::stoul(PlainSqlite(path).value("SELECT rootpage FROM sqlite_schema WHERE name = '" +
                                            name + "'")) -
         1;
}

TEST_F(Store, SummariesKnowTheLastSessionWhateverBecomesOfItsIndex) {
  store.begin_session(test::session("s1"));
  store.record(good_trial(1000, 32));
  std::string bytes = test::read_file(path);
  const std::size_t from = first_page(path, "sqlite_autoindex_environments_1") * kPageBytes;
  const std::size_t to = first_page(path, "sqlite_autoindex_sessions_1") * kPageBytes;
  bytes.replace(to, kPageBytes, bytes, from, kPageBytes);
  test::write_file(path, bytes);
  const TuningStore damaged = TuningStore::open(path, OpenMode::read_only);
  ASSERT_EQ(damaged.summaries().size(), 1U);
  EXPECT_EQ(damaged.summaries()[0].last_session, test::session("s1"));
}

TEST_F(Store, SessionsThatTheTableLostAreDamageToSummaries) {
  store.begin_session(test::session("s1"));
  store.begin_session(test::session("s2"));
  store.record(good_trial(1000, 32));
  std::string bytes = test::read_file(path);
  // The number of cells in the header of the table's only page.
  char& cells = bytes[first_page(path, "sessions") * kPageBytes + 4];
  ASSERT_EQ(cells, 2);
  cells = 1;
  test::write_file(path, bytes);
  const TuningStore damaged = TuningStore::open(path, OpenMode::read_only);
  ASSERT_EQ(damaged.summaries().size(), 1U);
  EXPECT_EQ(damaged.summaries()[0].last_session, test::session("s1"));
  EXPECT_EQ(damaged.corrupt_rows(), 1U);
}

TEST_F(Store, AnIndexThatNamesAProblemTwiceHidesNoOther) {
  for (const int config : {1, 2, 3}) {
    Trial trial = good_trial(1000, 32);
    trial.key.problem = test::gemm_problem(256 * config, 256, 256);
    store.record(trial);
  }
  const auto problems_of = [](const TuningStore& database) {
    std::vector<std::string> problems;
    for (const ProblemSummary& summary : database.summaries()) {
      problems.push_back(summary.problem.sizes_text());
    }
    return problems;
  };
  const std::vector<std::string> before = problems_of(store);
  std::string bytes = test::read_file(path);
  // The list of cells begins after the 8 bytes of a leaf's header; each entry has two bytes.
  const std::size_t cells = first_page(path, "sqlite_autoindex_shortlists_1") * kPageBytes + 8;
  bytes.replace(cells, 2, bytes, cells + 2, 2);
  test::write_file(path, bytes);
  EXPECT_EQ(problems_of(TuningStore::open(path, OpenMode::read_only)), before);
}

/// What someone with another tool, or a disk, could do to a row.
void expect_left_out(const std::string& path, TuningStore& store, const std::string& sql) {
  PlainSqlite(path).execute("PRAGMA foreign_keys = OFF; " + sql);
  EXPECT_TRUE(store.trials({}).empty()) << sql;
  BestQuery query;
  query.problem = test::gemm_problem(4096, 4096, 4096);
  query.device = test::h200();
  EXPECT_FALSE(store.best(query)) << sql;
  EXPECT_EQ(store.corrupt_rows(), 1U) << sql;
  EXPECT_FALSE(store.check().empty()) << sql;
}

TEST(StoreDamage, AChangedRowIsLeftOutAndCounted) {
  for (const std::string sql :
       {"UPDATE trials SET median_ns = 1", "UPDATE trials SET config = 'stages=3 tile_m=129'",
        "UPDATE trials SET config = '=' ", "UPDATE trials SET outcome = 'okay'",
        "UPDATE trials SET verified = NULL", "UPDATE trials SET samples_ns = '[1,2'",
        "UPDATE trials SET digest = 'x'", "UPDATE templates SET digest = 'd2'",
        "UPDATE environments SET driver = ''", "UPDATE trials SET interleaved = 1"}) {
    const TempFolder folder;
    TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
    store.record(good_trial(1000));
    expect_left_out(folder.file("t.db"), store, sql);
  }
}

TEST_F(Store, AnIntactCopyReplacesADamagedRow) {
  Trial trial = good_trial(1000);
  trial.id = store.record(trial);
  PlainSqlite(path).execute("UPDATE trials SET median_ns = 1");
  EXPECT_TRUE(store.trials({}).empty());
  EXPECT_EQ(store.record_all({trial}).written, 1U);
  EXPECT_EQ(store.trials({}), std::vector<Trial>{trial});
}

TEST_F(Store, DamagedSessionsAndAttemptsAreLeftOut) {
  store.begin_session(test::session("s1"));
  store.record_attempt(good_trial(1).key, "s1");
  PlainSqlite(path).execute(
      "UPDATE sessions SET evaluated = 9; UPDATE attempts SET session_id = 's9'");
  const std::vector<std::string> faults = store.check();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_NE(faults[0].find("attempt"), std::string::npos) << faults[0];
  EXPECT_TRUE(store.sessions().empty());
  EXPECT_TRUE(store.open_attempts(test::gemm_problem(4096, 4096, 4096), test::h200()).empty());
  EXPECT_EQ(store.corrupt_rows(), 2U);
}

TEST_F(Store, CheckFindsFlopsThatDoNotFit) {
  store.record(good_trial(1000));
  EXPECT_TRUE(store.check().empty());
  PlainSqlite(path).execute("UPDATE problems SET flops = 1");
  ASSERT_EQ(store.check().size(), 1U);
  EXPECT_NE(store.check()[0].find("FLOP count"), std::string::npos);
}

}  // namespace
}  // namespace kiln
