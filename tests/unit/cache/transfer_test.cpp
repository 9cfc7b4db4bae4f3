// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/transfer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <sstream>
#include <utility>

#include "cache/exchange/trial_json.hpp"
#include "cache/rows/row_digest.hpp"
#include "kiln/error.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::error_of;
using test::good_trial;
using test::TempFolder;

/// 137 GFLOP in 1 ms, a time that is possible.
constexpr double kPlausibleNs = 1e6;

/// The lines of an export of schema 1, which had no last line, and texts for objects.
const std::string kHeader1 = "{\"kiln\":\"trials\",\"schema\":1}\n";

std::string exported(const TuningStore& store) {
  std::ostringstream out;
  (void)export_rows(store, {}, out);
  return out.str();
}

TransferCount import_text(TuningStore& store, const std::string& text) {
  std::istringstream in(text);
  return import_rows(store, in, "x.jsonl");
}

/// A stream whose end is an error, as of a disk or a connection that fails.
class FailingInput : private std::stringbuf, public std::istream {
 public:
  explicit FailingInput(const std::string& text)
      : std::stringbuf(text), std::istream(static_cast<std::stringbuf*>(this)) {
    exceptions(badbit);
  }

 private:
  std::stringbuf::int_type underflow() override {
    const std::stringbuf::int_type next = std::stringbuf::underflow();
    if (next == std::stringbuf::traits_type::eof())
      throw Error(ErrorKind::usage, "x.jsonl: Input/output error");
    return next;
  }
};

class Transfer : public testing::Test {
 protected:
  TempFolder folder;
  TuningStore source = TuningStore::open(folder.file("a.db"), OpenMode::read_write);
  TuningStore target = TuningStore::open(folder.file("b.db"), OpenMode::read_write);
};

TEST_F(Transfer, WhatIsExportedCanBeImportedOnce) {
  std::mt19937_64 random(3);
  (void)source.record_all(test::random_trials(random, 1200));
  SessionRecord partial = test::session("s1");
  partial.state = "budget";
  partial.evaluated = 17;
  partial.ended_unix_ms = partial.started_unix_ms + 45'000;
  (void)source.adopt_sessions({partial, test::session("s2")});
  std::ostringstream out;
  EXPECT_EQ(export_rows(source, {}, out), (RowCount{1200, 2}));
  const TransferCount first = import_text(target, out.str());
  EXPECT_EQ(first.written, 1202U);
  EXPECT_EQ(first.complaints, std::vector<std::string>{});
  EXPECT_EQ(first.broken_off, "");
  EXPECT_EQ(target.trials({}), source.trials({}));
  EXPECT_EQ(target.sessions(), source.sessions());
  const TransferCount second = import_text(target, out.str());
  EXPECT_EQ(second.written, 0U);
  EXPECT_EQ(second.present, 1202U);
}

TEST_F(Transfer, ValuesOfEachKindReadAsTheyWereWritten) {
  Trial trial = good_trial(kPlausibleNs);
  trial.key.config = Config::parse(
      "copy=cp_async layout=RowMajorInterleaved ratio=0.25 scale=1e-30 step=-1.5f "
      "unroll=true stages=3");
  (void)source.record_all({trial});
  EXPECT_EQ(test::PlainSqlite(folder.file("a.db")).value("SELECT config FROM trials"),
            "copy=cp_async layout=RowMajorInterleaved ratio=0.25 scale=1e-30 stages=3 step=-1.5f "
            "unroll=true");
  const std::string text = exported(source);
  EXPECT_NE(text.find(R"("config":{"copy":"cp_async","layout":"RowMajorInterleaved","ratio":0.25,)"
                      R"("scale":1e-30,"stages":3,"step":"-1.5f","unroll":true})"),
            std::string::npos)
      << text;
  EXPECT_EQ(import_text(target, text).complaints, std::vector<std::string>{});
  ASSERT_EQ(target.trials({}).size(), 1U);
  EXPECT_EQ(target.trials({}).at(0).key.config, trial.key.config);
}

TEST_F(Transfer, ValuesThatNoTunableHasAreNamed) {
  (void)source.record_all({good_trial(kPlausibleNs)});
  const std::string text = exported(source);
  for (const std::string value :
       {"0.33333333333333331", "3000000000", "null", "[1]", "\"a b\"", "\"64\""}) {
    std::string wrong = text;
    const std::string own = "\"stages\":3";
    wrong.replace(wrong.find(own), own.size(), "\"stages\":" + value);
    const auto count = import_text(target, wrong);
    ASSERT_EQ(count.complaints.size(), 1U) << value;
    EXPECT_NE(count.complaints[0].find("field 'stages' is"), std::string::npos)
        << count.complaints[0];
  }
}

