// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kiln/error.hpp"
#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CompileOnlyTest : public SessionTest {
 protected:
  CompileOnlyTest() {
    // More registers with x, spills for the last value of y.
    compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
      FakeCompilation compilation;
      const std::string& name = compile.name_expressions.at(0);
      compilation.resources.registers = static_cast<int>(160 - 32 * config_value(name, "x"));
      if (config_value(name, "y") == 2) compilation.warnings = {"C7510 wgmma is serialised"};
      return compilation;
    });
  }
  TuneResult run(const std::string& arch = "sm_90a") {
    TuningStore store = open();
    observer = {};
    observer.after_trial = after_trial;
    return tune_compile_only(request, space(), arch, catalog, compiler, store, observer, stop);
  }
  [[nodiscard]] int compilations() const { return compiler->compilations(); }
};

TEST_F(CompileOnlyTest, CompilesTheWholeSpaceAndRanksByOccupancy) {
  const auto result = run();
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.progress.done, 12U);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), 8U);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::rejected), 4U);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.at("x"), 3);
  double best = 0.0;
  for (const auto& trial : stored()) {
    EXPECT_EQ(trial.provenance, Provenance::compiled);
    ASSERT_TRUE(trial.resources);
    EXPECT_GT(trial.resources->occupancy, 0.0);
    EXPECT_FALSE(trial.timing);
    EXPECT_FALSE(trial.verification);
    if (eligible(trial)) best = std::max(best, trial.resources->occupancy);
  }
  EXPECT_EQ(result.best->resources->occupancy, best);
}

TEST_F(CompileOnlyTest, TheDeviceClassIsTheArchitectures) {
  const auto result = run("90a");
  const auto limits = *limits_of_arch("sm_90a");
  const DeviceClass expected{"compile-only", "sm_90a", limits.sm_count, limits.l2_bytes, ""};
  EXPECT_EQ(result.session.device, expected);
  EXPECT_EQ(stored().front().key.device, expected);
  EXPECT_EQ(stored().front().environment.toolkit, "nvrtc 99.0");
}

TEST_F(CompileOnlyTest, ResumesWithoutCompilingAgain) {
  request.budget.candidates = 7;
  const auto first = run();
  EXPECT_EQ(first.session.state, "budget");
  EXPECT_TRUE(first.ended_by_count);
  EXPECT_EQ(stored().size(), 7U);
  request.budget.candidates = 0;
  const auto result = run();
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.progress.known, 7U);
  EXPECT_EQ(result.progress.done, 5U);
  EXPECT_EQ(compilations(), 12);
  EXPECT_EQ(result.best->key.config.at("x"), 3);
}

TEST_F(CompileOnlyTest, ArchitecturesAreKeptApart) {
  (void)run("sm_90a");
  EXPECT_EQ(run("sm_80").progress.known, 0U);
  EXPECT_EQ(stored().size(), 24U);
}

TEST_F(CompileOnlyTest, DoesNotMixWithMeasurements) {
  (void)run();
  ScriptedEvaluator evaluator(by_config);
  compiler = std::make_shared<FakeCompiler>();
  EXPECT_EQ(SessionTest::run(evaluator).progress.known, 0U);
}

TEST_F(CompileOnlyTest, KeepsTheTimeBudget) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    return FakeCompilation{};
  });
  request.compile_threads = 1;
  request.budget.seconds = 0.15;
  const auto result = run();
  EXPECT_EQ(result.session.state, "budget");
  EXPECT_FALSE(result.ended_by_count);
  EXPECT_LT(result.progress.done, 12U);
}

TEST_F(CompileOnlyTest, StopsOnRequest) {
  after_trial = [this](std::size_t trials) { stop = trials == 3; };
  EXPECT_EQ(run().session.state, "interrupted");
  EXPECT_EQ(stored().size(), 3U);
}

TEST_F(CompileOnlyTest, CompileErrorsAreOutcomes) {
  compiler = std::make_shared<FakeCompiler>([](const CompileRequest&) {
    FakeCompilation compilation;
    compilation.ok = false;
    compilation.log = "no";
    return compilation;
  });
  const auto result = run();
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::compile_failed), 12U);
}

TEST_F(CompileOnlyTest, AnUnknownArchitectureIsAnError) {
  try {
    (void)run("sm_13");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("sm_90a"));
  }
  EXPECT_THAT(open().sessions(), IsEmpty());
}

}  // namespace
}  // namespace kiln::testing
