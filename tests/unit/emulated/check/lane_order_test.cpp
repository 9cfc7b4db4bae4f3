// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What one lane of a warp learns, and when the others know it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/emulated/check/lane_news.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

VectorClock clock_of(std::size_t agent, std::uint32_t step) {
  VectorClock clock;
  clock.set(agent, step);
  return clock;
}

TEST(LaneNews, AreOfTheLanesThatLearnedThem) {
  LaneNews news;
  news.learn(0x3, clock_of(5, 7));
  news.learn(0x6, clock_of(40, 2));
  EXPECT_EQ(news.knowing(5, 7), 0x3U);
  EXPECT_EQ(news.knowing(5, 8), 0U);
  EXPECT_EQ(news.knowing(40, 1), 0x6U);
  VectorClock of_lane_2;
  news.add_to(of_lane_2, 0x4);
  EXPECT_EQ(of_lane_2[5], 0U);
  EXPECT_EQ(of_lane_2[40], 2U);
}

TEST(LaneNews, AreSharedByLanesThatSynchronise) {
  LaneNews news;
  news.learn(0x1, clock_of(5, 7));
  news.learn(0x8, clock_of(6, 3));
  news.share(0x6);  // both have nothing to tell
  EXPECT_EQ(news.knowing(5, 7), 0x1U);
  news.share(0x3);
  EXPECT_EQ(news.knowing(5, 7), 0x3U);
  EXPECT_EQ(news.knowing(6, 3), 0x8U);
  news.share(0xf);
  EXPECT_EQ(news.knowing(5, 7), 0xfU);
  EXPECT_EQ(news.knowing(6, 3), 0xfU);
}

TEST(LaneNews, EndWhenAllLanesKnow) {
  LaneNews news;
  news.learn(0x1, clock_of(5, 7));
  news.forget(clock_of(5, 6));
  EXPECT_FALSE(news.empty());
  news.forget(clock_of(5, 7));
  EXPECT_TRUE(news.empty());
}

/// Warp 1 writes 32 words and tells of it; warp 0 waits, as `wait` has it, and reads. %r4 is the
/// lane's word, %r8 the lane, %p1 lane 0 of the warp, %p2 warp 1.
LaunchResult handed_over(const std::string& tell, const std::string& wait,
                         const std::string& read = "ld.shared.u32 %r9, [%r4];\n") {
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    .shared .align 8 .b64 barriers[2];
    .shared .align 16 .b8 data[128];
    .shared .align 4 .b32 flag;
    .shared .align 4 .b32 word;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, barriers;
    mov.u32 %r3, data;
    and.b32 %r8, %r1, 31;
    shl.b32 %r4, %r8, 2;
    add.u32 %r4, %r4, %r3;
    setp.eq.u32 %p1, %r8, 0;
    setp.ge.u32 %p2, %r1, 32;
    setp.ne.u32 %p3, %r1, 0;
    mov.u32 %r7, 1;
    @%p3 bra READY;
    mbarrier.init.shared.b64 [%r2], 32;
    mbarrier.init.shared.b64 [%r2+8], 1;
    st.shared.u32 [flag], 0;
  READY:
    bar.sync 0;
    @%p2 bra WRITE;
  )" + wait + read + R"(
    ret;
  WRITE:
    st.shared.u32 [%r4], %r1;
  )" + tell + "ret;",
                            1));
  return run.launch({1, 1, 1}, {64, 1, 1}, run.fresh_buffer(256));
}

std::string waiting(const std::string& wait, const std::string& label) {
  return label + ": " + wait + "\n@!%p5 bra " + label + ";\n";
}

const std::string kArrive = "mbarrier.arrive.shared.b64 _, [%r2];\n";
/// Lane 0 waits for the arrivals, and the others go past it.
const std::string kWaitOfLane0 =
    "@!%p1 bra ON;\n" + waiting("mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0;", "W") +
    "ON:\n";
const std::string kSync = "bar.warp.sync -1;\n";

std::vector<Finding> one_race() {
  return {Finding::race};
}

TEST(LaneOrder, AWaitOfOneLaneIsItsOwn) {
  EXPECT_EQ(findings(handed_over(kArrive, kWaitOfLane0)), one_race());
  EXPECT_EQ(findings(handed_over(kArrive, kWaitOfLane0, "@%p1 ld.shared.u32 %r9, [%r4];\n")),
            std::vector<Finding>{});
  // That the lanes are together again, or shuffle, says nothing of memory.
  EXPECT_EQ(findings(handed_over(
                kArrive, kWaitOfLane0 + "shfl.sync.idx.b32 %r10, %r1, 0, 31, 0xffffffff;\n")),
            one_race());
}

TEST(LaneOrder, BarriersOfTheWarpAndTheBlockTellTheOthers) {
  for (const char* sync : {"bar.warp.sync -1;", "bar.sync 1, 32;", "barrier.sync 2, 32;"}) {
    EXPECT_EQ(findings(handed_over(kArrive, kWaitOfLane0 + sync)), std::vector<Finding>{}) << sync;
  }
  const std::string pair = kWaitOfLane0 + "setp.lt.u32 %p6, %r8, 2;\n@%p6 bar.warp.sync 0x3;\n";
  EXPECT_EQ(findings(handed_over(kArrive, pair, "@%p6 ld.shared.u32 %r9, [%r4];\n")),
            std::vector<Finding>{});
  EXPECT_EQ(findings(handed_over(kArrive, pair, "@!%p6 ld.shared.u32 %r9, [%r4];\n")), one_race());
}

