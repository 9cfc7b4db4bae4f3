// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Allocations that end where they say, and bytes that nobody has written.
#include "runtime/emulated/memory/global_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/emulated/device/emulated_device.hpp"

namespace kiln::emulated {
namespace {

AllocationWish exact(std::int64_t bytes, std::int64_t alignment) {
  AllocationWish wish;
  wish.bytes = bytes;
  wish.alignment = alignment;
  wish.exact = true;
  wish.purpose = "operand A";
  return wish;
}

TEST(GlobalMemory, ExactMemoryHasItsAlignmentAndNoMore) {
  GlobalMemory memory(std::int64_t{1} << 30);
  for (const std::int64_t alignment : {1, 2, 4, 16, 128, 256, 512}) {
    const Allocation& at = memory.allocate(exact(100, alignment));
    EXPECT_EQ(at.address % static_cast<std::uint64_t>(alignment), 0U) << alignment;
    if (alignment < 256) {
      EXPECT_EQ(at.address % 256, static_cast<std::uint64_t>(alignment)) << alignment;
    }
    EXPECT_EQ(at.bytes, 100);
  }
}

TEST(GlobalMemory, NothingLiesWithinTheLengthOfExactMemory) {
  GlobalMemory memory(std::int64_t{1} << 30);
  constexpr std::int64_t kBytes = 3 << 20;
  std::vector<std::uint64_t> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(memory.allocate(exact(kBytes, 16)).address);
  for (const std::uint64_t piece : pieces) {
    for (const std::int64_t distance : {std::int64_t{1}, kBytes / 2, kBytes}) {
      const auto away = static_cast<std::uint64_t>(distance);
      EXPECT_EQ(memory.find(piece - away), nullptr);
      EXPECT_EQ(memory.find(piece + kBytes - 1 + away), nullptr);
    }
  }
  const std::int64_t left = memory.free_bytes();
  memory.free(pieces.front());
  EXPECT_LT(memory.free_bytes() - left, kBytes + 10'000) << "gaps are no memory of the device";
}

TEST(GlobalMemory, PlacesOutsideAreDescribedByWhatIsNear) {
  GlobalMemory memory(std::int64_t{1} << 30);
  const std::uint64_t at = memory.allocate(exact(100, 4)).address;
  EXPECT_EQ(memory.place_text(at + 100, 4), "directly past the end of operand A (100 bytes)");
  EXPECT_EQ(memory.place_text(at + 900'000, 4),
            "899900 bytes past the end of operand A (100 bytes)");
  EXPECT_EQ(memory.place_text(at + 98, 4), "across the end of operand A (100 bytes)");
  EXPECT_EQ(memory.place_text(at - 8, 4), "8 bytes before operand A (100 bytes)");
  EXPECT_EQ(memory.place_text(at - 2, 4), "across the beginning of operand A (100 bytes)");
  EXPECT_EQ(memory.place_text(16, 4), "a null pointer");
}

/// The flags of the mapping that holds an address, as the kernel lists them; "" if it does not.
std::string mapping_flags(std::uint64_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool within = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      within = begin <= address && address < end;
    } else if (within && line.starts_with("VmFlags:")) {
      return line;
    }
  }
  return "";
}

TEST(GlobalMemory, PaintedMemoryIsRefusedWhereTheMachineHasNoRoom) {
  // What is filled at once must not be promised: the kernel would end the process at a write.
  const auto is_unreserved = [](const void* address) {
    return mapping_flags(reinterpret_cast<std::uintptr_t>(address)).find(" nr") !=
           std::string::npos;
  };
  const auto promised = HostPages::make<std::byte>(8 << 20, HostPages::Room::none);
  if (!is_unreserved(promised.get())) GTEST_SKIP() << "the kernel lists no flags of mappings";
  GlobalMemory memory(std::int64_t{1} << 30);
  const Allocation& at = memory.allocate(8 << 20);
  EXPECT_FALSE(is_unreserved(reinterpret_cast<const void*>(at.address)));
  EXPECT_FALSE(is_unreserved(at.written.get()));
}

TEST(GlobalMemory, WritesCanBeForgotten) {
  EmulatedDevice device("h200");
  const DevicePtr at = device.allocate_exact(64, 16, "operand D");
  device.fill(at, 0xff, 64);
  device.forget_writes(at + 16, 8);
  std::vector<std::uint8_t> bytes(64);
  device.copy_to_host(bytes.data(), at, 64);
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(64, 0xff)) << "values stay";
}

}  // namespace
}  // namespace kiln::emulated
