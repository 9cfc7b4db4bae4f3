// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Barriers that count votes, and 8 x 8 matrices that a warp moves at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

/// %r1 is the thread, %r2 its word of p0; results go to its words of p1, whose address is %rd2.
std::string thread_text(const std::string& body, const std::string& before = "") {
  return kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    mad.wide.u32 %rd2, %r1, 16, %rd2;
    ld.global.u32 %r2, [%rd1];
  )" + body + "\nret;",
                     2, before);
}

/// Popc, and, or of the votes of blocks of `threads`, each barrier once with the predicate and once
/// without it. Threads vote if their word is odd.
void check_votes(const std::string& reduction, std::uint32_t threads,
                 const std::vector<std::uint32_t>& words) {
  PtxRunner run(thread_text(fmt::format(R"(
    and.b32 %r3, %r2, 1;
    setp.ne.u32 %p1, %r3, 0;
    {0}.popc{1}.u32 %r4, 0, %p1;
    {0}.popc{1}.u32 %r5, 0, !%p1;
    {0}.and{1}.pred %p2, 0, %p1;
    {0}.and{1}.pred %p3, 3, !%p1;
    {0}.or{1}.pred %p4, 15, %p1;
    {0}.or{1}.pred %p5, 0, !%p1;
    selp.b32 %r6, 1, 0, %p2;
    selp.b32 %r7, 2, 0, %p3;
    or.b32 %r6, %r6, %r7;
    selp.b32 %r7, 4, 0, %p4;
    or.b32 %r6, %r6, %r7;
    selp.b32 %r7, 8, 0, %p5;
    or.b32 %r6, %r6, %r7;
    st.global.v4.u32 [%rd2], {{%r4, %r5, %r6, %r1}};
  )",
                                        reduction, reduction == "bar.red" ? "" : ".aligned")));
  const auto in = run.buffer(words);
  const auto out = run.fresh_buffer(threads * 16);
  run.launch_clean({1, 1, 1}, {threads, 1, 1}, in, out);
  const auto yes = static_cast<std::uint32_t>(std::count_if(
      words.begin(), words.begin() + threads, [](auto word) { return word % 2 == 1; }));
  const std::uint32_t no = threads - yes;
  const std::uint32_t predicates =
      (no == 0 ? 1U : 0U) | (yes == 0 ? 2U : 0U) | (yes > 0 ? 4U : 0U) | (no > 0 ? 8U : 0U);
  const auto results = run.read<std::uint32_t>(out, threads * 4);
  for (std::uint32_t i = 0; i < threads; ++i) {
    ASSERT_EQ(results[i * 4], yes) << i;
    ASSERT_EQ(results[i * 4 + 1], no) << i;
    ASSERT_EQ(results[i * 4 + 2], predicates) << i;
  }
}

TEST(BarrierReductions, CountTheVotesOfABlock) {
  std::mt19937 random(3);
  for (const std::string reduction : {"bar.red", "barrier.red", "barrier.cta.red"}) {
    for (const std::uint32_t threads : {1U, 32U, 70U, 256U, 1024U}) {
      SCOPED_TRACE(fmt::format("{} of {}", reduction, threads));
      std::vector<std::uint32_t> words(threads, 0);
      check_votes(reduction, threads, words);
      words.back() = 1;
      check_votes(reduction, threads, words);
      std::fill(words.begin(), words.end(), 1);
      check_votes(reduction, threads, words);
      words[threads / 2] = 0;
      check_votes(reduction, threads, words);
      for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
      check_votes(reduction, threads, words);
    }
  }
}

