// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/measure/comparison.hpp"

namespace kiln {
namespace {

/// A kernel of 1 us on a device that draws 400 W.
class EnergyTest : public ::testing::Test {
 protected:
  void use_device(const testing::FakeDeviceOptions& options) {
    // What is on the device before goes before it.
    module_.reset();
    sets_.reset();
    first_ = OperandSet();
    kernels_.reset();
    ledger_.reset();
    device_ = testing::make_planted_device(options);
    ledger_ = std::make_unique<MemoryLedger>(*device_, 16 << 20);
    const EvaluationSetup setup = testing::planted_setup({gemm_});
    kernels_ = std::make_unique<SupportKernels>(*ledger_, setup.support);
    first_ = OperandSet(*ledger_, tuned_, "the test");
    sets_ = std::make_unique<RotatingSets>(*ledger_, *kernels_, first_, 0, 5);
    const EvaluationJob job = testing::planted_job(setup, "right");
    DeviceStatus status;
    module_ = device_->load(job.unit.cubin, job.unit.names, status);
    ASSERT_TRUE(module_) << status.message;
  }
  static testing::FakeDeviceOptions with_counter(double watts) {
    testing::FakeDeviceOptions options;
    options.watts = watts;
    return options;
  }
  [[nodiscard]] TimedRun run() {
    return [this](const OperandSet& operands, void* stream) {
      const GemmArgs args = gemm_argument(tuned_, operands.arguments(tuned_.scalars, 0));
      return device_->launch({module_->functions()[0], LaunchGeometry{}, &args}, stream);
    };
  }
  [[nodiscard]] EnergyTurn measure(const EnergyGoal& goal) {
    TimedCandidate candidate(*device_, *sets_, policy_, run());
    const std::uint64_t before = device_->replays();
    const EnergyTurn turn = EnergyMeter(*device_).measure(candidate, goal);
    busy_ms_ = static_cast<double>(device_->replays() - before) * candidate.batch_ns() / 1e6;
    return turn;
  }