TEST_F(Transfer, BadLinesAreCountedAndNamed) {
  Trial trial = good_trial(kPlausibleNs);
  trial.id = source.record(trial);
  std::string changed = trial_to_json(trial);
  changed.replace(changed.find("\"registers\":128"), 15, "\"registers\":129");
  const std::string unverified = R"({"id":"x"})";
  const TransferCount count =
      import_text(target, kHeader1 + trial_to_json(trial) + "\n" + unverified + "\n\nno json\n" +
                              changed + "\n");
  EXPECT_EQ(count.written, 1U);
  EXPECT_EQ(count.refused, 3U);
  ASSERT_EQ(count.complaints.size(), 3U);
  EXPECT_EQ(count.complaints[0].substr(0, 10), "x.jsonl:3:");
  EXPECT_EQ(count.complaints[1].substr(0, 10), "x.jsonl:5:");
  EXPECT_EQ(count.complaints[2].substr(0, 10), "x.jsonl:6:");
  EXPECT_NE(count.complaints[2].find(trial.id), std::string::npos);
}

TEST_F(Transfer, NumbersThatDoNotFitAreNamedAndNotCut) {
  Trial trial = good_trial(kPlausibleNs);
  trial.id = random_id();
  std::string text = kHeader1;
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
  const TransferCount count = import_text(target, text);
  EXPECT_EQ(count.written, 0U);
  ASSERT_EQ(count.complaints.size(), changes.size());
  EXPECT_NE(count.complaints[0].find("x.jsonl:2: field 'sm_count' is 4294967428"),
            std::string::npos)
      << count.complaints[0];
  EXPECT_EQ(count.complaints[4].substr(0, 10), "x.jsonl:6:");
}

TEST_F(Transfer, OnlyTwentyComplaintsAreKept) {
  std::string text = kHeader1;
  for (int i = 0; i < 50; ++i) text += "bad\n";
  const TransferCount count = import_text(target, text);
  EXPECT_EQ(count.refused, 50U);
  EXPECT_EQ(count.complaints.size(), 20U);
}

TEST_F(Transfer, AForeignHeaderIsAnError) {
  for (const std::string text :
       {"", "no json\n", "[1]\n", "{\"kiln\":\"kernels\",\"schema\":1}\n",
        "{\"kiln\":\"trials\",\"schema\":6}\n", "{\"kiln\":\"trials\",\"schema\":0}\n",
        "{\"kiln\":\"trials\",\"schema\":\"2\"}\n", "{\"kiln\":\"trials\"}\n"}) {
    const std::string error = error_of(ErrorKind::usage, [&] { (void)import_text(target, text); });
    EXPECT_NE(error.find("x.jsonl"), std::string::npos) << error;
  }
}

TEST_F(Transfer, AnExportThatCannotBeWrittenIsAnError) {
  source.record(good_trial(kPlausibleNs));
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  (void)error_of(ErrorKind::usage, [&] { (void)export_rows(source, {}, out); });
}

TEST_F(Transfer, MergeNamesTrialsOfOneIdAndOtherContent) {
  Trial trial = good_trial(kPlausibleNs);
  trial.id = target.record(trial);
  trial.resources->registers = 1;
  (void)source.record_all({trial});
  const TransferCount count = merge(target, source);
  EXPECT_EQ(count.refused, 1U);
  ASSERT_EQ(count.complaints.size(), 1U);
  EXPECT_EQ(target.trials({})[0].resources->registers, 128);
}

// Anyone who can write a file can make digests fit: one such row must not keep out the others.
TEST_F(Transfer, MergeLeavesOutARowThatBreaksARule) {
  Trial bad = good_trial(kPlausibleNs, 64);
  bad.id = source.record(bad);
  bad.resources->occupancy = -1.0;
  test::PlainSqlite(source.path())
      .execute("UPDATE trials SET occupancy = -1, digest = '" + row_digest(bad) + "'");
  source.record(good_trial(kPlausibleNs));
  const TransferCount count = merge(target, source);
  EXPECT_EQ(count.written, 1U);
  EXPECT_EQ(count.refused, 1U);
  ASSERT_EQ(count.complaints.size(), 1U);
  EXPECT_NE(count.complaints[0].find("'occupancy'"), std::string::npos) << count.complaints[0];
}

