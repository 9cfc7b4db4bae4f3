// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/device_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#if __has_include(<cuda_occupancy.h>)
// NVIDIA's own calculation: host code in a header, no GPU needed.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define KILN_TEST_HAS_CUDA_OCCUPANCY 1
#endif

namespace kiln {
namespace {

DeviceLimits limits(std::string_view arch) {
  return limits_of_arch(arch).value();
}

TEST(DeviceLimits, SpellingsOfOneTarget) {
  for (const auto* name : {"90a", "sm_90a", "compute_90a"}) {
    const auto found = limits_of_arch(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->arch, "sm_90a");
    EXPECT_EQ(found->sm, 90);
  }
  EXPECT_EQ(limits("90").arch, "sm_90");
  EXPECT_EQ(limits("90").smem_optin, limits("90a").smem_optin);
  for (const auto* name :
       {"", "sm_", "sm_1", "91", "90b", "sm_sm_90", "89a", "90f", "90aa", "-90", "+90"}) {
    EXPECT_FALSE(limits_of_arch(name)) << name;
  }
}

TEST(DeviceLimits, EveryKnownNameIsFound) {
  const auto names = known_archs();
  for (const auto* name : {"sm_75", "sm_87", "sm_90", "sm_90a", "sm_103f", "sm_121a"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
  for (const auto& name : known_archs()) {
    ASSERT_TRUE(limits_of_arch(name)) << name;
    EXPECT_EQ(limits(name).arch, name);
  }
}

TEST(DeviceLimits, PublishedFigures) {
  EXPECT_EQ(limits("75").smem_optin, 65536);
  EXPECT_EQ(limits("80").smem_optin, 166912);
  EXPECT_EQ(limits("86").smem_optin, 101376);
  EXPECT_EQ(limits("90a").smem_optin, 232448);
  EXPECT_EQ(limits("90a").sm_count, 132);
  EXPECT_EQ(limits("120").max_threads_per_sm, 1536);
}

TEST(Occupancy, KnownValues) {
  const auto h200 = limits("90a");
  // 128 registers x 256 threads: 32768 of 65536.
  auto got = occupancy(h200, 256, 128, 0);
  EXPECT_EQ(got.blocks_per_sm, 2);
  EXPECT_EQ(got.limiter, "registers");
  EXPECT_DOUBLE_EQ(got.fraction, 0.25);
  got = occupancy(h200, 256, 32, 0);
  EXPECT_EQ(got.blocks_per_sm, 8);
  EXPECT_EQ(got.limiter, "registers");
  EXPECT_DOUBLE_EQ(got.fraction, 1.0);
  got = occupancy(h200, 256, 16, 0);
  EXPECT_EQ(got.blocks_per_sm, 8);
  EXPECT_EQ(got.limiter, "threads");
  got = occupancy(h200, 32, 16, 0);
  EXPECT_EQ(got.blocks_per_sm, 32);
  EXPECT_EQ(got.limiter, "blocks");
  EXPECT_DOUBLE_EQ(got.fraction, 0.5);
  got = occupancy(h200, 128, 32, 100 * 1024);
  EXPECT_EQ(got.blocks_per_sm, 2);
  EXPECT_EQ(got.limiter, "shared memory");
  // Because of the driver's kilobyte, a third block of 76 KiB (unlike 75) exceeds the SM's 228 KiB.
  EXPECT_EQ(occupancy(h200, 128, 32, 75 * 1024).blocks_per_sm, 3);
  EXPECT_EQ(occupancy(h200, 128, 32, 75 * 1024 + 1).blocks_per_sm, 2);
}

TEST(Occupancy, WhatCannotRun) {
  const auto h200 = limits("90a");
  EXPECT_EQ(occupancy(h200, 1025, 16, 0).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(h200, 0, 16, 0).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(h200, 1024, 128, 0).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(h200, 1024, 128, 0).limiter, "registers");
  EXPECT_EQ(occupancy(h200, 128, 256, 0).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(h200, 128, 32, 232448).blocks_per_sm, 1);
  EXPECT_EQ(occupancy(h200, 128, 32, 232449).blocks_per_sm, 0);
}

// Read off an H200 by cudaOccupancyMaxActiveClusters.
TEST(Residency, ClustersLeaveMultiprocessorsIdle) {
  const DeviceLimits limits = *limits_of_arch("sm_90a");
  ASSERT_EQ(limits.sm_count, 132);
  const std::vector<int> clusters{132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7};
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const auto blocks = static_cast<int>(i) + 1;
    EXPECT_EQ(resident_blocks(limits, 1, blocks), clusters[i] * blocks) << blocks;
  }
  EXPECT_EQ(resident_blocks(limits, 3, 1), 3 * 132);
  EXPECT_EQ(resident_blocks(limits, 2, 8), 30 * 8);
  EXPECT_EQ(resident_blocks(limits, 2, 6), 39 * 6);
}

TEST(Residency, OneClusterRunsAnyway) {
  DeviceLimits limits = *limits_of_arch("sm_90a");
  limits.sm_count = 4;
  EXPECT_EQ(resident_blocks(limits, 1, 16), 16.0);
}

#if defined(KILN_TEST_HAS_CUDA_OCCUPANCY)
TEST(Occupancy, AgreesWithNvidiasCalculator) {
  for (const auto& arch : known_archs()) {
    const auto device = limits(arch);
    cudaOccDeviceProp properties;
    properties.computeMajor = device.sm / 10;
    properties.computeMinor = device.sm % 10;
    properties.maxThreadsPerBlock = device.max_threads;
    properties.maxThreadsPerMultiprocessor = device.max_threads_per_sm;
    properties.regsPerBlock = device.regs_per_block;
    properties.regsPerMultiprocessor = device.regs_per_sm;
    properties.warpSize = device.warp_size;
    properties.sharedMemPerBlock = static_cast<std::size_t>(device.smem_static);
    properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.smem_per_sm);
    properties.numSms = device.sm_count;
    properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.smem_optin);
    properties.reservedSharedMemPerBlock = static_cast<std::size_t>(device.smem_reserved);
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;

    for (int threads = 32; threads <= 1024; threads += 16) {
      for (int registers = 16; registers <= 255; registers += 3) {
        for (const int smem : {0, 1000, 5000, 20000, 48000, 64000}) {
          cudaOccFuncAttributes function;
          function.maxThreadsPerBlock = device.max_threads;
          function.numRegs = registers;
          function.sharedSizeBytes = 0;
          function.partitionedGCConfig = PARTITIONED_GC_OFF;
          function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(device.smem_optin);
          function.numBlockBarriers = 1;
          cudaOccResult expected;
          ASSERT_EQ(
              cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &properties, &function, &state,
                                                      threads, static_cast<std::size_t>(smem)),
              CUDA_OCC_SUCCESS);
          ASSERT_EQ(occupancy(device, threads, registers, smem).blocks_per_sm,
                    expected.activeBlocksPerMultiprocessor)
              << arch << " threads " << threads << " registers " << registers << " smem " << smem;
        }
      }
    }
  }
}
#endif

}  // namespace
}  // namespace kiln
