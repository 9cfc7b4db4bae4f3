// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/emulated/engine/mbarrier.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;

TEST(MbarrierState, PhasesEndWhenArrivalsAndBytesAreComplete) {
  Mbarrier barrier(2);
  EXPECT_EQ(barrier.arrive(1, false, true), "");
  EXPECT_EQ(barrier.expect_bytes(64), "");
  EXPECT_EQ(barrier.arrive(1, false, true), "");
  EXPECT_EQ(barrier.phase(), 0U);
  EXPECT_EQ(barrier.text(), "phase 0 (parity 0) still needs 0 of 2 arrivals and 64 bytes");
  EXPECT_NE(barrier.arrive(1, false, true), "");
  EXPECT_EQ(barrier.complete_bytes(64), "");
  EXPECT_EQ(barrier.phase(), 1U);
  EXPECT_EQ(barrier.pending(), 2U);
}

TEST(MbarrierState, BytesMayComeBeforeTheyAreExpected) {
  Mbarrier barrier(1);
  EXPECT_EQ(barrier.complete_bytes(32), "");
  EXPECT_EQ(barrier.expect_bytes(32), "");
  EXPECT_EQ(barrier.phase(), 0U);
  EXPECT_EQ(barrier.arrive(1, false, true), "");
  EXPECT_EQ(barrier.phase(), 1U);
}

TEST(MbarrierState, DroppingLowersLaterPhases) {
  Mbarrier barrier(3);
  EXPECT_EQ(barrier.arrive(1, true, true), "");
  EXPECT_EQ(barrier.arrive(2, false, true), "");
  EXPECT_EQ(barrier.phase(), 1U);
  EXPECT_EQ(barrier.pending(), 2U);
}

TEST(MbarrierState, WrongUseIsSaid) {
  Mbarrier barrier(1);
  using ::testing::HasSubstr;
  EXPECT_THAT(barrier.arrive(2, false, true),
              HasSubstr("the mbarrier expects fewer arrivals: phase 0"));
  EXPECT_THAT(barrier.arrive(0, false, true), HasSubstr("arrives 0 times"));
  EXPECT_THAT(barrier.arrive(1, false, false), HasSubstr(".noComplete"));
  EXPECT_THAT(barrier.expect_bytes(Mbarrier::kMost + 1), HasSubstr("expects 1048576 bytes"));
  EXPECT_EQ(barrier.expect_bytes(Mbarrier::kMost), "");
  EXPECT_THAT(barrier.expect_bytes(1), HasSubstr("expects 1048576 bytes"));
  EXPECT_EQ(barrier.phase(), 0U);
}

/// %r1 is the thread, %r2 the mbarrier, %rd1 global memory, %rd2 the thread's element there. One
/// thread initialises for %r3 = p1 arrivals.
const std::string kBegin = R"(
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .shared .align 8 .b64 barrier;
  .shared .align 16 .b8 data[1024];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, barrier;
  ld.param.u64 %rd1, [p0];
  ld.param.u32 %r3, [p1];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [%r2], %r3;
READY:
)";

/// Waits for the parity in a register.
std::string wait(const std::string& parity, const std::string& label) {
  return label + ":\n mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r2], " + parity +
         ", 1000;\n @!%p7 bra " + label + ";\n";
}

TEST(Mbarrier, ArrivalsOrderSharedMemory) {
  // A reversal, twice, with the barrier's two parities.
  const std::string round = R"(
    shl.b32 %r4, %r1, 2;
    mov.u32 %r5, data;
    add.u32 %r6, %r5, %r4;
    st.shared.u32 [%r6], %r1;
    mbarrier.arrive.shared.b64 %rd5, [%r2];
  )" + wait("0", "W0") + R"(
    xor.b32 %r7, %r4, 252;
    add.u32 %r7, %r5, %r7;
    ld.shared.u32 %r8, [%r7];
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2];
  )" + wait("1", "W1") + R"(
    st.shared.u32 [%r6], %r8;
    mbarrier.arrive.shared.b64 %rd6, [%r2];
  W2:
    mbarrier.test_wait.shared.b64 %p2, [%r2], %rd6;
    @!%p2 bra W2;
    ld.shared.u32 %r9, [%r7];
    add.u32 %r9, %r9, %r8;
    st.global.u32 [%rd2], %r9;
    ret;)";
  PtxRunner run(kernel_text(kBegin + "bar.sync 0;" + round, 2));
  const auto out = run.fresh_buffer(64 * 4);
  run.launch_clean({1, 1, 1}, {64, 1, 1}, out, 64);
  EXPECT_EQ(run.read<std::uint32_t>(out, 64), std::vector<std::uint32_t>(64, 63));
}

