// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/process_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tuner/worker/messages.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::vector<std::string> planted_command(const std::string& argument = "") {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<std::string> command{(here / "planted_compiler").string()};
  if (!argument.empty()) command.push_back(argument);
  return command;
}

CompileRequest source(const std::string& text) {
  CompileRequest request;
  request.source = text;
  request.name_expressions = {"kernel<1>"};
  return request;
}

ProcessCompiler::Make fake(const char* identity = "nvrtc 99.0") {
  return [=] { return std::make_unique<testing::FakeCompiler>(nullptr, identity); };
}

int niceness_of(const std::string& process) {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(std::stol(process)));
}

class ProcessCompilerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::future<CompileResult> begin(const std::string& text) {
    return std::async(std::launch::async, [this, text] {
      CompileRequest request = source(text);
      request.give_up = [this] { return stop_.load(); };
      return compiler_.compile(request);
    });
  }

  std::atomic<bool> stop_{false};
  std::vector<std::string> warnings_;
  ProcessCompiler compiler_{planted_command(), fake(),
                            [this](const std::string& text) { warnings_.push_back(text); }};
};

TEST_F(ProcessCompilerTest, GivesWhatTheCompilerInTheChildGives) {
  const CompileResult result = compiler_.compile(source("right"));
  EXPECT_TRUE(result.ok);
  EXPECT_FALSE(result.cubin.empty());
  EXPECT_THAT(result.lowered_names, ElementsAre("kernel<1>"));
  EXPECT_THAT(result.warnings, ElementsAre("C7508 of right"));
  EXPECT_EQ(result.resources.registers, 64);
  EXPECT_DOUBLE_EQ(result.seconds, 0.001);
  EXPECT_EQ(compiler_.identity(), "nvrtc 99.0");
}

TEST_F(ProcessCompilerTest, OneThreadHasOneChildAndThreeHaveThree) {
  const std::string first = compiler_.compile(source("right")).log;
  EXPECT_EQ(compiler_.compile(source("right")).log, first);
  EXPECT_EQ(niceness_of(first), getpriority(PRIO_PROCESS, 0));
  std::vector<std::future<CompileResult>> all;
  for (int i = 0; i < 3; ++i) all.push_back(begin("slow"));
  std::set<std::string> processes;
  for (auto& one : all) processes.insert(one.get().log);
  EXPECT_EQ(processes.size(), 3U);
  EXPECT_TRUE(processes.contains(first));
  // Many would keep the session from its work.
  for (const std::string& each : processes) {
    EXPECT_GT(niceness_of(each), getpriority(PRIO_PROCESS, 0));
  }
}

TEST_F(ProcessCompilerTest, AChildThatDiesFailsItsCompilationOnly) {
  auto other = begin("slow");
  const CompileResult crashed = compiler_.compile(source("crash"));
  EXPECT_FALSE(crashed.ok);
  EXPECT_THAT(crashed.log,
              HasSubstr("kernel.cu: the compiler crashed twice while it compiled this file "
                        "(the compiler process was killed by signal 6"));
  EXPECT_THAT(crashed.log, HasSubstr("Next: look for huge or deeply nested code"));
  EXPECT_TRUE(other.get().ok);
  EXPECT_TRUE(compiler_.compile(source("right")).ok);
}

// A system that is short of memory may kill all that wait for work.
TEST_F(ProcessCompilerTest, ChildrenThatAreKilledCostNothing) {
  auto other = begin("slow");
  std::set<std::string> processes{compiler_.compile(source("slow")).log, other.get().log};
  ASSERT_EQ(processes.size(), 2U);
  for (const std::string& process : processes) {
    ASSERT_EQ(kill(static_cast<pid_t>(std::stol(process)), SIGKILL), 0);
  }
  const CompileResult result = compiler_.compile(source("right"));
  EXPECT_TRUE(result.ok) << result.log;
  EXPECT_FALSE(processes.contains(result.log));
}