TEST(BarrierReductions, PartsOfABlockVoteByThemselves) {
  // Warps 0 and 1 vote at barrier 1, warps 2 to 4 at barrier 2, three times.
  PtxRunner run(thread_text(R"(
    and.b32 %r3, %r2, 1;
    setp.ne.u32 %p1, %r3, 0;
    setp.lt.u32 %p2, %r1, 64;
    selp.b32 %r5, 1, 2, %p2;
    selp.b32 %r6, 64, 96, %p2;
    mov.u32 %r7, 0;
    mov.u32 %r8, 0;
  AGAIN:
    barrier.cta.red.popc.aligned.u32 %r4, %r5, %r6, %p1;
    add.u32 %r7, %r7, %r4;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p3, %r8, 3;
    @%p3 bra AGAIN;
    st.global.u32 [%rd2], %r7;
  )"));
  std::vector<std::uint32_t> words(160);
  std::mt19937 random(4);
  for (std::uint32_t& word : words) word = random() % 2;
  const auto in = run.buffer(words);
  const auto out = run.fresh_buffer(160 * 16);
  run.launch_clean({1, 1, 1}, {160, 1, 1}, in, out);
  const auto results = run.read<std::uint32_t>(out, 160 * 4);
  const auto middle = words.begin() + 64;
  const auto first = std::accumulate(words.begin(), middle, 0U);
  const auto second = std::accumulate(middle, words.end(), 0U);
  for (std::size_t i = 0; i < 160; ++i) EXPECT_EQ(results[i * 4], 3 * (i < 64 ? first : second));
}

TEST(BarrierReductions, OrderMemoryAsBarriersDo) {
  PtxRunner run(thread_text(R"(
    .shared .align 4 .b8 words[512];
    mov.u32 %r5, words;
    shl.b32 %r6, %r1, 2;
    add.u32 %r7, %r5, %r6;
    st.shared.u32 [%r7], %r2;
    setp.ne.u32 %p1, %r2, 0;
    bar.red.popc.u32 %r4, 0, %p1;
    sub.u32 %r6, 508, %r6;
    add.u32 %r7, %r5, %r6;
    ld.shared.u32 %r8, [%r7];
    st.global.u32 [%rd2], %r8;
  )"));
  std::vector<std::uint32_t> words(128);
  std::iota(words.begin(), words.end(), 1000U);
  const auto in = run.buffer(words);
  const auto out = run.fresh_buffer(128 * 16);
  run.launch_clean({1, 1, 1}, {128, 1, 1}, in, out);
  const auto results = run.read<std::uint32_t>(out, 128 * 4);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(results[i * 4], words[127 - i]);
}

/// Row and column of half `i` (0 or 1) of a lane's register in an 8 x 8 matrix, as PTX says.
struct LanePlace {
  std::size_t row;
  std::size_t col;
};
LanePlace place_of(std::size_t lane, std::size_t i) {
  return {lane / 4, lane % 4 * 2 + i};
}

std::vector<std::uint16_t> random_halves(std::size_t count) {
  std::mt19937 random(9);
  std::vector<std::uint16_t> halves(count);
  for (auto& half : halves) half = static_cast<std::uint16_t>(random());
  return halves;
}

TEST(WarpMatrices, MovmatrixTransposes) {
  PtxRunner run(thread_text(R"(
    movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;
    movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3;
    movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r2;
    st.global.v4.u32 [%rd2], {%r3, %r4, %r2, %r1};
  )"));
  const auto halves = random_halves(64);
  const auto in = run.buffer(halves);
  const auto out = run.fresh_buffer(32 * 16);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, in, out);
  const auto results = run.read<std::uint16_t>(out, 32 * 8);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 2; ++i) {
      // The registers hold the matrix row by row, two halves a lane.
      const LanePlace place = place_of(lane, i);
      const std::uint16_t turned = halves[place.col * 8 + place.row];
      EXPECT_EQ(results[lane * 8 + i], turned);
      EXPECT_EQ(results[lane * 8 + 2 + i], halves[lane * 2 + i]) << "turned twice";
      EXPECT_EQ(results[lane * 8 + 4 + i], turned) << "onto itself";
    }
  }
}

struct RowsCase {
  std::size_t matrices;
  bool transposed;
};

