// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/workspaces.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "kiln/error.hpp"
#include "tests/support/fake_device.hpp"

namespace kiln::detail {
namespace {

void* stream(std::uintptr_t handle) {
  return reinterpret_cast<void*>(handle);
}

TEST(WorkspacesTest, OneBufferPerStream) {
  testing::FakeDevice device;
  Workspaces workspaces(device);
  void* first = workspaces.get(stream(4096), 100);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(workspaces.get(stream(4096), 100), first);
  EXPECT_EQ(workspaces.get(stream(4096), 50), first) << "kernels of one stream share";
  EXPECT_NE(workspaces.get(stream(8192), 100), first);
  EXPECT_NE(workspaces.get(nullptr, 100), first);
  EXPECT_EQ(device.live_allocations(), 3U);
}

TEST(WorkspacesTest, GrowsAndKeepsOutgrownBuffersForWorkInFlight) {
  testing::FakeDevice device;
  std::optional<Workspaces> workspaces(std::in_place, device);
  void* small = workspaces->get(nullptr, 100);
  void* large = workspaces->get(nullptr, 1000);
  EXPECT_NE(small, large);
  EXPECT_EQ(workspaces->get(nullptr, 100), large);
  EXPECT_EQ(device.live_allocations(), 2U);
  workspaces.reset();
  EXPECT_EQ(device.live_allocations(), 0U);
}

TEST(WorkspacesTest, PerThreadStreamIsAnotherOneInEveryThread) {
  testing::FakeDevice device;
  Workspaces workspaces(device);
  void* const per_thread = stream(2);
  void* mine = workspaces.get(per_thread, 64);
  void* other = nullptr;
  std::thread([&] { other = workspaces.get(per_thread, 64); }).join();
  EXPECT_NE(mine, other);
  EXPECT_EQ(workspaces.get(per_thread, 64), mine);
}

TEST(WorkspacesTest, MemoryShortageIsADeviceError) {
  testing::FakeDeviceOptions options;
  options.memory_bytes = 1000;
  testing::FakeDevice device(options);
  Workspaces workspaces(device);
  EXPECT_THROW(static_cast<void>(workspaces.get(nullptr, 2000)), Error);
  EXPECT_NE(workspaces.get(nullptr, 500), nullptr);
}

}  // namespace
}  // namespace kiln::detail
