// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Shared memory of other blocks: mapped addresses, remote arrivals, st.async, red.async, copies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;

/// Two blocks of 32 threads. %r1 is the thread, %r2 the block's rank, %r3 the other's, %r4 an
/// mbarrier for %r5 = p1 arrivals, %r6 128 zeros' worth of shared memory, %r7 the thread's own
/// word; %r8, %r9 and %r10 are the same places in the other block. %rd3 is the own word of p0.
const std::string kClusterBegin = R"(
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .shared .align 16 .b8 data[256];
  .shared .align 8 .b64 barrier;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %cluster_ctarank;
  xor.b32 %r3, %r2, 1;
  mov.u32 %r4, barrier;
  ld.param.u64 %rd1, [p0];
  ld.param.u32 %r5, [p1];
  mov.u32 %r6, data;
  shl.b32 %r7, %r1, 2;
  add.u32 %r7, %r6, %r7;
  mapa.shared::cluster.u32 %r8, %r4, %r3;
  mapa.shared::cluster.u32 %r9, %r6, %r3;
  mapa.shared::cluster.u32 %r10, %r7, %r3;
  mad.lo.u32 %r11, %r2, 32, %r1;
  mul.wide.u32 %rd3, %r11, 4;
  add.s64 %rd3, %rd1, %rd3;
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r12, 0;
  st.shared.u32 [%r7], %r12;
  st.shared.u32 [%r7+128], %r12;
  @!%p1 mbarrier.init.shared.b64 [%r4], %r5;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";
const std::string kClusterWait = R"(
  WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
)";
const std::string kEnd = R"(
  ld.shared.u32 %r20, [%r7];
  st.global.u32 [%rd3], %r20;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;)";

struct ClusterRun {
  LaunchResult result;
  std::vector<std::uint32_t> words;
};

ClusterRun run_pair(const std::string& body, int arrivals) {
  PtxRunner run(kernel_text(kClusterBegin + body + kEnd, 2));
  run.cluster = {2, 1, 1};
  const auto out = run.fresh_buffer(256);
  ClusterRun outcome;
  outcome.result = run.launch({2, 1, 1}, {32, 1, 1}, out, arrivals);
  outcome.words = run.read<std::uint32_t>(out, 64);
  return outcome;
}

/// Word `thread` of block `rank`, from a function of both.
template <class Value>
void expect_words(const ClusterRun& outcome, const Value& value) {
  EXPECT_FALSE(outcome.result.fault) << outcome.result.fault->describe();
  for (const Report& report : outcome.result.reports) ADD_FAILURE() << report.describe();
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(outcome.words[i], value(i / 32, i % 32)) << i;
}

const std::string kExpect = "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;\n";

TEST(ClusterMemory, AddressesKnowTheirBlock) {
  expect_words(run_pair(R"(
    getctarank.shared::cluster.u32 %r13, %r8;
    cvt.u64.u32 %rd5, %r6;
    cvta.shared.u64 %rd5, %rd5;
    mapa.u64 %rd6, %rd5, %r3;
    getctarank.u64 %r14, %rd6;
    getctarank.u64 %r15, %rd5;
    mad.lo.u32 %r16, %r13, 10, %r14;
    mad.lo.u32 %r16, %r16, 10, %r15;
    st.shared.u32 [%r7], %r16;
  )",
                        1),
               [](std::uint32_t rank, std::uint32_t) { return rank == 0 ? 110U : 1U; });
}

TEST(ClusterMemory, RemoteArrivalsOrderRemoteStores) {
  const std::string body = R"(
    mad.lo.u32 %r13, %r2, 100, %r1;
    st.shared::cluster.u32 [%r10], %r13;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
  )";
  expect_words(run_pair(body + kClusterWait, 32),
               [](std::uint32_t rank, std::uint32_t thread) { return (1 - rank) * 100 + thread; });
  EXPECT_TRUE(found_only(run_pair(body, 32).result, Finding::race));
}

