// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/global_shadow.hpp"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <thread>
#include <vector>

namespace kiln::emulated {
namespace {

constexpr std::uint64_t kBase = 0x7000'0000;

/// Each block of these is one thread.
class OneThread : public GlobalShadow::ThreadOrder {
 public:
  [[nodiscard]] bool follows(const GlobalShadow::Threads&) const override { return true; }
};

class TwoBlocks {
 public:
  TwoBlocks() { states_[1].block = 1; }

  /// Who was there before, if nothing orders the two.
  std::optional<GlobalShadow::Conflict> access(std::uint32_t block, std::uint64_t offset, int bytes,
                                               bool writes, std::uint32_t instruction = 0) {
    GlobalShadow::Conflict conflict;
    const GlobalShadow::Touch touch{kBase + offset, bytes, writes, instruction, {}};
    if (!shadow_.access(states_[block], touch, OneThread(), conflict)) return std::nullopt;
    return conflict;
  }
  bool writes(std::uint32_t block, std::uint64_t offset, int bytes) {
    return access(block, offset, bytes, true).has_value();
  }
  bool reads(std::uint32_t block, std::uint64_t offset, int bytes) {
    return access(block, offset, bytes, false).has_value();
  }

 private:
  GlobalShadow shadow_;
  GlobalShadow::BlockState states_[2];
};

TEST(GlobalShadow, NeighboursOfOtherSizesDoNotMeet) {
  TwoBlocks blocks;
  EXPECT_FALSE(blocks.writes(0, 0, 16));
  EXPECT_FALSE(blocks.writes(1, 16, 4));
  EXPECT_FALSE(blocks.writes(0, 20, 1));
  EXPECT_FALSE(blocks.writes(1, 21, 1));
  EXPECT_FALSE(blocks.writes(0, 22, 2));
  EXPECT_FALSE(blocks.writes(1, 4096 - 1, 1)) << "the last byte of the page";
  EXPECT_FALSE(blocks.writes(0, 4096, 8)) << "the first of the next";
}

TEST(GlobalShadow, APartOfWhatAnotherWroteIsARace) {
  for (std::uint64_t part = 0; part < 16; ++part) {
    TwoBlocks blocks;
    EXPECT_FALSE(blocks.access(0, 32, 16, true, 7));
    const auto conflict = blocks.access(1, 32 + part, 1, false);
    ASSERT_TRUE(conflict) << "byte " << part;
    EXPECT_EQ(conflict->block, 0U);
    EXPECT_EQ(conflict->instruction, 7U);
    EXPECT_TRUE(conflict->wrote);
  }
}

TEST(GlobalShadow, AWideAccessMeetsTheByteThatAnotherTouched) {
  for (std::uint64_t part = 0; part < 16; ++part) {
    TwoBlocks blocks;
    EXPECT_FALSE(blocks.reads(0, 32 + part, 1));
    EXPECT_FALSE(blocks.reads(1, 32, 16)) << "reads do not race";
    EXPECT_TRUE(blocks.writes(1, 32, 16)) << "byte " << part;
  }
}

/// Threads of one block that know nothing of each other.
class Strangers : public GlobalShadow::ThreadOrder {
 public:
  explicit Strangers(const GlobalShadow::Threads& own) : own_(own) {}
  [[nodiscard]] bool follows(const GlobalShadow::Threads& others) const override {
    return others.step == GlobalShadow::kKnownStep ||
           (others.warp == own_.warp && others.lanes == own_.lanes);
  }

 private:
  GlobalShadow::Threads own_;
};

class OneBlock {
 public:
  std::optional<GlobalShadow::Conflict> access(std::uint32_t warp, LaneMask lanes, bool writes,
                                               std::uint32_t instruction = 0,
                                               std::uint32_t step = 1) {
    const GlobalShadow::Touch touch{kBase, 4, writes, instruction, {warp, lanes, step}};
    GlobalShadow::Conflict conflict;
    if (!shadow_.access(state_, touch, Strangers(touch.by), conflict)) return std::nullopt;
    return conflict;
  }

