// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ctrl-C on the program itself: it ends by itself, reports it with its exit code, and keeps what
// it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cache/store/store.hpp"
#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using std::chrono::steady_clock;

std::size_t stored_trials(const std::string& path) {
  if (!std::filesystem::exists(path)) return 0;
  try {
    return TuningStore::open(path, OpenMode::read_only).trials({}).size();
  } catch (const Error&) {
    return 0;  // the file is there, its tables are not yet
  }
}

/// Interrupts `kiln tune` with these arguments once it has stored something.
void interrupt_tuning(const std::vector<std::string>& more) {
  try {
    (void)make_nvrtc_compiler();
  } catch (const Error& error) {
    GTEST_SKIP() << "no NVRTC here: " << error.what();
  }
  const test::TempFolder folder;
  const std::string path = folder.file("tuning.db");
  std::vector<std::string> arguments{"kiln", "tune", "gemm", "--db", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  test::ChildProcess tune([&](int out) {
    ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(KILN_PROGRAM, pointers.data());
  });
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  while (stored_trials(path) == 0 && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  tune.send(SIGINT);
  const std::string text = tune.output();
  const int status = tune.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status << "\n" << text;
  EXPECT_THAT(text, testing::HasSubstr("interrupted"));
  EXPECT_GT(stored_trials(path), 0U);
  const auto sessions = TuningStore::open(path, OpenMode::read_only).sessions();
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions.front().state, "interrupted");
}

TEST(TuneInterrupt, CtrlCEndsTheSessionCleanlyAndKeepsWhatWasFound) {
  interrupt_tuning(
      {"--m", "512", "--n", "512", "--k", "512", "--compile-only", "--arch", "sm_90a"});
}

TEST(TuneInterrupt, CtrlCEndsOneWhoseCompilersAreProcesses) {
  interrupt_tuning({"--m", "512", "--n", "512", "--k", "512", "--compile-only", "--arch", "sm_90a",
                    "--compile-threads", "4"});
}

TEST(TuneInterrupt, CtrlCEndsASessionOnTheEmulatedGpuToo) {
  interrupt_tuning(
      {"--m", "96", "--n", "96", "--k", "64", "--device", "emulated:h200", "--budget", "300s"});
}

}  // namespace
}  // namespace kiln
