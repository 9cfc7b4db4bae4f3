// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Races of a block's threads in global memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;
using ::testing::HasSubstr;

/// 64 threads in each block, with a word of global memory for each at %rd2; %rd3 is the place of
/// the same lane of the other warp, %rd4 of the neighbouring lane. %p1 is thread 0, %p2 warp 1.
LaunchResult in_blocks(const std::string& body, std::uint32_t blocks = 1) {
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
    .shared .align 16 .b8 data[256];
    .shared .align 8 .b64 full;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r2, 10;
    cvt.u64.u32 %rd2, %r3;
    add.s64 %rd1, %rd1, %rd2;
    mul.wide.u32 %rd2, %r1, 4;
    xor.b64 %rd3, %rd2, 128;
    xor.b64 %rd4, %rd2, 4;
    add.s64 %rd2, %rd1, %rd2;
    add.s64 %rd3, %rd1, %rd3;
    add.s64 %rd4, %rd1, %rd4;
    setp.eq.u32 %p1, %r1, 0;
    setp.ge.u32 %p2, %r1, 32;
    mov.u32 %r7, 1;
  )" + body + "\nret;",
                            1));
  return run.launch({blocks, 1, 1}, {64, 1, 1},
                    run.buffer(std::vector<std::uint32_t>(256 * blocks + 64)));
}

const std::string kWrite = "st.global.u32 [%rd2], %r1;\n";
const std::string kReadOther = "ld.global.u32 %r4, [%rd3];\n";
const std::string kReadNext = "ld.global.u32 %r4, [%rd4];\n";

std::vector<Finding> nothing() {
  return {};
}

TEST(GlobalRaces, WarpsOfABlockNeedABarrier) {
  const LaunchResult race = in_blocks(kWrite + kReadOther);
  EXPECT_TRUE(found_only(race, Finding::race));
  ASSERT_FALSE(race.reports.empty());
  EXPECT_NE(
      race.reports.back().text.find("reads global memory that warp 0 lane 0 of the block writes"),
      std::string::npos)
      << race.reports.back().text;
  EXPECT_EQ(race.reports.back().thread[0], 32U);
  EXPECT_EQ(findings(in_blocks(kWrite + "bar.sync 0;\n" + kReadOther)), nothing());
  EXPECT_TRUE(found_only(in_blocks(kWrite + "membar.gl;\n" + kReadOther), Finding::race));
  EXPECT_TRUE(found_only(in_blocks(kWrite + "bar.warp.sync -1;\n" + kReadOther), Finding::race));
}

TEST(GlobalRaces, TheNextStepIsWhatOrdersTheTwoThreads) {
  const auto next_of = [](const LaunchResult& race) {
    return race.reports.empty() ? "no race" : std::string(race.reports.back().next_step());
  };
  EXPECT_THAT(next_of(in_blocks(kWrite + kReadOther)),
              HasSubstr("put __syncthreads() between the"));
  EXPECT_THAT(next_of(in_blocks(kWrite + kReadNext)), HasSubstr("put __syncwarp() between the"));
  const LaunchResult one_word = in_blocks("st.global.u32 [%rd1], %r1;");
  EXPECT_THAT(next_of(one_word), HasSubstr("let only one "));
  const std::string of_next_block = "ld.global.u32 %r4, [%rd2+1024];\n";
  EXPECT_THAT(next_of(in_blocks(kWrite + of_next_block, 2)), HasSubstr("blocks run in any order"));
}

TEST(GlobalRaces, LanesOfAWarpNeedOneToo) {
  EXPECT_TRUE(found_only(in_blocks(kWrite + kReadNext), Finding::race));
  EXPECT_EQ(findings(in_blocks(kWrite + "bar.warp.sync -1;\n" + kReadNext)), nothing());
  EXPECT_EQ(findings(in_blocks(kWrite + "ld.global.u32 %r4, [%rd2];\n" + kWrite)), nothing());
}

TEST(GlobalRaces, WhatIsReadMustNotBeOverwritten) {
  for (const std::string& read : {kReadOther, kReadNext}) {
    EXPECT_TRUE(found_only(in_blocks(read + kWrite), Finding::race));
    EXPECT_EQ(findings(in_blocks(read + "bar.sync 0;\n" + kWrite)), nothing());
  }
  EXPECT_TRUE(found_only(in_blocks("st.global.u32 [%rd1], %r1;"), Finding::race))
      << "one word for all";
  EXPECT_EQ(findings(in_blocks("st.global.u32 [%rd1], %r7;")), nothing()) << "that is the same";
  // All threads read a word, which one then writes.
  const std::string all = "ld.global.u32 %r4, [%rd1];\n";
  EXPECT_TRUE(found_only(in_blocks(all + "@%p1 st.global.u32 [%rd1], %r7;"), Finding::race));
  EXPECT_EQ(findings(in_blocks(all + "bar.sync 0;\n@%p1 st.global.u32 [%rd1], %r7;")), nothing());
}

TEST(GlobalRaces, BytesOfAWordAreApart) {
  const std::string bytes = R"(
    cvt.u64.u32 %rd5, %r1;
    add.s64 %rd5, %rd1, %rd5;
    st.global.u8 [%rd5], %r1;
  )";
  EXPECT_EQ(findings(in_blocks(bytes)), nothing());
  EXPECT_TRUE(found_only(in_blocks(bytes + "bar.warp.sync -1;\n@%p2 ld.global.u8 %r4, [%rd1+31];"),
                         Finding::race));
}

