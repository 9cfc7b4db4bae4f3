// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Who knows of copies by cp.async: their thread by its waits, others by its arrivals at mbarriers.
#include <fmt/format.h>
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

const std::vector<Finding> kNothing;

/// Two warps. %r2 is the first of two mbarriers for 32 arrivals each, %r5 shared memory, %r6 the
/// word of the lane there, %rd2 its word in global memory; %p1 is for all lanes but the first.
LaunchResult run_warps(const std::string& producer, const std::string& consumer) {
  constexpr std::uint32_t kWords = 8192;
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
    .shared .align 8 .b64 barriers[2];
    .shared .align 16 .b8 data[32768];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, barriers;
    mov.u32 %r5, data;
    and.b32 %r3, %r1, 31;
    shl.b32 %r4, %r3, 2;
    add.u32 %r6, %r5, %r4;
    ld.param.u64 %rd1, [p0];
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd2, %rd1, %rd2;
    setp.ne.u32 %p1, %r3, 0;
    setp.ne.u32 %p2, %r3, 1;
    setp.ne.u32 %p3, %r1, 0;
    @!%p3 mbarrier.init.shared.b64 [%r2], 32;
    @!%p3 mbarrier.init.shared.b64 [%r2+8], 32;
    bar.sync 0;
    setp.gt.u32 %p4, %r1, 31;
    @%p4 bra CONSUMER;
)" + producer + "ret;\nCONSUMER:\n" +
                                consumer + "ret;",
                            1));
  return run.launch({1, 1, 1}, {64, 1, 1}, run.buffer(std::vector<std::uint32_t>(kWords)));
}

const std::string kFirst = "cp.async.ca.shared.global [%r6], [%rd2], 4;\n";
const std::string kSecond = "cp.async.ca.shared.global [%r6+128], [%rd2], 4;\n";
const std::string kArrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n";
const std::string kArriveNext = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2+8];\n";
const std::string kReadFirst = "ld.shared.u32 %r10, [%r6];\n";
const std::string kReadSecond = "ld.shared.u32 %r11, [%r6+128];\n";

/// Waits for the first phase of the mbarrier at an offset.
std::string wait(int offset, const std::string& order = "") {
  static int labels = 0;
  const std::string label = "W" + std::to_string(++labels);
  return label + ": mbarrier.try_wait.parity" + order + ".shared::cta.b64 %p7, [%r2+" +
         std::to_string(offset) + "], 0;\n@!%p7 bra " + label + ";\n";
}

TEST(CopyArrival, IsForAllCopiesBefore) {
  const std::string producer = kFirst + kArrive + kSecond + kArriveNext;
  EXPECT_EQ(findings(run_warps(producer, wait(8) + kReadFirst + kReadSecond)), kNothing);
  EXPECT_EQ(findings(run_warps(producer, wait(0) + kReadFirst)), kNothing);
  EXPECT_TRUE(
      found_only(run_warps(producer, wait(0) + kReadFirst + kReadSecond), Finding::missing_wait));
  // The second copy is done by then, but who waited for the first alone does not know that.
  EXPECT_EQ(findings(run_warps(producer, wait(8, ".relaxed.cta") + wait(0) + kReadSecond)),
            std::vector<Finding>{Finding::race});
}

TEST(CopyArrival, WaitsOfItsThreadTakeNothingFromIt) {
  const std::string consumer = wait(0) + kReadFirst;
  for (const std::string& producer :
       {fmt::format("{}{}cp.async.wait_all;", kFirst, kArrive),
        fmt::format("{}cp.async.wait_all;{}", kFirst, kArrive),
        fmt::format("{}cp.async.commit_group;{}cp.async.wait_group 0;", kFirst, kArrive),
        fmt::format("{}{}cp.async.commit_group; cp.async.wait_group 0;{}", kFirst, kArrive,
                    kReadFirst)}) {
    EXPECT_EQ(findings(run_warps(producer, consumer)), kNothing) << producer;
  }
  // Copies that it does not track are not made known by it, whoever waited for them.
  EXPECT_EQ(findings(run_warps(kArrive + kFirst + "cp.async.wait_all;", consumer)),
            std::vector<Finding>{Finding::race});
}

TEST(CopyArrival, IsForCopiesOfItsOwnThreadAlone) {
  // Lane 0 copies and arrives at the first mbarrier, lane 1 at the second.
  const std::string producer =
      "@!%p1 " + kFirst + "@!%p1 " + kArrive + "@%p1 mbarrier.arrive.shared.b64 _, [%r2];\n" +
      "@!%p2 " + kSecond + "@!%p2 " + kArriveNext + "@%p2 mbarrier.arrive.shared.b64 _, [%r2+8];\n";
  const std::string both = "ld.shared.u32 %r10, [%r5]; ld.shared.u32 %r11, [%r5+132];";
  EXPECT_EQ(findings(run_warps(producer, wait(0) + wait(8) + both)), kNothing);
  EXPECT_EQ(findings(run_warps(producer, wait(0, ".relaxed.cta") + wait(8) + both)),
            std::vector<Finding>{Finding::race});
}

