// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/static_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::testing {
namespace {

/// A GPU with round figures: one clock is one nanosecond, a launch and small operands cost nothing.
DeviceProfile round_profile() {
  DeviceProfile profile = built_in_profile("h200").value();
  profile.clock_ghz = 1.0;
  profile.launch_ns = 0.0;
  profile.issue_per_clock = 4.0;
  profile.shared_wavefronts_per_clock = 1.0;
  profile.dram_bytes_per_ns = 1e9;
  profile.mma.f16 = 1000.0;
  profile.mma.tf32 = 500.0;
  profile.latency.dram = 1000.0 / 1.17;
  profile.limits.sm_count = 16;
  return profile;
}

class StaticModelTest : public ::testing::Test {
 protected:
  /// Of a block of `threads` for each 16 x 16 of D, by the costs.
  std::optional<double> time_of(const std::vector<std::string>& costs, std::int64_t size = 64,
                                DType type = DType::f16, const std::string& threads = "128",
                                const std::string& smem = "0") {
    const TempFolder folder;
    const Catalog catalog =
        catalog_with(folder, {{"toy", {{"x", {0, 1}}}, "true", smem, threads, costs}});
    Gemm gemm = Gemm::of(type, size, size, 64);
    gemm.c = gemm.d = gemm.a;
    return static_time_ns(catalog.at("toy"), Config{{"x", 0}}, to_problem(gemm), profile);
  }
  /// Sixteen blocks on sixteen multiprocessors: one each.
  double one(const std::vector<std::string>& costs, const std::string& threads = "128") {
    return std::round(time_of(costs, 64, DType::f16, threads).value());
  }
  DeviceProfile profile = round_profile();
};

TEST_F(StaticModelTest, WithoutCostsThereIsNoTime) {
  EXPECT_EQ(time_of({}), std::nullopt);
}

TEST_F(StaticModelTest, TheBusiestUnitCountsAndALittleOfTheOthers) {
  EXPECT_EQ(one({"tensor = 5000000"}), 5000.0);
  EXPECT_EQ(one({"memory = 7000", "issues = 8000"}), 7000.0 + 0.05 * 2000.0);
  EXPECT_EQ(one({"issues = 40000", "memory = 7000"}), 10000.0 + 0.05 * 7000.0);
}

TEST_F(StaticModelTest, FewWarpsHaveFewerSchedulers) {
  EXPECT_EQ(one({"tensor = 5000000"}, "64"), 10000.0);
  EXPECT_EQ(one({"tensor = 5000000"}, "32"), 20000.0);
  // Of six warps two schedulers have two.
  EXPECT_EQ(one({"tensor = 6000000"}, "192"), 8000.0);
  // Shared memory serves one warp as fast as many.
  EXPECT_EQ(one({"memory = 7000"}, "32"), 7000.0);
}

TEST_F(StaticModelTest, WaitsAddAndTripsOverlap) {
  // A fifth of what is hidden still counts.
  EXPECT_EQ(one({"memory = 7000", "waits = 3"}), 10000.0 + 0.2 * 3000.0);
  EXPECT_EQ(one({"memory = 7000", "waits = 2", "stalls = 1000"}), 10000.0 + 0.2 * 3000.0);
  // Nothing hides the first trip and half of another.
  EXPECT_EQ(one({"memory = 7000", "trips = 1"}), 1000.0 + 7000.0);
  // Of several each counts 0.52, one by one.
  EXPECT_EQ(one({"memory = 7000", "trips = 3"}), 1500.0 + 7000.0 + 0.2 * 60.0);
  EXPECT_EQ(one({"memory = 7000", "trips = 20"}), 1500.0 + 8900.0 + 0.2 * 7000.0);
}

TEST_F(StaticModelTest, TailsFollowWhatIsComputed) {
  EXPECT_EQ(one({"memory = 7000", "waits = 3", "tail = 200"}), 10000.0 + 0.2 * 3000.0 + 200.0);
  // 256 blocks, sixteen on each multiprocessor: they end together.
  EXPECT_NEAR(*time_of({"memory = 1000", "tail = 200"}, 256), 16 * 1200.0, 1.0);
}

TEST_F(StaticModelTest, NothingHidesTheTailOfBlocksThatAllRunAtOnce) {
  profile.dram_bytes_per_ns = 1000.0;
  const double reading = one({"memory = 1000", "dram_bytes = 50000000"});
  EXPECT_NEAR(reading, 50'000.0, 100.0) << "memory bounds it";
  EXPECT_NEAR(one({"memory = 1000", "dram_bytes = 50000000", "tail = 200"}), reading + 200.0, 11.0);
}

TEST_F(StaticModelTest, WhatLaunchesBeforeTheMainOneWorkIsAdded) {
  EXPECT_EQ(one({"memory = 7000", "before = 500"}), 7500.0);
}

TEST_F(StaticModelTest, BlocksOfOneMultiprocessorHideEachOthersWaits) {
  // 256 blocks: sixteen on each multiprocessor at once.
  EXPECT_NEAR(*time_of({"memory = 1000", "waits = 2"}, 256), 16000.0 + 0.2 * 2000.0, 1.0);
  // Four times as many as fit at once, by registers: rounds one after another.
  EXPECT_NEAR(*time_of({"memory = 10", "waits = 2", "registers = 128"}, 256),
              4 * (2010.0 + 0.2 * 40.0), 1.0);
}

TEST_F(StaticModelTest, RatesFollowTheOperandsType) {
  EXPECT_NEAR(*time_of({"tensor = 5000000"}, 64, DType::f32), 5000.0, 1.0);
  profile.lanes_per_clock[static_cast<std::size_t>(emulated::Unit::fp32)] = 128.0;
  EXPECT_NEAR(*time_of({"fp32 = 1280000"}, 64, DType::f32), 10000.0, 1.0);
}

// However few blocks share the second level, each multiprocessor takes 64 bytes in a clock.
TEST_F(StaticModelTest, TheSecondLevelIsSharedByTheBlocksThatAsk) {
  profile.l2_bytes_per_ns = 16 * 40.0 * 1.15;
  const double all = one({"l2_bytes = 640000"});
  const double some = *time_of({"l2_bytes = 640000"}, 48);  // nine blocks of sixteen
  const double few = *time_of({"l2_bytes = 640000"}, 32);
  const double one_block = *time_of({"l2_bytes = 640000"}, 16);
  EXPECT_GT(all, 15000.0);
  EXPECT_NEAR(some, 10000.0, 1.0);
  EXPECT_NEAR(few, 10000.0, 1.0);
  EXPECT_NEAR(one_block, few, 1.0);
}

TEST_F(StaticModelTest, NoLaunchBeatsItsOperandsTraffic) {
  profile.dram_bytes_per_ns = 1.0;
  profile.launch_ns = 500.0;
  EXPECT_NEAR(*time_of({"memory = 1"}), 3 * 64 * 64 * 2 + 2.2 * 500.0, 1.0);
}

TEST_F(StaticModelTest, WhatTheDeviceCannotLaunchComesLast) {
  EXPECT_TRUE(std::isinf(*time_of({"memory = 1"}, 64, DType::f16, "128", "1000000")));
  EXPECT_TRUE(std::isinf(*time_of({"memory = 1", "registers = 255"}, 64, DType::f16, "1024")));
}

TEST(StaticProfile, IsTheBuiltInOneOfTheClassOrBorrowedRates) {
  const DeviceProfile h200 = built_in_profile("h200").value();
  DeviceLimits limits = *limits_of_arch("sm_80");
  DeviceClass device = h200.device_class;
  EXPECT_EQ(profile_for(h200.limits, device).clock_ghz, h200.clock_ghz);
  device.name = "another";
  const DeviceProfile other = profile_for(limits, device);
  EXPECT_EQ(other.mma, h200.mma);
  EXPECT_EQ(other.limits.sm_count, limits.sm_count);
}

// With the blocks of the launch before it, which are seven times as many, it would take as much
// longer.
TEST(StaticTimes, CostsAreOfTheLaunchThatIsNamedAsTheTemplate) {
  const Problem problem = to_problem(Gemm::of(DType::bf16, 4097, 4097, 4097));
  const DeviceProfile profile = built_in_profile("h200").value();
  const KernelTemplate& kernel = Catalog::builtin().at("gemm_mma");
  Config config = *kernel.space(problem, profile.limits)
                       .narrowed({{"repack", {value_of_name("both").value()}},
                                  {"copy", {value_of_name("cp_async").value()}},
                                  {"tile_n", {256}}})
                       .default_config();
  const double repacked = *static_time_ns(kernel, config, problem, profile);
  const auto launches = LaunchPlanner(kernel, problem, profile.limits).geometry(config);
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_FALSE(launches.front().left_out());
  const Problem aligned = to_problem(Gemm::of(DType::bf16, 4096, 4096, 4096));
  config.set("repack", value_of_name("none").value());
  const double direct = *static_time_ns(kernel, config, aligned, profile);
  EXPECT_GT(repacked, direct) << "a pass over both operands more";
  EXPECT_LT(repacked, 1.5 * direct);
}

// Launches that are left out cost nothing.
TEST(StaticTimes, EveryLaunchThatTakesPlaceCosts) {
  const Problem problem = to_problem(Gemm::of(DType::bf16, 256, 256, 8192));
  DeviceProfile profile = built_in_profile("h200").value();
  const KernelTemplate& kernel = Catalog::builtin().at("gemm_wgmma");
  const auto launches_of = [&](Config config) {
    profile.launch_ns = 0.0;
    const double work = *static_time_ns(kernel, config, problem, profile);
    profile.launch_ns = 1000.0;
    return (*static_time_ns(kernel, config, problem, profile) - work) / profile.launch_ns;
  };
  Config config = *kernel.space(problem, profile.limits)
                       .narrowed({{"splits", {1}}, {"repack", {value_of_name("none").value()}}})
                       .default_config();
  EXPECT_NEAR(launches_of(config), 2.2, 1e-6);
  config.set("splits", 8);
  const double with_sum = launches_of(config);
  EXPECT_NEAR(with_sum, 2.2 + 2.5, 1e-6);
  config.set("repack", value_of_name("a").value());
  EXPECT_NEAR(launches_of(config), with_sum + 4.0, 1e-6);
}

TEST(StaticTimes, OfTheCatalogPreferWhatIsKnownToBeFaster) {
  const Problem problem = to_problem(Gemm::of(DType::f16, 2048, 2048, 2048));
  const DeviceProfile profile = built_in_profile("h200").value();
  const auto time_of = [&](const char* name, const Config& config) {
    return *static_time_ns(Catalog::builtin().at(name), config, problem, profile);
  };
  const auto standard = [&](const char* name) {
    return *Catalog::builtin().at(name).space(problem, profile.limits).default_config();
  };
  const double wmma = time_of("gemm_wmma", standard("gemm_wmma"));
  const double tiled = time_of("gemm_tiled", standard("gemm_tiled"));
  EXPECT_LT(2.0 * wmma, tiled);
  EXPECT_LT(2.0 * tiled, time_of("gemm_naive", standard("gemm_naive")));
  // No more than the tensor cores' rate allows.
  EXPECT_GT(wmma, 2048.0 * 2048.0 * 2048.0 / (profile.mma.f16 * 132.0 * profile.clock_ghz));
  Config two_stages = standard("gemm_wmma");
  two_stages.set("stages", 2);
  two_stages.set("tile_k", 16);
  EXPECT_LT(wmma, time_of("gemm_wmma", two_stages));
}

}  // namespace
}  // namespace kiln::testing
