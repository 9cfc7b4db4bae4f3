// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cp.async: what it copies, what it fills with zeros, and when it happens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/emulated/lane_kernel.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

/// Each of 32 threads copies `bytes` from %rd3, its own 16 bytes of p0, to %r3, its own 16 bytes of
/// shared memory, which are full of 0xEE. %r4 is the thread's word of p1. The 16 bytes go to p2.
std::string copy_kernel(const std::string& copy) {
  return kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
    .shared .align 16 .b8 place[512];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, place;
    mad.lo.u32 %r3, %r1, 16, %r2;
    ld.param.u64 %rd1, [p0];
    mad.wide.u32 %rd3, %r1, 16, %rd1;
    ld.param.u64 %rd2, [p1];
    mad.wide.u32 %rd4, %r1, 4, %rd2;
    ld.global.u32 %r4, [%rd4];
    setp.ne.u32 %p1, %r4, 0;
    mov.u32 %r5, 0xEEEEEEEE;
    st.shared.v4.u32 [%r3], {%r5, %r5, %r5, %r5};
  )" + copy + R"(
    cp.async.wait_all;
    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r3];
    ld.param.u64 %rd5, [p2];
    mad.wide.u32 %rd5, %r1, 16, %rd5;
    st.global.v4.u32 [%rd5], {%r10, %r11, %r12, %r13};
    ret;
  )",
                     3);
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 200 + 1);
  return bytes;
}

/// The first `copied` bytes of each thread's source, zeros up to `bytes`, then what was there.
void expect_copies(const std::string& copy, const std::vector<std::uint32_t>& words,
                   std::size_t bytes, const std::vector<std::size_t>& copied) {
  SCOPED_TRACE(copy);
  PtxRunner run(copy_kernel(copy));
  const auto source = random_bytes(512);
  const auto out = run.fresh_buffer(512);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(source), run.buffer(words), out);
  std::vector<std::uint8_t> expected(512, 0xEE);
  for (std::size_t thread = 0; thread < 32; ++thread) {
    for (std::size_t i = 0; i < bytes; ++i) {
      expected[thread * 16 + i] = i < copied[thread] ? source[thread * 16 + i] : 0;
    }
  }
  EXPECT_EQ(run.read<std::uint8_t>(out, 512), expected);
}

/// The cache operators that a number of bytes has.
std::vector<std::pair<std::string, std::size_t>> kinds() {
  return {{"ca", 4}, {"ca", 8}, {"ca", 16}, {"cg", 16}};
}

TEST(CopyAsync, CopiesFourEightAndSixteenBytes) {
  const std::vector<std::uint32_t> words(32, 1);
  for (const auto& [cache, bytes] : kinds()) {
    const std::vector<std::size_t> all(32, bytes);
    for (const std::string more : {"", ".L2::64B", ".L2::128B", ".L2::256B"}) {
      for (const std::string space : {"shared", "shared::cta"}) {
        expect_copies(
            fmt::format("cp.async.{}.{}.global{} [%r3], [%rd3], {};", cache, space, more, bytes),
            words, bytes, all);
      }
    }
    expect_copies(fmt::format("mov.b64 %rd9, 0; cp.async.{}.shared.global.L2::cache_hint [%r3], "
                              "[%rd3], {}, %rd9;",
                              cache, bytes),
                  words, bytes, all);
  }
}

TEST(CopyAsync, FillsWithZerosWhatTheSourceDoesNotHave) {
  for (const auto& [cache, bytes] : kinds()) {
    std::vector<std::uint32_t> words(32);
    std::vector<std::size_t> copied(32);
    for (std::size_t i = 0; i < 32; ++i) {
      copied[i] = i * 7 % (bytes + 1);
      words[i] = static_cast<std::uint32_t>(copied[i]);
    }
    expect_copies(fmt::format("cp.async.{}.shared.global [%r3], [%rd3], {}, %r4;", cache, bytes),
                  words, bytes, copied);
    expect_copies(fmt::format("cp.async.{}.shared.global [%r3], [%rd3], {}, 3;", cache, bytes),
                  words, bytes, std::vector<std::size_t>(32, 3));
    expect_copies(fmt::format("cp.async.{}.shared.global [%r3], [%rd3], {}, 0;", cache, bytes),
                  words, bytes, std::vector<std::size_t>(32, 0));
  }
}