/// Each lane's registers go to rows of shared memory that are scattered; the other lanes' addresses
/// are none. Then all of it is copied out.
std::string stmatrix_text(const RowsCase& which) {
  const std::string registers[] = {"{%r10}", "{%r10, %r11}", "", "{%r10, %r11, %r12, %r13}"};
  return thread_text(fmt::format(
      R"(
    .shared .align 16 .b8 rows[640];
    mov.u32 %r5, rows;
    ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd2];
    add.u32 %r7, %r5, %r2;
    setp.ge.u32 %p1, %r1, {};
    @%p1 mov.u32 %r7, 3;
    stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%r7], {};
    bar.warp.sync -1;
    @%p1 bra DONE;
    ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r7];
    st.global.v4.u32 [%rd2], {{%r10, %r11, %r12, %r13}};
  DONE:
  )",
      8 * which.matrices, which.matrices, which.transposed ? ".trans" : "",
      registers[which.matrices - 1]));
}

TEST(WarpMatrices, StmatrixStoresRowsWhereLanesSay) {
  for (const std::size_t matrices : {1U, 2U, 4U}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(fmt::format("x{}{}", matrices, transposed ? ".trans" : ""));
      PtxRunner run(stmatrix_text({matrices, transposed}));
      // Rows of 16 bytes in any order with gaps between them.
      std::vector<std::uint32_t> offsets(32);
      for (std::uint32_t i = 0; i < 32; ++i) offsets[i] = (i * 13 + 5) % 40 * 16;
      const auto halves = random_halves(32 * 8);
      const auto in = run.buffer(offsets);
      const auto out = run.buffer(halves);
      run.launch_clean({1, 1, 1}, {32, 1, 1}, in, out);
      const auto results = run.read<std::uint16_t>(out, 32 * 8);
      for (std::size_t matrix = 0; matrix < matrices; ++matrix) {
        for (std::size_t lane = 0; lane < 32; ++lane) {
          for (std::size_t i = 0; i < 2; ++i) {
            LanePlace place = place_of(lane, i);
            if (transposed) std::swap(place.row, place.col);
            EXPECT_EQ(results[(matrix * 8 + place.row) * 8 + place.col],
                      halves[lane * 8 + matrix * 2 + i])
                << "matrix " << matrix << ", lane " << lane;
          }
        }
      }
    }
  }
}

TEST(WarpMatrices, LdmatrixGivesBackWhatStmatrixStored) {
  for (const std::string order : {"", ".trans"}) {
    PtxRunner run(thread_text(fmt::format(R"(
      .shared .align 16 .b8 rows[512];
      mov.u32 %r5, rows;
      mad.lo.u32 %r7, %r1, 16, %r5;
      ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd2];
      stmatrix.sync.aligned.m8n8.x4{0}.shared.b16 [%r7], {{%r10, %r11, %r12, %r13}};
      bar.warp.sync -1;
      ldmatrix.sync.aligned.m8n8.x4{0}.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r7];
      st.global.v4.u32 [%rd2], {{%r20, %r21, %r22, %r23}};
    )",
                                          order)));
    const auto halves = random_halves(32 * 8);
    const auto in = run.buffer(std::vector<std::uint32_t>(32));
    const auto out = run.buffer(halves);
    run.launch_clean({1, 1, 1}, {32, 1, 1}, in, out);
    EXPECT_EQ(run.read<std::uint16_t>(out, 32 * 8), halves) << order;
  }
}

TEST(WarpMatrices, JumpsBeyondATableAreFound) {
  PtxRunner run(thread_text(R"(
    TABLE: .branchtargets A, B;
    brx.idx %r2, TABLE;
  A:
    ret;
  B:
    st.global.u32 [%rd2], %r2;
  )"));
  std::vector<std::uint32_t> ways(32, 1);
  const auto out = run.fresh_buffer(32 * 16);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(ways), out);
  ways[17] = 2;
  const LaunchResult result = run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(ways), out);
  ASSERT_EQ(findings(result), std::vector<Finding>{Finding::invalid_operand});
  EXPECT_EQ(result.fault->thread[0], 17U);
}

}  // namespace
}  // namespace kiln::emulated
