// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The parts of measuring a GPU's ceilings that need no GPU: kernels compile, figures are judged.
#include "tools/verbs/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "kiln/error.hpp"
#include "tools/verbs/ceiling_source.hpp"
#include "tools/verbs/save_profile.hpp"

namespace kiln::tools {
namespace {

using emulated::Unit;

TEST(Ceilings, TheKernelsCompileWithoutSpillsForEveryKindOfDevice) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_nvrtc_compiler();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (const char* arch : {"sm_75", "sm_80", "sm_90a"}) {
    const CeilingSource source = ceiling_source(limits_of_arch(arch)->sm);
    CompileRequest request;
    request.source = source.text;
    request.plain_names = source.kernels;
    request.arch = arch;
    const CompileResult result = compiler->compile(request);
    ASSERT_TRUE(result.ok) << arch << result.log;
    EXPECT_EQ(result.resources.spill_store_bytes, 0) << arch;
    EXPECT_TRUE(result.warnings.empty()) << arch << result.warnings.front();
  }
}

TEST(Ceilings, KernelsAreThoseThatTheDeviceHas) {
  using ::testing::Contains;
  using ::testing::Not;
  EXPECT_THAT(ceiling_source(75).kernels, Not(Contains("mma_f16")));
  EXPECT_THAT(ceiling_source(80).kernels, Contains("mma_f16"));
  EXPECT_THAT(ceiling_source(86).kernels, Not(Contains("mma_e4m3")));
  EXPECT_THAT(ceiling_source(89).kernels, Contains("mma_e4m3"));
  EXPECT_THAT(ceiling_source(90).kernels, Contains("wgmma_tf32"));
  EXPECT_THAT(ceiling_source(100).kernels, Not(Contains("wgmma_tf32")));
}

TEST(Ceilings, FiguresBeyondTheDeviceAreImplausible) {
  const DeviceProfile good = profile_of("h200");
  EXPECT_EQ(why_implausible(good).value_or(""), "");

  const auto complaint = [&](auto change) {
    DeviceProfile profile = good;
    change(profile);
    return why_implausible(profile).value_or("none");
  };
  using ::testing::HasSubstr;
  const auto lanes = [](Unit unit, double value) {
    return [=](DeviceProfile& profile) {
      profile.lanes_per_clock[static_cast<std::size_t>(unit)] = value;
    };
  };
  EXPECT_EQ(complaint(lanes(Unit::fp32, 134.0)), "none") << "5 % is within the error";
  EXPECT_THAT(complaint(lanes(Unit::fp32, 135.0)), HasSubstr("rate_fp32"));
  EXPECT_THAT(complaint(lanes(Unit::shuffle, 0.0)), HasSubstr("rate_shuffle"));
  EXPECT_THAT(complaint(lanes(Unit::special, std::nan(""))), HasSubstr("rate_special"));
  EXPECT_THAT(complaint([](auto& p) { p.shared_wavefronts_per_clock = 2.0; }),
              HasSubstr("shared_wavefronts_per_clock"));
  EXPECT_THAT(complaint([](auto& p) { p.dram_bytes_per_ns = p.l2_bytes_per_ns; }),
              HasSubstr("dram_bytes_per_ns"));
  EXPECT_THAT(complaint([](auto& p) { p.latency.l2 = p.latency.shared; }),
              HasSubstr("latency shared"));
  EXPECT_THAT(complaint([](auto& p) { p.wgmma.f16 = 20000.0; }), HasSubstr("wgmma.f16"));
}

TEST(SaveProfile, SaysHowTheFileIsNamedAsADevice) {
  EXPECT_EQ(device_of_profile("mine"), "emulated:./mine");
  EXPECT_EQ(device_of_profile("mine.toml"), "emulated:mine.toml");
  EXPECT_EQ(device_of_profile("/tmp/mine"), "emulated:/tmp/mine");
}

}  // namespace
}  // namespace kiln::tools