TEST(CopyArrival, OfVeryManyCopiesIsForTheOldestToo) {
  // More than a warp keeps: the oldest are done before anybody waits.
  const std::string many = R"(
    @%p1 bra ARRIVE;
    add.u32 %r7, %r5, 256;
    mov.u32 %r8, 0;
  COPY:
    cp.async.ca.shared.global [%r7], [%rd1], 4;
    add.u32 %r7, %r7, 4;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p5, %r8, 5000;
    @%p5 bra COPY;
  ARRIVE:
  )";
  const std::string look = "ld.shared.u32 %r10, [%r5+256]; ld.shared.u32 %r11, [%r5+20252];\n";
  EXPECT_EQ(findings(run_warps(many + kArrive, wait(0) + look)), kNothing);
  EXPECT_EQ(findings(run_warps(kFirst + kArrive + many, wait(0) + kReadFirst)), kNothing);
  EXPECT_EQ(findings(run_warps(many + "cp.async.wait_all; bar.warp.sync -1;" + look, "")),
            kNothing);
  const std::string grouped = "cp.async.commit_group; cp.async.wait_group 0; bar.warp.sync -1;\n";
  EXPECT_EQ(findings(run_warps(many + grouped + look, "")), kNothing);
  // That the first is done already is luck.
  EXPECT_EQ(findings(run_warps(many + "@!%p1 ld.shared.u32 %r10, [%r5+256];\n", "")),
            std::vector<Finding>{Finding::race});
}

TEST(CopyArrival, WaitsForOwnCopiesSayNothingOfOthers) {
  // Both warps copy, and arrive at one mbarrier for both. Each then reads the other's word.
  const auto run_both = [](const std::string& order, const std::string& more) {
    const std::string all =
        "add.u32 %r6, %r5, %r4; shl.b32 %r12, %r1, 2; and.b32 %r12, %r12, 128;"
        "add.u32 %r6, %r6, %r12; sub.u32 %r13, %r5, %r12;"
        "add.u32 %r13, %r13, %r4; add.u32 %r13, %r13, 128;" +
        kFirst + kArrive;
    const std::string begin =
        "@!%p3 mbarrier.inval.shared.b64 [%r2];"
        "@!%p3 mbarrier.init.shared.b64 [%r2], 64;";
    const auto rest = [&] {
      return "bar.sync 0;" + all + wait(0, order) + more + "ld.shared.u32 %r10, [%r13];";
    };
    return findings(run_warps(begin + rest(), rest()));
  };
  EXPECT_EQ(run_both("", ""), kNothing);
  EXPECT_EQ(run_both("", "cp.async.wait_all;"), kNothing);
  // The relaxed wait lets all the copies happen, and says nothing about them.
  EXPECT_EQ(run_both(".relaxed.cta", "cp.async.wait_all;"),
            (std::vector<Finding>{Finding::race, Finding::race}));
}

TEST(CopyArrival, GroupsAreWaitedForInOrder) {
  // Both copies are done, but a wait for the older group is for that alone.
  const std::string copies =
      kFirst + "cp.async.commit_group;" + kSecond + "cp.async.commit_group;" + kArrive;
  const auto after = [&](const std::string& wait_group, const std::string& reads) {
    return findings(run_warps(copies + wait(0, ".relaxed.cta") + wait_group + reads, ""));
  };
  EXPECT_EQ(after("cp.async.wait_group 1;", kReadFirst), kNothing);
  EXPECT_EQ(after("cp.async.wait_group 0;", kReadFirst + kReadSecond), kNothing);
  EXPECT_EQ(after("cp.async.wait_group 1;", kReadFirst + kReadSecond),
            std::vector<Finding>{Finding::race});
  EXPECT_EQ(after("cp.async.wait_group 2;", kReadFirst), std::vector<Finding>{Finding::race});
}

TEST(CopyArrival, LanesKnowOfEachOthersCopiesOnceTheyHaveMet) {
  const std::string neighbour = "xor.b32 %r9, %r6, 4; ld.shared.u32 %r10, [%r9];\n";
  const std::string sync = "bar.warp.sync -1;";
  const std::string waited = kFirst + "cp.async.wait_all;";
  EXPECT_EQ(findings(run_warps(waited + sync + neighbour, "")), kNothing);
  EXPECT_EQ(findings(run_warps(waited + neighbour, "")), std::vector<Finding>{Finding::race});
  EXPECT_EQ(findings(run_warps(kFirst + kArrive + wait(0) + neighbour, "")), kNothing);
  // What is copied after they have met is new.
  EXPECT_EQ(findings(run_warps(waited + sync + kSecond + "cp.async.wait_all;" + neighbour +
                                   "ld.shared.u32 %r10, [%r9+128];",
                               "")),
            std::vector<Finding>{Finding::race});
  // A volatile store over it does not hide the copy from other warps.
  EXPECT_EQ(findings(run_warps(waited + "st.volatile.shared.u32 [%r6], %r1;",
                               "nanosleep.u32 100; ld.volatile.shared.u32 %r10, [%r6];")),
            std::vector<Finding>{Finding::race});
}

}  // namespace
}  // namespace kiln::emulated