TEST(ClusterMemory, RelaxedArrivalsNeedFencesThatReachTheOtherBlock) {
  const auto run_with = [](const std::string& fence, const std::string& arrival,
                           const std::string& wait, const std::string& after) {
    return run_pair("mad.lo.u32 %r13, %r2, 100, %r1; st.shared::cluster.u32 [%r10], %r13;" + fence +
                        "mbarrier.arrive." + arrival + ".cluster.shared::cluster.b64 _, [%r8];" +
                        "WAIT: mbarrier.try_wait.parity." + wait +
                        ".cluster.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra WAIT;" + after,
                    32);
  };
  const auto other = [](std::uint32_t rank, std::uint32_t thread) {
    return (1 - rank) * 100 + thread;
  };
  expect_words(run_with("fence.acq_rel.cluster;", "relaxed", "acquire", ""), other);
  expect_words(run_with("", "release", "relaxed", "fence.acq_rel.cluster;"), other);
  expect_words(run_with("membar.gl;", "relaxed", "relaxed", "fence.acq_rel.gpu;"), other);
  const auto expect_race = [](const ClusterRun& outcome) {
    EXPECT_TRUE(found_only(outcome.result, Finding::race));
  };
  expect_race(run_with("fence.acq_rel.cta;", "relaxed", "acquire", ""));
  expect_race(run_with("", "release", "relaxed", "fence.acq_rel.cta;"));
  expect_race(run_with("", "relaxed", "acquire", ""));
  expect_race(run_with("", "release", "relaxed", ""));
}

// Rank 1 exits once it has arrived, rank 0 once it has seen that: an order of what may be read does
// not matter for that.
TEST(ClusterMemory, WhoWaitsForAnArrivalOutlivesIt) {
  const auto found_with = [](const std::string& arrival, const std::string& wait) {
    PtxRunner run(kernel_text(kClusterBegin + "setp.eq.u32 %p3, %r2, 0; @%p3 bra " + wait + "; " +
                                  "fence.acq_rel.cluster; mbarrier.arrive." + arrival +
                                  ".cluster.shared::cluster.b64 _, [%r8]; ret;" + R"(
      WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r4], 0;
      @!%p2 bra WAIT;
      GONE: ret;)",
                              2));
    run.cluster = {2, 1, 1};
    return findings(run.launch({2, 1, 1}, {32, 1, 1}, run.fresh_buffer(256), 32));
  };
  EXPECT_EQ(found_with("release", "WAIT"), std::vector<Finding>{});
  EXPECT_EQ(found_with("relaxed", "WAIT"), std::vector<Finding>{});
  EXPECT_EQ(found_with("relaxed", "GONE"), std::vector<Finding>{Finding::missing_wait});
}

TEST(ClusterMemory, ABlockThatMayHaveLeftIsFound) {
  // Both read, nobody says so before the other may exit; whoever really comes first.
  const auto run_end = [](const std::string& end) {
    PtxRunner run(kernel_text(kClusterBegin + "ld.shared::cluster.u32 %r20, [%r10];\n" +
                                  "st.global.u32 [%rd3], %r20;\n" + end + "ret;",
                              2));
    run.cluster = {2, 1, 1};
    return findings(run.launch({2, 1, 1}, {32, 1, 1}, run.fresh_buffer(256), 1));
  };
  const std::string arrive = "barrier.cluster.arrive.aligned;\n";
  const std::string wait = "barrier.cluster.wait.aligned;\n";
  EXPECT_EQ(run_end(arrive + wait), std::vector<Finding>{});
  EXPECT_EQ(run_end(""), std::vector<Finding>{Finding::missing_wait});
  EXPECT_EQ(run_end(arrive), std::vector<Finding>{Finding::missing_wait});
}

TEST(ClusterMemory, WhatATimeOutEndsStillReports) {
  // More clusters than one turn lasts for; all use shared memory of a block that is gone.
  PtxRunner run(kernel_text(kClusterBegin + "@%p1 exit;\nsetp.ne.u32 %p4, %r2, 0;\n@%p4 exit;\n"
                                            "st.shared::cluster.u32 [%r10+128], %r1;\nL: bra L;",
                            2));
  run.cluster = {2, 1, 1};
  run.timeout_s = 0.5;
  const auto result = run.launch({16, 1, 1}, {32, 1, 1}, run.fresh_buffer(256), 1);
  EXPECT_EQ(findings(result), (std::vector<Finding>{Finding::timed_out, Finding::missing_wait}));
}