TEST(Mbarrier, AThreadThatDoesNotWaitRaces) {
  PtxRunner run(kernel_text(kBegin + R"(
    bar.sync 0;
    shl.b32 %r4, %r1, 2;
    mov.u32 %r5, data;
    add.u32 %r6, %r5, %r4;
    st.shared.u32 [%r6], %r1;
    mbarrier.arrive.shared.b64 %rd5, [%r2];
    xor.b32 %r7, %r4, 252;
    add.u32 %r7, %r5, %r7;
    ld.shared.u32 %r8, [%r7];
    st.global.u32 [%rd2], %r8;
    ret;)",
                            2));
  const auto result = run.launch({1, 1, 1}, {64, 1, 1}, run.fresh_buffer(64 * 4), 64);
  EXPECT_TRUE(found_only(result, {Finding::race, Finding::uninitialised}));
}

TEST(Mbarrier, UseBeforeTheInitialisationIsKnownIsARace) {
  const std::string rest = "mbarrier.arrive.shared.b64 _, [%r2];" + wait("0", "W") + "ret;";
  PtxRunner good(kernel_text(kBegin + "bar.sync 0;" + rest, 2));
  good.launch_clean({1, 1, 1}, {64, 1, 1}, 0, 64);
  PtxRunner bad(kernel_text(kBegin + rest, 2));
  EXPECT_TRUE(found_only(bad.launch({1, 1, 1}, {64, 1, 1}, 0, 64), Finding::race));
}

TEST(Mbarrier, AWaitForMissingArrivalsIsADeadlockThatNamesTheBarrier) {
  PtxRunner run(kernel_text(kBegin + R"(
    bar.sync 0;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
  )" + wait("0", "W") + "ret;",
                            2));
  const auto result = run.launch({1, 1, 1}, {2, 1, 1}, 0, 4);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->finding, Finding::deadlock);
  EXPECT_NE(result.fault->text.find("wait for parity 0 of the mbarrier at offset 0, whose phase 0 "
                                    "(parity 0) still needs 2 of 4 arrivals and 256 bytes"),
            std::string::npos)
      << result.fault->text;
}

TEST(Mbarrier, CountsAndDrops) {
  // Thread 0 arrives for everybody but thread 1, which drops out; then thread 0 alone goes on.
  PtxRunner run(kernel_text(kBegin + R"(
    bar.sync 0;
    @%p1 bra DROP;
    mbarrier.arrive.noComplete.shared.b64 %rd5, [%r2], 5;
    mbarrier.pending_count.b64 %r10, %rd5;
    mbarrier.arrive.shared.b64 %rd6, [%r2], 2;
    mbarrier.pending_count.b64 %r11, %rd6;
    st.global.v2.u32 [%rd1], {%r10, %r11};
  )" + wait("0", "W0") + R"(
    mbarrier.arrive.shared.b64 _, [%r2], 7;
  )" + wait("1", "W1") + R"(
    mbarrier.inval.shared.b64 [%r2];
    ret;
  DROP:
    mbarrier.arrive_drop.shared.b64 _, [%r2];
    ret;)",
                            2));
  const auto out = run.fresh_buffer(8);
  run.launch_clean({1, 1, 1}, {2, 1, 1}, out, 8);
  const auto counts = run.read<std::uint32_t>(out, 2);
  EXPECT_GE(counts[0], 7U);
  EXPECT_EQ(counts[1] + 5, counts[0]);
}

