// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Who waits for whom: groups of a warp, barriers with counts and of clusters, blocks that meet
// through memory, and when nobody can go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/memory/atomics.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

using Findings = std::vector<Finding>;

/// %r1 is the thread, %r2 the block, %r3 the warp, %rd1 the first parameter, %rd2 the address of
/// the thread's own 32-bit element.
const std::string kBegin = R"(
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .shared .align 16 .b8 tile[1024];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shr.u32 %r3, %r1, 5;
  ld.param.u64 %rd1, [p0];
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
)";

std::string kernel(const std::string& body) {
  return kernel_text(kBegin + body, 1);
}

/// The findings of one block.
Findings findings_of(const std::string& body, std::uint32_t threads, double timeout_s = 20) {
  PtxRunner run(kernel(body));
  run.timeout_s = timeout_s;
  return findings(run.launch({1, 1, 1}, {threads, 1, 1}, run.fresh_buffer(4096)));
}

/// Runs without checks, on several of the host's threads.
LaunchResult run_wide(const std::string& body, Extent grid, Extent block, int host_threads,
                      std::vector<std::uint32_t>& words, double timeout_s = 20) {
  PtxRunner run(kernel(body), "k", false);
  run.host_threads = host_threads;
  run.timeout_s = timeout_s;
  const std::uint64_t at = run.buffer(words);
  LaunchResult result = run.launch(grid, block, at);
  words = run.read<std::uint32_t>(at, words.size());
  return result;
}

// ---- groups of a warp ----

TEST(Scheduling, TilesOfAWarpSynchroniseByThemselves) {
  PtxRunner run(kernel(R"(
    setp.lt.u32 %p1, %r1, 16;
    selp.b32 %r4, 0xffff, 0xffff0000, %p1;
    shfl.sync.idx.b32 %r5, %r1, 3, 0x101f, %r4;
    bar.warp.sync %r4;
    activemask.b32 %r6;
    popc.b32 %r6, %r6;
    mad.lo.u32 %r5, %r6, 100, %r5;
    st.global.u32 [%rd2], %r5;
    ret;
  )"));
  const auto out = run.fresh_buffer(128);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  const auto result = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], 3203 + i / 16 * 16) << i;
}

TEST(Scheduling, LanesWhoseMasksDisagreeNeverMeet) {
  EXPECT_EQ(findings_of(R"(
    setp.eq.u32 %p1, %r1, 0;
    selp.b32 %r4, 3, -1, %p1;
    shfl.sync.idx.b32 %r5, %r1, 3, 31, %r4;
    ret;
  )",
                        32),
            Findings{Finding::divergent});
}

TEST(Scheduling, LanesGoOnWhileAnotherGroupSpins) {
  // Both halves of the lower 16 lanes meet in two places; only then is the flag set that the upper
  // lanes spin on.
  PtxRunner run(kernel(R"(
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra SPIN;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra EVEN;
    bar.warp.sync 0xffff;
    bra.uni DONE;
  EVEN:
    bar.warp.sync 0xffff;
    mov.u32 %r5, 1;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra DONE;
    st.volatile.global.u32 [%rd1], %r5;
    bra.uni DONE;
  SPIN:
    ld.volatile.global.u32 %r6, [%rd1];
    setp.eq.u32 %p4, %r6, 0;
    @%p4 bra SPIN;
  DONE:
    ret;
  )"));
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(std::vector<std::uint32_t>{0}));
}

TEST(Scheduling, AWarpBarrierNeedsItsMembersAsAShuffleDoes) {
  EXPECT_EQ(findings_of("setp.lt.u32 %p1, %r1, 16; @%p1 bar.warp.sync -1; ret;", 32),
            Findings{Finding::divergent});
  EXPECT_EQ(findings_of("bar.warp.sync 0xffff; ret;", 32), Findings{Finding::invalid_operand});
}

TEST(Scheduling, PartsOfAWarpThatWaitInVainAreADeadlock) {
  EXPECT_EQ(findings_of(R"(
    .shared .align 8 .b64 bars[2];
    mov.u32 %r4, bars;
    mbarrier.init.shared.b64 [%r4], 1;
    bar.warp.sync -1;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
  HIGH:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
    @!%p2 bra HIGH;
    ret;
  LOW:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
    @!%p2 bra LOW;
    ret;
  )",
                        32, 3)
                .front(),
            Finding::deadlock);
}

// ---- barriers of a block ----

