// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Control flow, memory spaces, barriers: what every kernel needs before it computes anything.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

/// %r1 is the thread, %rd1 the first parameter, %rd2 the address of the thread's own 32-bit
/// element.
const std::string kOwnElement = R"(
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [p0];
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
)";

TEST(Engine, ThreadsStoreTheirOwnNumbers) {
  PtxRunner run(kernel_text(kOwnElement + "st.global.u32 [%rd2], %r1; ret;", 1));
  const auto out = run.fresh_buffer(100 * 4);
  run.launch_clean({1, 1, 1}, {100, 1, 1}, out);
  std::vector<std::uint32_t> expected(100);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(run.read<std::uint32_t>(out, 100), expected);
}

TEST(Engine, LanesThatPartMeetAgain) {
  // Odd lanes take one side; afterwards all 32 vote together.
  PtxRunner run(kernel_text(kOwnElement + R"(
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    mov.u32 %r3, 100;
    bra.uni DONE;
  EVEN:
    mov.u32 %r3, 200;
  DONE:
    activemask.b32 %r4;
    popc.b32 %r5, %r4;
    add.s32 %r6, %r5, %r3;
    st.global.u32 [%rd2], %r6;
    ret;
  )",
                            1));
  const auto out = run.fresh_buffer(32 * 4);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  const auto result = run.read<std::uint32_t>(out, 32);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], i % 2 == 1 ? 132U : 232U) << i;
}

TEST(Engine, LoopsRunEachLaneItsOwnNumberOfTimes) {
  PtxRunner run(kernel_text(kOwnElement + R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  LOOP:
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    add.s32 %r3, %r3, %r2;
    add.s32 %r2, %r2, 1;
    bra.uni LOOP;
  DONE:
    activemask.b32 %r4;
    setp.ne.u32 %p2, %r4, -1;
    @%p2 trap;
    st.global.u32 [%rd2], %r3;
    ret;
  )",
                            1));
  const auto out = run.fresh_buffer(32 * 4);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  const auto result = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], i == 0 ? 0 : i * (i - 1) / 2) << i;
}

TEST(Engine, LanesOfAWarpThatWaitForEachOtherAdvance) {
  // Lane 0 sets a flag that the other lanes spin on, and stands behind them in the code.
  PtxRunner run(kernel_text(kOwnElement + R"(
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SET;
  SPIN:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    bra.uni DONE;
  SET:
    mov.u32 %r3, 7;
    st.volatile.global.u32 [%rd1], %r3;
  DONE:
    st.global.u32 [%rd2+4], %r1;
    ret;
  )",
                            1));
  const auto out = run.buffer(std::vector<std::uint32_t>(33, 0));
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 33)[0], 7U);
  EXPECT_EQ(run.read<std::uint32_t>(out, 33)[32], 31U);
}

/// Reverses a block's numbers through shared memory.
std::string reverse_kernel(const std::string& barrier) {
  return kernel_text(kOwnElement + R"(
    .shared .align 4 .b8 numbers[1024];
    mov.u32 %r2, numbers;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
  )" + barrier + R"(
    sub.u32 %r5, 255, %r1;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r2, %r5;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd2], %r6;
    ret;
  )",
                     1);
}

TEST(Engine, BarriersOrderTheWarpsOfABlock) {
  PtxRunner run(reverse_kernel("bar.sync 0;"));
  const auto out = run.fresh_buffer(256 * 4);
  run.launch_clean({1, 1, 1}, {256, 1, 1}, out);
  const auto result = run.read<std::uint32_t>(out, 256);
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(result[i], 255 - i);
}

TEST(Engine, AMissingBarrierIsFound) {
  PtxRunner run(reverse_kernel(""));
  const auto result = run.launch({1, 1, 1}, {256, 1, 1}, run.fresh_buffer(256 * 4));
  const auto found = findings(result);
  EXPECT_GE(std::count(found.begin(), found.end(), Finding::race), 1);
  for (const Finding finding : found) {
    EXPECT_TRUE(finding == Finding::race || finding == Finding::uninitialised);
  }
}

TEST(Engine, AccessesOutsideAreFaultsThatSayWhere) {
  PtxRunner run(kernel_text(kOwnElement + "st.global.u32 [%rd2+4], %r1; ret;", 1));
  const auto result = run.launch({1, 1, 1}, {32, 1, 1}, run.fresh_buffer(32 * 4));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->finding, Finding::out_of_bounds);
  EXPECT_EQ(result.fault->thread[0], 31U);
  EXPECT_NE(result.fault->text.find("directly past"), std::string::npos) << result.fault->text;
  EXPECT_NE(result.fault->text.find("128 bytes"), std::string::npos) << result.fault->text;
}

