// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/swizzle.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace kiln::emulated {
namespace {

constexpr Swizzle kModes[] = {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};

TEST(Swizzle, SpansAndPeriodsAreThoseOfTheIsa) {
  EXPECT_EQ(swizzle_span(Swizzle::none), 0U);
  EXPECT_EQ(swizzle_span(Swizzle::bytes32), 32U);
  EXPECT_EQ(swizzle_span(Swizzle::bytes64), 64U);
  EXPECT_EQ(swizzle_span(Swizzle::bytes128), 128U);
  EXPECT_EQ(swizzle_period(Swizzle::bytes32), 256U);
  EXPECT_EQ(swizzle_period(Swizzle::bytes64), 512U);
  EXPECT_EQ(swizzle_period(Swizzle::bytes128), 1024U);
}

TEST(Swizzle, MovesChunksWithinTheirSpanAndBack) {
  for (const Swizzle mode : kModes) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t address = 0; address < 4096; ++address) {
      const std::uint32_t moved = swizzled(mode, address);
      EXPECT_EQ(swizzled(mode, moved), address);
      EXPECT_EQ(moved % 16, address % 16);
      const std::uint32_t span = mode == Swizzle::none ? 16 : swizzle_span(mode);
      EXPECT_EQ(moved / span, address / span);
      EXPECT_EQ(swizzled(mode, address + swizzle_period(mode)), moved + swizzle_period(mode));
      seen.insert(moved);
    }
    EXPECT_EQ(seen.size(), 4096U);
  }
}

TEST(Swizzle, ARowOfEightChunksIsPermutedByItsNumber) {
  for (std::uint32_t row = 0; row < 8; ++row) {
    for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
      EXPECT_EQ(swizzled(Swizzle::bytes128, row * 128 + chunk * 16),
                row * 128 + (chunk ^ row) * 16);
      EXPECT_EQ(swizzled(Swizzle::bytes64, row * 128 + chunk * 16),
                row * 128 + (chunk ^ row % 4) * 16);
      EXPECT_EQ(swizzled(Swizzle::bytes32, row * 128 + chunk * 16),
                row * 128 + (chunk ^ row % 2) * 16);
    }
  }
}

// Eight rows of a tile, read at the same column, lie in eight different groups of four banks.
TEST(Swizzle, AColumnOfChunksMeetsEveryBankOnce) {
  for (const Swizzle mode : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
    for (std::uint32_t chunk = 0; chunk < swizzle_span(mode) / 16; ++chunk) {
      std::set<std::uint32_t> groups;
      for (std::uint32_t row = 0; row < 8; ++row) {
        groups.insert(swizzled(mode, row * swizzle_span(mode) + chunk * 16) % 128 / 16);
      }
      EXPECT_EQ(groups.size(), 8U) << "mode " << static_cast<int>(mode) << " chunk " << chunk;
    }
  }
}

TEST(Swizzle, APatternCanCountFromElsewhere) {
  for (std::uint32_t base = 0; base < 8; ++base) {
    for (std::uint32_t offset = 0; offset < 1024; offset += 16) {
      EXPECT_EQ(swizzled(Swizzle::bytes128, base * 128 + offset, base),
                base * 128 + swizzled(Swizzle::bytes128, offset));
    }
  }
}

}  // namespace
}  // namespace kiln::emulated
