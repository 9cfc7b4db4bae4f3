// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The expected numbers are times of the same accesses on an H200, in wavefronts.
#include "runtime/emulated/bank_conflicts.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace kiln::emulated {
namespace {

int load(int bytes, const std::function<int(int)>& place, LaneMask lanes = kAllLanes) {
  std::uint64_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = static_cast<std::uint64_t>(place(lane));
  }
  return shared_wavefronts(addresses, lanes, bytes, true);
}
int store(int bytes, const std::function<int(int)>& place) {
  std::uint64_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = static_cast<std::uint64_t>(place(lane));
  }
  return shared_wavefronts(addresses, kAllLanes, bytes, false);
}

TEST(BankConflicts, WordsConflictInTheWholeWarp) {
  EXPECT_EQ(load(4, [](int) { return 0; }), 1);
  EXPECT_EQ(load(4, [](int lane) { return 4 * lane; }), 1);
  EXPECT_EQ(load(4, [](int lane) { return 8 * lane; }), 2);
  EXPECT_EQ(load(4, [](int lane) { return 12 * lane; }), 1);
  EXPECT_EQ(load(4, [](int lane) { return 128 * lane; }), 32);
  EXPECT_EQ(store(4, [](int lane) { return 8 * lane; }), 2);
}

TEST(BankConflicts, PairsOfWordsConflictInHalfWarps) {
  EXPECT_EQ(load(8, [](int lane) { return 8 * lane; }), 2);
  EXPECT_EQ(load(8, [](int lane) { return 256 * lane; }), 32);
  EXPECT_EQ(store(8, [](int lane) { return 8 * lane; }), 2);
}

TEST(BankConflicts, HalvesMergeWhereNeighboursAgree) {
  EXPECT_EQ(load(8, [](int) { return 0; }), 1);
  EXPECT_EQ(load(8, [](int lane) { return 8 * (lane & ~1); }), 2);
  EXPECT_EQ(load(8, [](int lane) { return 8 * (lane & ~17); }), 1);
  EXPECT_EQ(store(8, [](int) { return 0; }), 2) << "stores never merge";
}

TEST(BankConflicts, QuadsOfWordsConflictInQuarterWarps) {
  EXPECT_EQ(load(16, [](int lane) { return 16 * lane; }), 4);
  EXPECT_EQ(load(16, [](int lane) { return 32 * lane; }), 8);
  EXPECT_EQ(load(16, [](int lane) { return 48 * lane; }), 4);
  EXPECT_EQ(load(16, [](int) { return 0; }), 2);
  EXPECT_EQ(store(16, [](int) { return 0; }), 4);
  EXPECT_EQ(load(
                16, [](int lane) { return 272 * lane; }, 0x0000ff00U),
            1);
}

TEST(BankConflicts, PitchesOfMatrixRows) {
  const auto rows = [](int pitch) {
    return store(16, [pitch](int lane) { return lane % 8 * pitch + lane / 8 * 16; });
  };
  EXPECT_EQ(rows(80), 4) << "the picture in docs/emulation.md";
  EXPECT_EQ(rows(64), 16);
  EXPECT_EQ(rows(128), 32);
}

TEST(BankConflicts, FewestIsOneForEachPartThatIsUsed) {
  EXPECT_EQ(fewest_wavefronts(kAllLanes, 4), 1);
  EXPECT_EQ(fewest_wavefronts(kAllLanes, 8), 2);
  EXPECT_EQ(fewest_wavefronts(kAllLanes, 16), 4);
  EXPECT_EQ(fewest_wavefronts(0x000000ffU, 16), 1);
  EXPECT_EQ(fewest_wavefronts(0, 4), 1);
}

TEST(BankConflicts, SectorsAreDistinctPiecesOf32Bytes) {
  std::uint64_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = static_cast<std::uint64_t>(4096 + 4 * lane);
  }
  EXPECT_EQ(sectors(addresses, kAllLanes, 4), 4);
  EXPECT_EQ(sectors(addresses, 0x1U, 4), 1);
  for (std::uint64_t& address : addresses) address += 16;
  EXPECT_EQ(sectors(addresses, kAllLanes, 4), 5);
}

}  // namespace
}  // namespace kiln::emulated
