// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Candidates that hang, fault and die in a real child process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "kiln/error.hpp"
#include "tests/unit/tuner/planted_kernels.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/worker/evaluator.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// The worker program is beside this one.
std::vector<std::string> worker_command(const std::string& argument = "") {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<std::string> command{(here / "planted_worker").string()};
  if (!argument.empty()) command.push_back(argument);
  return command;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() : evaluator_(worker_command()) { evaluator_.set_up(setup_); }

  [[nodiscard]] EvaluationJob job(const std::string& name,
                                  std::string_view behaviour = testing::kBehaveOk) const {
    EvaluationJob result = testing::planted_job(setup_, name, 1000.0, behaviour);
    result.timeout_s = 20.0;
    return result;
  }
  void expect_good() {
    const Evaluation good = evaluator_.evaluate(job("right"));
    EXPECT_EQ(good.outcome, Outcome::ok) << good.message;
    EXPECT_TRUE(good.timing);
  }

  EvaluationSetup setup_ = testing::planted_setup(testing::planted_cases());
  WorkerEvaluator evaluator_;
};

TEST_F(WorkerTest, GivesTheDevicesInfoAndResults) {
  EXPECT_EQ(evaluator_.info().device_class.name, "Fake H200");
  expect_good();
  const Evaluation wrong = evaluator_.evaluate(job("shifts_rows"));
  EXPECT_EQ(wrong.outcome, Outcome::wrong_result);
  EXPECT_THAT(wrong.verification.evidence, HasSubstr("row 1"));
  EXPECT_EQ(evaluator_.restarts(), 0);
}

// All that it needs to know of one travels with the set-up: the child has declared nothing.
TEST_F(WorkerTest, JudgesDeclaredOperations) {
  const Operation& operation = testing::planted_operation(testing::kScaleRows);
  const EvaluationSetup setup = testing::declared_setup(declared_case(
      operation, testing::problem_of(operation, {{"rows", 4}, {"cols", 8}}), {{"scale", 0.3}}));
  evaluator_.set_up(setup);
  const Evaluation right = evaluator_.evaluate(testing::declared_job(setup, "scale_right"));
  EXPECT_EQ(right.outcome, Outcome::ok) << right.message;
  EXPECT_TRUE(right.timing);
  const Evaluation wrong = evaluator_.evaluate(testing::declared_job(setup, "scale_writes_behind"));
  EXPECT_EQ(wrong.outcome, Outcome::wrong_result);
  EXPECT_THAT(wrong.message, HasSubstr("after y"));
}

TEST_F(WorkerTest, AHangIsKilledAtTheTimeLimit) {
  EvaluationJob hanging = job("sleeps_forever");
  hanging.timeout_s = 0.5;
  const auto start = Clock::now();
  const Evaluation result = evaluator_.evaluate(hanging);
  EXPECT_LT(seconds_since(start), 1.5);
  EXPECT_EQ(result.outcome, Outcome::timed_out);
  EXPECT_THAT(result.message, HasSubstr("0.5 s"));
  EXPECT_EQ(evaluator_.restarts(), 1);
  expect_good();
}

TEST_F(WorkerTest, AHangThatPrintsIsKilledAtTheTimeLimitAsWell) {
  EvaluationJob hanging = job("prints_forever");
  hanging.timeout_s = 0.5;
  const auto start = Clock::now();
  EXPECT_EQ(evaluator_.evaluate(hanging).outcome, Outcome::timed_out);
  EXPECT_LT(seconds_since(start), 1.5);
  expect_good();
}

TEST_F(WorkerTest, ACrashSaysHowTheProcessEnded) {
  const Evaluation aborted = evaluator_.evaluate(job("aborts"));
  EXPECT_EQ(aborted.outcome, Outcome::crashed);
  EXPECT_THAT(aborted.message, AllOf(HasSubstr("signal 6"), HasSubstr("assertion failed")));
  const Evaluation faulted = evaluator_.evaluate(job("segfaults"));
  EXPECT_EQ(faulted.outcome, Outcome::crashed);
  EXPECT_THAT(faulted.message, HasSubstr("signal 11"));
  const Evaluation exited = evaluator_.evaluate(job("exits"));
  EXPECT_EQ(exited.outcome, Outcome::crashed);
  EXPECT_THAT(exited.message, HasSubstr("code 7"));
  expect_good();
  EXPECT_EQ(evaluator_.restarts(), 3);
}

