// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Waits at mbarriers that may come when the phase after their own is complete, too. In the order in
// which the emulator runs warps none of these kernels hangs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/emulated/matrix/matrix_descriptor.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

const std::vector<Finding> kNothing;
const std::vector<Finding> kRace{Finding::race};

/// Two mbarriers, for one arrival and for as many as `count` says. %p1: thread 0. %p2: lane 0.
/// %p3: not of the first `waiters` threads. %r3 is 4096 bytes for copies.
std::string begin(int count, int waiters) {
  return fmt::format(R"(
    .reg .pred %p<8>; .reg .b32 %r<32>, d<4>; .reg .b64 %rd<8>;
    .shared .align 1024 .b8 data[4096];
    .shared .align 8 .b64 there;
    .shared .align 8 .b64 back;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    mov.u32 %r3, data;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r2, 0;
    setp.ge.u32 %p3, %r1, {1};
    @%p1 mbarrier.init.shared.b64 [there], 1;
    @%p1 mbarrier.init.shared.b64 [back], {0};
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
  )",
                     count, waiters);
}

int labels = 0;

std::string wait(const std::string& barrier, int parity) {
  const int label = labels++;
  return fmt::format(
      "W{0}: mbarrier.try_wait.parity.shared::cta.b64 %p7, [{1}], {2}; @!%p7 bra W{0};\n", label,
      barrier, parity);
}

const std::string kArriveBack = "mbarrier.arrive.shared.b64 _, [back];\n";
const std::string kArriveThere = "@%p2 mbarrier.arrive.shared.b64 _, [there];\n";

/// A look at a phase that is not complete gives the other warps a turn.
const std::string kYield = "mbarrier.test_wait.parity.shared.b64 %p7, [back], 0;\n";

/// Two warps wait for phase 0 of `there`; what they do then, with `count` arrivals at `back`, lets
/// a third warp complete phase 1.
LaunchResult handed_back(int count, const std::string& then) {
  PtxRunner run(kernel_text(begin(count, 64) + "@%p3 bra OTHER;" + wait("there", 0) + then +
                                "ret; OTHER:" + kArriveThere + wait("back", 0) + kArriveThere +
                                "ret;",
                            0));
  return run.launch({1, 1, 1}, {96, 1, 1});
}

TEST(PhaseWaits, AWarpThatNobodyWaitsForIsFound) {
  const LaunchResult result = handed_back(1, "@%p1 " + kArriveBack);
  ASSERT_EQ(findings(result), kRace);
  const Report& report = result.reports.front();
  EXPECT_EQ(report.thread[0], 32U);
  EXPECT_THAT(report.text,
              ::testing::HasSubstr("waits for phase 0 (parity 0) of the mbarrier at offset 4096, "
                                   "but phase 1 may already be complete when this wait starts."));
  EXPECT_THAT(report.text, ::testing::HasSubstr("In this run, warp 2 lane 0 at "));
}

TEST(PhaseWaits, WhateverComesBehindTheWaitsKeepsThemInTime) {
  const std::string first = "@%p1 " + kArriveBack;
  EXPECT_EQ(findings(handed_back(2, "@%p2 " + kArriveBack)), kNothing);
  EXPECT_EQ(findings(handed_back(64, kArriveBack)), kNothing);
  EXPECT_EQ(findings(handed_back(1, "bar.sync 1, 64;" + first)), kNothing);
  // Relaxed arrivals order no memory, and come behind the waits all the same.
  EXPECT_EQ(
      findings(handed_back(2, "@%p2 mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [back];")),
      kNothing);
  EXPECT_EQ(findings(handed_back(1,
                                 "setp.ge.u32 %p4, %r1, 32; @%p4 bra TELL;"
                                 "LOOK: ld.volatile.shared.u32 %r4, [%r3]; setp.ne.u32 %p5, "
                                 "%r4, 7; @%p5 bra LOOK;" +
                                     first + "ret; TELL: st.volatile.shared.u32 [%r3], 7;")),
            std::vector<Finding>{Finding::uninitialised});
}

TEST(PhaseWaits, WhatComesBeforeTheWaitsDoesNot) {
  // Warp 1 arrives for its wait before it.
  PtxRunner run(kernel_text(begin(2, 64) + "@%p3 bra OTHER; setp.eq.u32 %p4, %r1, 32; @%p4 " +
                                kArriveBack + wait("there", 0) + "@%p1 " + kArriveBack +
                                "ret; OTHER:" + kArriveThere + wait("back", 0) + kArriveThere +
                                "ret;",
                            0));
  EXPECT_EQ(findings(run.launch({1, 1, 1}, {96, 1, 1})), kRace);
}

TEST(PhaseWaits, TheFirstPhaseMayComeTooEarlyAsWell) {
  // Free at first: so a thread waits that fills a ring.
  const auto completed = [](const std::string& between) {
    PtxRunner run(kernel_text(
        begin(1, 64) + wait("back", 1) + kYield + between + "@%p1 " + kArriveBack + "ret;", 0));
    return run.launch({1, 1, 1}, {64, 1, 1});
  };
  const LaunchResult result = completed("");
  ASSERT_EQ(findings(result), kRace);
  EXPECT_THAT(result.reports.front().text,
              ::testing::HasSubstr("waits for the phase before phase 0 (parity 1)"));
  EXPECT_EQ(findings(completed("bar.sync 0;")), kNothing);
}