TEST(Scheduling, PartsOfAWarpCountAsTheirThreads) {
  // Warp 0 comes in two parts, which must not count as the two warps that are awaited.
  const std::string text = R"(
    mov.u32 %r4, tile;
    shl.b32 %r5, %r1, 2;
    add.u32 %r5, %r4, %r5;
    st.shared.u32 [%r5], %r1;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra FIRST;
    barrier.sync 1, 64;
    bra.uni DONE;
  FIRST:
    barrier.sync 1, 64;
  DONE:
    ld.shared.u32 %r6, [tile+160];
    st.global.u32 [%rd2], %r6;
    ret;
  )";
  PtxRunner run(kernel(text));
  const auto out = run.fresh_buffer(256);
  run.launch_clean({1, 1, 1}, {64, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 40U);
}

TEST(Scheduling, ExitedLanesCountWithTheirWarp) {
  // Before the others arrive, and behind them.
  EXPECT_EQ(findings_of("setp.lt.u32 %p1, %r1, 16; @%p1 exit; barrier.sync 1, 64; ret;", 64),
            Findings{});
  EXPECT_EQ(findings_of(R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LAST;
    barrier.sync 1, 64;
    ret;
  LAST:
    ret;
  )",
                        64),
            Findings{});
}

TEST(Scheduling, VotesAreOfThoseWhoCame) {
  // 48 threads are two warps, 16 lanes of which there are not.
  PtxRunner run(kernel(R"(
    setp.lt.u32 %p1, %r1, 48;
    bar.red.and.pred %p2, 1, 64, %p1;
    bar.red.popc.u32 %r4, 2, 64, %p1;
    selp.u32 %r5, 100, 0, %p2;
    add.u32 %r5, %r5, %r4;
    st.global.u32 [%rd2], %r5;
    ret;
  )"));
  const auto out = run.fresh_buffer(192);
  run.launch_clean({1, 1, 1}, {48, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 48), std::vector<std::uint32_t>(48, 148));
}

TEST(Scheduling, AVoteIsReadBeforeOrAfterTheNextAlike) {
  // Warps 0 and 1 vote in the first round, which warp 1 ends; it goes on to a second round with
  // warp 2 before warp 0 has its turn.
  PtxRunner run(kernel(R"(
    setp.ne.u32 %p1, %r3, 2;
    setp.eq.u32 %p3, %r3, 2;
    @%p3 bra SECOND;
    bar.red.popc.u32 %r4, 1, 64, %p1;
    st.global.u32 [%rd2], %r4;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra DONE;
  SECOND:
    bar.sync 2, 64;
    bar.red.popc.u32 %r4, 1, 64, 0;
    st.global.u32 [%rd2], %r4;
  DONE:
    ret;
  )"));
  const auto out = run.fresh_buffer(384);
  run.launch_clean({1, 1, 1}, {96, 1, 1}, out);
  const auto result = run.read<std::uint32_t>(out, 96);
  EXPECT_EQ(result[0], 64U);
  EXPECT_EQ(result[32], 0U);
  EXPECT_EQ(result[64], 0U);
}

// ---- barriers of a cluster ----

TEST(Scheduling, ClusterBarriersWaitForEveryLiveThread) {
  // Warp 0 arrives and exits, which must not stand for warp 2.
  const std::string text = R"(
    setp.eq.u32 %p1, %r1, 64;
    @%p1 st.shared.u32 [tile], %r1;
    barrier.cluster.arrive.aligned;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra DONE;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r4, [tile];
    st.global.u32 [%rd2], %r4;
  DONE:
    ret;
  )";
  EXPECT_EQ(findings_of(text, 96), Findings{});
}

TEST(Scheduling, HalvesOfAWarpComeToAClusterBarrierByThemselves) {
  EXPECT_EQ(findings_of(R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra FIRST;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
  FIRST:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
  )",
                        32),
            Findings{});
}

TEST(Scheduling, ArrivingTwiceOrNeverIsAMistake) {
  EXPECT_EQ(findings_of(R"(
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    barrier.cluster.arrive;
    barrier.cluster.arrive;
  OTHER:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
  )",
                        64),
            Findings{Finding::barrier_mismatch});
  EXPECT_EQ(findings_of("barrier.cluster.wait; ret;", 32), Findings{Finding::barrier_mismatch});
}

TEST(Scheduling, ARelaxedArrivalOrdersNothing) {
  const auto text = [](const std::string& order) {
    return R"(
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [tile], %r1;
    barrier.cluster.arrive)" +
           order + R"(.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r4, [tile];
    st.global.u32 [%rd2], %r4;
    ret;
  )";
  };
  EXPECT_EQ(findings_of(text(""), 64), Findings{});
  EXPECT_EQ(findings_of(text(".relaxed"), 64), Findings{Finding::race});
}