TEST_F(ProcessCompilerTest, BeingKilledTwiceSaysNothingAboutAKernel) {
  try {
    (void)compiler_.compile(source("killed"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compiler);
    EXPECT_THAT(error.what(), HasSubstr("If memory was short"));
  }
  EXPECT_TRUE(compiler_.compile(source("right")).ok);
}

TEST_F(ProcessCompilerTest, GivingUpEndsWhatRunsAndNothingElse) {
  auto endless = begin("endless");
  ASSERT_EQ(endless.wait_for(milliseconds(300)), std::future_status::timeout);
  auto other = std::async(std::launch::async, [this] { return compiler_.compile(source("slow")); });
  stop_ = true;
  ASSERT_EQ(endless.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  const CompileResult result = endless.get();
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(result.given_up);
  EXPECT_TRUE(other.get().ok);
  EXPECT_TRUE(compiler_.compile(source("right")).ok);
}

TEST_F(ProcessCompilerTest, OnesThatWereStartedEarlyAreUsedFirst) {
  ProcessCompiler compiler(planted_command(), fake(), {}, 2);
  const std::string first = compiler.compile(source("right")).log;
  auto other = std::async(std::launch::async, [&] { return compiler.compile(source("slow")); });
  EXPECT_TRUE(other.get().ok);
  EXPECT_EQ(compiler.compile(source("right")).log, first);
}

// As where the number of processes is limited, and only one fits.
TEST_F(ProcessCompilerTest, WithRoomForOneChildThreadsTakeTurns) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto link =
      std::filesystem::temp_directory_path() / ("planted_compiler." + std::to_string(::getpid()));
  std::filesystem::create_symlink(here / "planted_compiler", link);
  ProcessCompiler compiler({link.string()}, fake(),
                           [this](const std::string& text) { warnings_.push_back(text); });
  auto slow = std::async(std::launch::async, [&] { return compiler.compile(source("slow")); });
  ASSERT_EQ(slow.wait_for(milliseconds(150)), std::future_status::timeout);
  std::filesystem::remove(link);  // no other can be started
  std::set<std::string> processes;
  for (int i = 0; i < 3; ++i) processes.insert(compiler.compile(source("right")).log);
  processes.insert(slow.get().log);
  EXPECT_EQ(processes.size(), 1U);
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
  // The only one is gone, and there is room again.
  std::filesystem::create_symlink(here / "planted_compiler", link);
  EXPECT_FALSE(compiler.compile(source("crash")).ok);
  EXPECT_TRUE(compiler.compile(source("right")).ok);
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
  std::filesystem::remove(link);
}

TEST_F(ProcessCompilerTest, AWarningOfManyChildrenIsPassedOnOnce) {
  const auto first = begin("slow");
  EXPECT_TRUE(compiler_.compile(source("warn")).ok);
  EXPECT_TRUE(compiler_.compile(source("warn")).ok);
  first.wait();
  EXPECT_TRUE(compiler_.compile(source("warn")).ok);
  EXPECT_THAT(warnings_, ElementsAre("no room"));
}

TEST_F(ProcessCompilerTest, ErrorsOfTheCompilerAreThrownHere) {
  try {
    (void)compiler_.compile(source("throw"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compiler);
    EXPECT_STREQ(error.what(), "the toolkit is gone");
  }
  EXPECT_TRUE(compiler_.compile(source("right")).ok);
}

// No candidate is blamed for it.
TEST_F(ProcessCompilerTest, WithoutChildrenItCompilesInThisProcessAndSaysWhy) {
  const auto warning_of = [&](std::vector<std::string> command, const char* identity) {
    warnings_.clear();
    ProcessCompiler compiler(std::move(command), fake(identity),
                             [this](const std::string& text) { warnings_.push_back(text); });
    for (int i = 0; i < 2; ++i) {
      const CompileResult result = compiler.compile(source("right"));
      EXPECT_TRUE(result.ok);
      EXPECT_EQ(result.log, "") << "not of a child";
    }
    EXPECT_EQ(warnings_.size(), 1U);
    return warnings_.empty() ? "" : warnings_.front();
  };
  EXPECT_THAT(warning_of({"/no/such/program"}, "nvrtc 99.0"), HasSubstr("No such file"));
  EXPECT_THAT(warning_of(planted_command("none"), "nvrtc 99.0"),
              HasSubstr("no NVRTC can be loaded"));
  EXPECT_THAT(warning_of(planted_command("dies"), "nvrtc 99.0"),
              HasSubstr("code 9; it printed: no such luck"));
  EXPECT_THAT(warning_of(planted_command(), "nvrtc 98.0"),
              HasSubstr("the new process uses nvrtc 99.0, but this process uses nvrtc 98.0"));
}

WorkerProcess::Patience twenty_seconds() {
  return {Clock::now() + std::chrono::seconds(20)};
}

void expect_greeting(WorkerProcess& process) {
  Frame greeting;
  ASSERT_EQ(process.receive(greeting, twenty_seconds()), WorkerProcess::Result::ok);
  ASSERT_EQ(greeting.type, FrameType::greeting);
}

// Nobody waits for a compilation whose session is gone.
TEST(CompilerProcess, EndsWithItsSessionWhateverItDoes) {
  WorkerProcess process(planted_command());
  expect_greeting(process);
  const std::string frame = encode_frame(FrameType::compile, encode_message(source("endless")));
  ASSERT_EQ(process.send(frame, twenty_seconds()), WorkerProcess::Result::ok);
  std::this_thread::sleep_for(milliseconds(200));
  process.hang_up();
  Frame none;
  (void)process.receive(none, twenty_seconds());
  std::this_thread::sleep_for(milliseconds(1800));
  EXPECT_EQ(process.end().text, "exited with code 0");
}

TEST(CompilerProcess, RefusesWhatIsNoRequest) {
  WorkerProcess process(planted_command());
  expect_greeting(process);
  Frame answer;
  for (const FrameType type : {FrameType::evaluate, FrameType::compile}) {
    ASSERT_EQ(process.send(encode_frame(type, "nonsense"), twenty_seconds()),
              WorkerProcess::Result::ok);
    ASSERT_EQ(process.receive(answer, twenty_seconds()), WorkerProcess::Result::ok);
    EXPECT_EQ(answer.type, FrameType::error);
  }
}

}  // namespace
}  // namespace kiln