TEST(CopyAsync, APredicateLeavesTheSourceOut) {
  for (const auto& [cache, bytes] : kinds()) {
    std::vector<std::uint32_t> words(32);
    std::vector<std::size_t> copied(32);
    for (std::size_t i = 0; i < 32; ++i) {
      words[i] = i % 3 == 0 ? 1 : 0;
      copied[i] = words[i] != 0 ? 0 : bytes;
    }
    expect_copies(fmt::format("cp.async.{}.shared.global [%r3], [%rd3], {}, %p1;", cache, bytes),
                  words, bytes, copied);
  }
}

TEST(CopyAsync, GuardedThreadsCopyNothing) {
  std::vector<std::uint32_t> words(32);
  for (std::size_t i = 0; i < 32; ++i) words[i] = i % 5 == 0 ? 1 : 0;
  PtxRunner run(copy_kernel("@%p1 cp.async.ca.shared.global [%r3], [%rd3], 16;"));
  const auto source = random_bytes(512);
  const auto out = run.fresh_buffer(512);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(source), run.buffer(words), out);
  const auto bytes = run.read<std::uint8_t>(out, 512);
  for (std::size_t i = 0; i < 512; ++i) EXPECT_EQ(bytes[i], i / 16 % 5 == 0 ? source[i] : 0xEE);
}

TEST(CopyAsync, NothingIsReadOutsideForZeroBytes) {
  const std::vector<std::uint32_t> words(32, 1);
  const std::vector<std::size_t> none(32, 0);
  // A null pointer, and what lies far behind the source.
  for (const std::string place : {"mov.u64 %rd3, 0;", "add.u64 %rd3, %rd3, 1048576;"}) {
    expect_copies(place + "mov.u32 %r4, 0; cp.async.cg.shared.global [%r3], [%rd3], 16, %r4;",
                  words, 16, none);
    expect_copies(place + "cp.async.cg.shared.global [%r3], [%rd3], 16, %p1;", words, 16, none);
    PtxRunner run(copy_kernel(place + "cp.async.cg.shared.global [%r3], [%rd3], 16;"));
    EXPECT_EQ(findings(run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(random_bytes(512)),
                                  run.buffer(words), run.fresh_buffer(512))),
              std::vector<Finding>{Finding::out_of_bounds});
  }
}

TEST(CopyAsync, OnlyTheBytesThatAreReadMustExist) {
  // The source ends in the middle of the last thread's 16 bytes.
  PtxRunner run(copy_kernel("cp.async.cg.shared.global [%r3], [%rd3], 16, %r4;"));
  const auto source = random_bytes(500);
  std::vector<std::uint32_t> words(32, 16);
  words[31] = 4;
  const auto out = run.fresh_buffer(512);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(source), run.buffer(words), out);
  auto expected = source;
  expected.resize(512, 0);
  EXPECT_EQ(run.read<std::uint8_t>(out, 512), expected);
  words[31] = 5;
  EXPECT_EQ(findings(run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(source), run.buffer(words), out)),
            std::vector<Finding>{Finding::out_of_bounds});
}

