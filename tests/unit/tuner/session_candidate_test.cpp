// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/error.hpp"
#include "tests/unit/tuner/session_fixture.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"

namespace kiln::testing {
namespace {

using ::testing::HasSubstr;

/// Prepares candidates of one toy template for sm_90a.
class PrepareTest : public ::testing::Test {
 protected:
  PreparedCandidate prepare(const ToyTemplate& toy, FakeCompiler& compiler,
                            Admission admission = Admission::competitive,
                            const Config& config = {{"x", 1}}) {
    const Catalog catalog = catalog_with(folder, {toy});
    return prepare_candidate(
        {toy.name, config}, catalog, compiler, limits,
        verification_cases(problem_case({Gemm::of(DType::f16, 512, 256, 128)}), Thoroughness::full),
        admission);
  }
  static FakeCompiler::Decide giving(const KernelResources& resources,
                                     const std::vector<std::string>& warnings = {}) {
    return [=](const CompileRequest&) {
      FakeCompilation compilation;
      compilation.resources = resources;
      compilation.warnings = warnings;
      return compilation;
    };
  }

  TempFolder folder;
  DeviceLimits limits = *limits_of_arch("sm_90a");
};

TEST_F(PrepareTest, AGoodCandidateIsReadyToRun) {
  FakeCompiler compiler(giving({.registers = 64, .smem_static_bytes = 512}));
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}, "true", "x * 1024"}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::ok);
  EXPECT_EQ(prepared.message, "");
  EXPECT_EQ(prepared.job.label, "toy x=1");
  EXPECT_FALSE(prepared.job.unit.cubin.empty());
  ASSERT_EQ(prepared.job.unit.names.size(), 1U);
  EXPECT_EQ(prepared.job.unit.names[0], prepared.rendered.name_expressions[0]);
  EXPECT_EQ(prepared.resources.smem_dynamic_bytes, 1024);
  const auto expected = occupancy(limits, 128, 64, 1536);
  EXPECT_DOUBLE_EQ(prepared.resources.occupancy, expected.fraction);
  // One geometry per case, of that case's sizes.
  ASSERT_EQ(prepared.job.geometry.size(), 5U);
  EXPECT_EQ(prepared.job.geometry[0][0].grid, (std::array<std::uint32_t, 3>{16, 32, 1}));
  EXPECT_EQ(prepared.job.geometry[1][0].grid, (std::array<std::uint32_t, 3>{1, 1, 1}));
  EXPECT_EQ(prepared.job.geometry[2][0].grid, (std::array<std::uint32_t, 3>{9, 5, 1}));
  EXPECT_EQ(prepared.job.workspace_bytes.size(), 5U);
}

TEST_F(PrepareTest, CasesThatTheConfigurationIsInvalidForHaveNoLaunches) {
  FakeCompiler compiler;
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}, "k % 8 == 0"}, compiler);
  ASSERT_EQ(prepared.outcome, Outcome::ok);
  EXPECT_EQ(prepared.job.geometry[0].size(), 1U);
  EXPECT_TRUE(prepared.job.geometry[1].empty());
  EXPECT_TRUE(prepared.job.geometry[2].empty());
  EXPECT_TRUE(prepared.job.geometry[3].empty());
  EXPECT_EQ(prepared.job.geometry[4].size(), 1U);
}

TEST_F(PrepareTest, TooMuchSharedMemoryIsFoundBeforeCompiling) {
  FakeCompiler compiler;
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}, "true", "300000"}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::out_of_resources);
  EXPECT_THAT(prepared.message, HasSubstr("smem \"300000\""));
  EXPECT_EQ(compiler.compilations(), 0);
  EXPECT_TRUE(prepared.job.geometry.empty());
}

TEST_F(PrepareTest, TooManyThreadsAreFoundBeforeCompiling) {
  FakeCompiler compiler;
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}, "true", "0", "1024, 2"}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::out_of_resources);
  EXPECT_THAT(prepared.message, HasSubstr("2048 threads"));
  EXPECT_EQ(compiler.compilations(), 0);
}

TEST_F(PrepareTest, StaticSharedMemoryCountsAsWell) {
  FakeCompiler compiler(giving({.registers = 32, .smem_static_bytes = 40000}));
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}, "true", "200000"}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::out_of_resources);
  EXPECT_THAT(prepared.message, HasSubstr("240000 bytes of shared memory"));
}