TEST(Scheduling, ARelaxedArrivalOrdersWhatAFenceStoodBehind) {
  const auto text = [](const std::string& before, const std::string& after) {
    return "setp.eq.u32 %p1, %r1, 0;\n" + before + after + R"(
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r4, [tile];
    st.global.u32 [%rd2], %r4;
    ret;
  )";
  };
  const std::string store = "@%p1 st.shared.u32 [tile], %r1;\n";
  const std::string fence = "fence.acq_rel.cluster;\n";
  EXPECT_EQ(findings_of(text(store, fence), 64), Findings{});
  EXPECT_EQ(findings_of(text(fence, store), 64), Findings{Finding::race});
  EXPECT_EQ(findings_of(text(store, "fence.acq_rel.cta;\n"), 64), Findings{Finding::race});
  // As kernels begin that share mbarriers.
  EXPECT_EQ(findings_of(R"(
    .shared .align 8 .b64 barrier;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 64;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    mbarrier.arrive.shared.b64 _, [barrier];
    ret;
  )",
                        64),
            Findings{});
}

TEST(Scheduling, ACountOfAllThreadsIsAllThreads) {
  EXPECT_EQ(findings_of("setp.lt.u32 %p1, %r1, 32; @%p1 bra COUNT; bar.sync 0; ret;\n"
                        "COUNT: bar.sync 0, 64; ret;",
                        64),
            Findings{});
}

TEST(Scheduling, ABarrierWithAndWithoutACountWaitsForEveryLiveThread) {
  // The last warp's word is read behind the barrier; that threads have left it is said, too.
  const std::string last = "setp.eq.u32 %p4, %r1, 96; @%p4 st.shared.u32 [tile], %r3;\n";
  const std::string read = "ld.shared.u32 %r4, [tile]; ret;\n";
  const std::string halves =
      "and.b32 %r5, %r1, 31; setp.lt.u32 %p1, %r1, 64;"
      "setp.gt.and.u32 %p2, %r5, 15, %p1; @%p2 exit;\n";
  const auto only_left = [](const Findings& found) {
    return !found.empty() && std::all_of(found.begin(), found.end(), [](Finding finding) {
      return finding == Finding::barrier_mismatch;
    });
  };
  EXPECT_TRUE(only_left(findings_of(
      halves + last + "@%p1 bra COUNT; bar.sync 0;" + read + "COUNT: bar.sync 0, 128;" + read,
      128)));
  EXPECT_TRUE(only_left(findings_of(
      halves + last + "@%p1 bra ALL; bar.sync 0, 128;" + read + "ALL: bar.sync 0;" + read, 128)));
  // Threads that only arrive may leave before the others come, and have not left it.
  EXPECT_EQ(findings_of(last + "setp.eq.u32 %p3, %r3, 0; @%p3 bra COUNT; bar.sync 0;" + read +
                            "COUNT: bar.arrive 0, 128; ret;",
                        128),
            Findings{});
}

TEST(Scheduling, FormsThatPtxDoesNotHaveAreRefused) {
  for (const std::string text :
       {"bar.arrive 1;", "bar.wait 2;", "bar.sync 0, 64, 9;", "barrier 1;", "bar.warp.arrive -1;",
        "barrier.cluster.sync;", "barrier.cluster.arrive.acquire;",
        "match.any.sync.b32 %r4|%p1, %r1, -1;", "griddepcontrol.wait 1;"}) {
    test::expect_refused(kernel(text + " ret;"), text);
  }
}

// ---- blocks that meet through memory ----

TEST(Scheduling, AnUnlockByAPlainStoreIsNotLost) {
  std::vector<std::uint32_t> words{0, 0};
  const auto result = run_wide(R"(
    mov.u32 %r4, 0;
    mov.u32 %r7, 0;
  NEXT:
    atom.global.cas.b32 %r5, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra NEXT;
    ld.volatile.global.u32 %r6, [%rd1+4];
    add.u32 %r6, %r6, 1;
    st.volatile.global.u32 [%rd1+4], %r6;
    st.volatile.global.u32 [%rd1], %r7;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 20000;
    @%p2 bra NEXT;
    ret;
  )",
                               {2, 1, 1}, {1, 1, 1}, 2, words);
  EXPECT_EQ(findings(result), Findings{});
  EXPECT_EQ(words[1], 40000U);
}

TEST(Scheduling, RestsAreNoDeadlock) {
  EXPECT_EQ(findings_of(R"(
    mov.u32 %r4, 0;
  AGAIN:
    nanosleep.u32 100;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 50;
    @%p1 bra AGAIN;
    ret;
  )",
                        32),
            Findings{});
  // Two blocks take turns a hundred times.
  std::vector<std::uint32_t> words{0};
  const auto result = run_wide(R"(
  AGAIN:
    ld.volatile.global.u32 %r4, [%rd1];
    and.b32 %r5, %r4, 1;
    setp.eq.u32 %p1, %r5, %r2;
    @%p1 bra TURN;
    nanosleep.u32 100;
    bra.uni AGAIN;
  TURN:
    add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%rd1], %r4;
    setp.lt.u32 %p2, %r4, 100;
    @%p2 bra AGAIN;
    ret;
  )",
                               {2, 1, 1}, {1, 1, 1}, 1, words);
  EXPECT_EQ(findings(result), Findings{});
  EXPECT_GE(words[0], 100U);
}

