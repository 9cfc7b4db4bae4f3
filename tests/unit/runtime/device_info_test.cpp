// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device_info.hpp"

#include <gtest/gtest.h>

#include "kiln/error.hpp"

namespace kiln {
namespace {

TEST(DeviceInfoTest, ReadsDeviceSpecs) {
  EXPECT_EQ(parse_device_spec(""), 0);
  EXPECT_EQ(parse_device_spec("0"), 0);
  EXPECT_EQ(parse_device_spec("cuda:3"), 3);
  EXPECT_EQ(parse_device_spec("12"), 12);
  for (const char* bad :
       {"cuda", "cuda:", "cuda:x", "gpu:0", "-1", "cuda:-1", "1 ", "0x1", "99999999999"}) {
    EXPECT_EQ(parse_device_spec(bad), std::nullopt) << bad;
  }
}

TEST(DeviceInfoTest, NamesArchitecturesWithTheirFeatureSuffix) {
  EXPECT_EQ(arch_text(7, 5), "sm_75");
  EXPECT_EQ(arch_text(8, 9), "sm_89");
  EXPECT_EQ(arch_text(9, 0), "sm_90a");
  EXPECT_EQ(arch_text(10, 0), "sm_100a");
  EXPECT_EQ(arch_text(12, 0), "sm_120a");
}

TEST(DeviceInfoTest, SplitsThePartitionOffTheName) {
  const DeviceName whole = split_device_name("NVIDIA H200");
  EXPECT_EQ(whole.name, "NVIDIA H200");
  EXPECT_EQ(whole.mig_profile, "");
  const DeviceName part = split_device_name("NVIDIA A100-SXM4-40GB MIG 1g.5gb");
  EXPECT_EQ(part.name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(part.mig_profile, "1g.5gb");
}

TEST(DeviceInfoTest, DriverTextFallsBackToTheCudaVersion) {
  EXPECT_EQ(driver_text(13000, "580.159.04"), "580.159.04 (CUDA 13.0)");
  EXPECT_EQ(driver_text(12080, ""), "CUDA 12.8");
}

TEST(DeviceInfoTest, BadSpecIsUsage) {
  try {
    static_cast<void>(open_device("gpu0"));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("cuda:0"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("emulated:h200"), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
