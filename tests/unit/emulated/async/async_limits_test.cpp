// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Asynchronous work that nobody waits for, or that one thread answers for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::expect_refused;
using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;

/// %rd1 and %rd2 are the parameters, %r1 the thread, %r2 `place`, %r3 a counter.
std::string kernel_of(const std::string& body, const std::string& declarations = "") {
  return kernel_text(
      ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b64 %rd<16>;\n"
      ".shared .align 1024 .b8 place[8192];\n"
      ".shared .align 8 .b8 barrier[16];\n" +
          declarations +
          "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];\n"
          "mov.u32 %r1, %tid.x; mov.u32 %r2, place; mov.u32 %r3, 0;\n" +
          body + "\nret;",
      2);
}

/// `body` so many times.
std::string repeated(const std::string& body, int times) {
  return fmt::format("LOOP:\n{}\nadd.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, {};\n@%p1 bra LOOP;\n",
                     body, times);
}

TEST(AsyncLimits, TheOldestOfManyCopiesHappen) {
  // The first copy goes to place + 16, all others to `place`.
  const std::string text = kernel_of(
      "mov.u32 %r5, 7; st.shared.u32 [%r2+16], %r5;\n"
      "cp.async.ca.shared.global [%r2+16], [%rd1], 4;\n" +
      repeated("cp.async.ca.shared.global [%r2], [%rd1], 4;", 5000) +
      "ld.shared.u32 %r4, [%r2+16]; st.global.u32 [%rd2], %r4;");
  PtxRunner run(text, "k", false);
  const auto out = run.fresh_buffer(4);
  const LaunchResult result =
      run.launch({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>{42}), out);
  EXPECT_TRUE(findings(result).empty());
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 42U);
}

