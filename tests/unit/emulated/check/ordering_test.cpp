// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What orders accesses, and what only seems to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

constexpr const char* kRegisters = R"(
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
)";

/// Block 1 writes a value and raises a flag; block 0 waits for it and reads the value.
LaunchResult handed_over_by(const std::string& raise, const std::string& look) {
  PtxRunner run(kernel_text(kRegisters + fmt::format(R"(
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra PRODUCE;
  WAIT:
    {}
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    {}
    ld.global.u32 %r4, [%rd1+4];
    st.global.u32 [%rd1+8], %r4;
    ret;
  PRODUCE:
    mov.u32 %r5, 42;
    mov.u32 %r7, 1;
    st.global.u32 [%rd1+4], %r5;
    {}
    ret;
  )",
                                                     look.substr(0, look.find('|')),
                                                     look.substr(look.find('|') + 1), raise),
                            1));
  const auto out = run.buffer(std::vector<std::uint32_t>{0, 0, 0});
  LaunchResult result = run.launch({2, 1, 1}, {1, 1, 1}, out);
  EXPECT_TRUE(result.fault || run.read<std::uint32_t>(out, 3)[2] == 42U);
  return result;
}

/// Two lanes store two words, each of which another place reads.
TEST(Ordering, ARaceIsReportedWithEachOtherPlaceAndBeforeWhatItExplains) {
  PtxRunner run(kernel_text(std::string(kRegisters) + R"(
    .shared .align 4 .b8 place[8];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra FIRST;
    setp.eq.u32 %p2, %r1, 32;
    @%p2 bra SECOND;
    setp.lt.u32 %p3, %r1, 64;
    @%p3 ret;
    sub.u32 %r5, %r1, 64;
    mov.u32 %r6, place;
    mad.lo.u32 %r6, %r5, 4, %r6;
    st.shared.u32 [%r6], %r1;
    ret;
  FIRST:
    ld.shared.u32 %r3, [place];
    ret;
  SECOND:
    ld.shared.u32 %r4, [place+4];
    ret;
  )",
                            1));
  const auto out = run.buffer(std::vector<std::uint32_t>{0});
  const LaunchResult result = run.launch({1, 1, 1}, {66, 1, 1}, out);
  EXPECT_EQ(findings(result),
            (std::vector<Finding>{Finding::race, Finding::race, Finding::uninitialised,
                                  Finding::uninitialised}));
  ASSERT_GE(result.reports.size(), 2U);
  EXPECT_EQ(result.reports[0].place, result.reports[1].place);
  EXPECT_NE(result.reports[0].other, result.reports[1].other);
}

TEST(Ordering, FlagsBetweenBlocksOrderWithFencesOrSemantics) {
  const std::vector<std::pair<std::string, std::string>> good{
      {"membar.gl; st.volatile.global.u32 [%rd1], %r7;",
       "ld.volatile.global.u32 %r3, [%rd1]; | membar.gl;"},
      {"st.release.gpu.global.u32 [%rd1], %r7;", "ld.acquire.gpu.global.u32 %r3, [%rd1]; |"},
      {"fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], %r7;",
       "ld.relaxed.gpu.global.u32 %r3, [%rd1]; | fence.acq_rel.gpu;"},
      {"atom.add.release.gpu.global.u32 %r6, [%rd1], 1;",
       "atom.add.acquire.gpu.global.u32 %r3, [%rd1], 0; |"},
      {"red.release.gpu.global.add.u32 [%rd1], 1;", "ld.acquire.gpu.global.u32 %r3, [%rd1]; |"},
      {"membar.gl; atom.global.exch.b32 %r6, [%rd1], 1;",
       "atom.global.add.u32 %r3, [%rd1], 0; | membar.gl;"}};
  for (const auto& [raise, look] : good) {
    EXPECT_EQ(findings(handed_over_by(raise, look)), std::vector<Finding>{}) << raise << "\n"
                                                                             << look;
  }
}

TEST(Ordering, FlagsWithoutThemAreRaces) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"st.volatile.global.u32 [%rd1], %r7;", "ld.volatile.global.u32 %r3, [%rd1]; | membar.gl;"},
      {"membar.gl; st.volatile.global.u32 [%rd1], %r7;", "ld.volatile.global.u32 %r3, [%rd1]; |"},
      {"membar.cta; st.volatile.global.u32 [%rd1], %r7;",
       "ld.volatile.global.u32 %r3, [%rd1]; | membar.gl;"},
      {"st.release.cta.global.u32 [%rd1], %r7;", "ld.acquire.gpu.global.u32 %r3, [%rd1]; |"},
      {"st.release.gpu.global.u32 [%rd1], %r7;", "ld.acquire.cta.global.u32 %r3, [%rd1]; |"},
      {"st.release.gpu.global.u32 [%rd1], %r7;",
       "atom.add.acquire.cta.global.u32 %r3, [%rd1], 0; |"},
      {"st.relaxed.gpu.global.u32 [%rd1], %r7;", "ld.acquire.gpu.global.u32 %r3, [%rd1]; |"}};
  for (const auto& [raise, look] : bad) {
    EXPECT_EQ(findings(handed_over_by(raise, look)), std::vector<Finding>{Finding::race})
        << raise << "\n"
        << look;
  }
}