TEST(LaneOrder, WhatALaneKnowsItTellsOn) {
  // Lane 0 arrives at the second mbarrier, for which lane 1 waits.
  const std::string on = kWaitOfLane0 + R"(
    setp.eq.u32 %p6, %r8, 1;
    @%p1 mbarrier.arrive.shared.b64 _, [%r2+8];
    @!%p6 bra ON1;
  )" + waiting("mbarrier.try_wait.parity.shared.b64 %p5, [%r2+8], 0;", "W1") +
                         "ON1:\n";
  EXPECT_EQ(findings(handed_over(kArrive, on, "@%p6 ld.shared.u32 %r9, [%r4];\n")),
            std::vector<Finding>{});
  EXPECT_EQ(findings(handed_over(kArrive, on,
                                 "setp.eq.u32 %p6, %r8, 2;\n@%p6 ld.shared.u32 %r9, [%r4];\n")),
            one_race());
}

TEST(LaneOrder, OverwritingNeedsItAsWell) {
  // Warp 1 reads what warp 0 wrote before; lane 0 of warp 0 waits for that.
  const std::string write = "st.shared.u32 [%r4], %r8;\n";
  const auto reused = [&](const std::string& between) {
    return handed_over("ld.shared.u32 %r9, [%r4];\n" + kArrive, kWaitOfLane0 + between, write);
  };
  EXPECT_EQ(findings(reused("")), one_race());
  EXPECT_EQ(findings(reused(kSync)), std::vector<Finding>{});
}

TEST(LaneOrder, FlagsAreOfTheLanesThatReadThem) {
  const std::string raise = "bar.warp.sync -1;\n@%p1 st.release.cta.shared.u32 [flag], %r7;\n";
  const std::string look =
      "@!%p1 bra ON;\n" +
      waiting("ld.acquire.cta.shared.u32 %r9, [flag]; setp.ne.u32 %p5, %r9, 0;", "W") + "ON:\n";
  EXPECT_EQ(findings(handed_over(raise, look)), one_race());
  EXPECT_EQ(findings(handed_over(raise, look + kSync)), std::vector<Finding>{});
}

TEST(LaneOrder, WhatAWarpLearnsTakesNothingFromWhatItsLanesToldEachOther) {
  // Lane 3 hands a word over to lane 5; then all wait for warp 1, which has nothing to do with it.
  const auto read_by = [](int lane) {
    const std::string own =
        "setp.eq.u32 %p4, %r8, 3;\n@%p4 st.shared.u32 [word], %r8;\n"
        "@%p4 st.release.cta.shared.u32 [flag], %r7;\n"
        "setp.ne.u32 %p6, %r8, 5;\n@%p6 bra ON;\n" +
        waiting("ld.acquire.cta.shared.u32 %r9, [flag]; setp.ne.u32 %p5, %r9, 0;", "W") + "ON:\n";
    const std::string all = waiting("mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0;", "V");
    return handed_over(
        kArrive, own + all,
        "setp.eq.u32 %p6, %r8, " + std::to_string(lane) + ";\n@%p6 ld.shared.u32 %r9, [word];\n");
  };
  EXPECT_EQ(findings(read_by(5)), std::vector<Finding>{});
  EXPECT_EQ(findings(read_by(6)), one_race());
}

TEST(LaneOrder, ARelaxedWaitIsKnownToTheLanesThatFence) {
  const std::string relaxed =
      "@!%p1 bra ON;\n" +
      waiting("mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p5, [%r2], 0;", "W");
  EXPECT_EQ(findings(handed_over(kArrive, relaxed + "fence.acq_rel.cta;\nON:\n")), one_race());
  EXPECT_EQ(findings(handed_over(kArrive, relaxed + "fence.acq_rel.cta;\nON:\n" + kSync)),
            std::vector<Finding>{});
}

TEST(LaneOrder, TheLaneThatWaitedMayBeginACopy) {
  const std::string begin = R"(
    @%p1 fence.proxy.async;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 128;
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group 0;
  )";
  EXPECT_EQ(findings(handed_over(kArrive, kWaitOfLane0, begin)), std::vector<Finding>{});
  const std::string other = "setp.eq.u32 %p1, %r8, 1;\n";
  EXPECT_EQ(findings(handed_over(kArrive, kWaitOfLane0, other + begin)), one_race());
}

TEST(LaneOrder, ARaceIsBetweenTwoThreads) {
  // All lanes read what lane 0 wrote, lane 0 among them.
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<4>;
    .shared .align 4 .b32 word;
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [word], %r1;
    ld.shared.u32 %r2, [word];
    ret;
  )",
                            1));
  const LaunchResult result = run.launch({1, 1, 1}, {32, 1, 1}, run.fresh_buffer(4));
  EXPECT_EQ(findings(result), one_race());
  ASSERT_EQ(result.reports.size(), 1U);
  EXPECT_NE(result.reports.front().text.find("warp 0 lane 0"), std::string::npos)
      << result.reports.front().text;
  EXPECT_EQ(result.reports.front().thread[0], 1U);
}

}  // namespace
}  // namespace kiln::emulated
