// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Signals at any moment of the first second, when NVRTC is loaded and compiles for the first time:
/// `kiln tune` ends cleanly, an application's handler runs, and TMPDIR stays empty. Compiled
/// kernels are never found, so each run compiles. A dozen runs in all by default; the sweep that
/// CONTRIBUTING.md names sets KILN_SWEEP_RUNS.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "tests/fault/victim.hpp"

namespace kiln {
namespace {

using std::chrono::milliseconds;
using test::has_nvrtc;
using test::Victim;
using test::wanted_runs;

constexpr std::array<int, 3> kSignals{SIGTERM, SIGINT, SIGHUP};
constexpr auto kLatest = milliseconds(1200);
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
