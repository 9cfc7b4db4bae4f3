// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp tell each other: votes, matches, reductions, elections, shuffles. Every
// warp parts into two sides, which execute the instruction by themselves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated::lane_test {
namespace {

constexpr std::uint32_t kAll = 0xFFFFFFFFU;

/// Lanes of one side, the others being the second side.
std::vector<std::uint32_t> side_masks() {
  std::vector<std::uint32_t> masks{kAll,        1U,          0x80000000U, 0xFFFFU,     0xFFFF0000U,
                                   0x55555555U, 0x7FFFFFFFU, 0xFFFFFFFEU, 0x00018000U, 0x0F0F0F0FU};
  std::mt19937 random(7);
  while (masks.size() < 64) masks.push_back(static_cast<std::uint32_t>(random()));
  return masks;
}

/// One warp after the other: `values` fills the first three sources, the fourth is the side mask.
Rows rows_of_warps(const std::function<Row(std::mt19937&)>& values) {
  std::mt19937 random(11);
  Rows rows;
  for (const std::uint32_t mask : side_masks()) {
    for (int lane = 0; lane < kLanes; ++lane) {
      Row row = values(random);
      row[3] = mask;
      rows.push_back(row);
    }
  }
  return rows;
}

/// The lanes in the mask %re execute the text, then the others, whose %re is the other mask.
std::string on_both_sides(const std::string& text) {
  return R"(
    mov.u32 %r1, %laneid;
    shr.b32 %r2, %re, %r1;
    and.b32 %r2, %r2, 1;
    setp.eq.u32 %p0, %r2, 0;
    @%p0 bra OTHERS;
  )" + text +
         R"(
    bra.uni DONE;
  OTHERS:
    not.b32 %re, %re;
  )" + text +
         "\nDONE:\n";
}

/// What a lane should get from the rows of its warp and the lanes of its side; nothing where PTX
/// leaves it open.
using Expected =
    std::function<std::optional<std::uint64_t>(std::span<const Row> warp, std::uint32_t, int)>;

void expect_on_both_sides(const std::string& text, char result, const Rows& rows,
                          const Expected& expected) {
  SCOPED_TRACE(text);
  const auto results = run(on_both_sides(text), result, rows);
  int wrong = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int lane = static_cast<int>(i % kLanes);
    const auto mask = static_cast<std::uint32_t>(rows[i][3]);
    const std::uint32_t side = (mask >> lane & 1U) != 0 ? mask : ~mask;
    const auto warp = std::span(rows).subspan(i / kLanes * kLanes, kLanes);
    const auto wanted = expected(warp, side, lane);
    if (!wanted || results[i] == *wanted) continue;
    ADD_FAILURE() << fmt::format("lane {} of the side {:08x}: {:#x} instead of {:#x}", lane, side,
                                 results[i], *wanted);
    if (++wrong > 5) return;
  }
}

std::vector<int> lanes_of(std::uint32_t mask) {
  std::vector<int> lanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1U) != 0) lanes.push_back(lane);
  }
  return lanes;
}

/// The lanes of a side whose first source is odd.
std::uint32_t odd_ones(std::span<const Row> warp, std::uint32_t side) {
  std::uint32_t odd = 0;
  for (const int lane : lanes_of(side)) {
    if (warp[static_cast<std::size_t>(lane)][0] % 2 == 1) odd |= 1U << lane;
  }
  return odd;
}

/// %rd and, above it, the predicate %p1.
const std::string kWithPredicate = "selp.b32 %r3, 1, 0, %p1; mov.b64 %ld, {%rd, %r3};";

TEST(WarpInstructions, VotesAreOfOneSide) {
  // Warps of zeros, of ones, with one that differs, and with all kinds.
  int kind = 0;
  int count = 0;
  const Rows rows = rows_of_warps([&](std::mt19937& random) -> Row {
    if (count++ % kLanes == 0) kind = static_cast<int>(random() % 5);
    const bool rare = random() % 16 == 0;
    const std::uint64_t bit = kind == 0   ? 0
                              : kind == 1 ? 1
                              : kind == 2 ? (rare ? 1 : 0)
                              : kind == 3 ? (rare ? 0 : 1)
                                          : random() % 2;
    return {bit, 0, 0, 0};
  });
  for (const bool negated : {false, true}) {
    const auto holds = [negated](std::span<const Row> warp, std::uint32_t side) {
      const std::uint32_t odd = odd_ones(warp, side);
      return negated ? side & ~odd : odd;
    };
    const std::string source = negated ? "!%pa" : "%pa";
    expect_on_both_sides("vote.sync.all.pred %pd, " + source + ", %re;", 'p', rows,
                         [&](auto warp, auto side, int) { return holds(warp, side) == side; });
    expect_on_both_sides("vote.sync.any.pred %pd, " + source + ", %re;", 'p', rows,
                         [&](auto warp, auto side, int) { return holds(warp, side) != 0; });
    expect_on_both_sides("vote.sync.uni.pred %pd, " + source + ", %re;", 'p', rows,
                         [&](auto warp, auto side, int) {
                           return holds(warp, side) == side || holds(warp, side) == 0;
                         });
    expect_on_both_sides("vote.sync.ballot.b32 %rd, " + source + ", %re;", 'r', rows,
                         [&](auto warp, auto side, int) { return holds(warp, side); });
  }
}