TEST(PhaseWaits, WaitsForStatesAreNoBetter) {
  // Two warps wait for what the third completes after them, and again as soon as thread 0 says so.
  const auto asked = [](const std::string& between) {
    PtxRunner run(kernel_text(begin(65, 64) + R"(
      @%p3 bra OTHER;
      mbarrier.arrive.shared.b64 %rd1, [back];
      W: mbarrier.test_wait.shared.b64 %p7, [back], %rd1; @!%p7 bra W;
    )" + between + "@%p1 mbarrier.arrive.shared.b64 _, [there]; ret; OTHER: @!%p2 ret;" +
                                  kArriveBack + wait("there", 0) +
                                  "mbarrier.arrive.shared.b64 _, [back], 65; ret;",
                              0));
    return findings(run.launch({1, 1, 1}, {96, 1, 1}));
  };
  EXPECT_EQ(asked(""), kRace);
  EXPECT_EQ(asked("bar.sync 1, 64;"), kNothing);
}

TEST(PhaseWaits, PhasesOfAnMbarrierMadeAnewBeginAgain) {
  PtxRunner run(kernel_text(begin(1, 64) + "@%p1 " + kArriveBack + wait("back", 0) + R"(
    bar.sync 0;
    @%p1 mbarrier.inval.shared.b64 [back];
    @%p1 mbarrier.init.shared.b64 [back], 1;
    bar.sync 0;
  )" + wait("back", 1) + kYield +
                                "@%p1 " + kArriveBack + "ret;",
                            0));
  const LaunchResult result = run.launch({1, 1, 1}, {64, 1, 1});
  ASSERT_EQ(findings(result), kRace);
  EXPECT_THAT(result.reports.front().text, ::testing::HasSubstr("before phase 0"));
}

TEST(PhaseWaits, OtherBlocksCompletePhasesToo) {
  const std::string meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const auto completed = [&](const std::string& between) {
    PtxRunner run(kernel_text(begin(1, 64) + meet + R"(
      mov.u32 %r4, there;
      mapa.shared::cluster.u32 %r4, %r4, 0;
      mov.u32 %r5, %cluster_ctarank;
      setp.ne.u32 %p4, %r5, 0;
      @%p4 bra OTHER;
    )" + wait("there", 1) + between +
                                  meet + "ret; OTHER:" + kYield + between +
                                  "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                                  "[%r4];" +
                                  meet + "ret;",
                              0));
    run.cluster = {2, 1, 1};
    return run.launch({2, 1, 1}, {64, 1, 1});
  };
  const LaunchResult result = completed("");
  ASSERT_EQ(findings(result), kRace);
  EXPECT_THAT(result.reports.front().text, ::testing::HasSubstr("block rank 1 warp 0 lane 0 at "));
  EXPECT_EQ(findings(completed(meet)), kNothing);
  EXPECT_EQ(findings(completed("barrier.cluster.arrive.relaxed.aligned;"
                               "barrier.cluster.wait.aligned;")),
            kNothing);
}

/// A ring of one stage: %r4 rounds in which a thread of the third warp fills it by `fill`, and two
/// warps leave it by `leave`.
std::vector<Finding> in_ring(int count, const std::string& fill, const std::string& leave) {
  PtxRunner run(kernel_text(begin(count, 64) + R"(
    ld.param.u64 %rd1, [p0];
    mov.u32 %r4, 0;
    @%p3 bra FILL;
    READ:
    and.b32 %r5, %r4, 1;
    WF: mbarrier.try_wait.parity.shared::cta.b64 %p7, [there], %r5; @!%p7 bra WF;
  )" + leave + R"(
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p4, %r4, 5;
    @%p4 bra READ;
    ret;
    FILL:
    @!%p2 ret;
    NEXT:
    and.b32 %r5, %r4, 1;
    xor.b32 %r5, %r5, 1;
    WE: mbarrier.try_wait.parity.shared::cta.b64 %p7, [back], %r5; @!%p7 bra WE;
  )" + fill + R"(
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p4, %r4, 5;
    @%p4 bra NEXT;
    ret;
  )",
                            1));
  return findings(run.launch({1, 1, 1}, {96, 1, 1}, run.buffer(std::vector<int>(32))));
}

const std::string kCopy =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 128, "
    "[there];\n";
const std::string kExpect = "mbarrier.arrive.expect_tx.shared.b64 _, [there], 128;\n";