TEST(Mbarrier, WrongUseIsAFinding) {
  const auto finding_of = [](const std::string& body, std::uint64_t count) {
    PtxRunner run(kernel_text(kBegin + body + "ret;", 2));
    const auto result = run.launch({1, 1, 1}, {1, 1, 1}, 0, count);
    return findings(result);
  };
  const std::vector<Finding> invalid{Finding::invalid_operand};
  EXPECT_EQ(finding_of("mbarrier.arrive.shared.b64 _, [data];", 1), invalid);
  EXPECT_EQ(finding_of("mbarrier.init.shared.b64 [%r2], 2;", 1), invalid);
  EXPECT_EQ(finding_of("", 0), invalid);
  EXPECT_EQ(finding_of("mbarrier.arrive.shared.b64 _, [%r2], 3;", 2), invalid);
  EXPECT_EQ(finding_of("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1048576;", 1),
            invalid);
  EXPECT_EQ(finding_of("st.shared.u32 [%r2], 5; mbarrier.arrive.shared.b64 _, [%r2];", 1), invalid);
  EXPECT_EQ(finding_of("mbarrier.inval.shared.b64 [%r2]; mbarrier.arrive.shared.b64 _, [%r2];", 1),
            invalid);
  EXPECT_EQ(finding_of("mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 2;", 1), invalid);
  EXPECT_EQ(finding_of("mbarrier.arrive.shared.b64 _, [%r2+4];", 1),
            std::vector<Finding>{Finding::misaligned});
}

TEST(Mbarrier, RelaxedArrivalsAndWaitsOrderWithFences) {
  // Warp 0 stores and arrives, warp 1 waits and reads.
  const auto run_two_warps = [](const std::string& arrive, const std::string& order,
                                const std::string& after) {
    PtxRunner run(kernel_text(kBegin + R"(
      bar.sync 0;
      mov.u32 %r5, data;
      setp.gt.u32 %p3, %r1, 31;
      @%p3 bra CONSUMER;
    )" + arrive + "ret;\nCONSUMER: mbarrier.try_wait.parity" +
                                  order + ".shared::cta.b64 %p7, [%r2], 0; @!%p7 bra CONSUMER;" +
                                  after + "ld.shared.u32 %r8, [%r5]; ret;",
                              2));
    return findings(run.launch({1, 1, 1}, {64, 1, 1}, 0, 32));
  };
  const std::vector<Finding> race{Finding::race};
  const std::vector<Finding> nothing;
  const std::string store = "@!%p1 st.shared.u32 [%r5], %r1;";
  const std::string release = "mbarrier.arrive.release.cta.shared.b64 _, [%r2];";
  const std::string relaxed = "mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r2];";
  const std::string acquire = ".acquire.cluster";
  EXPECT_EQ(run_two_warps(store + relaxed, acquire, ""), race);
  EXPECT_EQ(run_two_warps(store + release, ".relaxed.cta", ""), race);
  for (const std::string fence :
       {"fence.acq_rel.cta;", "fence.acq_rel.cluster;", "membar.gl;", "fence.sc.sys;"}) {
    EXPECT_EQ(run_two_warps(store + fence + relaxed, acquire, ""), nothing) << fence;
    EXPECT_EQ(run_two_warps(fence + store + relaxed, acquire, ""), race) << fence;
    EXPECT_EQ(run_two_warps(store + release, ".relaxed.cta", fence), nothing) << fence;
    EXPECT_EQ(run_two_warps(store + fence + relaxed, ".relaxed.cluster", fence), nothing) << fence;
    EXPECT_EQ(run_two_warps(store + relaxed, ".relaxed.cluster", fence), race) << fence;
  }
  // These order other things.
  for (const std::string fence : {"fence.proxy.async;", "fence.proxy.async.global;",
                                  "fence.mbarrier_init.release.cluster;"}) {
    EXPECT_EQ(run_two_warps(store + fence + relaxed, acquire, ""), race) << fence;
    EXPECT_EQ(run_two_warps(store + release, ".relaxed.cta", fence), race) << fence;
  }
}

