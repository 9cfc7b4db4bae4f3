// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/workspaces.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

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

/// Counts how often it was waited for.
class WaitingDevice : public testing::FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  [[nodiscard]] DeviceStatus synchronize_all() override {
    ++waits;
    return FakeDevice::synchronize_all();
  }
  int waits = 0;
};

void* buffer_of_new_thread(Workspaces& workspaces, std::int64_t bytes) {
  void* buffer = nullptr;
  std::thread([&] { buffer = workspaces.get(stream(2), bytes); }).join();
  return buffer;
}

TEST(WorkspacesTest, NoThreadGetsTheBufferOfAnEndedOneBeforeTheDeviceWasWaitedFor) {
  WaitingDevice device;
  Workspaces workspaces(device);
  // Threads one after the other have their objects at the same addresses.
  std::map<void*, int> waits_then;
  int repeated = 0;
  for (int i = 0; i < 100; ++i) {
    void* const buffer = buffer_of_new_thread(workspaces, 64);
    const auto [at, is_new] = waits_then.try_emplace(buffer, device.waits);
    if (is_new) continue;
    ++repeated;
    EXPECT_LT(at->second, device.waits) << "kernels of an earlier thread may use it";
    at->second = device.waits;
  }
  EXPECT_GT(repeated, 50) << "threads that ended leave their buffers to others";
  EXPECT_LE(device.live_allocations(), 2 * Workspaces::kMostIdle);
  EXPECT_LE(device.waits, 100 / static_cast<int>(Workspaces::kMostIdle) + 1);
}

TEST(WorkspacesTest, ThreadsKeepTheirBuffersWhileTheyRun) {
  WaitingDevice device;
  Workspaces workspaces(device);
  void* const mine = workspaces.get(stream(2), 64);
  void* const larger = workspaces.get(stream(2), 6400);
  std::set<void*> seen{mine, larger};
  EXPECT_EQ(seen.size(), 2U);
  for (int i = 0; i < 40; ++i) {
    EXPECT_FALSE(seen.contains(buffer_of_new_thread(workspaces, 64)));
  }
  EXPECT_EQ(workspaces.get(stream(2), 64), larger);
}

/// Asks for a buffer when the objects of its thread are destroyed.
struct LateUser {
  ~LateUser() {
    if (workspaces != nullptr) *buffer = workspaces->get(stream(2), 64);
  }
  Workspaces* workspaces = nullptr;
  void** buffer = nullptr;
};

TEST(WorkspacesTest, AThreadThatIsEndingDoesNotGetTheBufferThatItHasLeft) {
  testing::FakeDevice device;
  Workspaces workspaces(device);
  void* before = nullptr;
  void* late = nullptr;
  std::thread([&] {
    thread_local LateUser user;  // constructed first, so destroyed last
    user.workspaces = &workspaces;
    user.buffer = &late;
    before = workspaces.get(stream(2), 64);
  }).join();
  EXPECT_NE(late, nullptr);
  EXPECT_NE(late, before) << "another thread may have it by now";
}

TEST(WorkspacesTest, EachOfManyLibrariesHasABufferOfItsOwnForAThread) {
  testing::FakeDevice device;
  std::vector<std::unique_ptr<Workspaces>> libraries;
  std::set<void*> buffers;
  for (int i = 0; i < 40; ++i) {
    libraries.push_back(std::make_unique<Workspaces>(device));
    buffers.insert(libraries.back()->get(stream(2), 64));
  }
  for (const auto& library : libraries) EXPECT_TRUE(buffers.contains(library->get(stream(2), 64)));
  EXPECT_EQ(buffers.size(), 40U);
  EXPECT_EQ(device.live_allocations(), 40U);
}

TEST(WorkspacesTest, EndedThreadsGiveTheirMemoryBackWhereItIsShort) {
  testing::FakeDeviceOptions options;
  options.memory_bytes = 1000;
  testing::FakeDevice device(options);
  Workspaces workspaces(device);
  for (int i = 0; i < 3; ++i) EXPECT_NE(buffer_of_new_thread(workspaces, 300), nullptr);
  EXPECT_NE(buffer_of_new_thread(workspaces, 900), nullptr);
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