TEST(PhaseWaits, RingsThatAllReadersLeaveAreRight) {
  const std::string read = "ld.shared.u32 %r6, [%r3];";
  EXPECT_EQ(in_ring(64, kArriveThere, kArriveBack), kNothing);
  EXPECT_EQ(in_ring(2, kArriveThere, "@%p2 " + kArriveBack), kNothing);
  EXPECT_EQ(in_ring(64, kExpect + kCopy, read + kArriveBack), kNothing);
  EXPECT_EQ(in_ring(1, kExpect + kCopy, read + "bar.sync 1, 64; @%p1 " + kArriveBack), kNothing);
}

TEST(PhaseWaits, RingsThatOneReaderLeavesForAllAreNot) {
  EXPECT_EQ(in_ring(1, kArriveThere, "@%p1 " + kArriveBack), kRace);
  EXPECT_EQ(in_ring(1, kExpect + kCopy, "@%p1 " + kArriveBack), kRace);
}

TEST(PhaseWaits, CopiesCompletePhasesBehindWhatTheirThreadKnew) {
  // Thread 0 arrives for the next phase itself; the copy, of a thread that waited for the others,
  // completes it.
  const std::string first = "@%p1 " + kExpect;
  const std::string expected = "setp.eq.u32 %p5, %r4, 0; @%p5 " + kExpect + kCopy;
  const std::string go_on = "setp.lt.u32 %p5, %r4, 4; @!%p5 bra DONE;" + first + "DONE:";
  EXPECT_EQ(in_ring(2, expected, go_on + "@%p2 " + kArriveBack), kNothing);
  EXPECT_EQ(in_ring(1, expected, go_on + "@%p1 " + kArriveBack), kRace);
}

TEST(PhaseWaits, ThreadsMayCompleteBytesThemselves) {
  const std::string bytes = "@%p2 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [there], 128;\n";
  const std::string expected = "setp.eq.u32 %p5, %r4, 0; @%p5 " + kExpect + bytes;
  const std::string go_on = "setp.lt.u32 %p5, %r4, 4; @!%p5 bra DONE; @%p1 " + kExpect + "DONE:";
  EXPECT_EQ(in_ring(2, expected, go_on + "@%p2 " + kArriveBack), kNothing);
  EXPECT_EQ(in_ring(1, expected, go_on + "@%p1 " + kArriveBack), kRace);
}

/// A warpgroup waits, multiplies as told, and thread 0 lets a fifth warp complete the next phase.
std::vector<Finding> multiplied(const std::string& products, const std::string& a = "%rd1") {
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, " +
      (a == "%rd1" ? a + ", %rd2, %p6, 1, 1, 0, 0;\n" : a + ", %rd2, %p6, 1, 1, 0;\n");
  std::string text = products;
  for (auto at = text.find("PRODUCT"); at != std::string::npos; at = text.find("PRODUCT")) {
    text.replace(at, 7, product + "wgmma.commit_group.sync.aligned;\n");
  }
  PtxRunner run(kernel_text(begin(1, 128) + R"(
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mov.b32 d0, 0; mov.b32 d1, 0; mov.b32 d2, 0; mov.b32 d3, 0;
    mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0;
    setp.eq.u32 %p6, %r1, %r1;
    shl.b32 %r4, %r1, 4;
    add.u32 %r4, %r3, %r4;
    @!%p3 st.shared.v4.u32 [%r4], {%r10, %r11, %r12, %r13};
    @!%p3 st.shared.v4.u32 [%r4+2048], {%r10, %r11, %r12, %r13};
    fence.proxy.async;
    bar.sync 0;
    @%p3 bra OTHER;
  )" + wait("there", 0) + "wgmma.fence.sync.aligned;\n" +
                                text + "@%p1 " + kArriveBack +
                                "wgmma.wait_group.sync.aligned 0; ret; OTHER:" + kArriveThere +
                                wait("back", 0) + kArriveThere + "ret;",
                            2));
  MatrixDescriptor of_a;
  of_a.start = kSharedBase;
  of_a.leading = 128;
  of_a.stride = 256;
  MatrixDescriptor of_b = of_a;
  of_b.start = kSharedBase + 2048;
  return findings(
      run.launch({1, 1, 1}, {160, 1, 1}, encode_descriptor(of_a), encode_descriptor(of_b)));
}

TEST(PhaseWaits, ProductsThatAreOverMeanThatAllFourWarpsBeganThem) {
  const std::string none_left = "wgmma.wait_group.sync.aligned 0;\n";
  const std::string one_left = "wgmma.wait_group.sync.aligned 1;\n";
  for (const std::string a : {"%rd1", "{%r10, %r11, %r12, %r13}"}) {
    EXPECT_EQ(multiplied("PRODUCT" + none_left, a), kNothing) << a;
    EXPECT_EQ(multiplied("PRODUCT PRODUCT" + one_left, a), kNothing) << a;
    EXPECT_EQ(multiplied("PRODUCT" + one_left, a), kRace) << a;
    EXPECT_EQ(multiplied("PRODUCT", a), kRace) << a;
  }
  // A group without products is over at once.
  EXPECT_EQ(multiplied("wgmma.commit_group.sync.aligned;" + none_left), kRace);
  EXPECT_EQ(multiplied(""), kRace);
}

}  // namespace
}  // namespace kiln::emulated
