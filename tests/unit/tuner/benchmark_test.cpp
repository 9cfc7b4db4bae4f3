// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/benchmark.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kL2 = 64 << 10;

class BenchmarkTest : public ::testing::Test {
 protected:
  /// A kernel that takes `time_ns` in simulated time and records which operands it got.
  void use_kernel(double time_ns) {
    testing::FakeDeviceOptions options;
    options.time_ns = [time_ns](const testing::FakeLaunch&) { return time_ns; };
    device_ = testing::make_planted_device(std::move(options));
    ledger_ = std::make_unique<MemoryLedger>(*device_, 16 << 20);
    const EvaluationSetup setup = testing::planted_setup({gemm_});
    kernels_ = std::make_unique<SupportKernels>(*ledger_, setup.support);
    first_ = OperandSet(*ledger_, tuned_, "the test");
    const EvaluationJob job = testing::planted_job(setup, "right");
    DeviceStatus status;
    module_ = device_->load(job.unit.cubin, job.unit.names, status);
    ASSERT_TRUE(module_) << status.message;
  }
  [[nodiscard]] RotatingSets rotate(std::int64_t footprint) {
    return {*ledger_, *kernels_, first_, footprint, 5};
  }
  [[nodiscard]] TimedRun run() {
    return [this](const OperandSet& operands, void* stream) {
      const GemmArgs args = gemm_argument(tuned_, operands.arguments(tuned_.scalars, 0));
      seen_.push_back(args.a);
      return device_->launch({module_->functions()[0], LaunchGeometry{}, &args}, stream);
    };
  }

  GemmCase gemm_{Gemm::of(DType::f32, 32, 32, 32)};
  ProblemCase tuned_ = problem_case(gemm_);
  MeasurementPolicy policy_;
  std::unique_ptr<testing::FakeDevice> device_;
  std::unique_ptr<MemoryLedger> ledger_;
  std::unique_ptr<SupportKernels> kernels_;
  OperandSet first_;
  std::unique_ptr<LoadedModule> module_;
  std::vector<const void*> seen_;
};

TEST_F(BenchmarkTest, RotatesThroughMoreThanTheCacheHolds) {
  use_kernel(1000.0);
  const RotatingSets sets = rotate(3 * kL2);
  const std::int64_t each = OperandSet::touched_bytes(tuned_);
  EXPECT_GT(sets.count() * each, 3 * kL2);
  EXPECT_LE((sets.count() - 1) * each, 3 * kL2);
  EXPECT_EQ(rotate(0).count(), 1) << "a warm policy uses one set";

  const Benchmarked result = benchmark(*device_, sets, policy_, run(), 0.0);
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ(std::set<const void*>(seen_.begin(), seen_.end()).size(),
            static_cast<std::size_t>(sets.count()));
}

TEST_F(BenchmarkTest, OperandsOfAllSetsAreRandomAndDiffer) {
  use_kernel(1000.0);
  const RotatingSets sets = rotate(3 * kL2);
  std::set<float> first_elements;
  for (int i = 1; i < sets.count(); ++i) {
    const auto* b = reinterpret_cast<const float*>(sets.set(i)[kOperandB].data());
    EXPECT_NE(b[0], 0.0F);
    first_elements.insert(b[0]);
  }
  EXPECT_EQ(first_elements.size(), static_cast<std::size_t>(sets.count() - 1));
}

TEST_F(BenchmarkTest, CalibratesBatchesToThePolicysLength) {
  use_kernel(5000.0);
  const RotatingSets sets = rotate(3 * kL2);
  TimedCandidate candidate(*device_, sets, policy_, run());
  ASSERT_TRUE(candidate.status().ok());
  EXPECT_DOUBLE_EQ(candidate.estimate_ns(), 5000.0);
  EXPECT_GE(candidate.batch_ns(), 0.7 * policy_.batch_ms * 1e6);
  EXPECT_LE(candidate.batch_ns(), 1.6 * policy_.batch_ms * 1e6);
}

TEST_F(BenchmarkTest, LongBatchesHoldAsManyRunsAsTheyTake) {
  use_kernel(200e3);
  policy_.batch_ms = 500.0;
  const RotatingSets sets = rotate(0);
  TimedCandidate candidate(*device_, sets, policy_, run());
  EXPECT_GE(candidate.runs_per_batch(), 1750);
  EXPECT_LE(candidate.runs_per_batch(), 4000);
}

