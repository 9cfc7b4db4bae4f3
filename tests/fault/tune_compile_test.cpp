// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the compiler does to the program: it never ends, it does not survive, it finds no room.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/store/store.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/fault/slow_sources.hpp"
#include "tests/fault/victim.hpp"

namespace kiln {
namespace {

using std::chrono::steady_clock;
using test::SlowSources;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

class TuneCompile : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
  void write(const SlowSources& sources) const {
    std::filesystem::create_directories(folder.file("templates"));
    test::write_file(folder.file("templates/threefold.cu"), sources.operation_file());
    test::write_file(folder.file("templates/slow.cu"), sources.template_file());
  }
  /// `verb` of the operation, in a child that `prepare` makes ready.
  [[nodiscard]] std::unique_ptr<test::ChildProcess> start(
      const std::string& verb, const std::vector<std::string>& more,
      const std::function<void()>& prepare = [] {}) const {
    std::vector<std::string> words{KILN_PROGRAM, verb,       "threefold",    "--len",
                                   "1000",       "--device", "emulated:h200"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return std::make_unique<test::ChildProcess>([&](int out) {
      ::setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
      ::setenv("XDG_DATA_HOME", folder.file("data").c_str(), 1);
      ::setenv("KILN_TEMPLATE_PATH", folder.file("templates").c_str(), 1);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      prepare();
      ::execv(KILN_PROGRAM, pointers.data());
    });
  }
  [[nodiscard]] std::string database() const { return folder.file("data/kiln/tuning.db"); }

  test::TempFolder folder;
};

TEST_F(TuneCompile, CtrlCEndsAReferenceThatCompilesForEver) {
  write({.reference = SlowSources::loops(1500), .kernel = ""});
  const auto tune = start("tune", {"--compile-threads", "1"});
  // The kernels of the verifier and the first candidates are compiled; then only that is left.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const auto before = steady_clock::now();
  tune->send(SIGINT);
  const std::string text = tune->output();
  const int status = tune->wait();
  EXPECT_LT(seconds_since(before), 2.0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status << text;
  EXPECT_EQ(TuningStore::open(database(), OpenMode::read_only).sessions().front().state,
            "interrupted");
}

TEST_F(TuneCompile, AKernelThatTheCompilerDoesNotSurviveHasFailedAndTheSessionGoesOn) {
  write({});
  test::write_file(folder.file("templates/nested.cu"),
                   SlowSources{"", SlowSources::nested()}.template_file("nested"));
  const auto tune = start("tune", {"--compile-threads", "1", "--max-candidates", "4"});
  const std::string text = tune->output();
  int status = tune->wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << text;
  const auto trials = TuningStore::open(database(), OpenMode::read_only).trials({});
  ASSERT_EQ(trials.size(), 5U) << "four candidates, the best of them once more with all checks";
  int failed = 0;
  for (const Trial& trial : trials) {
    const bool nested = trial.key.template_name == "nested";
    EXPECT_EQ(trial.outcome, nested ? Outcome::compile_failed : Outcome::ok) << trial.message;
    if (nested) {
      EXPECT_THAT(trial.message, HasSubstr("1000 levels deep"));
    }
    failed += nested ? 1 : 0;
  }
  EXPECT_GT(failed, 0);
  const auto verify = start("verify", {"--template", "nested"});
  const std::string verdict = verify->output();
  status = verify->wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status << verdict;
  EXPECT_THAT(verdict, HasSubstr("nested.cu(12): error: brackets"));
}

// As in a container with a limit on processes.
TEST_F(TuneCompile, WithRoomForFewProcessesAndThreadsItGoesOnWithFewer) {
  write({});
  constexpr uid_t kNobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (!is_root) GTEST_SKIP() << "the user has other processes";
  ::chmod(folder.path().c_str(), 0711);
  for (const char* name : {"data", "cache"}) {
    std::filesystem::create_directory(folder.file(name));
    ASSERT_EQ(::chown(folder.file(name).c_str(), kNobody, kNobody), 0);
  }
  int successes = 0;
  for (const rlim_t most : {1, 2, 3, 4, 6, 9}) {
    const auto tune =
        start("tune", {"--compile-threads", "8", "--max-candidates", "6", "--again"}, [&] {
          const rlimit limit{most, most};
          if (::setrlimit(RLIMIT_NPROC, &limit) != 0 || ::setgroups(0, nullptr) != 0 ||
              ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
            ::_exit(77);
          }
          if (::access(KILN_PROGRAM, X_OK) != 0) ::_exit(77);
        });
    const std::string text = tune->output();
    const int status = tune->wait();
    ASSERT_TRUE(WIFEXITED(status)) << most << ": " << status << text;
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no other user can run the program";
    // Where there is not even room for the process that measures, it says so.
    EXPECT_THAT(WEXITSTATUS(status), AnyOf(Eq(0), Eq(4))) << most << ": " << text;
    EXPECT_THAT(text, Not(HasSubstr("internal error"))) << most;
    successes += WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  EXPECT_GE(successes, 3);
}

}  // namespace
}  // namespace kiln
