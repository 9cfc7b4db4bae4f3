// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A run on the emulated GPU whose candidate never ends: interrupted, and killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
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
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kEndless = R"(//@ template   endless
//@ purpose    Never ends.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f16 b=f16 c=f16 d=f16 acc=f32
//@ priority   -200
//@ launch     endless
//@   grid     1
//@   block    threads

#include "common/gemm_args.cuh"

struct EndlessConfig {  //@ config
  int threads;  //@ tune 32* 64
};

template <EndlessConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads) endless(const kiln::GemmArgs args) {
  while (args.m > 0) asm volatile("");
}
)";

class TuneEndless : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)make_nvrtc_compiler();
    } catch (const Error& error) {
      GTEST_SKIP() << "no NVRTC here: " << error.what();
    }
    std::filesystem::create_directory(folder.file("templates"));
    test::write_file(folder.file("templates/endless.cu"), kEndless);
    // Defaults come first, by priority: one that ends, then the one that does not.
    tune = start({"tune", "gemm", "--m", "32", "--n", "32", "--k", "32", "--templates",
                  "endless,gemm_naive", "--budget", "300s"});
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (!endless_runs() && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_TRUE(endless_runs()) << counts();
  }
  std::unique_ptr<test::ChildProcess> start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), KILN_PROGRAM);
    arguments.insert(arguments.end(),
                     {"--db", path, "--device", "emulated:h200", "--template-path",
                      folder.file("templates"), "--cubin-store", folder.file("cubins.db")});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return std::make_unique<test::ChildProcess>([&](int out) {
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      ::execv(KILN_PROGRAM, pointers.data());
    });
  }
  std::string output_of(std::vector<std::string> arguments) {
    return start(std::move(arguments))->output();
  }
  [[nodiscard]] std::string counts() const {
    test::PlainSqlite database(path);
    return database.value("SELECT group_concat(outcome || ': ' || message) FROM trials") +
           "; attempts: " + database.value("SELECT count(*) FROM attempts");
  }
  /// One candidate is stored, and the next is on the device.
  [[nodiscard]] bool endless_runs() const {
    if (!std::filesystem::exists(path)) return false;
    test::PlainSqlite database(path);
    try {
      return database.value("SELECT count(*) FROM trials") == "1" &&
             database.value("SELECT count(*) FROM attempts") == "1";
    } catch (const std::exception&) {
      return false;  // locked at the moment
    }
  }

  test::TempFolder folder;
  std::string path = folder.file("tuning.db");
  std::unique_ptr<test::ChildProcess> tune;
};

TEST_F(TuneEndless, CtrlCEndsItWithinTwoSecondsAndSaysNothingAgainstTheCandidate) {
  const auto before = steady_clock::now();
  tune->send(SIGINT);
  const int status = tune->wait();
  const std::chrono::duration<double> took = steady_clock::now() - before;
  EXPECT_LT(took.count(), 2.0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
  EXPECT_THAT(tune->output(), HasSubstr("interrupted"));
  const TuningStore store = TuningStore::open(path, OpenMode::read_only);
  ASSERT_EQ(store.trials({}).size(), 1U);
  EXPECT_EQ(store.trials({}).front().key.template_name, "gemm_naive");
  EXPECT_EQ(store.sessions().front().state, "interrupted");
  EXPECT_EQ(test::PlainSqlite(path).value("SELECT count(*) FROM attempts"), "0");
}

TEST_F(TuneEndless, AKilledSessionDoesNotRunForEver) {
  const std::vector<std::string> show{"show", "gemm", "--m", "32", "--n", "32", "--k", "32"};
  EXPECT_THAT(output_of({"list"}), HasSubstr("running"));
  EXPECT_THAT(output_of(show), HasSubstr("running"));
  tune->kill_now();
  (void)tune->wait();
  for (const auto& verb : {std::vector<std::string>{"list"}, show}) {
    EXPECT_THAT(output_of(verb), HasSubstr("interrupted"));
    EXPECT_THAT(output_of(verb), Not(HasSubstr("running")));
    auto as_json = verb;
    as_json.emplace_back("--json");
    EXPECT_THAT(output_of(as_json), HasSubstr("\"interrupted\""));
    EXPECT_THAT(output_of(as_json), Not(HasSubstr("\"running\"")));
  }
}

}  // namespace
}  // namespace kiln