TEST_F(Transfer, AReadErrorIsNoEndAndWhatCameBeforeIsCounted) {
  std::mt19937_64 random(4);
  (void)source.record_all(test::random_trials(random, 600));
  const std::string text = exported(source);
  FailingInput in(text.substr(0, text.size() - 2000));
  const TransferCount count = import_rows(target, in, "x.jsonl");
  EXPECT_NE(count.broken_off.find("Input/output error"), std::string::npos) << count.broken_off;
  EXPECT_NE(count.broken_off.find("x.jsonl, after line 5"), std::string::npos) << count.broken_off;
  EXPECT_EQ(target.trials({}).size(), count.written);
  EXPECT_GT(count.written, 500U);
}

TEST_F(Transfer, AnInputThatCannotBeReadAtAllIsAnError) {
  FailingInput in("");
  (void)error_of(ErrorKind::usage, [&] { (void)import_rows(target, in, "x.jsonl"); });
}

TEST_F(Transfer, AnExportThatWasCutOffIsNoticed) {
  source.record(good_trial(kPlausibleNs, 64));
  source.record(good_trial(kPlausibleNs, 128));
  std::string text = exported(source);
  text.resize(text.rfind('\n', text.size() - 2) + 1);
  const TransferCount cut = import_text(target, text);
  EXPECT_EQ(cut.written, 2U);
  EXPECT_EQ(
      cut.broken_off,
      "x.jsonl is cut off: the last line of the export is missing; export the database again");
  // A line that was lost.
  text = exported(source);
  text.erase(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n'));
  EXPECT_EQ(import_text(target, text).broken_off,
            "x.jsonl is incomplete: its last line states 2 trials and 0 sessions, but the file has "
            "only 1 of these 2 entries; export the database again");
  // What follows the end does not belong to it.
  const TransferCount more =
      import_text(target, exported(source) + trial_to_json(source.trials({})[0]) + "\n");
  EXPECT_EQ(more.refused, 1U);
}

TEST_F(Transfer, AnEndlessLineTakesNoMoreMemoryThanALongOne) {
  source.record(good_trial(kPlausibleNs));
  std::string text = exported(source);
  text.insert(text.find('\n') + 1, std::string(20 << 20, '[') + "\n");
  const TransferCount count = import_text(target, text);
  EXPECT_EQ(count.written, 1U);
  ASSERT_EQ(count.complaints.size(), 1U);
  EXPECT_EQ(count.complaints[0], "x.jsonl:2: the line is longer than 4 MiB");
}

TEST_F(Transfer, DeeplyNestedLinesAreRefusedLikeAnyOther) {
  const std::string deep(3 << 20, '[');
  EXPECT_EQ(import_text(target, kHeader1 + deep + "\n" + deep + std::string(3 << 18, ']')).refused,
            2U);
}

TEST_F(Transfer, ObjectsMayComeInAnyOrder) {
  Trial trial = good_trial(kPlausibleNs);
  trial.id = source.record(trial);
  std::string line = trial_to_json(source.trials({})[0]);
  const auto swap = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(line.find(from), std::string::npos) << line;
    line.replace(line.find(from), from.size(), to);
  };
  swap(R"({"m":4096,"n":4096,"k":4096})", R"({"k":4096,"m":4096,"n":4096})");
  swap(R"({"a":"f16","b":"f16","c":"f16","d":"f16","acc":"f32"})",
       R"({"acc":"f32","a":"f16","b":"f16","c":"f16","d":"f16"})");
  EXPECT_EQ(import_text(target, kHeader1 + line).written, 1U);
  EXPECT_EQ(target.trials({}), source.trials({}));
}