TEST_F(PrepareTest, RegistersOfTheWholeBlockMustFit) {
  FakeCompiler fits(giving({.registers = 64}));
  EXPECT_EQ(prepare({"toy", {{"x", {1}}}, "true", "0", "1024"}, fits).outcome, Outcome::ok);
  FakeCompiler exceeds(giving({.registers = 65}));
  const auto prepared = prepare({"toy", {{"x", {1}}}, "true", "0", "1024"}, exceeds);
  EXPECT_EQ(prepared.outcome, Outcome::out_of_resources);
  EXPECT_THAT(prepared.message, HasSubstr("registers per block"));
}

TEST_F(PrepareTest, CompileErrorsCarryTheLog) {
  FakeCompiler compiler([](const CompileRequest&) {
    FakeCompilation compilation;
    compilation.ok = false;
    compilation.log = "toy.cu(3): error: expected a ;";
    return compilation;
  });
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::compile_failed);
  EXPECT_EQ(prepared.message, "toy.cu(3): error: expected a ;");
}

TEST_F(PrepareTest, SpillsAreRejectedWithTheNumbers) {
  FakeCompiler compiler(
      giving({.registers = 255, .spill_store_bytes = 480, .spill_load_bytes = 560}));
  const auto prepared =
      prepare({.name = "toy", .tunables = {{"x", {1, 2}}}, .costs = {"issues = x"}}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::rejected);
  EXPECT_THAT(prepared.message, HasSubstr("480 bytes of spill stores, 560 bytes of spill loads"));
  EXPECT_EQ(prepared.resources.spill_store_bytes, 480);
}

TEST_F(PrepareTest, WithoutCostLinesSpillsAreMeasured) {
  FakeCompiler compiler(giving({.registers = 255, .spill_store_bytes = 4800}));
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::ok) << prepared.message;
}

TEST_F(PrepareTest, AFewSpilledBytesAreNoReason) {
  FakeCompiler compiler(
      giving({.registers = 168, .spill_store_bytes = 144, .spill_load_bytes = 240}));
  EXPECT_EQ(prepare({.name = "toy", .tunables = {{"x", {1, 2}}}, .costs = {"issues = x"}}, compiler)
                .outcome,
            Outcome::ok);
}

TEST_F(PrepareTest, SerialisedInstructionsAreRejected) {
  for (const char* code : {"C7508", "C7510", "C7515", "C7602"}) {
    FakeCompiler compiler(giving({.registers = 64}, {std::string(code) + " wgmma serialised"}));
    const auto prepared = prepare({"toy", {{"x", {1, 2}}}}, compiler);
    EXPECT_EQ(prepared.outcome, Outcome::rejected) << code;
    EXPECT_THAT(prepared.message, HasSubstr(code));
  }
  FakeCompiler harmless(giving({.registers = 64}, {"C7507 something else", "C7516 and that"}));
  EXPECT_EQ(prepare({"toy", {{"x", {1, 2}}}}, harmless).outcome, Outcome::ok);
}

TEST_F(PrepareTest, WhatMerelyRunsIsAdmittedOnRequest) {
  FakeCompiler compiler(giving({.registers = 255, .spill_store_bytes = 800}, {"C7510 serialised"}));
  EXPECT_EQ(prepare({"toy", {{"x", {1, 2}}}}, compiler, Admission::runnable).outcome, Outcome::ok);
}

TEST_F(PrepareTest, AnInvalidConfigurationIsAMisuse) {
  FakeCompiler compiler;
  try {
    (void)prepare({"toy", {{"x", {1, 2}}}}, compiler, Admission::runnable, {{"x", 3}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST_F(PrepareTest, ALaunchFormulaThatFailsIsTheCandidatesFault) {
  FakeCompiler compiler;
  const auto prepared = prepare({"toy", {{"x", {1, 2}}}, "true", "0", "128 / (x - 1)"}, compiler);
  EXPECT_EQ(prepared.outcome, Outcome::out_of_resources);
  EXPECT_THAT(prepared.message, HasSubstr("undefined"));
}

}  // namespace
}  // namespace kiln::testing
