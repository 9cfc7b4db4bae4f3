// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Damaged databases and cubin stores through everything that reads them: an application's get(),
// `kiln list`, `kiln merge`. Never a crash, never a hang, and never an answer that differs from
// the intact file's without a warning.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <tuple>

#include "cache/exchange/transfer.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/fault/damage.hpp"
#include "tests/unit/cache/cache_fixture.hpp"
#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 5.0;  ///< for one file, of processor time: the machine may be busy
constexpr unsigned kHangSeconds = 120;

int rounds(const char* variable, int usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::atoi(text);
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Ends the program if a round does not end: the test has then failed, whatever it waits for.
class RoundLimit {
 public:
  RoundLimit() : begin_(cpu_seconds()) { ::alarm(kHangSeconds); }
  RoundLimit(const RoundLimit&) = delete;
  RoundLimit& operator=(const RoundLimit&) = delete;
  ~RoundLimit() { ::alarm(0); }
  [[nodiscard]] double seconds() const { return cpu_seconds() - begin_; }

 private:
  double begin_;
};

struct Answer {
  Match match;
  std::string kernel;
  std::string reason;
  friend bool operator==(const Answer&, const Answer&) = default;
};

using Line = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t, std::string,
                        std::string>;  ///< of `kiln list`

class DamageSweep : public LibraryFixture {
 protected:
  DamageSweep() {
    database_ = memory_.file("tuning.db");
    fill(database_);
    sound_ = test::read_file(database_);
    const TuningStore store = TuningStore::open(database_, OpenMode::read_only);
    list_ = list_of(store);
    for (const Trial& trial : store.trials({})) trials_.emplace(trial.id, trial);
    for (const SessionRecord& session : store.sessions()) sessions_.emplace(session.id, session);
    answers_ = answers();
    EXPECT_EQ(warnings_, std::vector<std::string>{});
  }

  static std::vector<Gemm> tuned() {
    std::vector<Gemm> problems;
    for (const int m : {256, 512, 1024, 4096})
      problems.push_back(Gemm::of(DType::f16, m, 256, 128));
    return problems;
  }

  /// Several candidates for each problem, some of which failed, with their sessions.
  void fill(const std::string& path) const {
    std::mt19937_64 random(1);
    const DeviceInfo device = fake_device_info();
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    std::vector<Trial> trials;
    std::vector<SessionRecord> sessions;
    for (const Gemm& gemm : tuned()) {
      SessionRecord session = test::session(test::random_hex(random));
      session.problem = to_problem(gemm);
      session.device = device.device_class;
      session.state = sessions.empty() ? "complete" : "budget";
      session.ended_unix_ms = session.started_unix_ms + 45'000;
      sessions.push_back(session);
      for (const char* name : {"gemm_wmma", "gemm_tiled"}) {
        const ParamSpace space = catalog_.at(name).space(session.problem, device.limits);
        for (const Config& config : space.neighbours(space.default_config().value())) {
          Trial trial = test::good_trial(1e5 + static_cast<double>(random() % 100'000));
          trial.id = test::random_hex(random);
          trial.key = {session.problem, device.device_class, name, catalog_.digest(name), config};
          trial.environment = {"99.0", "nvrtc 99.0", "cold"};
          trial.session_id = session.id;
          trial.created_unix_ms += static_cast<std::int64_t>(trials.size());
          const auto kind = random() % 8;
          if (kind == 0) trial.outcome = Outcome::wrong_result;
          if (kind == 1) trial.outcome = Outcome::crashed;
          if (kind < 2) trial.timing.reset();
          trials.push_back(trial);
        }
      }
    }
    (void)store.adopt_sessions(sessions);
    (void)store.record_all(trials);
  }

  /// The answers to a fresh process of an application: exact, near, and untuned problems.
  std::vector<Answer> answers() {
    warnings_.clear();
    std::vector<Gemm> questions = tuned();
    questions.push_back(Gemm::of(DType::f16, 700, 256, 128));
    questions.push_back(Gemm::of(DType::f16, 8, 8, 8));
    questions.push_back(Gemm::of(DType::f32, 256, 256, 128));
    const Library library = open();
    std::vector<Answer> result;
    for (const Gemm& question : questions) {
      const Kernel kernel = library.get(question);
      result.push_back({kernel.match(),
                        fmt::format("{} {}", kernel.template_name(), kernel.config()),
                        std::string(kernel.match_reason())});
    }
    return result;
  }

  static std::vector<Line> list_of(const TuningStore& store) {
    std::vector<Line> lines;
    for (const ProblemSummary& summary : store.summaries()) {
      lines.emplace_back(summary.problem.canonical(), summary.device.canonical(), summary.ok,
                         summary.failed, summary.best ? summary.best->id : "",
                         summary.last_session ? summary.last_session->state : "");
    }
    return lines;
  }

  static void expect_explained(const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::database));
    EXPECT_NE(std::string(error.what()).find("Next: "), std::string::npos) << error.what();
  }

  /// The answers that differ from those of the intact file; "" if there are none, or a warning.
  std::string silent_answers() {
    const std::vector<Answer> now = answers();
    std::string text;
    for (std::size_t i = 0; i < now.size() && warnings_.empty(); ++i) {
      if (now[i] == answers_[i]) continue;
      text += fmt::format("{}: {} ({}) instead of {} ({}); ", i, now[i].kernel, now[i].reason,
                          answers_[i].kernel, answers_[i].reason);
    }
    return text;
  }

  /// The lines of a list without a warning that differ from those of the intact file.
  std::string silent_lines() {
    std::string text;
    try {
      const TuningStore store = TuningStore::open(database_, OpenMode::read_only);
      const std::vector<Line> now = list_of(store);
      if (now == list_ || store.corrupt_rows() > 0) return "";
      for (const Line& line : now) {
        if (std::find(list_.begin(), list_.end(), line) != list_.end()) continue;
        text += ::testing::PrintToString(line) + "; ";
      }
      text += fmt::format("{} lines instead of {}", now.size(), list_.size());
    } catch (const Error& error) {
      expect_explained(error);
    }
    return text;
  }

  bool merge_is_honest() {
    const std::string path = memory_.file("merged.db");
    fs::remove(path);
    TuningStore target = TuningStore::open(path, OpenMode::read_write);
    try {
      const TuningStore source = TuningStore::open(database_, OpenMode::salvage);
      const TransferCount count = merge(target, source);
      const bool all = count.written == trials_.size() + sessions_.size();
      const bool silent = source.corrupt_rows() == 0 && source.salvage_fault().empty();
      if (!all && silent && count.refused == 0) return false;
    } catch (const Error& error) {
      expect_explained(error);
    }
    for (const Trial& trial : target.trials({})) EXPECT_EQ(trials_.at(trial.id), trial);
    for (const SessionRecord& session : target.sessions()) {
      EXPECT_EQ(sessions_.at(session.id), session);
    }
    return true;
  }

  /// The database is also opened for writing, which may repair it, but invents nothing.
  void open_for_writing() {
    try {
      const TuningStore store = TuningStore::open(database_, OpenMode::read_write);
      for (const Trial& trial : store.trials({})) EXPECT_EQ(trials_.at(trial.id), trial);
      (void)store.check();
    } catch (const Error& error) {
      expect_explained(error);
    }
  }

  static void replace_file(const std::string& path, const std::string& bytes) {
    fs::remove(path + "-journal");
    test::write_file(path, bytes);
    ::chmod(path.c_str(), 0600);
  }

  test::TempFolder memory_;
  std::string sound_;
  std::vector<Answer> answers_;
  std::vector<Line> list_;
  std::map<std::string, Trial> trials_;
  std::map<std::string, SessionRecord> sessions_;
};

TEST_F(DamageSweep, EveryOtherAnswerOfADamagedDatabaseComesWithAWarning) {
  std::mt19937_64 random(20261122);
  double longest = 0.0;
  int changed = 0;
  std::vector<std::string> silent;
  const int first = rounds("KILN_SWEEP_FIRST", 0);  // to reproduce a single one
  const int count = rounds("KILN_SWEEP_DATABASES", 200);
  for (int round = 0; round < count; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const std::string bytes = test::damaged(sound_, random);
    if (round < first) continue;
    replace_file(database_, bytes);
    const RoundLimit limit;
    if (const std::string text = silent_answers(); !text.empty()) {
      silent.push_back(fmt::format("get in round {}: {}", round, text));
    }
    if (!warnings_.empty()) ++changed;
    if (const std::string text = silent_lines(); !text.empty()) {
      silent.push_back(fmt::format("list in round {}: {}", round, text));
    }
    if (!merge_is_honest()) silent.push_back(fmt::format("merge in round {}", round));
    open_for_writing();
    longest = std::max(longest, limit.seconds());
    if (HasFailure()) break;
  }
  EXPECT_EQ(silent, std::vector<std::string>{});
  EXPECT_LT(longest, kMostSeconds);
  EXPECT_GE(changed, (count - first) / 4) << "the damage must matter";
  RecordProperty("databases", count);
  RecordProperty("with_warning", changed);
  RecordProperty("longest_seconds", fmt::format("{:.2f}", longest));
}

TEST_F(DamageSweep, ADamagedCubinStoreChangesNoAnswer) {
  std::mt19937_64 random(20261123);
  const std::string path = folder_.file("cubins.db");
  const std::string sound = test::read_file(path);
  double longest = 0.0;
  int compiled = 0;
  const int count = rounds("KILN_SWEEP_CUBIN_STORES", 100);
  for (int round = 0; round < count; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    replace_file(path, test::damaged(sound, random));
    const RoundLimit limit;
    const int compilers_before = compilers_made_;
    EXPECT_EQ(answers(), answers_);
    EXPECT_LE(warnings_.size(), 1U);
    if (compilers_made_ > compilers_before) ++compiled;
    {
      CubinStore store(path, 1 << 30, {});
      (void)store.entries();
      (void)store.total_bytes();
      (void)store.shrink(1, true);
      (void)store.shrink(1);
    }
    longest = std::max(longest, limit.seconds());
    for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
      fs::remove_all(entry.path());  // what was set aside
    }
    if (HasFailure()) break;
  }
  EXPECT_LT(longest, kMostSeconds);
  EXPECT_GT(compiled, count / 10) << "the damage must matter";
  RecordProperty("cubin_stores", count);
  RecordProperty("longest_seconds", fmt::format("{:.2f}", longest));
}

}  // namespace
}  // namespace kiln::testing