TEST(Engine, AddressesThatWrapAroundAreOutside) {
  for (const std::string access : {"ld.local.u32 %r2, [array+-16]", "st.local.u32 [array+-16], %r1",
                                   "ld.shared.u32 %r2, [tile+-16]", "ld.param.u32 %r2, [p0+-16]"}) {
    SCOPED_TRACE(access);
    PtxRunner run(kernel_text(kOwnElement + ".local .align 16 .b8 array[64];\n" +
                                  ".shared .align 16 .b8 tile[64];\n" + access +
                                  "; st.global.u32 [%rd2], %r2; ret;",
                              1));
    const auto result = run.launch({1, 1, 1}, {1, 1, 1}, run.fresh_buffer(4));
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->finding, Finding::out_of_bounds);
  }
}

TEST(Engine, MisalignedAccessesAreFaults) {
  PtxRunner run(kernel_text(kOwnElement + "st.global.u32 [%rd2+2], %r1; ret;", 1));
  const auto result = run.launch({1, 1, 1}, {32, 1, 1}, run.fresh_buffer(256));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::misaligned});
}

TEST(Engine, ReadingWhatNobodyWroteIsFound) {
  PtxRunner run(kernel_text(kOwnElement + R"(
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd2], %r2;
    ret;
  )",
                            1));
  const auto result = run.launch({1, 1, 1}, {32, 1, 1}, run.fresh_buffer(128));
  ASSERT_EQ(findings(result), std::vector<Finding>{Finding::uninitialised});
  EXPECT_EQ(result.reports[0].times, 32U);
}

TEST(Engine, BlocksThatWriteOnePlaceRace) {
  PtxRunner run(kernel_text(kOwnElement + "st.global.u32 [%rd2], %r1; ret;", 1));
  const auto result = run.launch({2, 1, 1}, {32, 1, 1}, run.fresh_buffer(128));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::race});
}

TEST(Engine, AtomicsOfAllBlocksAddUp) {
  PtxRunner run(kernel_text(kOwnElement + "atom.global.add.u32 %r2, [%rd1], 1; ret;", 1));
  const auto out = run.buffer(std::vector<std::uint32_t>{5});
  run.launch_clean({10, 1, 1}, {64, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 645U);
}

TEST(Engine, BlocksThatWaitForEachOtherAdvance) {
  // Block 0 waits for a flag that block 1 sets, with the fences that make its data visible.
  PtxRunner run(kernel_text(kOwnElement + R"(
    mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra PRODUCE;
  WAIT:
    atom.global.add.u32 %r3, [%rd1], 0;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    membar.gl;
    ld.global.u32 %r4, [%rd1+4];
    st.global.u32 [%rd1+8], %r4;
    ret;
  PRODUCE:
    mov.u32 %r5, 42;
    st.global.u32 [%rd1+4], %r5;
    membar.gl;
    atom.global.add.u32 %r6, [%rd1], 1;
    ret;
  )",
                            1));
  const auto out = run.buffer(std::vector<std::uint32_t>{0, 0, 0});
  run.launch_clean({2, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 3)[2], 42U);
}

TEST(Engine, BlocksThatPollWithRestsAdvance) {
  // As above, but the waiting block rests between looks, so that it never keeps its thread busy.
  const auto kernel = [](const std::string& flag) {
    return kernel_text(kOwnElement + R"(
      mov.u32 %r2, %ctaid.x;
      setp.eq.u32 %p1, %r2, 1;
      @%p1 bra PRODUCE;
    WAIT:
      atom.global.add.u32 %r3, [%rd1], 0;
      setp.ne.u32 %p2, %r3, 0;
      @%p2 bra DONE;
      nanosleep.u32 100;
      bra.uni WAIT;
    DONE:
      ret;
    PRODUCE:
      atom.global.add.u32 %r6, [%rd1], )" +
                           flag + R"(;
      ret;
    )",
                       1);
  };
  PtxRunner run(kernel("1"));
  run.launch_clean({2, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>{0}));
  PtxRunner never(kernel("0"));
  never.timeout_s = 0.1;
  const auto out = never.buffer(std::vector<std::uint32_t>{0});
  EXPECT_EQ(findings(never.launch({2, 1, 1}, {1, 1, 1}, out)),
            std::vector<Finding>{Finding::timed_out});
}

