// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

/// The facts of the one instruction with this opcode.
InstructionFacts of(const FactSheet& sheet, const std::string& opcode) {
  const auto at = std::find(sheet.program->opcodes.begin(), sheet.program->opcodes.end(), opcode);
  return sheet.instructions.at(static_cast<std::size_t>(at - sheet.program->opcodes.begin()));
}

TEST(Facts, CountWhatALaunchDid) {
  // Each thread of two warps stores to shared memory with a stride of 8 bytes, and 16 of them load
  // from global memory with a stride of 32.
  const std::string text = test::kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 8 .b8 place[512];
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, place;
    shl.b32 %r3, %r1, 3;
    add.u32 %r3, %r2, %r3;
    st.shared.u32 [%r3], %r1;
    setp.lt.u32 %p1, %r1, 16;
    mul.wide.u32 %rd2, %r1, 32;
    add.u64 %rd3, %rd1, %rd2;
    @%p1 ld.global.u32 %r4, [%rd3];
    ret;
  )",
                                             1);
  test::PtxRunner run(text);
  const auto buffer = run.buffer(std::vector<std::uint32_t>(128, 1));
  const FactSheet sheet = run.facts({3, 1, 1}, {64, 1, 1}, buffer);

  EXPECT_EQ(sheet.blocks, 3U);
  const InstructionFacts store = of(sheet, "st.shared.u32");
  EXPECT_EQ(store.issues, 6U);
  EXPECT_EQ(store.lanes, 192U);
  EXPECT_EQ(store.shared_wavefronts, 12U) << "two for each, for the stride of two words";
  EXPECT_EQ(store.shared_fewest, 6U);
  const InstructionFacts load = of(sheet, "ld.global.u32");
  EXPECT_EQ(load.issues, 6U) << "those guarded off for a whole warp take their turn, too";
  EXPECT_EQ(load.lanes, 48U);
  EXPECT_EQ(load.global_requests, 3U);
  EXPECT_EQ(load.global_sectors, 48U);
  EXPECT_EQ(load.global_fewest, 6U);
  EXPECT_EQ(load.global_bytes, 192U);
  EXPECT_EQ(sheet.issues_by_unit()[static_cast<std::size_t>(Unit::shared)], 6U);
  EXPECT_EQ(sheet.total().global_sectors, 48U);
  EXPECT_EQ(sheet.distinct_reads, 48U) << "every block reads the same 16, and counts by itself";
  EXPECT_EQ(sheet.distinct_writes, 0U);
  EXPECT_EQ(sheet.touched_bytes, 512U);
}

TEST(Facts, DistinctSectorsAreCountedOnceForAManyTimesReadTable) {
  // 40 rounds over the same 1,024 words, a warp at a time: 128 sectors.
  const std::string text = test::kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
  again:
    and.b32 %r3, %r1, 1023;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd3];
    add.u32 %r1, %r1, 256;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 160;
    @%p1 bra again;
    st.global.u32 [%rd3], %r4;
    ret;
  )",
                                             1);
  test::PtxRunner run(text);
  const auto buffer = run.buffer(std::vector<std::uint32_t>(2048, 1));
  const FactSheet sheet = run.facts({1, 1, 1}, {256, 1, 1}, buffer);
  EXPECT_EQ(sheet.total().global_sectors, 160U * 8 * 4 + 32);
  EXPECT_EQ(sheet.distinct_reads, 128U);
  EXPECT_EQ(sheet.distinct_writes, 32U);
}

TEST(Facts, SomeClustersStandForAll) {
  LaunchState state;
  state.grid = {10, 4, 1};
  state.cluster = {2, 1, 1};
  EXPECT_TRUE(spread_clusters(state, 0).empty()) << "all";
  EXPECT_TRUE(spread_clusters(state, 20).empty()) << "all";
  const std::vector<Extent> one = spread_clusters(state, 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].x, 0U) << "cluster 10 of 20 is the first of the third row of 5";
  EXPECT_EQ(one[0].y, 2U);
  const std::vector<Extent> four = spread_clusters(state, 4);
  ASSERT_EQ(four.size(), 4U);
  EXPECT_EQ(four[0].x, 4U) << "cluster 2";
  EXPECT_EQ(four[3].x, 4U) << "cluster 17";
  EXPECT_EQ(four[3].y, 3U);
}

TEST(Facts, ClustersOfOneMultiprocessorLieAsFarApartAsThereAreOthers) {
  LaunchState state;
  state.grid = {10, 4, 1};
  state.cluster = {2, 1, 1};
  state.sm_count = 12;  // six clusters a turn: of 20, the one in the middle goes with 16 and 4
  const std::vector<Extent> together = clusters_together(state, 8);
  ASSERT_EQ(together.size(), 3U);
  EXPECT_EQ(together[0].y, 2U) << "cluster 10";
  EXPECT_EQ(together[1].y, 3U) << "cluster 16";
  EXPECT_EQ(together[1].x, 2U);
  EXPECT_EQ(together[2].y, 0U) << "cluster 4";
  EXPECT_EQ(together[2].x, 8U);
  EXPECT_EQ(clusters_together(state, 2).size(), 2U);
  EXPECT_TRUE(clusters_together(state, 0).empty());
  state.grid = {9, 4, 1};
  EXPECT_TRUE(clusters_together(state, 8).empty()) << "no whole clusters";
}

// As the machine code that ptxas makes of them, which ncu counts.
TEST(Facts, WmmaMovesPairsOfWordsAndRowsOfHalves) {
  const std::string text = test::kernel_text(R"(
    .reg .b32 %r<32>; .reg .b64 %rd<4>;
    .shared .align 32 .b8 place[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, place;
    mov.u32 %r3, 24;
    mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0;
    mov.b32 %r14, 0; mov.b32 %r15, 0; mov.b32 %r16, 0; mov.b32 %r17, 0;
    wmma.store.d.sync.aligned.row.m16n16k16.shared.f32
        [%r2], {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, %r3;
    cvta.shared.u64 %rd1, place;
    wmma.load.a.sync.aligned.col.m32n8k16.bf16
        {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%rd1], %r3;
    ret;
  )",
                                             0);
  test::PtxRunner run(text);
  const FactSheet sheet = run.facts({1, 1, 1}, {32, 1, 1});
  const auto store = of(sheet, "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32");
  EXPECT_EQ(store.shared_requests, 4U);
  EXPECT_EQ(store.shared_wavefronts, 8U) << "four rows of 24 words do not meet in a bank";
  const auto load = of(sheet, "wmma.load.a.sync.aligned.col.m32n8k16.bf16");
  EXPECT_EQ(load.shared_wavefronts, 8U) << "8 matrices, whose lines 12 words apart do not meet";
}

}  // namespace
}  // namespace kiln::emulated
