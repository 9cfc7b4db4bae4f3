// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Signals at any moment of the first second, when NVRTC is loaded and compiles for the first time:
/// `kiln tune` ends cleanly, an application's handler runs, and TMPDIR stays empty. Compiled
/// kernels are never found, so each run compiles. A dozen runs in all by default; the sweep that
/// CONTRIBUTING.md names sets KILN_SWEEP_RUNS.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/nvrtc_api.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::array<int, 3> kSignals{SIGTERM, SIGINT, SIGHUP};
constexpr auto kLatest = milliseconds(1200);
/// A run that is still there this long after its signal hangs.
constexpr auto kPatience = std::chrono::seconds(30);

int wanted_runs(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// The results of all runs.
struct Tally {
  int clean = 0;
  int killed = 0;  ///< by the signal itself, where no handler was in place yet, or no longer
  int hung = 0;
  int crashed = 0;
  int unhandled = 0;  ///< the application's handler did not run
  int leftovers = 0;  ///< runs that left something in TMPDIR
  std::string bad;    ///< what was found, a line for each

  void print(const char* what, int runs) const {
    fmt::print(
        "{}: {} runs: {} clean, {} ended by the signal, {} hung, {} crashed, {} handler not "
        "run, {} left something in TMPDIR\n{}",
        what, runs, clean, killed, hung, crashed, unhandled, leftovers, bad);
  }
};

/// One process with a folder of its own for all files.
class Victim {
 public:
  explicit Victim(std::vector<std::string> command) {
    fs::create_directory(temporary());
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
      ::setenv("TMPDIR", temporary().c_str(), 1);
      ::setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
      ::setenv("XDG_DATA_HOME", folder_.file("data").c_str(), 1);
      if (::chdir(folder_.path().c_str()) == 0) ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Victim() {
    ::close(output_);
    if (!reaped_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  /// Until it writes or ends.
  void wait_for_output() const {
    char byte = 0;
    (void)!::read(output_, &byte, 1);
  }
  void send(int number) const { ::kill(pid_, number); }
  /// Whether it ended in time; then `status` is how.
  bool wait(int& status) {
    const auto deadline = steady_clock::now() + kPatience;
    while (steady_clock::now() < deadline) {
      if (::waitpid(pid_, &status, WNOHANG) == pid_) return reaped_ = true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }
  [[nodiscard]] bool left_something() const { return !fs::is_empty(temporary()); }

 private:
  [[nodiscard]] std::string temporary() const { return folder_.file("tmp"); }
  const test::TempFolder folder_;
  pid_t pid_ = -1;
  int output_ = -1;
  bool reaped_ = false;
};

bool has_nvrtc() {
  try {
    (void)NvrtcApi::load();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Evenly spaced moments, each with a different signal from its neighbours.
template <class Each>
void sweep(int runs, const Each& each) {
  std::mt19937 random(12);
  for (int i = 0; i < runs; ++i) {
    const double moment = (i + std::uniform_real_distribution<>(0.0, 1.0)(random)) / runs;
    each(std::chrono::duration_cast<milliseconds>(moment * kLatest), kSignals[i % 3]);
  }
}

TEST(SignalSweep, TuningEndsCleanly) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const int runs = wanted_runs("KILN_SWEEP_RUNS", 8);
  Tally tally;
  sweep(runs, [&](milliseconds delay, int number) {
    Victim tune({KILN_PROGRAM, "tune", "gemm", "--m", "32", "--n", "32", "--k", "32", "--device",
                 "emulated:h200", "--budget", "60s"});
    std::this_thread::sleep_for(delay);
    tune.send(number);
    int status = 0;
    const bool ended = tune.wait(status);
    const bool killed = ended && WIFSIGNALED(status) && WTERMSIG(status) == number;
    const bool clean = ended && WIFEXITED(status) && WEXITSTATUS(status) == 130;
    tally.clean += clean ? 1 : 0;
    tally.killed += killed ? 1 : 0;
    tally.hung += ended ? 0 : 1;
    tally.crashed += ended && !clean && !killed ? 1 : 0;
    tally.leftovers += tune.left_something() ? 1 : 0;
    if (!clean && !killed) {
      tally.bad += fmt::format("  signal {} after {} ms: {}, status {:#x}\n", number, delay.count(),
                               ended ? "ended" : "hung", status);
    }
  });
  tally.print("kiln tune", runs);
  EXPECT_EQ(tally.hung + tally.crashed + tally.leftovers, 0);
  EXPECT_GT(tally.clean, 0) << "no signal found its handler in place";
}

TEST(SignalSweep, TheApplicationsHandlerRuns) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const int runs = wanted_runs("KILN_SWEEP_APPLICATION_RUNS", 5);
  Tally tally;
  sweep(runs, [&](milliseconds delay, int number) {
    Victim application({KILN_APPLICATION, "tuning.db", "cubins.db"});
    application.wait_for_output();
    std::this_thread::sleep_for(delay);
    application.send(number);
    int status = 0;
    const bool ended = application.wait(status);
    const bool clean = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const bool unhandled = ended && WIFEXITED(status) && !clean;
    tally.clean += clean ? 1 : 0;
    tally.hung += ended ? 0 : 1;
    tally.unhandled += unhandled ? 1 : 0;
    tally.crashed += ended && !clean && !unhandled ? 1 : 0;
    tally.leftovers += application.left_something() ? 1 : 0;
    if (!clean) {
      tally.bad += fmt::format("  signal {} after {} ms: {}, status {:#x}\n", number, delay.count(),
                               ended ? "ended" : "hung", status);
    }
  });
  tally.print("application", runs);
  EXPECT_EQ(tally.hung + tally.crashed + tally.unhandled + tally.leftovers, 0);
  EXPECT_EQ(tally.clean, runs);
}

}  // namespace
}  // namespace kiln