  GemmCase gemm_{Gemm::of(DType::f32, 32, 32, 32)};
  ProblemCase tuned_ = problem_case(gemm_);
  MeasurementPolicy policy_;
  std::unique_ptr<testing::FakeDevice> device_;
  std::unique_ptr<MemoryLedger> ledger_;
  std::unique_ptr<SupportKernels> kernels_;
  OperandSet first_;
  std::unique_ptr<RotatingSets> sets_;
  std::unique_ptr<LoadedModule> module_;
  double busy_ms_ = 0.0;
};

TEST_F(EnergyTest, ATurnLastsFromStepToStepOfTheCounter) {
  use_device(with_counter(400.0));
  const EnergyTurn turn = measure({0.5, EnergyMeter::kTurnSteps, 0.0});
  ASSERT_TRUE(turn.status.ok());
  // 1 us at 400 W; the ends of a turn are off by a batch of 2 ms at most.
  EXPECT_NEAR(turn.energy_j, 400e-6, turn.error_j);
  EXPECT_LT(turn.error_j, 0.01 * turn.energy_j);
  EXPECT_NEAR(turn.power_w, 400.0, 4.0);
  EXPECT_GE(busy_ms_, 500.0);
  EXPECT_LE(busy_ms_, 720.0);
}

TEST_F(EnergyTest, ASlowCounterGetsMoreTimeUpToALimit) {
  testing::FakeDeviceOptions options = with_counter(400.0);
  options.energy_step_ns = 100e6;
  use_device(options);
  EXPECT_NEAR(measure({0.5, EnergyMeter::kTurnSteps, 0.0}).energy_j, 400e-6, 8e-6);
  EXPECT_GE(busy_ms_, 1000.0) << "ten steps";
  options.energy_step_ns = 900e6;
  use_device(options);
  EXPECT_NEAR(measure({0.5, EnergyMeter::kTurnSteps, 0.0}).energy_j, 400e-6, 8e-6);
  EXPECT_LE(busy_ms_, 2000.0 + 3 * 920.0);
}

TEST_F(EnergyTest, WhoeverIsFarBehindGetsOneStep) {
  use_device(with_counter(400.0));
  const EnergyTurn turn = measure({0.5, EnergyMeter::kTurnSteps, 300e-6});
  EXPECT_NEAR(turn.energy_j, 400e-6, turn.error_j);
  EXPECT_LE(busy_ms_, 110.0);
}

TEST_F(EnergyTest, WithoutACounterThePowerIsSampled) {
  use_device({});
  EXPECT_EQ(why_no_energy(*device_), "");
  const EnergyTurn turn = measure({0.2, 2, 0.0});
  ASSERT_TRUE(turn.status.ok());
  EXPECT_NEAR(turn.energy_j, 350e-6, 1e-6);
  EXPECT_DOUBLE_EQ(turn.power_w, 350.0);
}

TEST_F(EnergyTest, ADeviceWithoutSensorsSaysSo) {
  testing::FakeDeviceOptions options;
  options.sensed_watts = 0.0;
  use_device(options);
  EXPECT_THAT(why_no_energy(*device_), ::testing::HasSubstr("libnvidia-ml"));
  EXPECT_EQ(measure({0.2, 2, 0.0}).energy_j, 0.0);
  options.info = testing::fake_device_info();
  options.info.device_class.mig_profile = "3g.71gb";
  use_device(options);
  EXPECT_THAT(why_no_energy(*device_), ::testing::HasSubstr("MIG"));
}

TEST_F(EnergyTest, CandidatesAreMeasuredUnlessTheyAreHopeless) {
  use_device(with_counter(400.0));
  policy_.energy = true;
  const Benchmarked measured = benchmark(*device_, *sets_, policy_, run(), 0.0);
  EXPECT_NEAR(measured.timing.energy_j, 400e-6, 10e-6);
  EXPECT_GT(measured.timing.energy_spread_j, 0.0);
  EXPECT_NEAR(measured.timing.power_w, 400.0, 10.0) << "the mean, not one sample";
  const Benchmarked hopeless = benchmark(*device_, *sets_, policy_, run(), 500.0);
  EXPECT_EQ(hopeless.timing.energy_j, 0.0);
  policy_.energy = false;
  EXPECT_EQ(benchmark(*device_, *sets_, policy_, run(), 0.0).timing.energy_j, 0.0);
}

TEST_F(EnergyTest, FinalistsTakeTurns) {
  use_device(with_counter(400.0));
  std::vector<ComparisonRow> rows(2);
  InterleavePlan plan;
  plan.rounds = 3;
  plan.energy_turns = 3;
  time_interleaved(*device_, *sets_, policy_, {{&rows[0], run()}, {&rows[1], run()}}, plan);
  for (const ComparisonRow& row : rows) {
    EXPECT_EQ(row.timing.samples_ns.size(), 3U);
    EXPECT_NEAR(row.timing.energy_j, 400e-6, 4e-6);
    EXPECT_NEAR(row.timing.power_w, 400.0, 4.0);
  }
}

TEST(EnergyTurns, AreSummarisedByTheirMedian) {
  Timing timing;
  timing.power_w = 1.0;
  summarise_energy(timing, {});
  EXPECT_EQ(timing.energy_j, 0.0);
  EXPECT_EQ(timing.power_w, 1.0);
  summarise_energy(timing,
                   {{{}, 1.0, 100.0, 0.01}, {{}, 1.4, 120.0, 0.01}, {{}, 1.1, 110.0, 0.01}});
  EXPECT_DOUBLE_EQ(timing.energy_j, 1.1);
  EXPECT_NEAR(timing.energy_spread_j, 0.2, 1e-9);
  EXPECT_DOUBLE_EQ(timing.power_w, 110.0);
}

}  // namespace
}  // namespace kiln