TEST(ClusterMemory, AsyncStoresReportTheirBytes) {
  const std::string body = kExpect + R"(
    mad.lo.u32 %r13, %r2, 100, %r1;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %r13, [%r8];
  )";
  expect_words(run_pair(body + kClusterWait, 1),
               [](std::uint32_t rank, std::uint32_t thread) { return (1 - rank) * 100 + thread; });
  // Without the wait it is still under way.
  EXPECT_TRUE(found_only(run_pair(body, 1).result, {Finding::missing_wait, Finding::race}));
}

TEST(ClusterMemory, AsyncStoresTellWhatTheirThreadDidBefore) {
  // Whoever waits for the asynchronous store may read what the thread stored before it, but not
  // what it stored later, while that one was under way.
  const std::string plain = "st.shared::cluster.u32 [%r10+128], %r1;\n";
  const std::string async =
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %r1, [%r8];\n";
  const std::string read = "ld.shared.u32 %r21, [%r7+128];\n";
  EXPECT_EQ(findings(run_pair(kExpect + plain + async + kClusterWait + read, 1).result),
            std::vector<Finding>{});
  EXPECT_EQ(findings(run_pair(kExpect + async + plain + kClusterWait + read, 1).result),
            std::vector<Finding>{Finding::race});
}

TEST(ClusterMemory, AsyncStoresOfVectors) {
  const std::string body = kExpect + R"(
    setp.gt.u32 %p3, %r1, 7;
    shl.b32 %r13, %r1, 4;
    add.u32 %r13, %r9, %r13;
    add.u32 %r14, %r1, 100;
    @!%p3 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32
        [%r13], {%r1, %r14, %r2, %r3}, [%r8];
  )";
  expect_words(run_pair(body + kClusterWait, 1), [](std::uint32_t rank, std::uint32_t thread) {
    const std::uint32_t values[] = {thread / 4, thread / 4 + 100, 1 - rank, rank};
    return values[thread % 4];
  });
}

TEST(ClusterMemory, AsyncReductionsAddUp) {
  const std::string body = kExpect + R"(
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
        [%r9], %r1, [%r8];
  )";
  expect_words(run_pair(body + kClusterWait, 1),
               [](std::uint32_t, std::uint32_t thread) { return thread == 0 ? 31 * 32 / 2 : 0U; });
}

TEST(ClusterMemory, BulkReductionsOfManyBlocksMeetInOnePlace) {
  // Both blocks add their numbers to block 0's zeros.
  const std::string body = R"(
    setp.ne.u32 %p4, %r2, 0;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 256;
    mov.u32 %r14, 0;
    mapa.shared::cluster.u32 %r15, %r6, %r14;
    mapa.shared::cluster.u32 %r16, %r4, %r14;
    mad.lo.u32 %r13, %r2, 100, %r1;
    st.shared.u32 [%r7+128], %r13;
    fence.proxy.async;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    add.u32 %r14, %r6, 128;
    @!%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32
        [%r15], [%r14], 128, [%r16];
    @%p4 bra LAST;
  )" + kClusterWait + R"(
    ld.shared.u32 %r20, [%r7];
    st.global.u32 [%rd3], %r20;
  LAST:
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    ret;)";
  const ClusterRun outcome = run_pair(body, 1);
  EXPECT_EQ(findings(outcome.result), std::vector<Finding>{});
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(outcome.words[i], 100 + 2 * i);
}

