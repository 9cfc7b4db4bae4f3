// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/transfer.hpp"

#include <gtest/gtest.h>

#include "runtime/model/static_model.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/support/built_in_config.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln {
namespace {

class TransferTest : public ::testing::Test {
 protected:
  /// What was tuned, carried over to an f16 problem.
  Config carried(const Problem& problem, double distance = 0.5) const {
    return Transfer(wgmma, problem, h200).carry(tuned, distance).value().config;
  }
  [[nodiscard]] Config carried_anew(const Config& config, const Problem& problem) const {
    return Transfer(wgmma, problem, h200).carry(config, 0.5).value().config;
  }
  static Problem product(std::int64_t m, std::int64_t n, std::int64_t k) {
    return to_problem(Gemm::of(DType::f16, m, n, k, Storage::n, Storage::t));
  }
  const Config tuned = testing::built_in_config("gemm_wgmma", {{"tile_n", 256}, {"group_m", 1}});
  const DeviceProfile h200 = built_in_profile("h200").value();
  const KernelTemplate& wgmma = Catalog::builtin().at("gemm_wgmma");
};

TEST_F(TransferTest, WhatIsValidAndFillsTheDeviceStaysAsItIs) {
  EXPECT_EQ(carried(product(4096, 4096, 4096)).canonical(), tuned.canonical());
}

TEST_F(TransferTest, OnlyWhatAlignmentForbidsIsChanged) {
  const Config config = carried(product(4096, 4095, 4098));
  EXPECT_EQ(config.at("repack"), value_of_name("both"));
  EXPECT_EQ(config.at("store"), value_of_name("threads"));
  EXPECT_EQ(config.at("tile_n"), 256);
  EXPECT_EQ(config.at("stages"), 4);
}

TEST_F(TransferTest, WhatMendedOneConfigurationMendsTheNext) {
  const Problem problem = product(4096, 4095, 4098);
  Transfer transfer(wgmma, problem, h200);
  const Config other = testing::built_in_config("gemm_wgmma", {{"tile_n", 192}, {"stages", 5}});
  for (const Config& config : {tuned, other, tuned}) {
    EXPECT_EQ(transfer.carry(config, 0.5).value().config, carried_anew(config, problem));
  }
}

TEST_F(TransferTest, FewTilesAreDividedAlongK) {
  EXPECT_GT(carried(product(256, 256, 32768)).at("splits"), 8);
  EXPECT_EQ(carried(product(256, 256, 128)).at("splits"), 1);
}

TEST_F(TransferTest, WhatIsHopelessOnceRepairedIsNotCarriedOver) {
  const Problem problem = product(256, 256, 32768);
  Transfer transfer(wgmma, problem, h200);
  const auto carried = transfer.carry(tuned, 0.5);
  ASSERT_TRUE(carried);
  // Parts of k, which are given at launch, make it that much faster.
  EXPECT_GT(carried->repaired_ns, 4.0 * carried->expected_ns);
  EXPECT_TRUE(transfer.carry(tuned, 0.5, carried->repaired_ns));
  EXPECT_FALSE(transfer.carry(tuned, 0.5, 0.99 * carried->repaired_ns));
}

TEST_F(TransferTest, TheTimeIsTheSameWithBindingsThatAreKnown) {
  const Problem problem = product(300, 520, 1032);
  const auto bindings = wgmma.space(problem, h200.limits).find_bindings(tuned);
  ASSERT_TRUE(bindings);
  EXPECT_EQ(StaticModel(wgmma, problem, h200).time_ns(tuned, *bindings),
            static_time_ns(wgmma, tuned, problem, h200));
  EXPECT_FALSE(wgmma.space(problem, h200.limits).find_bindings(Config{{"x", 1}}));
}

// The model sees the order of tiles where operands exceed L2, and is blind to it elsewhere.
TEST_F(TransferTest, FromAfarTheOrderOfTilesIsTheTemplatesOwn) {
  EXPECT_EQ(carried(product(2048, 2048, 2048), 2.2).at("group_m"), 8);
  EXPECT_EQ(carried(product(2048, 2048, 2048), 0.5).at("group_m"), 1);
  EXPECT_EQ(carried(product(16, 4096, 4096), 2.2).at("group_m"), 1);
  EXPECT_GT(carried(product(4096, 28672, 4096), 0.5).at("group_m"), 1);
}

TEST_F(TransferTest, WhatFewChangesDoNotMendIsNotCarriedOver) {
  EXPECT_FALSE(Transfer(wgmma, product(512, 512, 512), h200).carry(Config{{"x", 1}}, 0.0));
  DeviceProfile tiny = h200;
  tiny.limits.smem_optin = 4096;
  EXPECT_FALSE(Transfer(wgmma, product(512, 512, 512), tiny).carry(tuned, 0.0));
}

TEST_F(TransferTest, WithoutCostsTimesFollowTheWork) {
  const testing::TempFolder folder;
  const Catalog catalog =
      testing::catalog_with(folder, {{"toy", {{"x", {0, 1}}}, "true", "0", "128", {}}});
  const KernelTemplate& toy = catalog.at("toy");
  const Config config{{"x", 0}};
  const auto expected = [&](std::int64_t size) {
    return expected_ns(toy, config, product(size, size, size), h200);
  };
  ASSERT_FALSE(static_time_ns(toy, config, product(64, 64, 64), h200));
  EXPECT_NEAR(expected(8192) / expected(4096), 8.0, 1.0);
  EXPECT_GT(expected(1), 0.0);
}

}  // namespace
}  // namespace kiln
