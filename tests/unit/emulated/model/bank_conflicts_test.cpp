// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The expected numbers of accesses are times of the same ones on an H200, in wavefronts.
#include "runtime/emulated/model/bank_conflicts.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

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

TEST(BankConflicts, PartsOfOneWordDoNotConflict) {
  for (const int bytes : {1, 2}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(load(bytes, [&](int lane) { return bytes * lane; }), 1);
    EXPECT_EQ(load(bytes, [&](int lane) { return 128 * lane + lane % 2 * bytes; }), 32);
    EXPECT_EQ(load(bytes, [&](int lane) { return lane / 2 * 128 + lane % 2 * bytes; }), 16);
    EXPECT_EQ(store(bytes, [&](int lane) { return lane / 2 * 128 + lane % 2 * bytes; }), 16);
    EXPECT_EQ(store(bytes, [&](int lane) { return lane / 2 * 8 + lane % 2 * bytes; }), 1);
  }
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
  // Lanes two apart agree, next ones do not; a lane that is off agrees with any other.
  const auto two_apart = [](int lane) { return 8 * (lane & ~18); };
  EXPECT_EQ(load(8, two_apart), 1);
  EXPECT_EQ(load(8, two_apart, 0x0ff0fff7U), 1);
  EXPECT_EQ(load(8, two_apart, 0x33333333U), 1);
  const auto one_disagrees = [&](int lane) { return lane == 5 ? 1024 : two_apart(lane); };
  EXPECT_EQ(load(8, one_disagrees), 3);
  EXPECT_EQ(load(8, one_disagrees, ~(LaneMask{1} << 7U)), 2);
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
  EXPECT_EQ(rows(80), 4) << "the picture in docs/explanation/emulator.md";
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

struct CopyCost {
  int wavefronts;
  int sectors;
  bool operator==(const CopyCost&) const = default;
};
std::ostream& operator<<(std::ostream& to, const CopyCost& cost) {
  return to << cost.wavefronts << " wavefronts, " << cost.sectors << " sectors";
}

/// A copy of each lane's bytes from one place to another, past the first-level cache or through it.
CopyCost copy(bool bypasses, int bytes, const std::function<int(int)>& to,
              const std::function<int(int)>& from, LaneMask lanes = kAllLanes, LaneMask zeros = 0,
              bool sized = false) {
  WarpAccess load;
  load.space = ptx::Space::global;
  load.bytes = bytes;
  load.lanes = lanes & ~zeros;
  WarpAccess store;
  store.space = ptx::Space::shared;
  store.kind = AccessKind::async_store;
  store.bytes = bytes;
  store.lanes = lanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    load.address[lane] = static_cast<std::uint64_t>(4096 + from(lane));
    store.address[lane] = static_cast<std::uint64_t>(1024 + to(lane));
  }
  const AsyncCopy whole{load.address, store.address, zeros, sized, bypasses};
  load.copy = store.copy = &whole;
  return {shared_wavefronts(store), sectors(load)};
}
std::function<int(int)> stride(int bytes) {
  return [bytes](int lane) { return lane * bytes; };
}
/// Rows of `chunks` times 16 bytes.
std::function<int(int)> rows(int chunks, int pitch) {
  return [chunks, pitch](int lane) { return lane / chunks * pitch + lane % chunks * 16; };
}

// The expected numbers of both tests are ncu's counts of these copies on an H200.
TEST(BankConflicts, CopiesPastTheCacheMoveSectors) {
  const auto past = [](const auto& to, const auto& from) { return copy(true, 16, to, from); };
  EXPECT_EQ(past(stride(16), stride(16)), (CopyCost{4, 16}));
  EXPECT_EQ(past(stride(32), stride(16)), (CopyCost{32, 32}));
  EXPECT_EQ(past(stride(48), stride(16)), (CopyCost{24, 32}));
  EXPECT_EQ(past(stride(80), stride(16)), (CopyCost{32, 32}));
  EXPECT_EQ(past(stride(16), stride(48)), (CopyCost{24, 32}));
  EXPECT_EQ(past(stride(32), stride(32)), (CopyCost{8, 32}));
  EXPECT_EQ(past(stride(16), [](int) { return 0; }), (CopyCost{32, 32}));
  EXPECT_EQ(past(stride(16), [](int lane) { return (31 - lane) * 16; }), (CopyCost{4, 16}));
  EXPECT_EQ(past(stride(16), [](int lane) { return lane * 7 % 32 * 16; }), (CopyCost{20, 32}));
  EXPECT_EQ(past(stride(16), [](int lane) { return lane * 5 % 32 * 16; }), (CopyCost{28, 32}));
  EXPECT_EQ(past([](int lane) { return lane * 16 + 16; }, stride(16)), (CopyCost{12, 32}));
  EXPECT_EQ(past([](int lane) { return lane * 16 + 64; }, stride(16)), (CopyCost{8, 16}));
  const auto shifted = [](int lane) { return lane * 16 + 16; };
  EXPECT_EQ(past(shifted, shifted), (CopyCost{6, 17}));
  EXPECT_EQ(past(rows(4, 80), rows(4, 256)), (CopyCost{15, 24}));
  EXPECT_EQ(past(rows(8, 144), rows(8, 256)), (CopyCost{10, 24}));
  EXPECT_EQ(past(rows(16, 272), rows(16, 512)), (CopyCost{8, 24}));
  EXPECT_EQ(copy(true, 16, stride(16), stride(16), 0x0000ffffU), (CopyCost{2, 8}));
}

TEST(BankConflicts, CopiesThatMayReadLessTakeLonger) {
  const auto sized = [](const auto& to, const auto& from, LaneMask zeros) {
    return copy(true, 16, to, from, kAllLanes, zeros, true);
  };
  EXPECT_EQ(sized(stride(16), stride(16), 0), (CopyCost{8, 16}));
  EXPECT_EQ(sized(rows(4, 80), rows(4, 256), 0), (CopyCost{27, 24}));
  EXPECT_EQ(sized(rows(4, 80), rows(4, 64), 0), (CopyCost{23, 24}));
  EXPECT_EQ(sized(rows(4, 80), rows(4, 64), kAllLanes), (CopyCost{8, 0}));
  EXPECT_EQ(sized(stride(16), stride(256), 0), (CopyCost{64, 32}));
}

TEST(BankConflicts, CopiesThroughTheCacheConflictAtBothEnds) {
  const auto through = [](int bytes, const auto& to, const auto& from) {
    return copy(false, bytes, to, from);
  };
  EXPECT_EQ(through(16, stride(16), stride(16)), (CopyCost{4, 16}));
  EXPECT_EQ(through(16, stride(64), stride(16)), (CopyCost{16, 16}));
  EXPECT_EQ(through(16, stride(16), stride(64)), (CopyCost{16, 32}));
  EXPECT_EQ(through(16, stride(16), [](int) { return 0; }), (CopyCost{32, 1}));
  EXPECT_EQ(through(16, rows(4, 80), rows(4, 256)), (CopyCost{12, 16}));
  EXPECT_EQ(through(4, stride(12), stride(4)), (CopyCost{1, 4}));
  EXPECT_EQ(through(4, stride(4), stride(32)), (CopyCost{8, 32}));
  EXPECT_EQ(through(8, stride(8), stride(24)), (CopyCost{2, 24}));
}

}  // namespace
}  // namespace kiln::emulated