TEST(ClusterMemory, BulkCopiesGoToOtherBlocks) {
  const std::string body = kExpect + R"(
    mad.lo.u32 %r13, %r2, 100, %r1;
    st.shared.u32 [%r7+128], %r13;
    fence.proxy.async;
    bar.warp.sync -1;
    add.u32 %r14, %r6, 128;
    @!%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
        [%r9], [%r14], 128, [%r8];
  )";
  // The zeros that the copy overwrites were written generically, too, so they need the fence.
  expect_words(run_pair("fence.proxy.async; barrier.cluster.arrive.aligned; "
                        "barrier.cluster.wait.aligned;" +
                            body + kClusterWait,
                        1),
               [](std::uint32_t rank, std::uint32_t thread) { return (1 - rank) * 100 + thread; });
}

TEST(ClusterMemory, WrongUseIsAFinding) {
  const std::vector<Finding> invalid{Finding::invalid_operand};
  EXPECT_EQ(findings(run_pair("mapa.shared::cluster.u32 %r13, %r4, 2;", 1).result), invalid);
  EXPECT_EQ(findings(run_pair("mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], 0;", 1).result),
            invalid);
  // The mbarrier must be the destination's.
  EXPECT_EQ(findings(run_pair("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], "
                              "%r1, [%r4];",
                              1)
                         .result),
            invalid);
}

TEST(ClusterMemory, OtherBlocksAreReachedThroughTheClustersSpaceAlone) {
  // On an H100 each of these is an illegal instruction when the address is another block's.
  const std::string spaces[] = {".shared::cluster", ".shared", ".shared::cta", ""};
  const std::string statements[] = {"ld@.u32 %r20, [%r10];", "st@.u32 [%r10+128], %r1;",
                                    "atom@.add.u32 %r20, [%r10+128], 0;",
                                    "red@.add.u32 [%r10+128], 0;"};
  for (const std::string& text : statements) {
    for (const std::string& space : spaces) {
      std::string body = text;
      body.replace(body.find('@'), 1, space);
      if (space.empty()) {
        const std::size_t at = body.find("%r", body.find('['));
        const std::string address = body.substr(at, body.find_first_of("]+", at) - at);
        body = fmt::format("cvt.u64.u32 %rd8, {}; cvta.shared.u64 %rd8, %rd8;\n{}", address,
                           body.replace(at, address.size(), "%rd8"));
      }
      const bool reaches = space == ".shared::cluster" || space.empty();
      EXPECT_EQ(findings(run_pair(body, 1).result),
                reaches ? std::vector<Finding>{} : std::vector<Finding>{Finding::out_of_bounds})
          << body;
    }
  }
  const std::vector<Finding> outside{Finding::out_of_bounds};
  EXPECT_EQ(findings(run_pair("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r9];", 1).result),
            outside);
  EXPECT_EQ(findings(run_pair("st.global.u32 [%rd3], %r1;\n"
                              "cp.async.ca.shared.global [%r10+128], [%rd3], 4;",
                              1)
                         .result),
            outside);
  const std::vector<Finding> invalid{Finding::invalid_operand};
  EXPECT_EQ(findings(run_pair("mbarrier.arrive.shared.b64 _, [%r8];", 64).result), invalid);
  EXPECT_EQ(findings(run_pair("mov.u32 %r20, 16;\n"
                              "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
                              "bytes [%r9], [%r9], %r20, [%r8];",
                              64)
                         .result),
            invalid);
}

TEST(Registers, WarpsGiveRegistersToEachOther) {
  // 384 threads have 168 at first; 40 and 232 fit once the first four warps have given theirs.
  const std::string text = R"(
    .reg .pred %p<4>; .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 128;
    @%p1 bra GIVE;
    setmaxnreg.inc.sync.aligned.u32 232;
    ret;
  GIVE:
    setmaxnreg.dec.sync.aligned.u32 REGISTERS;
    ret;)";
  const auto with = [&](const std::string& registers) {
    std::string body = text;
    body.replace(body.find("REGISTERS"), 9, registers);
    return kernel_text(body, 0);
  };
  PtxRunner fits(with("40"));
  fits.launch_clean({1, 1, 1}, {384, 1, 1});
  PtxRunner waits(with("64"));
  const auto result = waits.launch({1, 1, 1}, {384, 1, 1});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->finding, Finding::deadlock);
}

}  // namespace
}  // namespace kiln::emulated
