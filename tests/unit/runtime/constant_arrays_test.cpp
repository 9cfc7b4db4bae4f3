// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/constant_arrays.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string_view>

#include "runtime/emulated/device/emulated_device.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kModule =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".const .align 4 .b8 weights[12];\n.visible .entry k() { ret; }\n";

class ConstantArrays : public ::testing::Test {
 protected:
  ConstantArrays() {
    DeviceStatus status;
    module = device.load(std::as_bytes(std::span(kModule.data(), kModule.size())), {"k"}, status);
    EXPECT_TRUE(status.ok()) << status.message;
  }
  DeviceStatus find(const std::vector<ConstantFill>& fills) {
    return find_constant_arrays(device, *module, fills, arrays);
  }

  EmulatedDevice device{"h200"};
  std::unique_ptr<LoadedModule> module;
  std::vector<ConstantArray> arrays;
};

TEST_F(ConstantArrays, HoldWhatIsCopiedThere) {
  ASSERT_TRUE(find({{"weights", 1, 8}}).ok());
  const DevicePtr operand = device.allocate(8);
  const std::array<float, 2> numbers{1.5F, -2.0F};
  device.copy_to_device(operand, numbers.data(), 8);
  const std::array<std::uintptr_t, 2> operands{0, operand};
  ASSERT_TRUE(fill_constant_arrays(device, arrays, operands, device.own_stream()).ok());
  std::array<float, 3> held{};
  device.copy_to_host(held.data(), module->variable("weights")->address, 12);
  EXPECT_EQ(held, (std::array<float, 3>{1.5F, -2.0F, 0.0F}));
  device.free(operand);
}

TEST_F(ConstantArrays, ThatAreMissingOrTooSmallAreNamed) {
  EXPECT_THAT(find({{"weights", 0, 12}, {"weight", 1, 4}}).message,
              HasSubstr("the compiled code has no array weight."));
  EXPECT_TRUE(arrays.empty());
  EXPECT_THAT(
      find({{"weights", 0, 16, "t.cu:9"}}).message,
      StartsWith(
          "t.cu:9: the array weights has 12 bytes, but the operand for this array has 16 bytes"));
}

TEST_F(ConstantArrays, AFailedCopyIsAStatus) {
  ASSERT_TRUE(find({{"weights", 0, 8}}).ok());
  const std::array<std::uintptr_t, 1> nowhere{0};
  EXPECT_FALSE(fill_constant_arrays(device, arrays, nowhere, device.own_stream()).ok());
}

}  // namespace
}  // namespace kiln