 private:
  GlobalShadow shadow_;
  GlobalShadow::BlockState state_;
};

TEST(GlobalShadow, ThreadsOfABlockMeetToo) {
  OneBlock block;
  EXPECT_FALSE(block.access(3, 1U << 9U, true, 7));
  EXPECT_FALSE(block.access(3, 1U << 9U, true, 8)) << "the same thread";
  const auto conflict = block.access(3, 1U << 10U, false);
  ASSERT_TRUE(conflict);
  EXPECT_TRUE(conflict->wrote);
  EXPECT_EQ(conflict->threads.warp, 3U);
  EXPECT_EQ(conflict->threads.lanes, 1U << 9U);
  EXPECT_EQ(conflict->instruction, 8U);
}

TEST(GlobalShadow, AReadingThatAllKnowOfHidesNoOther) {
  OneBlock block;
  EXPECT_FALSE(block.access(3, 1, false, 7, GlobalShadow::kKnownStep));
  EXPECT_FALSE(block.access(4, 1, true)) << "as this thread does";
  OneBlock other;
  EXPECT_FALSE(other.access(4, 1, false, 8));
  EXPECT_FALSE(other.access(4, 1, false, 9, GlobalShadow::kKnownStep));
  const auto conflict = other.access(5, 1, true);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->instruction, 8U);
}

TEST(GlobalShadow, OfManyReadingWarpsOneIsAnotherThanTheWriter) {
  for (std::uint32_t writer = 0; writer < 32; ++writer) {
    OneBlock block;
    for (std::uint32_t warp = 0; warp < 32; ++warp) {
      EXPECT_FALSE(block.access(warp, kAllLanes, false)) << "reads do not race";
    }
    const auto conflict = block.access(writer, 1, true);
    ASSERT_TRUE(conflict) << writer;
    EXPECT_FALSE(conflict->wrote);
  }
}

RC_GTEST_PROP(GlobalShadow, SaysWhatAShadowOfBytesWouldSay, ()) {
  struct Byte {
    std::optional<std::uint32_t> writer;
    bool read[2] = {false, false};
  };
  std::map<std::uint64_t, Byte> bytes;
  TwoBlocks blocks;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    const std::uint32_t block = *rc::gen::inRange(0, 2);
    const int size = 1 << *rc::gen::inRange(0, 5);
    const std::uint64_t offset = static_cast<std::uint64_t>(*rc::gen::inRange(0, 64 / size) * size);
    const bool writes = *rc::gen::arbitrary<bool>();
    bool expected = false;
    for (std::uint64_t at = offset; at < offset + static_cast<std::uint64_t>(size); ++at) {
      Byte& byte = bytes[at];
      expected = expected || (byte.writer && *byte.writer != block);
      if (writes) {
        expected = expected || byte.read[1 - block];
        byte = {block, {false, false}};
      } else {
        byte.read[block] = true;
      }
    }
    RC_ASSERT(blocks.access(block, offset, size, writes).has_value() == expected);
  }
}

TEST(GlobalShadow, BlocksThatMetKnowOfEachOtherAndOfNoOther) {
  constexpr std::array<std::uint32_t, 6> kMet{7, 2, 9, 0, 30, 4};
  constexpr std::uint32_t kAbsent = 5;
  constexpr std::uint64_t kBarrier = kBase + 8192;
  GlobalShadow shadow;
  std::map<std::uint32_t, GlobalShadow::BlockState> states;
  for (const std::uint32_t block : kMet) states[block].block = block;
  states[kAbsent].block = kAbsent;
  const auto races = [&](std::uint32_t by, std::uint32_t of, bool writes) {
    GlobalShadow::Conflict conflict;
    const GlobalShadow::Touch touch{kBase + of * 4, 4, writes, 0, {}};
    return shadow.access(states[by], touch, OneThread(), conflict);
  };
  // Twice: what they know is then there already.
  for (int round = 0; round < 2; ++round) {
    for (auto& [block, state] : states) {
      EXPECT_FALSE(races(block, block, true)) << block << " in round " << round;
      GlobalShadow::fence(state);
    }
    for (const std::uint32_t block : kMet) shadow.atomic(states[block], kBarrier, Order::release);
    for (const std::uint32_t block : kMet) {
      shadow.atomic(states[block], kBarrier, Order::acquire);
      GlobalShadow::fence(states[block]);
    }
    for (const std::uint32_t by : kMet) {
      for (const std::uint32_t of : kMet) EXPECT_FALSE(races(by, of, false)) << by << " of " << of;
      EXPECT_TRUE(races(by, kAbsent, false)) << by;
    }
    // So that the writing of the next round comes behind this round's reading.
    for (const std::uint32_t block : kMet) {
      GlobalShadow::fence(states[block]);
      shadow.atomic(states[block], kBarrier, Order::release);
    }
    for (auto& [block, state] : states) {
      shadow.atomic(state, kBarrier, Order::acquire);
      GlobalShadow::fence(state);
    }
  }
}

TEST(GlobalShadow, CountsBusyBlocksOfSeveralHostThreads) {
  GlobalShadow shadow;
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kEach = 50'000;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&shadow, thread] {
      for (std::uint32_t i = 0; i < kEach; ++i) shadow.count_busy({i, thread, kEach - i});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const GlobalShadow::Busy busy = shadow.busy();
  EXPECT_EQ(busy.blocks, std::uint64_t{kThreads} * kEach);
  EXPECT_EQ(busy.end, (std::array<std::uint32_t, 3>{kEach, kThreads, kEach + 1}));
}

}  // namespace
}  // namespace kiln::emulated