TEST(CopyAsync, BothEndsMustBeAlignedAndSizesFit) {
  const std::vector<std::pair<std::string, Finding>> cases{
      {"add.u64 %rd3, %rd3, 4; cp.async.ca.shared.global [%r3], [%rd3], 8;", Finding::misaligned},
      {"add.u32 %r3, %r3, 8; cp.async.ca.shared.global [%r3], [%rd3], 16;", Finding::misaligned},
      {"add.u64 %rd3, %rd3, 8; cp.async.cg.shared.global [%r3], [%rd3], 16, %r4;",
       Finding::misaligned},
      {"add.u32 %r3, %r3, 512; cp.async.ca.shared.global [%r3], [%rd3], 4;",
       Finding::out_of_bounds},
      {"mov.u32 %r4, 17; cp.async.ca.shared.global [%r3], [%rd3], 16, %r4;",
       Finding::invalid_operand}};
  for (const auto& [copy, finding] : cases) {
    PtxRunner run(copy_kernel(copy));
    const auto found =
        findings(run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(random_bytes(1024)),
                            run.buffer(std::vector<std::uint32_t>(32, 2)), run.fresh_buffer(512)));
    EXPECT_EQ(found, std::vector<Finding>{finding}) << copy;
  }
}

/// One thread copies word i of p0 to word i of shared memory, in groups of one copy each, waits,
/// and stores the words to p1. They are 0xEEEEEEEE before.
std::string groups_kernel(int groups, const std::string& wait) {
  std::string text = R"(
    .reg .b32 %r<32>; .reg .b64 %rd<16>;
    .shared .align 16 .b8 place[64];
    mov.u32 %r2, place;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mov.u32 %r5, 0xEEEEEEEE;
  )";
  for (int i = 0; i < groups; ++i) text += fmt::format("st.shared.u32 [%r2+{}], %r5;\n", 4 * i);
  for (int i = 0; i < groups; ++i) {
    text += fmt::format(
        "cp.async.ca.shared.global [%r2+{0}], [%rd1+{0}], 4;\ncp.async.commit_group;\n", 4 * i);
  }
  text += wait;
  for (int i = 0; i < groups; ++i) {
    text += fmt::format("ld.shared.u32 %r6, [%r2+{0}];\nst.global.u32 [%rd2+{0}], %r6;\n", 4 * i);
  }
  return kernel_text(text + "ret;", 2);
}

TEST(CopyAsync, WaitingLeavesTheNewestGroupsOpen) {
  constexpr int kGroups = 6;
  const std::vector<std::uint32_t> source{10, 11, 12, 13, 14, 15};
  for (int pending = 0; pending <= kGroups + 1; ++pending) {
    const std::string text =
        groups_kernel(kGroups, fmt::format("cp.async.wait_group {};", pending));
    PtxRunner run(text, "k", false);
    const auto out = run.fresh_buffer(kGroups * 4);
    run.launch_clean({1, 1, 1}, {1, 1, 1}, run.buffer(source), out);
    const auto words = run.read<std::uint32_t>(out, kGroups);
    const auto done = static_cast<std::size_t>(std::max(0, kGroups - pending));
    for (std::size_t i = 0; i < kGroups; ++i) {
      EXPECT_EQ(words[i], i < done ? source[i] : 0xEEEEEEEEU) << i << " of " << pending;
    }
    // With checks on, the reads of what is open are found, all of one kind.
    PtxRunner checked(text);
    const auto found = findings(checked.launch({1, 1, 1}, {1, 1, 1}, checked.buffer(source),
                                               checked.fresh_buffer(kGroups * 4)));
    EXPECT_EQ(found.size(), kGroups - done);
    for (const Finding finding : found) EXPECT_EQ(finding, Finding::missing_wait);
  }
}

TEST(CopyAsync, EmptyGroupsCount) {
  // Three groups without copies behind those with them: waiting for all but three is enough.
  const std::string commits =
      "cp.async.commit_group; cp.async.commit_group; cp.async.commit_group;";
  for (const int pending : {3, 4}) {
    const std::string wait = fmt::format("cp.async.wait_group {};", pending);
    PtxRunner run(groups_kernel(2, commits + wait), "k", false);
    const auto out = run.fresh_buffer(8);
    run.launch_clean({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>{7, 8}), out);
    EXPECT_EQ(run.read<std::uint32_t>(out, 2),
              (std::vector<std::uint32_t>{7, pending == 3 ? 8 : 0xEEEEEEEEU}));
  }
}