TEST(WarpInstructions, LanesThatHaveLeftDoNotVote) {
  // Lanes from 20 on exit; the mask still names them.
  const std::string text =
      "mov.u32 %r1, %laneid; setp.ge.u32 %p0, %r1, 20; @%p0 exit;"
      "vote.sync.all.pred %p1, %pa, -1; vote.sync.ballot.b32 %rd, %pa, -1;";
  Rows rows;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane)
    rows.push_back({lane < 20 ? 1U : 0U, 0, 0, 0});
  const auto results = run(text + kWithPredicate, 'l', rows);
  for (std::size_t lane = 0; lane < 20; ++lane) EXPECT_EQ(results[lane], 0x1'000F'FFFFU) << lane;
}

TEST(WarpInstructions, ActiveMasksAreTheSides) {
  const Rows rows = rows_of_warps([](std::mt19937&) { return Row{}; });
  expect_on_both_sides("activemask.b32 %rd;", 'r', rows, [](auto, auto side, int) { return side; });
}

/// Few different values, so that lanes match, in the low or in the high half.
Row few_values(std::mt19937& random) {
  return {(random() % 3) | std::uint64_t{random() % 2} << 32, 0, 0, 0};
}

/// The lanes of a side that hold what a lane holds.
std::uint32_t like(std::span<const Row> warp, std::uint32_t side, int lane, std::uint64_t bits) {
  std::uint32_t same = 0;
  for (const int other : lanes_of(side)) {
    const auto differs =
        warp[static_cast<std::size_t>(other)][0] ^ warp[static_cast<std::size_t>(lane)][0];
    if ((differs & bits) == 0) same |= 1U << other;
  }
  return same;
}

TEST(WarpInstructions, MatchAnyFindsTheLanesWithOnesOwnValue) {
  const Rows rows = rows_of_warps(&few_values);
  expect_on_both_sides(
      "match.any.sync.b32 %rd, %ra, %re;", 'r', rows,
      [](auto warp, auto side, int lane) { return like(warp, side, lane, 0xFFFFFFFFU); });
  expect_on_both_sides(
      "match.any.sync.b64 %rd, %la, %re;", 'r', rows,
      [](auto warp, auto side, int lane) { return like(warp, side, lane, ~std::uint64_t{0}); });
}

TEST(WarpInstructions, MatchAllHoldsIfASideAgrees) {
  int count = 0;
  std::uint64_t common = 0;
  const Rows rows = rows_of_warps([&](std::mt19937& random) -> Row {
    if (count++ % kLanes == 0) common = random();
    // One lane in forty differs, half of them in the upper word only.
    const std::uint64_t change = random() % 40 == 0 ? (random() % 2 == 0 ? 1 : 1ULL << 40) : 0;
    return {common ^ change, 0, 0, 0};
  });
  for (const std::string bits : {"32", "64"}) {
    const std::uint64_t looked_at = bits == "32" ? 0xFFFFFFFFU : ~std::uint64_t{0};
    const auto agreeing = [looked_at](std::span<const Row> warp, std::uint32_t side, int lane) {
      return like(warp, side, lane, looked_at) == side ? side : 0U;
    };
    const std::string source = bits == "32" ? "%ra" : "%la";
    expect_on_both_sides("match.all.sync.b" + bits + " %rd, " + source + ", %re;", 'r', rows,
                         agreeing);
    expect_on_both_sides(
        "match.all.sync.b" + bits + " %rd|%p1, " + source + ", %re;" + kWithPredicate, 'l', rows,
        [&](auto warp, auto side, int lane) {
          const std::uint64_t mask = agreeing(warp, side, lane);
          return mask | (mask != 0 ? 1ULL << 32 : 0);
        });
  }
}