TEST(Scheduling, BlocksThatDoNotFitSideBySideNeverMeet) {
  for (const int host_threads : {1, 8}) {
    std::vector<std::uint32_t> words{0};
    const auto result = run_wide(R"(
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra DONE;
      atom.global.add.u32 %r4, [%rd1], 1;
    WAIT:
      nanosleep.u32 100;
      ld.volatile.global.u32 %r5, [%rd1];
      setp.lt.u32 %p2, %r5, 8;
      @%p2 bra WAIT;
    DONE:
      bar.sync 0;
      ret;
    )",
                                 {8, 1, 1}, {1024, 1, 1}, host_threads, words, 0.5);
    EXPECT_EQ(findings(result), Findings{Finding::timed_out}) << host_threads;
    EXPECT_EQ(words[0], 2U);
  }
}

// ---- what a launch may ask for ----

TEST(Scheduling, LaunchesBeyondTheLimitsAreRefused) {
  PtxRunner run(kernel("ret;"));
  const auto out = run.fresh_buffer(16);
  for (const auto& [grid, block] : std::vector<std::pair<Extent, Extent>>{
           {{1, 1, 1}, {1, 1, 65}}, {{1, 65536, 1}, {1, 1, 1}}, {{1, 1, 65536}, {1, 1, 1}}}) {
    EXPECT_EQ(findings(run.launch(grid, block, out)), Findings{Finding::invalid_operand});
  }
  PtxRunner large(kernel(".local .b8 array[500000]; mov.u64 %rd3, array; ret;"));
  large.cluster = {16, 1, 1};
  EXPECT_EQ(findings(large.launch({16, 1, 1}, {1024, 1, 1}, large.fresh_buffer(16))),
            Findings{Finding::invalid_operand});
}

TEST(Scheduling, SmallPiecesOfMemoryCountWithWhatLiesAroundThem) {
  GlobalMemory memory(100'000);
  std::vector<std::uint64_t> pieces;
  const auto fill = [&] {
    for (;;) pieces.push_back(memory.allocate(1).address);
  };
  EXPECT_THROW(fill(), Error);
  EXPECT_EQ(pieces.size(), 11U);
  for (const std::uint64_t piece : pieces) memory.free(piece);
  EXPECT_EQ(memory.free_bytes(), 100'000);
  EXPECT_THROW(memory.allocate(std::numeric_limits<std::int64_t>::max()), Error);
}

TEST(Scheduling, SharedAccessesTakeNoAddressesOfOtherSpaces) {
  EXPECT_EQ(findings_of(R"(
    .local .align 4 .b8 array[64];
    mov.u64 %rd3, array;
    cvta.local.u64 %rd3, %rd3;
    ld.shared.u32 %r4, [%rd3+1024];
    ret;
  )",
                        1),
            Findings{Finding::out_of_bounds});
  PtxRunner run(kernel("ld.shared.u32 %r4, [tile+-1024]; ret;"));
  const auto result = run.launch({1, 1, 1}, {1, 1, 1}, run.fresh_buffer(16));
  ASSERT_TRUE(result.fault);
  EXPECT_NE(result.fault->text.find("offset -0x400,"), std::string::npos) << result.fault->text;
}

TEST(Scheduling, AdditionsOfF32FlushInGlobalMemoryOnly) {
  const auto sum = [](AtomicFunction add, float left, float right) {
    float old = 0;
    add(reinterpret_cast<std::byte*>(&left), reinterpret_cast<const std::byte*>(&right),
        reinterpret_cast<const std::byte*>(&right), reinterpret_cast<std::byte*>(&old));
    return std::bit_cast<std::uint32_t>(left);
  };
  const AtomicFunction shared = find_atomic("add", ptx::Type::f32);
  const AtomicFunction global = find_global_atomic("add", ptx::Type::f32);
  const float tiny = std::bit_cast<float>(3U);
  const float smallest = std::numeric_limits<float>::min();
  EXPECT_EQ(sum(shared, tiny, tiny), 6U);
  EXPECT_EQ(sum(global, tiny, tiny), 0U);
  EXPECT_EQ(sum(global, -tiny, -tiny), 0x80000000U);
  EXPECT_EQ(sum(global, smallest * 1.5F, -smallest), 0U);
  EXPECT_EQ(sum(global, 1.0F, 2.0F), std::bit_cast<std::uint32_t>(3.0F));
  const float infinity = std::numeric_limits<float>::infinity();
  for (const AtomicFunction add : {shared, global}) {
    EXPECT_EQ(sum(add, infinity, -infinity), 0x7fffffffU);
  }
}

}  // namespace
}  // namespace kiln::emulated