TEST(AsyncLimits, TheOldestOfManyBulkStoresAreWritten) {
  for (const char* const wait : {"", "cp.async.bulk.commit_group;",
                                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"}) {
    // The first store goes to p1 + 16, all others to p1.
    const std::string store =
        "cp.async.bulk.global.shared::cta.bulk_group [%rd2{}], [%r2], 16;\n" + std::string(wait);
    const std::string text =
        kernel_of("mov.u32 %r5, 7; st.shared.u32 [%r2], %r5; fence.proxy.async;\n" +
                  fmt::format(fmt::runtime(store), "+16") +
                  repeated(fmt::format(fmt::runtime(store), ""), 600) +
                  "ld.global.u32 %r4, [%rd2+16]; st.global.u32 [%rd1], %r4;\n"
                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
    PtxRunner run(text, "k", false);
    const auto out = run.buffer(std::vector<std::uint32_t>(8));
    const auto seen = run.fresh_buffer(4);
    EXPECT_TRUE(findings(run.launch({1, 1, 1}, {1, 1, 1}, seen, out)).empty());
    EXPECT_EQ(run.read<std::uint32_t>(seen, 1)[0], 7U) << wait;
  }
}

TEST(AsyncLimits, ManyPromisesAreKeptBeforeTheLaunchEnds) {
  const std::string text =
      kernel_of("mov.u32 %r6, barrier; mbarrier.init.shared.b64 [%r6], 1;\n" +
                repeated("cp.async.mbarrier.arrive.shared.b64 [%r6];", 40000) +
                "mbarrier.arrive.shared.b64 _, [%r6];\n"
                "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;\n@!%p2 bra WAIT;\n");
  PtxRunner run(text);
  run.launch_clean({1, 1, 1}, {1, 1, 1}, run.fresh_buffer(4), run.fresh_buffer(4));
}

TEST(AsyncLimits, GroupCountsHave31Bits) {
  for (const char* const wait :
       {"cp.async.wait_group", "cp.async.bulk.wait_group", "wgmma.wait_group.sync.aligned"}) {
    for (const char* const count : {"-1", "4294967295", "2147483648"}) {
      const std::string statement = fmt::format("{} {};", wait, count);
      expect_refused(kernel_of(statement), statement);
    }
    EXPECT_NO_THROW(PtxRunner(kernel_of(fmt::format("{} 2147483647;", wait))));
  }
}

TEST(AsyncLimits, AWaitForAllButVeryManyGroupsLeavesThem) {
  const std::string text = kernel_of(
      "mov.u32 %r5, 7; st.shared.u32 [%r2], %r5;\n"
      "cp.async.commit_group;\ncp.async.ca.shared.global [%r2], [%rd1], 4;\n"
      "cp.async.commit_group;\ncp.async.wait_group 2147483647;\n"
      "ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd2], %r4; cp.async.wait_all;");
  PtxRunner run(text, "k", false);
  const auto out = run.fresh_buffer(4);
  (void)run.launch({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>{42}), out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 7U);
}

// ---- wgmma ----

/// Fills both matrices with zeros; %rd8 is the descriptor of either (A 64 x 16, B 8 x 16 of f16,
/// core matrices side by side). %p3 is true.
const std::string kMatrices = R"(
  shl.b32 %r7, %r1, 4;
  add.u32 %r7, %r2, %r7;
  mov.u32 %r8, 0;
  setp.lt.u32 %p6, %r1, 128;
  @%p6 st.shared.v4.u32 [%r7], {%r8, %r8, %r8, %r8};
  mov.u32 %r6, barrier;
  setp.ne.u32 %p4, %r1, 0;
  @!%p4 mbarrier.init.shared.b64 [%r6], 1;
  @!%p4 mbarrier.init.shared.b64 [%r6+8], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  bar.sync 0;
  setp.eq.u32 %p3, %r1, %r1;
  shr.u32 %r7, %r2, 4;
  cvt.u64.u32 %rd8, %r7;
  or.b64 %rd8, %rd8, 0x1000080000;
  mov.f32 %f0, 0f3F800000;
  mov.f32 %f1, %f0;
  mov.f32 %f2, %f0;
  mov.f32 %f3, %f0;
)";
const std::string kMultiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd8, %rd8, %p3, 1, 1,"
    " 0, 0;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";

LaunchResult launch_wgmma(const std::string& body, std::uint32_t threads = 128) {
  PtxRunner run(kernel_of(kMatrices + body));
  return run.launch({1, 1, 1}, {threads, 1, 1}, run.buffer(std::vector<std::uint32_t>(1024)),
                    run.fresh_buffer(4096));
}

TEST(AsyncLimits, WgmmaThatNobodyWaitsForEnds) {
  const LaunchResult result = launch_wgmma(
      kFence + repeated("mov.f32 %f0, 0f3F800000;\n" + kMultiply + kCommit, 20000) + kWait);
  EXPECT_FALSE(result.fault) << result.fault->describe();
  EXPECT_TRUE(found_only(result, Finding::missing_wait));
}

TEST(AsyncLimits, LongChainsOfWgmmaAreClean) {
  const LaunchResult result = launch_wgmma(kFence + repeated(kMultiply, 1000) + kCommit + kWait +
                                           "st.global.f32 [%rd2], %f0;");
  EXPECT_TRUE(findings(result).empty());
}

TEST(AsyncLimits, PartsOfUnfinishedAccumulatorsAreNotMoved) {
  for (const char* const use :
       {"mov.b64 %rd9, {%f0, %f1};", "mov.b32 {h0, h1}, %f0;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r9, %f0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, "
        "{%f0, %f1, %f2, %f3}, %rd8, %p3, 1, 1, 0;"}) {
    const std::string body =
        "mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0;\n"
        "mov.f32 %f7, %f0;\n.reg .b16 h<2>;\n" +
        kFence + kMultiply + kCommit;
    EXPECT_TRUE(found_only(launch_wgmma(body + use + kCommit + kWait), Finding::missing_wait))
        << use;
    EXPECT_EQ(findings(launch_wgmma(body + "mov.f32 %f9, %f0;" + kWait)), std::vector<Finding>{});
  }
}

/// Four warps multiply; a fifth loads the next matrix as soon as one thread of them says so.
std::string one_thread_answers(const std::string& before, const std::string& behind) {
  return "setp.ge.u32 %p5, %r1, 128;\n@%p5 bra PRODUCE;\n" + kFence + kMultiply + kCommit + before +
         "@!%p4 mbarrier.arrive.shared.b64 _, [%r6];\n" + behind + R"(
    bra END;
  PRODUCE:
    setp.ne.u32 %p6, %r1, 128;
    @%p6 bra END;
  EMPTY:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;
    @!%p2 bra EMPTY;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r6+8], 2048;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r2], [%rd1], 2048, [%r6+8];
  FULL:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r6+8], 0;
    @!%p2 bra FULL;
  END:
  )";
}

