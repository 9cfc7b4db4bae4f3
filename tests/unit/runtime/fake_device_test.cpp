// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The stand-in must fail where a GPU fails, or the tests that rely on it mean nothing.
#include "tests/support/fake_device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kiln/error.hpp"
#include "tests/support/host_element.hpp"
#include "tests/support/typed_kernel.hpp"

namespace kiln::testing {
namespace {

class FakeDeviceTest : public ::testing::Test {
 protected:
  std::unique_ptr<LoadedModule> load(FakeDevice& device, std::string_view behaviour) {
    device.register_kernel("count", [this](const FakeLaunch&) { ++runs_; });
    FakeCubin cubin;
    cubin.behaviour = behaviour;
    cubin.time_ns = 250.0;
    cubin.names = {"count"};
    return device.load(cubin.bytes(), {"count"}, status_);
  }
  DeviceStatus launch(FakeDevice& device, const LoadedModule& module) {
    return device.launch({module.functions()[0], {}, nullptr}, device.own_stream());
  }
  DeviceStatus status_;
  int runs_ = 0;
};

TEST_F(FakeDeviceTest, RunsKernelsInsideTheLaunch) {
  FakeDevice device;
  const auto module = load(device, kBehaveOk);
  ASSERT_TRUE(status_.ok()) << status_.message;
  EXPECT_TRUE(launch(device, *module).ok());
  EXPECT_EQ(runs_, 1);
  EXPECT_TRUE(device.synchronize().ok());
}

TEST_F(FakeDeviceTest, RefusalsAppearAtTheLaunch) {
  FakeDevice device;
  const auto module = load(device, kBehaveOutOfResources);
  EXPECT_EQ(launch(device, *module).code, DeviceStatus::Code::out_of_resources);
  EXPECT_TRUE(device.synchronize().ok());
  EXPECT_EQ(load(device, kBehaveLoadFailed), nullptr);
  EXPECT_FALSE(status_.ok());
}

TEST_F(FakeDeviceTest, FaultsAppearAtTheNextWaitAndStay) {
  FakeDevice device;
  const auto module = load(device, kBehaveIllegalAddress);
  const DevicePtr memory = device.allocate(16);
  EXPECT_TRUE(launch(device, *module).ok());
  const DeviceStatus status = device.synchronize();
  EXPECT_EQ(status.code, DeviceStatus::Code::faulted);
  EXPECT_TRUE(status.sticky);
  EXPECT_TRUE(device.synchronize().sticky);
  EXPECT_THROW(device.fill(memory, 0, 16), Error);
  EXPECT_FALSE(launch(device, *module).ok());
}

// As CUDA's driver and the emulated GPU do; a kernel without a declaration takes anything.
TEST(FakeDevice, ArgumentsMustBeThoseOfTheKernel) {
  FakeDevice device;
  float scaled = 0.0F;
  register_typed<float*, int, double, char>(
      device, "scale", [](const FakeLaunch&, float* to, int count, double factor, char sign) {
        *to = static_cast<float>(count * factor) * (sign == '-' ? -1.0F : 1.0F);
      });
  const FakeParameters expected = parameters_of<float*, int, double, char>();
  EXPECT_EQ(expected.offsets, (std::vector<std::uint16_t>{0, 8, 16, 24}));
  EXPECT_EQ(expected.bytes, 25U);
  FakeCubin cubin;
  cubin.names = {"scale"};
  DeviceStatus status;
  const auto module = device.load(cubin.bytes(), cubin.names, status);
  ASSERT_TRUE(module) << status.message;

  struct {
    float* to;
    int count = 3;
    double factor = 1.5;
    char sign = '-';
  } arguments{&scaled};
  const std::vector<std::uint16_t> offsets{0, 8, 16, 24};
  LaunchRequest request;
  request.function = module->functions()[0];
  request.arguments = &arguments;
  request.argument_bytes = 25;
  request.parameters = offsets;
  EXPECT_TRUE(device.launch(request, device.own_stream()).ok());
  EXPECT_EQ(scaled, -4.5F);

  const auto refusal = [&](const LaunchRequest& wrong) {
    const DeviceStatus refused = device.launch(wrong, device.own_stream());
    EXPECT_EQ(refused.code, DeviceStatus::Code::launch_failed);
    EXPECT_FALSE(refused.sticky);
    return refused.message;
  };
  LaunchRequest shorter = request;
  shorter.argument_bytes = 24;
  EXPECT_EQ(refusal(shorter), "scale takes 25 bytes of parameters, and the launch gives 24");
  LaunchRequest one = request;
  one.parameters = {};
  EXPECT_EQ(refusal(one), "scale has 4 parameters, and the launch gives 0, or at other places");
  const std::vector<std::uint16_t> moved{0, 12, 16, 24};
  LaunchRequest elsewhere = request;
  elsewhere.parameters = moved;
  EXPECT_NE(refusal(elsewhere), "");
}

TEST_F(FakeDeviceTest, ReplayedTimeIsTheSumOfTheLaunches) {
  FakeDevice device;
  const auto module = load(device, kBehaveOk);
  const auto batch = device.record(
      [&](int, void* stream) {
        return device.launch({module->functions()[0], {}, nullptr}, stream);
      },
      8, status_);
  ASSERT_NE(batch, nullptr);
  double total_ns = 0.0;
  EXPECT_TRUE(batch->replay(total_ns).ok());
  EXPECT_DOUBLE_EQ(total_ns, 8 * 250.0);
  EXPECT_EQ(runs_, 0) << "recording runs nothing";
}

TEST_F(FakeDeviceTest, ARecordingThatThrowsEnds) {
  FakeDevice device;
  const auto module = load(device, kBehaveOk);
  const auto throwing = [](int, void*) -> DeviceStatus { throw std::runtime_error("planted"); };
  EXPECT_THROW(static_cast<void>(device.record(throwing, 2, status_)), std::runtime_error);
  EXPECT_TRUE(launch(device, *module).ok());
  EXPECT_EQ(runs_, 1) << "launches run again";
}

TEST_F(FakeDeviceTest, CopiesOutsideOfAllocationsAreErrors) {
  FakeDevice device;
  const DevicePtr memory = device.allocate(16);
  std::array<char, 32> data{};
  EXPECT_NO_THROW(device.copy_to_device(memory, data.data(), 16));
  EXPECT_THROW(device.copy_to_device(memory, data.data(), 17), Error);
  EXPECT_THROW(device.copy_to_host(data.data(), memory + 10, 8), Error);
  device.free(memory);
  EXPECT_THROW(device.fill(memory, 0, 1), Error);
  EXPECT_EQ(device.live_allocations(), 0U);
}

TEST(HostElementTest, RoundTripsEveryBitPatternOfTheSmallTypes) {
  for (const DType type : {DType::f16, DType::bf16, DType::e4m3, DType::e5m2, DType::s8}) {
    const int bytes = size_bytes(type);
    for (std::uint64_t bits = 0; bits < 1ULL << (8 * bytes); ++bits) {
      std::uint64_t memory = bits;
      const double value = load_element(type, &memory, 0);
      if (std::isnan(value)) continue;
      memory = 0;
      store_element(type, &memory, 0, value);
      ASSERT_EQ(memory, bits) << to_string(type);
    }
  }
}

}  // namespace
}  // namespace kiln::testing