TEST(WarpInstructions, ReductionsGoOverOneSide) {
  const Rows rows = rows_of_warps([](std::mt19937& random) -> Row {
    // Long and short numbers of both signs.
    const std::uint32_t value = static_cast<std::uint32_t>(random()) >> (random() % 32);
    return {random() % 2 == 0 ? value : ~value, 0, 0, 0};
  });
  struct Case {
    std::string name;
    std::function<std::uint32_t(std::uint32_t, std::uint32_t)> combine;
  };
  const auto as_signed = [](std::uint32_t bits) { return std::bit_cast<std::int32_t>(bits); };
  const std::vector<Case> cases{
      {"add.u32", [](auto a, auto b) { return a + b; }},
      {"add.s32", [](auto a, auto b) { return a + b; }},
      {"min.u32", [](auto a, auto b) { return a < b ? a : b; }},
      {"max.u32", [](auto a, auto b) { return a > b ? a : b; }},
      {"min.s32", [&](auto a, auto b) { return as_signed(a) < as_signed(b) ? a : b; }},
      {"max.s32", [&](auto a, auto b) { return as_signed(a) > as_signed(b) ? a : b; }},
      {"and.b32", [](auto a, auto b) { return a & b; }},
      {"or.b32", [](auto a, auto b) { return a | b; }},
      {"xor.b32", [](auto a, auto b) { return a ^ b; }},
  };
  for (const Case& each : cases) {
    expect_on_both_sides(
        "redux.sync." + each.name + " %rd, %ra, %re;", 'r', rows, [&](auto warp, auto side, int) {
          const std::vector<int> lanes = lanes_of(side);
          auto sum = static_cast<std::uint32_t>(warp[static_cast<std::size_t>(lanes[0])][0]);
          for (std::size_t i = 1; i < lanes.size(); ++i) {
            const Row& row = warp[static_cast<std::size_t>(lanes[i])];
            sum = each.combine(sum, static_cast<std::uint32_t>(row[0]));
          }
          return sum;
        });
  }
}

TEST(WarpInstructions, EachSideElectsOneOfItsOwn) {
  const Rows rows = rows_of_warps([](std::mt19937&) { return Row{}; });
  const auto results = run(on_both_sides("elect.sync %rd|%p1, %re;" + kWithPredicate), 'l', rows);
  for (std::size_t first = 0; first < rows.size(); first += kLanes) {
    const auto mask = static_cast<std::uint32_t>(rows[first][3]);
    for (const std::uint32_t side : {mask, ~mask}) {
      if (side == 0) continue;
      std::set<std::uint32_t> leaders;
      int elected = 0;
      for (const int lane : lanes_of(side)) {
        const std::uint64_t result = results[first + static_cast<std::size_t>(lane)];
        leaders.insert(static_cast<std::uint32_t>(result));
        const bool is_leader = result >> 32 == 1;
        elected += is_leader ? 1 : 0;
        EXPECT_EQ(is_leader, static_cast<int>(result & 0xFFFFFFFFU) == lane);
      }
      ASSERT_EQ(leaders.size(), 1U) << "all know the same leader";
      EXPECT_EQ(elected, 1);
      EXPECT_TRUE((side >> *leaders.begin() & 1U) != 0);
    }
  }
  EXPECT_EQ(run_one("elect.sync _|%pd, -1;", 'p', {}), 1U);
}

/// Shuffles by a number of lanes of a segment's width, whose last (for up: first) lane that may be
/// read is `clamp` within its segment. As the CUDA functions, which have only the outermost clamp.
std::optional<int> shuffled_from(const std::string& mode, int lane, int by, int width, int clamp) {
  const int first = lane / width * width;
  const int limit = first + clamp % width;
  if (mode == "up") return lane - by >= limit ? std::optional(lane - by) : std::nullopt;
  const int from = mode == "down" ? lane + by : mode == "bfly" ? lane ^ by : first + by % width;
  return from <= limit ? std::optional(from) : std::nullopt;
}

TEST(WarpInstructions, ShufflesStayWithinTheirSegments) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const bool clamps : {false, true}) {
      const Rows rows = rows_of_warps([&](std::mt19937& random) -> Row {
        const std::uint32_t width = 1U << (random() % 6);
        // Unless told otherwise, up to the end of the segment.
        const std::uint32_t clamp = clamps ? random() % 32 : mode == "up" ? 0 : 31;
        // Bits above the fields mean nothing.
        const std::uint32_t noise = static_cast<std::uint32_t>(random()) << 13 | 0xE0U;
        return {random(), random() % 64, (32 - width) << 8 | clamp | noise, 0};
      });
      expect_on_both_sides(
          "shfl.sync." + mode + ".b32 %rd|%p1, %ra, %rb, %rc, %re;" + kWithPredicate, 'l', rows,
          [&](auto warp, auto side, int lane) -> std::optional<std::uint64_t> {
            const Row& own = warp[static_cast<std::size_t>(lane)];
            const int width = 32 - static_cast<int>(own[2] >> 8 & 31U);
            const auto from = shuffled_from(mode, lane, static_cast<int>(own[1] % 32), width,
                                            static_cast<int>(own[2] & 31U));
            const int source = from.value_or(lane);
            if ((side >> source & 1U) == 0) return std::nullopt;
            const Row& read = warp[static_cast<std::size_t>(source)];
            return (read[0] & 0xFFFFFFFFU) | (from ? 1ULL << 32 : 0);
          });
    }
  }
}

