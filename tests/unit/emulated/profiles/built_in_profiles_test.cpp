// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The built-in device profiles that nobody measured: what they say is what was published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/emulated/device/emulated_device.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln {
namespace {

using emulated::Unit;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// What NVIDIA's data sheets and white papers say of one GPU. Rates are 10^12 operations a second,
/// dense and with fp32 accumulation; 0: there is none.
struct Published {
  const char* model;
  const char* gpu;
  const char* arch;
  int sm_count;
  std::int64_t l2_mib;
  double boost_ghz;         ///< of the rates without tensor cores
  double tensor_boost_ghz;  ///< of those with
  double dram_gb_per_s;
  double fp32, fp64, fp16;
  double tensor_f16, tensor_tf32, tensor_s8, tensor_e4m3;
};
const std::vector<Published> kPublished{
    {"a100", "NVIDIA A100-SXM4-80GB", "sm_80", 108, 40, 1.41, 1.41, 2039,  //
     19.5, 9.7, 78, 312, 156, 624, 0},
    {"h100", "NVIDIA H100 80GB HBM3", "sm_90a", 132, 50, 1.98, 1.83, 3350,  //
     66.9, 33.5, 133.8, 989.4, 494.7, 1978.9, 1978.9},
    {"l40s", "NVIDIA L40S", "sm_89", 142, 96, 2.52, 2.52, 864,  //
     91.6, 1.43, 91.6, 362.05, 183, 733, 733},
    {"rtx4090", "NVIDIA GeForce RTX 4090", "sm_89", 128, 72, 2.52, 2.52, 1008,  //
     82.6, 1.29, 82.6, 165.2, 82.6, 660.6, 330.3},
};

/// Rows of the programming guide's table of technical specifications; bytes and counts.
struct Capability {
  const char* arch;
  int threads_per_sm;
  int blocks_per_sm;
  int smem_per_sm_kib;
  int smem_per_block_kib;
};
constexpr Capability kCapabilities[] = {
    {"sm_80", 2048, 32, 164, 163},
    {"sm_89", 1536, 24, 100, 99},
    {"sm_90a", 2048, 32, 228, 227},
};

TEST(BuiltInProfiles, AreThoseThatTheDocumentsName) {
  EXPECT_THAT(built_in_profiles(),
              ::testing::ElementsAre("a100", "h100", "h200", "l40s", "rtx4090"));
}

// An application reads them without a reader for TOML.
TEST(BuiltInProfiles, AreReadAsTheReaderOfFilesReadsThem) {
  for (const std::string& name : built_in_profiles()) {
    const std::string path = std::string(KILN_SOURCE_DIR) + "/runtime/model/profiles/" + name;
    const DeviceProfile read = profile_of(path + ".toml");
    const DeviceProfile built_in = built_in_profile(name).value();
    EXPECT_EQ(profile_text(built_in), profile_text(read));
    EXPECT_EQ(built_in.limits.sm, read.limits.sm);
    EXPECT_EQ(built_in.device_class, read.device_class);
  }
  EXPECT_FALSE(built_in_profile("h2000"));
}

TEST(BuiltInProfiles, NameTheirGpuAndSayThatNobodyMeasuredIt) {
  for (const Published& known : kPublished) {
    SCOPED_TRACE(known.model);
    const DeviceProfile profile = profile_of(known.model);
    EXPECT_EQ(profile.name, known.model);
    EXPECT_EQ(profile.figures, "published");
    EXPECT_EQ(profile.device_class.name, known.gpu);
    EXPECT_EQ(profile.limits.arch, known.arch);
    EXPECT_EQ(profile.limits.sm_count, known.sm_count);
    EXPECT_EQ(profile.limits.l2_bytes, known.l2_mib * kMiB);
  }
  EXPECT_EQ(profile_of("h200").figures, "measured");
}

TEST(BuiltInProfiles, HaveTheLimitsOfTheirArchitecture) {
  for (const std::string& model : built_in_profiles()) {
    SCOPED_TRACE(model);
    const DeviceLimits limits = profile_of(model).limits;
    const auto* const known =
        std::find_if(std::begin(kCapabilities), std::end(kCapabilities),
                     [&](const Capability& each) { return limits.arch == each.arch; });
    ASSERT_NE(known, std::end(kCapabilities)) << limits.arch;
    EXPECT_EQ(limits.max_threads_per_sm, known->threads_per_sm);
    EXPECT_EQ(limits.max_blocks_per_sm, known->blocks_per_sm);
    EXPECT_EQ(limits.smem_per_sm, known->smem_per_sm_kib * 1024);
    EXPECT_EQ(limits.smem_optin, known->smem_per_block_kib * 1024);
    // The same for all of them.
    EXPECT_EQ(limits.max_threads, 1024);
    EXPECT_EQ(limits.smem_static, 48 * 1024);
    EXPECT_EQ(limits.smem_reserved, 1024);
    EXPECT_EQ(limits.regs_per_sm, 65536);
    EXPECT_EQ(limits.regs_per_block, 65536);
    EXPECT_EQ(limits.regs_per_thread, 255);
    EXPECT_EQ(limits.warp_size, 32);
  }
}

/// Expects that multiply-adds per clock and multiprocessor make a rate, within 3 %.
void expect_rate(const Published& known, double ghz, double multiply_adds, double rate,
                 const char* what) {
  const double made = 2 * multiply_adds * known.sm_count * ghz / 1000;
  EXPECT_NEAR(made, rate, 0.03 * rate) << what;
}

TEST(BuiltInProfiles, MakeThePublishedRates) {
  for (const Published& known : kPublished) {
    SCOPED_TRACE(known.model);
    const DeviceProfile profile = profile_of(known.model);
    const double ghz = known.boost_ghz;
    EXPECT_DOUBLE_EQ(profile.clock_ghz, known.tensor_boost_ghz);
    expect_rate(known, ghz, profile.lanes(Unit::fp32), known.fp32, "fp32");
    expect_rate(known, ghz, profile.lanes(Unit::fp64), known.fp64, "fp64");
    expect_rate(known, ghz, 2 * profile.lanes(Unit::fp16), known.fp16, "fp16, in pairs");
    // The whole rate of Hopper's tensor cores is that of wgmma.
    const bool hopper = profile.limits.sm == 90;
    const TensorRates& tensor = hopper ? profile.wgmma : profile.mma;
    expect_rate(known, profile.clock_ghz, tensor.f16, known.tensor_f16, "f16");
    expect_rate(known, profile.clock_ghz, tensor.tf32, known.tensor_tf32, "tf32");
    expect_rate(known, profile.clock_ghz, tensor.s8, known.tensor_s8, "s8");
    expect_rate(known, profile.clock_ghz, tensor.e4m3, known.tensor_e4m3, "e4m3");
    EXPECT_EQ(profile.wgmma.f16 > 0, hopper);
    EXPECT_NEAR(profile.dram_bytes_per_ns, known.dram_gb_per_s, 0.01 * known.dram_gb_per_s);
  }
}

TEST(BuiltInProfiles, AreOrderedAsMemoriesAre) {
  for (const std::string& model : built_in_profiles()) {
    SCOPED_TRACE(model);
    const DeviceProfile profile = profile_of(model);
    EXPECT_LT(profile.dram_bytes_per_ns, profile.l2_bytes_per_ns);
    EXPECT_LE(profile.latency.shared, profile.latency.l1);
    EXPECT_LT(profile.latency.l1, profile.latency.l2);
    EXPECT_LT(profile.latency.l2, profile.latency.dram);
    EXPECT_GT(profile.mma.f64, 0) << "each of them has products of f64";
  }
}

// The driver is stored with every trial, and shown where drivers are.
TEST(BuiltInProfiles, MarkWhatIsPredictedByPublishedFigures) {
  for (const Published& known : kPublished) {
    EXPECT_EQ(EmulatedDevice(known.model).info().driver, "emulated, with published speeds")
        << known.model;
  }
  EXPECT_EQ(EmulatedDevice("h200").info().driver, "emulated");
  // A copy is no built-in one, but nobody measured it either.
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("mine.toml");
  std::ofstream(path) << profile_text(profile_of("a100"));
  EXPECT_THAT(EmulatedDevice(path).info().driver,
              ::testing::StartsWith(std::string(kPublishedFigures) + ", profile "));
}

}  // namespace
}  // namespace kiln