// As the system does when memory is short: that says nothing about the candidate.
TEST_F(WorkerTest, ACandidateWhoseProcessIsKilledFromOutsideGetsOneSecondTry) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-mark-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  setenv("KILN_TEST_MARK", (folder + "/killed").c_str(), 1);
  {
    WorkerEvaluator evaluator(worker_command());
    evaluator.set_up(setup_);
    const Evaluation second = evaluator.evaluate(job("is_killed_once"));
    EXPECT_EQ(second.outcome, Outcome::ok) << second.message;
    EXPECT_TRUE(std::filesystem::exists(folder + "/killed"));
    EXPECT_EQ(evaluator.restarts(), 1);

    const Evaluation twice = evaluator.evaluate(job("is_killed"));
    EXPECT_EQ(twice.outcome, Outcome::crashed);
    EXPECT_THAT(twice.message, AllOf(HasSubstr("signal 9"), HasSubstr("twice in succession")));
    EXPECT_EQ(evaluator.restarts(), 3);
  }
  unsetenv("KILN_TEST_MARK");
  std::filesystem::remove_all(folder);
}

// `timeout` signals a process group, which a child leaves only after it was started.
TEST_F(WorkerTest, AChildThatIsKilledFromOutsideBeforeItGreetsIsStartedOnceMore) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-mark-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto through_shell = [&](const std::string& script) {
    std::vector<std::string> command{"/bin/sh", "-c", script + "; exec \"$@\"", "sh"};
    for (const auto& word : worker_command()) command.push_back(word);
    return command;
  };
  WorkerEvaluator evaluator(
      through_shell("cd " + folder + " && { test -e mark || { : >mark; kill -TERM $$; }; }"));
  EXPECT_EQ(evaluator.restarts(), 1);
  evaluator.set_up(setup_);
  EXPECT_EQ(evaluator.evaluate(job("right")).outcome, Outcome::ok);
  std::filesystem::remove_all(folder);

  try {
    const WorkerEvaluator never(through_shell("kill -TERM $$"));
    FAIL() << "it greeted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("signal 15"));
  }
}

TEST_F(WorkerTest, ACandidateThatRunsCanBeGivenUp) {
  const auto start = Clock::now();
  EXPECT_FALSE(
      evaluator_.evaluate(job("sleeps_forever"), [&] { return seconds_since(start) > 0.3; }));
  EXPECT_LT(seconds_since(start), 2.0);
  ComparisonRequest request;
  request.jobs = {job("right"), job("sleeps_forever")};
  const auto again = Clock::now();
  EXPECT_FALSE(evaluator_.compare(request, [&] { return seconds_since(again) > 0.3; }));
  EXPECT_LT(seconds_since(again), 4.0);
  expect_good();
}

TEST_F(WorkerTest, AStickyFaultReplacesTheProcess) {
  const Evaluation result = evaluator_.evaluate(job("right", testing::kBehaveIllegalAddress));
  EXPECT_EQ(result.outcome, Outcome::crashed);
  EXPECT_THAT(result.message, HasSubstr("illegal memory access"));
  expect_good();
  EXPECT_EQ(evaluator_.restarts(), 1);
}

TEST_F(WorkerTest, KernelsThatPrintDoNotDisturb) {
  EXPECT_EQ(evaluator_.evaluate(job("prints")).outcome, Outcome::ok);
  expect_good();
  EXPECT_EQ(evaluator_.restarts(), 0);
}