/// A copy that no group has taken, then a wait.
std::vector<std::uint32_t> open_copy_after(const std::string& wait) {
  PtxRunner run(copy_kernel("cp.async.ca.shared.global [%r3], [%rd3], 4;" + wait +
                            "ld.shared.u32 %r9, [%r3]; st.global.u32 [%rd4], %r9;"),
                "k", false);
  const auto words = run.buffer(std::vector<std::uint32_t>(32));
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(std::vector<std::uint32_t>(128, 5)), words,
                   run.fresh_buffer(512));
  return run.read<std::uint32_t>(words, 32);
}

TEST(CopyAsync, OnlyWaitAllTakesCopiesOfNoGroup) {
  EXPECT_EQ(open_copy_after("cp.async.wait_group 0;"), std::vector<std::uint32_t>(32, 0xEEEEEEEEU));
  EXPECT_EQ(open_copy_after("cp.async.wait_all;"), std::vector<std::uint32_t>(32, 5));
}

TEST(CopyAsync, EachThreadHasGroupsOfItsOwn) {
  // Odd threads commit one group more, so that waiting for all but one leaves less open for them.
  PtxRunner run(copy_kernel(R"(
    cp.async.ca.shared.global [%r3], [%rd3], 4;
    cp.async.commit_group;
    @%p1 cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r9, [%r3];
    st.global.u32 [%rd4], %r9;
  )"),
                "k", false);
  std::vector<std::uint32_t> odd(32);
  for (std::uint32_t i = 0; i < 32; ++i) odd[i] = i % 2;
  const auto words = run.buffer(odd);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(std::vector<std::uint32_t>(128, 5)), words,
                   run.fresh_buffer(512));
  const auto seen = run.read<std::uint32_t>(words, 32);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(seen[i], i % 2 == 1 ? 5 : 0xEEEEEEEEU) << i;
}

TEST(CopyAsync, OthersNeedABarrierBehindTheWait) {
  // Each thread reads what its neighbour has copied.
  const auto kernel = [](const std::string& between) {
    return copy_kernel("cp.async.ca.shared.global [%r3], [%rd3], 16; cp.async.wait_all;" + between +
                       "mov.u32 %r7, place;"
                       "sub.u32 %r8, %r3, %r7; xor.b32 %r8, %r8, 16; add.u32 %r8, %r8, %r7;"
                       "ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd4], %r9;");
  };
  for (const bool waits : {true, false}) {
    PtxRunner run(kernel(waits ? "bar.warp.sync -1;" : ""));
    const auto words = run.buffer(std::vector<std::uint32_t>(32));
    const auto found = findings(run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(random_bytes(512)),
                                           words, run.fresh_buffer(512)));
    EXPECT_EQ(found, waits ? std::vector<Finding>{} : std::vector<Finding>{Finding::race});
  }
}

TEST(CopyAsync, WhatPtxDoesNotHaveIsRefused) {
  for (const std::string& text :
       {std::string("cp.async.cg.shared.global [%ra], [%in], 8;"),
        std::string("cp.async.ca.shared.global [%ra], [%in], 2;"),
        std::string("cp.async.shared.global [%ra], [%in], 16;"),
        std::string("cp.async.ca.shared.global [%ra], [%in], %ra;"),
        std::string("cp.async.wait_group %ra;"), std::string("cp.async.wait_most;")}) {
    lane_test::expect_refused(text);
  }
}

TEST(CopyAsync, OperandsTooManyAreRefused) {
  for (const std::string& text :
       {std::string("cp.async.ca.shared.global [%ra], [%in], 4, 4, %la, %la;"),
        std::string("cp.async.ca.shared.global [%ra], [%in], 4, %la;")}) {
    lane_test::expect_refused(text);
  }
}

}  // namespace
}  // namespace kiln::emulated