TEST_F(Transfer, ExportsOfTheFirstSchemaAreStillRead) {
  // As Kiln wrote it when objects were texts and sessions were left out.
  const std::string line =
      R"({"id":"0123456789abcdef0123456789abcdef","problem":"gemm a=f16 b=f16 c=f16 d=f16 )"
      R"(acc=f32 trans_a=0 trans_b=0 align_a=16 align_b=16 align_c=16 align_d=16 reads_c=0 | )"
      R"(m=4096 n=4096 k=4096","device":{"name":"NVIDIA H200","arch":"sm_90a","sm_count":132,)"
      R"("l2_bytes":62914560,"mig_profile":""},"template":"gemm_wmma","template_digest":"d1",)"
      R"("config":"stages=3 tile_m=128","environment":{"driver":"580.1","toolkit":"nvrtc 13.0",)"
      R"("policy":"cold l2x3 graph"},"provenance":"measured","outcome":"ok","message":"",)"
      R"("resources":{"registers":128,"spill_store_bytes":0,"spill_load_bytes":0,"stack_bytes":0,)"
      R"("smem_static_bytes":1024,"smem_dynamic_bytes":65536,"occupancy":0.25},)"
      R"("verification":{"passed":true,"worst_ratio":0.5,"evidence":""},"timing":{"median_ns":)"
      R"(1000000.0,"spread_ns":1.0,"interleaved":false,"sm_clock_mhz":1980,"power_w":650.5,)"
      R"("temperature_c":61,"samples_ns":[999999.0,1000000.0,1000001.0]},"rendered_digest":"r1",)"
      R"("compile_seconds":0.75,"session":"s1","created_unix_ms":1760000000000})";
  const TransferCount count = import_text(target, kHeader1 + line + "\n");
  EXPECT_EQ(count.complaints, std::vector<std::string>{});
  EXPECT_EQ(count.broken_off, "");
  Trial expected = good_trial(kPlausibleNs);
  expected.id = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(target.trials({}), std::vector<Trial>{expected});
}

TEST_F(Transfer, NeitherImportNorMergeBelievesASpeedThatContradictsItself) {
  Trial edited = good_trial(kPlausibleNs);
  edited.id = random_id();
  edited.timing->median_ns = 1.0;
  Trial impossible = good_trial(20'000.0, 64);
  impossible.id = random_id();
  Trial eternal = good_trial(kPlausibleNs, 32);
  eternal.id = random_id();
  eternal.outcome = Outcome::crashed;
  eternal.created_unix_ms = next_unix_ms() + 48 * 3'600'000;
  Trial ancient = good_trial(kPlausibleNs, 16);
  ancient.id = random_id();
  ancient.created_unix_ms = 1'000'000'000'000;
  std::string text = kHeader1;
  for (const Trial* trial : {&edited, &impossible, &eternal, &ancient}) {
    text += trial_to_json(*trial) + "\n";
    (void)source.record_all({*trial});
  }
  SessionRecord late = test::session("late");
  late.started_unix_ms = eternal.created_unix_ms;
  text += session_to_json(late);
  (void)source.adopt_sessions({late});

  for (const TransferCount& count : {import_text(target, text), merge(target, source)}) {
    EXPECT_EQ(count.written, 0U);
    EXPECT_EQ(count.refused, 5U);
    const std::string all = testing::PrintToString(count.complaints);
    EXPECT_NE(all.find("'median_ns'"), std::string::npos) << all;
    EXPECT_NE(all.find(" 1000000"), std::string::npos) << all;
    EXPECT_NE(all.find("(6872 TFLOP/s), but NVIDIA H200 needs at least"), std::string::npos) << all;
    EXPECT_NE(all.find("'created_unix_ms' is 2001-09-09"), std::string::npos) << all;
    EXPECT_NE(all.find("'started_unix_ms' is"), std::string::npos) << all;
  }
  EXPECT_EQ(target.trials({}).size() + target.sessions().size(), 0U);
}

/// A good trial of m=128 whose problem was changed.
template <class Change>
Trial odd_trial(const Change& change) {
  Trial trial = good_trial(kPlausibleNs);
  trial.id = random_id();
  trial.key.problem = test::gemm_problem(128, 256, 256);
  change(trial.key.problem);
  return trial;
}

TEST_F(Transfer, ProblemsThatTuneWouldNotMakeAreRefused) {
  const std::vector<std::pair<Trial, std::string>> cases{
      {odd_trial([](Problem& p) { p.sizes.erase(p.sizes.begin()); }), "has no size \"m\""},
      {odd_trial([](Problem& p) {
         p.sizes.push_back({"batch", 2});
       }),
       "no size \"batch\""},
      {odd_trial([](Problem& p) { p.traits.clear(); }), "has no trait \"trans_a\""},
      {odd_trial([](Problem& p) { p.traits[2].value = 3; }), "align_a is 3"},
      {odd_trial([](Problem& p) { p.traits[4].value = 4; }),
       "align_c=4 align_d=16 reads_c=0 | m=128 n=256 k=256\" is not in canonical form"},
      {odd_trial([](Problem& p) { p.types.pop_back(); }), "has no type \"acc\""},
      {odd_trial([](Problem& p) { p.types[3].type = DType::s4; }), "d = s4"},
      {odd_trial([](Problem& p) { p.epilogue = "acc*(2)"; }),
       "epilogue=acc*(2) | m=128 n=256 k=256\" is not in canonical form"},
      {odd_trial([](Problem& p) { p.epilogue = "silo(acc)"; }), "silo"},
  };
  std::string text = kHeader1;
  std::vector<Trial> stored;
  for (const auto& [trial, why] : cases) {
    text += trial_to_json(trial) + "\n";
    stored.push_back(trial);
  }
  SessionRecord session = test::session("odd");
  session.problem = cases[0].first.key.problem;
  text += session_to_json(session) + "\n";
  // As a Kiln of before would have taken them.
  (void)source.record_all(stored);
  (void)source.adopt_sessions({session});
  for (const TransferCount& count : {import_text(target, text), merge(target, source)}) {
    EXPECT_EQ(count.refused, cases.size() + 1);
    const std::string all = fmt::format("{}", fmt::join(count.complaints, "\n"));
    for (const auto& [trial, why] : cases) {
      EXPECT_NE(all.find(why), std::string::npos) << why << " in\n" << all;
    }
  }
  EXPECT_EQ(target.trials({}).size() + target.sessions().size(), 0U);
  // Fields of JSON have no order, those of a row do.
  const Trial turned = odd_trial([](Problem& p) { std::swap(p.sizes[0], p.sizes[2]); });
  (void)source.record_all({turned});
  const TransferCount merged = merge(target, source);
  EXPECT_NE(fmt::format("{}", fmt::join(merged.complaints, "\n"))
                .find("in the order in which the operation gemm declares"),
            std::string::npos);
  EXPECT_EQ(import_text(target, kHeader1 + trial_to_json(turned)).written, 1U);
  // Until they are gone, nothing is said of damage when one asks, and `doctor` names them.
  for (const std::int64_t m : {128, 512}) {
    (void)source.related(test::gemm_problem(m, 256, 256), test::h200(), 6);
  }
  EXPECT_EQ(source.corrupt_rows(), 0U);
  const std::string faults = fmt::format("{}", fmt::join(source.check(), "\n"));
  EXPECT_NE(faults.find("Kiln ignores the results of problem n=256 k=256: "), std::string::npos)
      << faults;
}

TEST_F(Transfer, NamesThatNoDeclarationCanHaveAreRefused) {
  const std::string sound = trial_to_json(odd_trial([](Problem& p) { p.operation = "other"; }));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = sound;
    return changed.replace(changed.find(from), from.size(), to) + "\n";
  };
  const TransferCount count =
      import_text(target, kHeader1 + with("\"m\":128", "\"m\\u001b[31m\":128") +
                              with("\"trans_a\"", "\"trans a\"") + with("\"acc\"", "\"a=c\"") +
                              with("\"other\"", "\"o\\u001bther\"") +
                              with("\"m\":128", "\"" + std::string(200, 'm') + "\":128"));
  EXPECT_EQ(count.refused, 5U);
  EXPECT_EQ(count.written, 0U);
  const std::string all = testing::PrintToString(count.complaints);
  EXPECT_NE(all.find("only letters, digits and underscores"), std::string::npos) << all;
  EXPECT_EQ(all.find('\x1b'), std::string::npos);
  EXPECT_EQ(import_text(target, kHeader1 + sound).written, 1U)
      << "of an operation that no file declares here";
}