TEST(Engine, BarriersThatNotEverybodyReachesAreDeadlocks) {
  PtxRunner run(kernel_text(kOwnElement + R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra FIRST;
    bar.sync 1, 64;
    ret;
  FIRST:
    bar.sync 2, 64;
    ret;
  )",
                            1));
  const auto result = run.launch({1, 1, 1}, {64, 1, 1}, run.fresh_buffer(256));
  ASSERT_EQ(findings(result), std::vector<Finding>{Finding::deadlock});
  EXPECT_NE(result.fault->text.find("barrier 1 has 32 of 64 arrivals"), std::string::npos)
      << result.fault->text;
}

TEST(Engine, AWarpWideInstructionThatPartOfTheWarpReachesIsDivergent) {
  PtxRunner run(kernel_text(kOwnElement + R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra HALF;
    ret;
  HALF:
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    st.global.u32 [%rd2], %r2;
    ret;
  )",
                            1));
  // The upper half has exited, so the lower half is all of the warp that there is.
  const auto out = run.fresh_buffer(128);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 16)[4], 5U);

  PtxRunner stuck(kernel_text(kOwnElement + R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra HALF;
    bar.sync 0;
    ret;
  HALF:
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    bar.sync 0;
    ret;
  )",
                              1));
  const auto result = stuck.launch({1, 1, 1}, {32, 1, 1}, stuck.fresh_buffer(128));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::divergent});
}

TEST(Engine, EndlessLoopsTimeOut) {
  PtxRunner run(kernel_text("L: bra.uni L;", 0));
  run.timeout_s = 0.05;
  EXPECT_EQ(findings(run.launch({1, 1, 1}, {32, 1, 1})), std::vector<Finding>{Finding::timed_out});
}

TEST(Engine, CallsAreCopiedIn) {
  const std::string square = R"(
.func (.param .b32 result) square(.param .b32 x)
{
  .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u32 %r1, [x];
  setp.gt.u32 %p1, %r1, 1000;
  @%p1 ret;
  mul.lo.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
})";
  PtxRunner run(kernel_text(kOwnElement + R"(
    {
      .param .b32 argument;
      .param .b32 value;
      st.param.b32 [argument], %r1;
      call.uni (value), square, (argument);
      ld.param.b32 %r2, [value];
    }
    st.global.u32 [%rd2], %r2;
    ret;
  )",
                            1, square));
  const auto out = run.fresh_buffer(128);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 32)[9], 81U);
}

TEST(Engine, CopiesInTheBackgroundArriveWhenTheyAreWaitedFor) {
  const auto kernel = [](const std::string& wait) {
    return kernel_text(kOwnElement + R"(
      .shared .align 16 .b8 numbers[128];
      mov.u32 %r2, numbers;
      shl.b32 %r3, %r1, 2;
      add.u32 %r3, %r2, %r3;
      cp.async.ca.shared.global [%r3], [%rd2], 4;
      cp.async.commit_group;
    )" + wait + R"(
      ld.shared.u32 %r4, [%r3];
      add.u32 %r4, %r4, 1;
      st.global.u32 [%rd2], %r4;
      ret;
    )",
                       1);
  };
  std::vector<std::uint32_t> numbers(32);
  std::iota(numbers.begin(), numbers.end(), 50U);
  PtxRunner good(kernel("cp.async.wait_group 0;"));
  const auto out = good.buffer(numbers);
  good.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  EXPECT_EQ(good.read<std::uint32_t>(out, 32)[7], 58U);

  PtxRunner bad(kernel("cp.async.wait_group 1;"));
  EXPECT_EQ(findings(bad.launch({1, 1, 1}, {32, 1, 1}, bad.buffer(numbers))),
            std::vector<Finding>{Finding::missing_wait});
}

TEST(Engine, ACalleeLeavesTheCallersLocalMemoryAlone) {
  // The caller names x behind the call for the first time, and keeps it over the next one.
  PtxRunner run(test::kernel_text(R"(
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .local .align 4 .b32 x;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, 0;
  again:
    call f, ();
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra kept;
    st.local.u32 [x], 7;
  kept:
    ld.local.u32 %r2, [x];
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 3;
    @%p2 bra again;
    st.global.u32 [%rd1], %r2;
    ret;
  )",
                                  1, R"(
.func f ()
{
    .reg .b32 %r<2>;
    .local .align 4 .b32 y;
    st.local.u32 [y], 99;
    ret;
}
  )"));
  const auto out = run.fresh_buffer(4);
  run.launch_clean({1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 7U);
}

}  // namespace
}  // namespace kiln::emulated
