// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvml.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace kiln {
namespace {

DeviceLoad load_with(const char* busy, const char* processes, const char* uuid = "GPU-fake",
                     const char* library = KILN_FAKE_NVML) {
  setenv("KILN_FAKE_BUSY", busy, 1);
  setenv("KILN_FAKE_PROCESSES", processes, 1);
  const DeviceLoad load = lasting_load_of_others(uuid, library);
  unsetenv("KILN_FAKE_BUSY");
  unsetenv("KILN_FAKE_PROCESSES");
  return load;
}

TEST(NvmlLoad, SaysHowBusyOthersKeepTheDevice) {
  EXPECT_EQ(load_with("0", "0"), (DeviceLoad{0, 0}));
  EXPECT_EQ(load_with("0", "1"), (DeviceLoad{0, 0})) << "the one is the caller's";
  EXPECT_EQ(load_with("87", "3"), (DeviceLoad{87, 2}));
  EXPECT_EQ(load_with("unsupported", "2"), (DeviceLoad{0, 1}));
}

TEST(NvmlLoad, ARunThatHasJustEndedIsNoMatter) {
  EXPECT_EQ(load_with("80,0", "2"), (DeviceLoad{0, 1}));
  EXPECT_EQ(load_with("80,0", "0"), (DeviceLoad{0, 0})) << "all may be hidden";
  EXPECT_EQ(load_with("80,90", "2"), (DeviceLoad{90, 1}));
}

TEST(NvmlLoad, WhoIsAloneDoesNotWaitForTheLoadToSettle) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(load_with("87", "1"), (DeviceLoad{0, 0}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  setenv("KILN_FAKE_WINDOWS", "1", 1);
  EXPECT_EQ(load_with("87", "1"), (DeviceLoad{87, 0}));
  unsetenv("KILN_FAKE_WINDOWS");
}

TEST(NvmlLoad, WithoutTheLibraryOrTheDeviceNothingIsKnown) {
  EXPECT_EQ(load_with("87", "3", "GPU-fake", "/nonexistent/libnvidia-ml.so.1"), DeviceLoad{});
  EXPECT_EQ(load_with("87", "3", "GPU-other"), DeviceLoad{});
}

}  // namespace
}  // namespace kiln