TEST(Mbarrier, CopiesOfThreadsArriveWhenTheyAreDone) {
  // .noinc arrivals count among the expected ones.
  for (const bool noinc : {false, true}) {
    PtxRunner run(kernel_text(kBegin + R"(
      bar.sync 0;
      mov.u32 %r5, data;
      shl.b32 %r4, %r1, 2;
      add.u32 %r6, %r5, %r4;
      cp.async.ca.shared.global [%r6], [%rd2], 4;
    )" +
                                  (noinc ? "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];"
                                         : "cp.async.mbarrier.arrive.shared.b64 [%r2]; "
                                           "mbarrier.arrive.shared.b64 _, [%r2];") +
                                  wait("0", "W") + R"(
      xor.b32 %r7, %r4, 252;
      add.u32 %r7, %r5, %r7;
      ld.shared.u32 %r8, [%r7];
      ld.param.u64 %rd3, [p2];
      mul.wide.u32 %rd4, %r1, 4;
      add.s64 %rd3, %rd3, %rd4;
      st.global.u32 [%rd3], %r8;
      ret;)",
                              3));
    std::vector<std::uint32_t> in(64);
    std::iota(in.begin(), in.end(), 100U);
    const auto from = run.buffer(in);
    const auto out = run.fresh_buffer(64 * 4);
    run.launch_clean({1, 1, 1}, {64, 1, 1}, from, 64, out);
    std::reverse(in.begin(), in.end());
    EXPECT_EQ(run.read<std::uint32_t>(out, 64), in);
  }
}

TEST(Mbarrier, CopiesArriveWithWhatTheirThreadDidBefore) {
  // As for other arrivals, what the thread does later is not known to who waits.
  const auto run_two_warps = [](const std::string& producer) {
    PtxRunner run(kernel_text(kBegin + R"(
      bar.sync 0;
      mov.u32 %r5, data;
      and.b32 %r4, %r1, 31;
      shl.b32 %r4, %r4, 2;
      add.u32 %r6, %r5, %r4;
      setp.gt.u32 %p3, %r1, 31;
      @%p3 bra CONSUMER;
    )" + producer + "ret;\nCONSUMER:\n" +
                                  wait("0", "W") +
                                  R"(
      ld.shared.u32 %r8, [%r6];
      ld.shared.u32 %r9, [%r6+128];
      ret;)",
                              2));
    return findings(run.launch({1, 1, 1}, {64, 1, 1}, run.buffer(std::vector<int>(64)), 32));
  };
  const std::string copy = "cp.async.ca.shared.global [%r6], [%rd2], 4;\n";
  const std::string store = "st.shared.u32 [%r6+128], %r4;\n";
  const std::string arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n";
  EXPECT_EQ(run_two_warps(copy + store + arrive), std::vector<Finding>{});
  EXPECT_EQ(run_two_warps(copy + arrive + store), std::vector<Finding>{Finding::race});
  EXPECT_EQ(run_two_warps(store + arrive + copy), std::vector<Finding>{Finding::missing_wait});
}

TEST(Mbarrier, CopiesThatArrivedAreWaitedForInGroupsToo) {
  // The relaxed wait lets the copies happen, and says nothing about them.
  const auto run_warp = [](const std::string& end) {
    PtxRunner run(kernel_text(kBegin + R"(
      bar.sync 0;
      mov.u32 %r5, data;
      shl.b32 %r4, %r1, 2;
      add.u32 %r6, %r5, %r4;
      cp.async.ca.shared.global [%r6], [%rd2], 4;
      cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];
      W: mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r2], 0;
      @!%p2 bra W;
    )" + end + R"(
      ld.shared.u32 %r8, [%r6];
      ret;)",
                              2));
    return findings(run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(std::vector<int>(32)), 32));
  };
  EXPECT_EQ(run_warp("cp.async.wait_all;"), std::vector<Finding>{});
  EXPECT_EQ(run_warp("cp.async.commit_group; cp.async.wait_group 0;"), std::vector<Finding>{});
  // A copy of no closed group is none that a wait for groups takes.
  EXPECT_EQ(run_warp("cp.async.wait_group 0;"), std::vector<Finding>{Finding::race});
  EXPECT_EQ(run_warp(""), std::vector<Finding>{Finding::race});
  // Nor does the wait for the own copies say what other lanes have stored.
  const std::string store = "st.shared.u32 [%r6+128], %r1;\n";
  const std::string look = "xor.b32 %r9, %r6, 4; ld.shared.u32 %r10, [%r9+128];";
  EXPECT_EQ(run_warp(store + "cp.async.wait_all;" + look), std::vector<Finding>{Finding::race});
}

}  // namespace
}  // namespace kiln::emulated
