// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Signals at any moment of a session, and budgets, while it does something that takes minutes: a
/// reference or a candidate that compiles, a kernel that runs. It ends within two seconds of the
/// signal, and at most a second and a tenth after the budget. Nothing compiled is ever found. A
/// dozen runs by default; the sweep that CONTRIBUTING.md names sets KILN_SWEEP_STOPS, and
/// KILN_SWEEP_DEVICE is another device than the emulated one.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/slow_sources.hpp"
#include "tests/fault/victim.hpp"

namespace kiln {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

constexpr std::array<int, 3> kStopSignals{SIGTERM, SIGINT, SIGHUP};
constexpr double kMostAfterSignal = 2.0;
constexpr int kFewRuns = 12;

struct Activity {
  std::string name;
  std::vector<std::string> words;  ///< what is tuned
};

/// One run in three is that of a built-in operation.
std::vector<Activity> activities(const test::TempFolder& folder) {
  using test::SlowSources;
  const std::array<std::pair<const char*, SlowSources>, 5> slow{{
      {"an endless reference", {SlowSources::loops(1500), ""}},
      {"an endless candidate", {"", SlowSources::loops(1500)}},
      {"an endless kernel", {"", SlowSources::endless_kernel()}},
      {"a huge reference", {SlowSources::loops(300), ""}},
      {"huge candidates", {"", SlowSources::loops(300)}},
  }};
  std::vector<Activity> all;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    const std::string path = folder.file(fmt::format("templates{}", i));
    std::filesystem::create_directory(path);
    test::write_file(path + "/threefold.cu", slow[i].second.operation_file());
    test::write_file(path + "/slow.cu", slow[i].second.template_file());
    all.push_back({slow[i].first, {"threefold", "--len", "1000", "--template-path", path}});
    if (i % 2 == 0) {
      all.push_back({"a gemm", {"gemm", "--m", "128", "--n", "128", "--k", "256"}});
    }
  }
  return all;
}

struct SessionRun {
  std::string what;
  bool ended = false;
  int status = 0;
  double late_s = 0.0;  ///< after the signal or the budget's end
  double most_s = 0.0;

  [[nodiscard]] bool is_good(bool by_signal) const {
    if (!ended || late_s > most_s) return false;
    if (by_signal) {
      const bool killed =
          WIFSIGNALED(status) && std::ranges::count(kStopSignals, WTERMSIG(status)) > 0;
      // 0: it had covered its space before.
      return killed ||
             (WIFEXITED(status) && (WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0));
    }
    // The latter if nothing was found.
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 6);
  }
};

TEST(StopSweep, SessionsEndInTimeWhateverTheyDo) {
  if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const int runs = test::wanted_runs("KILN_SWEEP_STOPS", kFewRuns);
  const int first = test::wanted_runs("KILN_SWEEP_FIRST", 0);  // to run a part of a sweep
  const double budget_s = runs > kFewRuns ? 3.0 : 1.0;
  const char* const wanted_device = std::getenv("KILN_SWEEP_DEVICE");
  const std::string device = wanted_device == nullptr ? "emulated:h200" : wanted_device;
  const test::TempFolder folder;
  const auto all = activities(folder);
  int good = 0;
  double latest_s = 0.0;
  double latest_budget_s = 0.0;
  for (int i = first; i < first + runs; ++i) {
    std::mt19937 random(static_cast<unsigned>(29 + i));
    const Activity& activity = all[static_cast<std::size_t>(i) % all.size()];
    const int threads = 1 + i / 3 % 3;
    // One in four, and each activity in turn.
    const bool by_signal = i % 4 != (i / 8 + 3) % 4;
    SessionRun run;
    std::vector<std::string> command{KILN_PROGRAM, "tune"};
    command.insert(command.end(), activity.words.begin(), activity.words.end());
    command.insert(command.end(), {"--device", device, "--compile-threads", std::to_string(threads),
                                   "--budget", by_signal ? "60s" : fmt::format("{}s", budget_s)});
    const auto start = steady_clock::now();
    test::Victim victim(std::move(command));
    auto from = start;
    if (by_signal) {
      const double delay_s = std::uniform_real_distribution<>(0.0, 2.0 * budget_s)(random);
      run.what = fmt::format("signal {} after {:.3f} s", kStopSignals[i % 3], delay_s);
      run.most_s = kMostAfterSignal;
      std::this_thread::sleep_for(duration<double>(delay_s));
      from = steady_clock::now();
      victim.send(kStopSignals[i % 3]);
    } else {
      run.what = fmt::format("budget of {} s", budget_s);
      run.most_s = budget_s + 1.0 + 0.1 * budget_s;
    }
    run.ended = victim.wait(run.status);
    run.late_s = duration<double>(steady_clock::now() - from).count();
    const bool is_good = run.is_good(by_signal);
    good += is_good ? 1 : 0;
    double& latest = by_signal ? latest_s : latest_budget_s;
    latest = std::max(latest, run.late_s);
    EXPECT_TRUE(is_good) << activity.name << ", " << threads << " threads, " << run.what
                         << fmt::format(": {}, status {:#x}, {:.2f} s of {:.2f}",
                                        run.ended ? "ended" : "hung", run.status, run.late_s,
                                        run.most_s);
    EXPECT_FALSE(victim.left_something()) << activity.name << ", " << run.what;
  }
  fmt::print(
      "{} of {} sessions ended in time; the latest {:.2f} s after its signal, and {:.2f} s "
      "after its start with a budget of {} s\n",
      good, runs, latest_s, latest_budget_s, budget_s);
}

}  // namespace
}  // namespace kiln