TEST(GlobalRaces, AtomicsAndFlagsOrderThreadsOfABlock) {
  // Warp 1 waits for a flag that warp 0 raises when its lanes have written.
  const auto handed_over = [](const std::string& raise, const std::string& look) {
    return in_blocks("@%p2 bra WAIT;\n" + kWrite + "bar.warp.sync -1;\n@!%p1 ret;\n" + raise +
                     "ret;\nWAIT: " + look + "setp.eq.u32 %p3, %r5, 0;\n@%p3 bra WAIT;\n" +
                     kReadOther);
  };
  EXPECT_EQ(findings(handed_over("st.release.cta.global.u32 [%rd1+512], %r7;\n",
                                 "ld.acquire.cta.global.u32 %r5, [%rd1+512];\n")),
            nothing());
  EXPECT_EQ(findings(handed_over("membar.cta; atom.global.exch.b32 %r6, [%rd1+512], 1;\n",
                                 "atom.global.or.b32 %r5, [%rd1+512], 0; membar.cta;\n")),
            nothing());
}

TEST(GlobalRaces, AnotherBlockMayStandBetween) {
  // Warp 0 of block 0 writes, block 1 passes its flag on, warp 1 of block 0 reads. %rd6 are the
  // flags, which both blocks have in common.
  const auto relayed = [](const std::string& raise) {
    return in_blocks(R"(
    ld.param.u64 %rd6, [p0];
    add.s64 %rd6, %rd6, 2048;
    setp.eq.u32 %p4, %r2, 1;
    @%p4 bra RELAY;
    @%p2 bra WAIT;
  )" + kWrite + "bar.warp.sync -1;\n@!%p1 ret;\n" +
                         raise + R"(
    ret;
  RELAY:
    @!%p1 ret;
  LOOK:
    ld.acquire.gpu.global.u32 %r5, [%rd6];
    setp.eq.u32 %p3, %r5, 0;
    @%p3 nanosleep.u32 100;
    @%p3 bra LOOK;
    st.release.gpu.global.u32 [%rd6+4], %r7;
    ret;
  WAIT:
    ld.acquire.gpu.global.u32 %r5, [%rd6+4];
    setp.eq.u32 %p3, %r5, 0;
    @%p3 nanosleep.u32 100;
    @%p3 bra WAIT;
  )" + kReadOther,
                     2);
  };
  EXPECT_EQ(findings(relayed("st.release.gpu.global.u32 [%rd6], %r7;\n")), nothing());
  EXPECT_TRUE(found_only(relayed("st.volatile.global.u32 [%rd6], %r7;\n"), Finding::race));
}

TEST(GlobalRaces, OwnFlagsOrderNoOtherThreads) {
  // Thread 0 counts and fences; that says nothing of what other warps wrote and read.
  const std::string count =
      "@%p1 membar.gl;\n@%p1 atom.global.add.u32 %r6, [%rd1+512], 1;\n"
      "@%p1 membar.gl;\n";
  EXPECT_TRUE(found_only(in_blocks(kWrite + count + kReadOther), Finding::race));
  EXPECT_EQ(findings(in_blocks(kWrite + count + "bar.sync 0;\n" + count + kReadOther)), nothing());
}

TEST(GlobalRaces, BulkCopiesAreOfTheThreadThatBeginsThem) {
  const std::string fill = R"(
    mov.u32 %r8, data;
    shl.b32 %r9, %r1, 2;
    add.u32 %r9, %r9, %r8;
    st.shared.u32 [%r9], %r1;
    fence.proxy.async;
    bar.sync 0;
  )";
  const std::string store = R"(
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r8], 256;
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group 0;
  )";
  EXPECT_TRUE(found_only(in_blocks(fill + store + kReadOther), Finding::race));
  EXPECT_EQ(findings(in_blocks(fill + store + "bar.sync 0;\n" + kReadOther)), nothing());
  EXPECT_EQ(findings(in_blocks(fill + store + "@%p1 ld.global.u32 %r4, [%rd1+100];\n")), nothing());
}

TEST(GlobalRaces, TheSourceOfACopyThatWasWaitedForIsFree) {
  const auto in_place = [](int arrivals, const std::string& copy) {
    return in_blocks("@%p1 mbarrier.init.shared.b64 [full], " + std::to_string(arrivals) + R"(;
    fence.mbarrier_init.release.cluster;
    mov.u32 %r8, data;
    shl.b32 %r9, %r1, 2;
    add.u32 %r9, %r9, %r8;
    bar.sync 0;
)" + copy + R"(
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
    @!%p3 bra WAIT;
)" + kWrite);
  };
  // The arrival comes first: it tells nothing of what the thread does behind it.
  EXPECT_EQ(findings(in_place(1, R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
    @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 256, [full];
  )")),
            nothing());
  EXPECT_EQ(findings(in_place(64, R"(
    cp.async.ca.shared.global [%r9], [%rd3], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [full];
  )")),
            nothing());
  // Plain readings before the copy keep their order.
  EXPECT_TRUE(found_only(
      in_place(1, "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n" + kReadOther + R"(
    @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 256, [full];
  )"),
      Finding::race));
}

}  // namespace
}  // namespace kiln::emulated