TEST_F(Transfer, LinesWithMoreFieldsThanAnyRowAreRefusedSoon) {
  const std::string sound = trial_to_json(odd_trial([](Problem&) {}));
  const auto grown = [&](const std::string& place, const char* field, int count) {
    std::string fields;
    for (int i = 0; i < count; ++i) fields += fmt::format(fmt::runtime(field), i) + ",";
    std::string line = sound;
    return line.insert(line.find(place) + place.size(), fields) + "\n";
  };
  const std::clock_t start = std::clock();
  const TransferCount count = import_text(
      target, kHeader1 + grown("\"sizes\":{", "\"s{}\":1", 100'000) +
                  grown("\"sizes\":{", "\"s{}\":1", 900) +
                  grown("\"config\":{", "\"t{}\":1", 100'000) + std::string(100'000, '[') + "\n");
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1.0);
  EXPECT_EQ(count.refused, 4U);
  const std::string all = testing::PrintToString(count.complaints);
  EXPECT_NE(all.find("x.jsonl:2: the line has more than 1024 fields"), std::string::npos) << all;
  EXPECT_NE(all.find("is field 257"), std::string::npos) << all;
  EXPECT_NE(all.find("more than 16 levels deep"), std::string::npos) << all;
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
    answers.best.push_back(summary.last_session ? summary.last_session->id : "");
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
  // Another session of the problem, older or newer or of the same moment.
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