TEST_F(WorkerTest, SurvivesTwentyCandidatesEveryOtherOfThemBad) {
  const std::array<std::string, 5> bad{"aborts", "segfaults", "exits", "sleeps_forever",
                                       "drops_k_tail"};
  for (int i = 0; i < 10; ++i) {
    EvaluationJob killer = job(bad[static_cast<std::size_t>(i) % bad.size()]);
    if (killer.label == "sleeps_forever") killer.timeout_s = 0.3;
    EXPECT_NE(evaluator_.evaluate(killer).outcome, Outcome::ok) << killer.label;
    expect_good();
  }
  EXPECT_EQ(evaluator_.restarts(), 8);
}

TEST_F(WorkerTest, ComparesInTheChildAndSurvivesAHangThere) {
  ComparisonRequest request;
  request.jobs = {job("right"), job("right")};
  EXPECT_DOUBLE_EQ(evaluator_.compare(request).jobs[1].ratio, 1.0);
  request.jobs.push_back(job("sleeps_forever"));
  request.timeout_s = 0.5;
  const Comparison hung = evaluator_.compare(request);
  ASSERT_EQ(hung.jobs.size(), 3U);
  EXPECT_EQ(hung.jobs[0].outcome, Outcome::timed_out);
  expect_good();
}

TEST_F(WorkerTest, AnErrorOfTheSetUpReachesTheCallerAndLeavesTheChildUsable) {
  EvaluationSetup impossible = setup_;
  impossible.memory_limit_bytes = 1000;
  try {
    evaluator_.set_up(impossible);
    (void)evaluator_.make_ready({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("MiB"));
  }
  evaluator_.set_up(setup_);
  expect_good();
  EXPECT_EQ(evaluator_.restarts(), 0);
}

TEST_F(WorkerTest, ASetUpThatHangsCanBeGivenUp) {
  testing::FakeCubin hanging;
  hanging.names = {testing::kernel_name("sleeps_forever", gemm_of(setup_.cases[0]))};
  EvaluationSetup endless = setup_;
  endless.reference = {hanging.bytes(), hanging.names};
  evaluator_.set_up(endless);
  const auto start = Clock::now();
  EXPECT_FALSE(evaluator_.make_ready([&] { return seconds_since(start) > 0.3; }));
  EXPECT_LT(seconds_since(start), 2.0);
  // The next one finds a device that works.
  evaluator_.set_up(setup_);
  EXPECT_TRUE(evaluator_.make_ready([] { return false; }));
  expect_good();
}

TEST(Worker, AChildThatCannotStartIsAnError) {
  EXPECT_THROW(WorkerEvaluator({"/nonexistent/kiln"}), Error);
  try {
    WorkerEvaluator evaluator(worker_command("no-device"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_STREQ(error.what(), "there is no device here; plug one in");
  }
  try {
    WorkerEvaluator evaluator(worker_command("dies-at-start"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("code 9"), HasSubstr("no such luck")));
  }
  EXPECT_THROW(WorkerEvaluator(worker_command("babbles")), Error);
}

bool is_alive(pid_t pid) {
  return kill(pid, 0) == 0;
}

TEST(Worker, EndsWithItsOwner) {
  pid_t pid = 0;
  {
    WorkerProcess process(worker_command());
    pid = process.pid();
    Frame hello;
    ASSERT_EQ(process.receive(hello, {Clock::now() + std::chrono::seconds(20)}),
              WorkerProcess::Result::ok);
    EXPECT_EQ(hello.type, FrameType::hello);
    EXPECT_EQ(getpgid(pid), pid) << "it must be in a process group of its own";
  }
  EXPECT_FALSE(is_alive(pid));
}

TEST(Worker, AnEndThatNobodyMaySeeIsNotCalledASuccess) {
  auto* const before = signal(SIGCHLD, SIG_IGN);
  std::string ending;
  {
    WorkerProcess process(worker_command());
    ending = process.end().text;
  }
  signal(SIGCHLD, before);
  EXPECT_THAT(ending, HasSubstr("ended without an exit status"));
}

TEST(Worker, LeavesNoDescriptorsBehind) {
  const auto count = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = count();
  for (int i = 0; i < 3; ++i) {
    WorkerProcess process(worker_command());
    EXPECT_GT(count(), before);
    if (i == 1) (void)process.end();
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace kiln
