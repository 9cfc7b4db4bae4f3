// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

class DeviceMemoryTest : public LibraryFixture {
 protected:
  static ErrorKind kind_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorKind::internal;
  }
};

TEST_F(DeviceMemoryTest, HoldsWhatWasCopiedIntoIt) {
  const Library library = open();
  DeviceMemory memory = library.allocate(8);
  EXPECT_EQ(memory.bytes(), 8U);
  EXPECT_NE(memory.get(), nullptr);
  const std::array<char, 8> out{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
  memory.copy_from_host(out.data(), 8);
  memory.copy_from_host("XY", 2, 3);
  std::array<char, 4> in{};
  memory.copy_to_host(in.data(), 4, 2);
  EXPECT_EQ(std::string(in.data(), 4), "cXYf");
}

TEST_F(DeviceMemoryTest, CopiesOutsideAreMisuse) {
  const Library library = open();
  DeviceMemory memory = library.allocate(8);
  std::array<char, 16> bytes{};
  EXPECT_EQ(kind_of([&] { memory.copy_from_host(bytes.data(), 9); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { memory.copy_to_host(bytes.data(), 1, 8); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { memory.copy_to_host(bytes.data(), 8, SIZE_MAX); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { DeviceMemory().copy_to_host(bytes.data(), 1); }), ErrorKind::usage);
  memory.copy_to_host(bytes.data(), 0, 8);
}

TEST_F(DeviceMemoryTest, MoreThanThereIsIsAnErrorOfTheDevice) {
  const Library library = open();
  EXPECT_EQ(kind_of([&] { (void)library.allocate(std::size_t{1} << 50); }), ErrorKind::device);
  EXPECT_EQ(kind_of([&] { (void)library.allocate(SIZE_MAX); }), ErrorKind::usage);
}

TEST_F(DeviceMemoryTest, MovesAndFreesItself) {
  const Library library = open();
  const std::size_t before = device_->live_allocations();
  {
    DeviceMemory first = library.allocate(16);
    const void* const address = first.get();
    DeviceMemory second = std::move(first);
    EXPECT_EQ(second.get(), address);
    EXPECT_EQ(device_->live_allocations(), before + 1);
    second = library.allocate(32);
    EXPECT_EQ(second.bytes(), 32U);
  }
  EXPECT_EQ(device_->live_allocations(), before);
}

TEST_F(DeviceMemoryTest, OutlivesItsLibrary) {
  std::optional<Library> library(open());
  DeviceMemory memory = library->allocate(4);
  library.reset();
  memory.copy_from_host("abc", 4);
  std::array<char, 4> bytes{};
  memory.copy_to_host(bytes.data(), 4);
  EXPECT_STREQ(bytes.data(), "abc");
}

TEST_F(DeviceMemoryTest, TheDevicesKindIsKnown) {
  EXPECT_FALSE(open().is_emulated());
}

}  // namespace
}  // namespace kiln::testing
