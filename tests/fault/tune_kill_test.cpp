// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A tuning run is killed twenty times at random moments and goes on each time. What it has
// acknowledged stays, nothing is measured twice, and in the end it completes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::testing {
namespace {

using std::chrono::steady_clock;
using ::testing::IsEmpty;

constexpr int kKills = 20;
constexpr int kMostTrialsPerRun = 24;
constexpr int kCandidates = 600;
static_assert(kKills * kMostTrialsPerRun < kCandidates, "No run may complete before the last");

/// A line of the victim's output.
struct Acknowledged {
  std::string id;
  std::string candidate;
};

/// One run of the victim. Its output is kept even when it is killed: a pipe survives its writer.
class Victim {
 public:
  explicit Victim(const std::string& folder) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::string program = KILN_VICTIM;
    std::string argument = folder;
    char* argv[] = {program.data(), argument.data(), nullptr};
    const int failed = ::posix_spawn(&pid_, KILN_VICTIM, &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failed != 0) throw std::runtime_error("cannot start " + program);
    output_ = ends[0];
  }
  ~Victim() {
    ::close(output_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  /// Reads until so many trials are acknowledged, the time is over, or the output ends.
  void read_until(std::size_t trials, steady_clock::time_point deadline) {
    while (count_lines() < trials && steady_clock::now() < deadline) {
      pollfd ready{output_, POLLIN, 0};
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
      if (::poll(&ready, 1, static_cast<int>(std::max<long>(0, left.count()))) <= 0) continue;
      if (!read_some()) return;
    }
  }
  /// Whether the kill found it alive.
  bool kill_it() {
    ::kill(pid_, SIGKILL);
    const int status = finish();
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  /// Reads the rest and waits for its end.
  int finish() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  [[nodiscard]] std::vector<Acknowledged> acknowledged() const {
    std::vector<Acknowledged> result;
    std::istringstream lines(text_);
    for (std::string line; std::getline(lines, line);) {
      const auto space = line.find(' ');
      result.push_back({line.substr(0, space), line.substr(space + 1)});
    }
    return result;
  }

 private:
  [[nodiscard]] std::size_t count_lines() const {
    return static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
  }
  bool read_some() {
    char buffer[4096];
    const ssize_t got = ::read(output_, buffer, sizeof buffer);
    if (got <= 0) return false;
    text_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  std::string text_;
};

class TuneKillTest : public ::testing::Test {
 protected:
  TuneKillTest() {
    const ToyTemplate toy{"toy", {{"x", first_numbers(30)}, {"y", first_numbers(20)}}};
    std::ofstream(folder.path() / "toy.cu") << toy.source();
  }
  [[nodiscard]] TuningStore open() const {
    return TuningStore::open((folder.path() / "tuning.db").string(), OpenMode::read_write);
  }
  void keep(const Victim& victim) {
    for (auto& line : victim.acknowledged()) acknowledged.push_back(std::move(line));
  }
  /// Everything acknowledged so far must be stored.
  void expect_nothing_lost() const {
    std::set<std::string> stored;
    for (const auto& trial : open().trials({})) stored.insert(trial.id);
    for (const auto& one : acknowledged) EXPECT_TRUE(stored.contains(one.id)) << one.candidate;
    EXPECT_THAT(open().check(), IsEmpty());
  }

  TempFolder folder;
  std::vector<Acknowledged> acknowledged;
};

TEST_F(TuneKillTest, KillsLoseNothingAndRepeatNothing) {
  std::mt19937 random(20260101);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int killed = 0;
  for (int round = 0; round < kKills; ++round) {
    Victim victim(folder.path().string());
    // Every third run dies at any moment of its start, the others in the middle of their work.
    const bool early = round % 3 == 0;
    const int trials = early ? kMostTrialsPerRun : number(1, kMostTrialsPerRun - 4);
    victim.read_until(static_cast<std::size_t>(trials),
                      steady_clock::now() + (early ? std::chrono::milliseconds(number(0, 150))
                                                   : std::chrono::milliseconds(60000)));
    std::this_thread::sleep_for(std::chrono::microseconds(number(0, 3000)));
    killed += victim.kill_it() ? 1 : 0;
    keep(victim);
    if (round % 10 == 9) expect_nothing_lost();
  }
  EXPECT_EQ(killed, kKills);

  Victim last(folder.path().string());
  const int status = last.finish();
  keep(last);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  expect_nothing_lost();

  // Each candidate was measured exactly once, or was found on the device by two kills.
  const auto trials = open().trials({});
  std::map<std::string, int> measured;
  std::map<std::string, int> all;
  for (const auto& trial : trials) {
    const std::string config = trial.key.config.canonical();
    ++all[config];
    const bool planted = trial.message.find("planted") != std::string::npos;
    const bool unmeasured = trial.outcome == Outcome::crashed && !planted;
    measured[config] += unmeasured ? 0 : 1;
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kCandidates));
  int never = 0;
  for (const auto& [config, count] : measured) {
    EXPECT_LE(count, 1) << config;
    EXPECT_LE(all[config], 2) << config;
    never += count == 0 ? 1 : 0;
  }
  EXPECT_LE(never, kKills / 2);
  std::set<std::string> candidates;
  for (const auto& one : acknowledged) {
    EXPECT_TRUE(candidates.insert(one.candidate).second) << one.candidate << " twice";
  }

  const auto sessions = open().sessions();
  ASSERT_FALSE(sessions.empty());
  EXPECT_EQ(sessions.back().state, "complete");
  for (std::size_t i = 0; i + 1 < sessions.size(); ++i) {
    EXPECT_EQ(sessions[i].state, "interrupted");
  }
}

}  // namespace
}  // namespace kiln::testing