TEST(WarpInstructions, AShuffleMayOverwriteItsSource) {
  Rows rows;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) rows.push_back({lane * 3, 0, 0, 0});
  const auto results = run("mov.b32 %rd, %ra; shfl.sync.down.b32 %rd, %rd, 1, 31, -1;", 'r', rows);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(results[lane], std::min<std::size_t>(lane + 1, 31) * 3);
  }
}

TEST(WarpInstructions, AShuffleFromOutsideOfItsMaskGivesAnything) {
  // As in the last steps of a reduction, where half of the results are thrown away.
  Rows rows;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane)
    rows.push_back({lane, lane < 8 ? 1U : 0U, 0, 0});
  const auto results = run("@%pb shfl.sync.down.b32 %rd, %ra, 4, 31, 0xff;", 'r', rows);
  for (std::size_t lane = 0; lane < 4; ++lane) EXPECT_EQ(results[lane], lane + 4);
  for (std::size_t lane = 4; lane < 8; ++lane) EXPECT_NE(results[lane], lane + 4);
}

TEST(WarpInstructions, AGuardIsASideToo) {
  // The lanes whose predicate holds are the members; the others keep what they had.
  const std::vector<std::string> instructions{
      "redux.sync.add.u32 %rd, %ra, %re;", "shfl.sync.idx.b32 %rd, %ra, %rb, 31, %re;",
      "match.any.sync.b32 %rd, %ra, %re;", "vote.sync.ballot.b32 %rd, %pd, %re;"};
  Rows rows;
  const std::uint32_t members = 0xF0F00F0FU;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    rows.push_back({5, 3, members >> lane & 1U, members});
  }
  const std::vector<std::uint32_t> expected{16 * 5, 5, members, members};
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const auto results = run("@%pc " + instructions[i], 'r', rows);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ(results[lane], rows[lane][2] != 0 ? expected[i] : kAll) << instructions[i];
    }
  }
}

TEST(WarpInstructions, JumpTablesSendEachLaneItsOwnWay) {
  const std::string text = R"(
    and.b32 %r1, %ra, 3;
    TABLE: .branchtargets ZERO, ONE, TWO, ONE;
    brx.idx %r1, TABLE;
  ZERO:
    mov.u32 %rd, 100;
    bra.uni DONE;
  ONE:
    add.u32 %rd, %r1, 200;
    bra.uni DONE;
  TWO:
    activemask.b32 %rd;
  DONE:
    activemask.b32 %r2;
    setp.ne.u32 %p1, %r2, -1;
    @%p1 trap;
  )";
  std::mt19937 random(5);
  Rows rows;
  for (int i = 0; i < 32 * 40; ++i) rows.push_back({random(), 0, 0, 0});
  const auto results = run(text, 'r', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t way = rows[i][0] % 4;
    std::uint32_t twos = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (rows[i / kLanes * kLanes + lane][0] % 4 == 2) twos |= 1U << lane;
    }
    EXPECT_EQ(results[i], way == 0 ? 100 : way == 2 ? twos : 200 + way) << i;
  }
}

TEST(WarpInstructions, WhatPtxDoesNotHaveIsRefused) {
  const std::vector<std::string> texts{
      "shfl.sync.left.b32 %rd, %ra, 1, 31, -1;", "vote.sync.most.pred %pd, %pa, -1;",
      "vote.sync.all.b32 %rd, %pa, -1;",         "match.none.sync.b32 %rd, %ra, -1;",
      "redux.sync.mul.u32 %rd, %ra, -1;",        "redux.sync.min.f32 %rd, %ra, -1;",
      "redux.sync.add.b32 %rd, %ra, -1;",        "elect.sync %rd, -1;",
      "shfl.sync.up.b64 %ld, %la, 1, 0, -1;"};
  for (const std::string& text : texts) {
    expect_refused(text);
  }
}

}  // namespace
}  // namespace kiln::emulated::lane_test