TEST_F(BenchmarkTest, ShortKernelsStopAtTenThousandRuns) {
  use_kernel(10.0);
  const RotatingSets sets = rotate(0);
  TimedCandidate candidate(*device_, sets, policy_, run());
  EXPECT_EQ(candidate.runs_per_batch(), 10000);
}

TEST_F(BenchmarkTest, LongKernelsStillWalkThroughTheSets) {
  use_kernel(3e6);
  const RotatingSets sets = rotate(3 * kL2);
  ASSERT_GT(sets.count(), policy_.samples) << "the test needs more sets than samples";
  TimedCandidate candidate(*device_, sets, policy_, run());
  EXPECT_EQ(candidate.runs_per_batch(), 1);
  EXPECT_EQ(std::set<const void*>(seen_.begin(), seen_.end()).size(),
            static_cast<std::size_t>(policy_.samples));
}

TEST_F(BenchmarkTest, TakesTheSamplesOfThePolicyAndSummarisesThem) {
  use_kernel(20000.0);
  const RotatingSets sets = rotate(0);
  const Benchmarked result = benchmark(*device_, sets, policy_, run(), 0.0);
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ(result.timing.samples_ns.size(), 15U);
  EXPECT_DOUBLE_EQ(result.timing.median_ns, 20000.0);
  EXPECT_EQ(result.timing.sm_clock_mhz, 1755);
  EXPECT_EQ(result.timing.temperature_c, 45);
}

TEST_F(BenchmarkTest, TakesFewSamplesOfWhatIsBehindTheBest) {
  use_kernel(20000.0);
  const RotatingSets sets = rotate(0);
  EXPECT_EQ(benchmark(*device_, sets, policy_, run(), 10000.0).timing.samples_ns.size(), 3U);
  EXPECT_EQ(benchmark(*device_, sets, policy_, run(), 19400.0).timing.samples_ns.size(), 3U);
  EXPECT_EQ(benchmark(*device_, sets, policy_, run(), 19500.0).timing.samples_ns.size(), 15U);
}

TEST_F(BenchmarkTest, SlowKernelsGetFewSamples) {
  use_kernel(12e6);
  const RotatingSets sets = rotate(0);
  EXPECT_EQ(benchmark(*device_, sets, policy_, run(), 0.0).timing.samples_ns.size(), 5U);
}

TEST_F(BenchmarkTest, AFirstRunTellsWhatIsHopeless) {
  use_kernel(3e6);
  const RotatingSets sets = rotate(0);
  const FirstRun slow = first_run(*device_, sets, policy_, run(), 1.9e6);
  EXPECT_TRUE(slow.hopeless);
  EXPECT_EQ(slow.timing.samples_ns.size(), 1U);
  EXPECT_DOUBLE_EQ(slow.timing.median_ns, 3e6);
  const FirstRun good = first_run(*device_, sets, policy_, run(), 2.1e6);
  EXPECT_TRUE(good.status.ok());
  EXPECT_FALSE(good.hopeless);
}

TEST_F(BenchmarkTest, VerySlowKernelsGetOneSampleWhenTheyAreHopeless) {
  use_kernel(1000e6);
  const RotatingSets sets = rotate(0);
  EXPECT_EQ(benchmark(*device_, sets, policy_, run(), 0.0).timing.samples_ns.size(), 3U);
  EXPECT_EQ(benchmark(*device_, sets, policy_, run(), 1e6).timing.samples_ns.size(), 1U);
}

TEST_F(BenchmarkTest, ALaunchThatFailsIsAStatus) {
  use_kernel(1000.0);
  const RotatingSets sets = rotate(0);
  const Benchmarked result = benchmark(
      *device_, sets, policy_,
      [](const OperandSet&, void*) {
        return DeviceStatus{DeviceStatus::Code::launch_failed, "refused", false};
      },
      0.0);
  EXPECT_EQ(result.status.message, "refused");
  EXPECT_TRUE(result.timing.samples_ns.empty());
}

TEST_F(BenchmarkTest, LeavesHalfOfTheMemoryToWorkspaces) {
  use_kernel(1000.0);
  const std::int64_t before = ledger_->left_bytes();
  const RotatingSets sets = rotate(1LL << 40);
  EXPECT_GT(sets.count(), 8);
  EXPECT_GE(ledger_->left_bytes(), before / 2);
}

}  // namespace
}  // namespace kiln