TEST(AsyncLimits, OneThreadAnswersForItsWarpgroup) {
  const LaunchResult good = launch_wgmma(one_thread_answers(kWait, ""), 160);
  EXPECT_FALSE(good.fault) << good.fault->describe();
  for (const Report& report : good.reports) ADD_FAILURE() << report.describe();
  EXPECT_EQ(findings(launch_wgmma(one_thread_answers("", kWait), 160)),
            std::vector<Finding>{Finding::race});
}

TEST(AsyncLimits, AWarpOfAWarpgroupThatCommitsNothingIsADeadlock) {
  const LaunchResult result = launch_wgmma("setp.ge.u32 %p5, %r1, 96;\n@%p5 bra END;\n" + kFence +
                                           kMultiply + kCommit + kWait + "END:\n");
  EXPECT_EQ(findings(result), (std::vector<Finding>{Finding::deadlock, Finding::divergent}));
}

// ---- mbarriers ----

TEST(AsyncLimits, MbarriersBeginAndEndInTheirOwnBlock) {
  for (const char* const what :
       {"mbarrier.init.shared.b64 [%r8], 1;", "mbarrier.inval.shared.b64 [%r8];"}) {
    PtxRunner run(kernel_of(
        "mov.u32 %r6, barrier; mbarrier.init.shared.b64 [%r6], 1;\n"
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
        "mov.u32 %r9, %cluster_ctarank; xor.b32 %r9, %r9, 1;\n"
        "mapa.shared::cluster.u32 %r8, %r6, %r9;\n" +
        std::string(what) + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"));
    run.cluster = {2, 1, 1};
    EXPECT_EQ(findings(run.launch({2, 1, 1}, {1, 1, 1}, 0, 0)),
              std::vector<Finding>{Finding::invalid_operand});
  }
  for (const char* const what :
       {"mbarrier.init.shared::cluster.b64 [%r8], 1;", "mbarrier.inval.shared::cluster.b64 [%r8];",
        "cp.async.mbarrier.arrive.shared::cluster.b64 [%r8];"}) {
    expect_refused(kernel_of(what), what);
  }
}

TEST(AsyncLimits, EveryUseOfAnMbarrierComesAfterItsInitialisation) {
  const auto result_of = [](const std::string& use, bool waits) {
    PtxRunner run(
        kernel_of("mov.u32 %r6, barrier; setp.eq.u32 %p4, %r1, 32;\n"
                  "setp.eq.u32 %p5, %r1, 0;\nmov.u32 %r7, 0;\n"
                  "@%p5 mbarrier.init.shared.b64 [%r6], 64;\n" +
                  std::string(waits ? "bar.sync 0;\n" : "") + "@%p4 " + use + "\nbar.sync 0;"));
    return run.launch({1, 1, 1}, {64, 1, 1}, 0, 0);
  };
  for (const char* const use :
       {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r6], %r7;",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r6], %r7;",
        "cp.async.mbarrier.arrive.shared.b64 [%r6];", "mbarrier.arrive.shared.b64 _, [%r6];"}) {
    EXPECT_TRUE(found_only(result_of(use, false), Finding::race)) << use;
    EXPECT_TRUE(findings(result_of(use, true)).empty()) << use;
  }
}

}  // namespace
}  // namespace kiln::emulated