TEST(Ordering, AReaderIsNotForgottenWhenTheWriterReadsToo) {
  // In place: each block adds its neighbour's word to its own.
  PtxRunner run(kernel_text(std::string(kRegisters) + R"(
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1];
    ld.global.u32 %r4, [%rd1+4];
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd1], %r3;
    ret;
  )",
                            1));
  const auto words = run.buffer(std::vector<std::uint32_t>(5, 1));
  EXPECT_EQ(findings(run.launch({4, 1, 1}, {1, 1, 1}, words)), std::vector<Finding>{Finding::race});
}

TEST(Ordering, AtomicsReadWhatTheyUpdate) {
  for (const char* update :
       {"red.global.add.f32 [%rd1], 1.0;", "atom.global.max.u32 %r3, [%rd1], 1;"}) {
    PtxRunner run(kernel_text(std::string(kRegisters) + ".reg .f32 %f<2>;" + update + "ret;", 1));
    EXPECT_EQ(findings(run.launch({1, 1, 1}, {1, 1, 1}, run.fresh_buffer(8))),
              std::vector<Finding>{Finding::uninitialised});
    run.launch_clean({1, 1, 1}, {2, 1, 1}, run.buffer(std::vector<std::uint32_t>{0, 0}));
  }
  PtxRunner exchange(
      kernel_text(std::string(kRegisters) + "atom.global.exch.b32 %r3, [%rd1], 1; ret;", 1));
  exchange.launch_clean({1, 1, 1}, {1, 1, 1}, exchange.fresh_buffer(8));
}

/// A block of 64 threads with a shared word for each; %r3 is the address of the own one.
LaunchResult in_block(const std::string& body, std::uint32_t threads = 64) {
  PtxRunner run(kernel_text(std::string(".shared .align 16 .b8 place[1024];") + kRegisters + R"(
    mov.u32 %r9, place;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r3, %r9;
    setp.eq.u32 %p1, %r1, 0;
    setp.lt.u32 %p2, %r1, 16;
)" + body + " ret;",
                            1));
  return run.launch({1, 1, 1}, {threads, 1, 1}, run.fresh_buffer(4096));
}

TEST(Ordering, AtomicsRaceWithPlainAccessesOnly) {
  const std::string count = "atom.shared.add.u32 %r4, [%r9+512], 1;";
  const std::string clear = "@%p1 st.shared.u32 [%r9+512], 0;";
  const std::string look = "ld.shared.u32 %r5, [%r9+512];";
  EXPECT_EQ(findings(in_block(clear + "bar.sync 0;" + count + "bar.sync 0;" + look)),
            std::vector<Finding>{});
  EXPECT_EQ(findings(in_block(clear + count)), std::vector<Finding>{Finding::race});
  EXPECT_EQ(findings(in_block(clear + "bar.sync 0;" + count + look)),
            std::vector<Finding>{Finding::race});
  EXPECT_EQ(findings(in_block(count)), std::vector<Finding>{Finding::uninitialised});
}

TEST(Ordering, WhatSynchronisingStoresWroteIsThere) {
  for (const char* store :
       {"st.volatile.shared.u32 [%r3], %r1;", "st.relaxed.cta.shared.u32 [%r3], %r1;",
        "atom.shared.exch.b32 %r4, [%r3], %r1;"}) {
    EXPECT_EQ(findings(in_block(store + std::string("bar.sync 0; ld.shared.u32 %r5, [%r3];"))),
              std::vector<Finding>{})
        << store;
  }
}

TEST(Ordering, WhatOneLaneReleasesSaysNothingOfTheOthers) {
  // Lane 0's atomic is no barrier of the warp.
  const std::string neighbour = "xor.b32 %r6, %r3, 4; ld.shared.u32 %r5, [%r6];";
  const std::string own = "st.shared.u32 [%r3], %r1;";
  EXPECT_EQ(findings(in_block(own + "@%p1 atom.shared.exch.b32 %r4, [%r9+512], 1;" + neighbour)),
            std::vector<Finding>{Finding::race});
  EXPECT_EQ(findings(in_block(own + "bar.warp.sync 0xffffffff;" + neighbour)),
            std::vector<Finding>{});
}

TEST(Ordering, AWarpBarrierOrdersWhenAllHaveComeToIt) {
  const std::string write = "st.shared.u32 [%r3], %r1;";
  const std::string read = "sub.u32 %r6, %r3, 64; ld.shared.u32 %r5, [%r6];";
  const std::string sync = "bar.warp.sync 0xffffffff;";
  const auto halves = [](const std::string& low, const std::string& high) {
    return in_block("@%p2 bra LOW;" + high + "bra JOIN; LOW:" + low + "JOIN:", 32);
  };
  EXPECT_EQ(findings(halves(write + sync, sync + read)), std::vector<Finding>{});
  EXPECT_TRUE(
      test::found_only(halves(write + sync, read + sync), {Finding::race, Finding::uninitialised}));
}

TEST(Ordering, FencesMakeNoReaderForgotten) {
  // They order accesses of a thread, not those of lanes with each other.
  const std::string clear = "@%p1 st.shared.u32 [%r9+512], 0; bar.sync 0;\n";
  const std::string lanes = clear + "setp.eq.u32 %p3, %r1, 1; @%p3 ld.shared.u32 %r4, [%r9+512];\n";
  const std::string store =
      "@%p1 ld.shared.u32 %r4, [%r9+512]; @%p1 st.shared.u32 [%r9+512], %r4;\n";
  // Warp 1 reads before warp 0 writes, because it is the last that comes to the barrier.
  const auto warps = [&](const std::string& between) {
    return in_block(clear + "setp.lt.u32 %p3, %r1, 32; @%p3 bra WRITE;\n" +
                    "ld.shared.u32 %r4, [%r9+512];" + between +
                    "ld.volatile.shared.u32 %r5, [%r9+512]; ret;\n" +
                    "WRITE: st.volatile.shared.u32 [%r9+512], %r9;\n");
  };
  for (const std::string fence :
       {"", "membar.cta;", "membar.gl;", "membar.sys;", "fence.acq_rel.cluster;",
        "fence.proxy.async;", "fence.mbarrier_init.release.cluster;"}) {
    EXPECT_EQ(findings(in_block(lanes + fence + store, 32)), std::vector<Finding>{Finding::race})
        << fence;
    EXPECT_EQ(findings(in_block(lanes + fence + "bar.warp.sync -1;" + store, 32)),
              std::vector<Finding>{})
        << fence;
    EXPECT_EQ(findings(warps(fence)), std::vector<Finding>{Finding::race}) << fence;
  }
  EXPECT_EQ(findings(warps("bar.warp.sync -1;")), std::vector<Finding>{Finding::race});
}

TEST(Ordering, ReadersWhoAreKnownAreNotMixedUpWithLaterOnes) {
  const std::string begin = R"(
    .shared .align 8 .b64 barrier;
    @%p1 st.shared.u32 [%r9+512], 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 32;
    bar.sync 0;
    setp.eq.u32 %p3, %r1, 1;
    setp.lt.u32 %p4, %r1, 32;
  )";
  const std::string arrive = "mbarrier.arrive.shared.b64 _, [barrier];";
  const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p7, [barrier], 0; @!%p7 bra W;";
  const std::string read = "ld.shared.u32 %r4, [%r9+512];";
  // Lane 1 says that it has read; what lane 0 reads then is its own.
  EXPECT_EQ(findings(in_block(begin + "@%p3 " + read + arrive + "@%p1 " + read + wait +
                                  "@%p1 st.shared.u32 [%r9+512], %r9;",
                              32)),
            std::vector<Finding>{});
  // Warp 1 says so, and then reads in a way that races with no volatile write.
  const auto warps = [&](const std::string& later) {
    return in_block(begin + "@%p4 bra WRITE;" + read + arrive + later + "ret; WRITE:" + wait +
                    "st.volatile.shared.u32 [%r9+512], %r9;");
  };
  EXPECT_EQ(findings(warps("ld.volatile.shared.u32 %r5, [%r9+512];")), std::vector<Finding>{});
  EXPECT_EQ(findings(warps(read)), std::vector<Finding>{Finding::race});
  // A plain reading of the own lane makes no volatile one of another lane plain.
  EXPECT_EQ(findings(in_block(begin + "@%p3 ld.volatile.shared.u32 %r4, [%r9+512]; @%p1 " + read +
                                  "@%p1 st.volatile.shared.u32 [%r9+512], %r9;",
                              32)),
            std::vector<Finding>{});
}

TEST(Ordering, TheClustersBarrierOrdersGlobalMemory) {
  const auto run_with = [](const std::string& barrier) {
    PtxRunner run(kernel_text(kRegisters + fmt::format(R"(
      setp.eq.u32 %p1, %r2, 0;
      @%p1 st.global.u32 [%rd1], %r2;
      {}
      @!%p1 ld.global.u32 %r3, [%rd1];
      ret;
    )",
                                                       barrier),
                              1));
    run.cluster = {2, 1, 1};
    return run.launch({2, 1, 1}, {32, 1, 1}, run.buffer(std::vector<std::uint32_t>{0}));
  };
  EXPECT_EQ(findings(run_with("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")),
            std::vector<Finding>{});
  EXPECT_EQ(findings(run_with("")), std::vector<Finding>{Finding::race});
}

}  // namespace
}  // namespace kiln::emulated
