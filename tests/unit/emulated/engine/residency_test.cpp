// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How many blocks run side by side, on how many host threads, and that findings do not depend on
// it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

struct Setting {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 32;
  std::uint32_t sm_count = 1;
  std::uint32_t smem_bytes = 0;
  std::uint32_t cluster = 1;
  int host_threads = 1;
  bool checks = true;
  double timeout_s = 60.0;
};

/// Launches kernel `k` with the address of `words` as its one parameter; `words` is what is there
/// in the end.
LaunchResult launch(const std::string& text, const Setting& setting,
                    std::vector<std::uint32_t>& words) {
  PtxRunner run(text, "k", setting.checks);
  run.cluster.x = setting.cluster;
  run.smem_bytes = setting.smem_bytes;
  run.sm_count = setting.sm_count;
  run.host_threads = setting.host_threads;
  run.timeout_s = setting.timeout_s;
  const std::uint64_t at = run.buffer(words);
  LaunchResult result = run.launch({setting.blocks, 1, 1}, {setting.threads, 1, 1}, at);
  words = run.read<std::uint32_t>(at, words.size());
  return result;
}

/// All blocks wait until all have arrived at word 0. Before, each writes its word; afterwards it
/// reads that of the next block and adds it to word 1.
const std::string& grid_barrier() {
  static const std::string kText = kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra TOGETHER;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    st.global.u32 [%rd2+8], %r2;
    fence.acq_rel.gpu;
    atom.global.add.u32 %r4, [%rd1], 1;
  WAIT:
    ld.acquire.gpu.global.u32 %r5, [%rd1];
    setp.ge.u32 %p2, %r5, %r3;
    @%p2 bra TOGETHER;
    nanosleep.u32 100;
    bra.uni WAIT;
  TOGETHER:
    bar.sync 0;
    @%p1 exit;
    fence.acq_rel.gpu;
    add.u32 %r6, %r2, 1;
    rem.u32 %r6, %r6, %r3;
    mad.wide.u32 %rd3, %r6, 4, %rd1;
    ld.global.u32 %r7, [%rd3+8];
    red.global.add.u32 [%rd1+4], %r7;
    ret;
  )",
                                               1);
  return kText;
}

/// As many blocks as fit pass the barrier; with `more` of them nobody does.
void expect_residency(Setting setting, std::uint32_t fit, std::uint32_t more) {
  SCOPED_TRACE(fmt::format("{} threads, {} bytes, cluster of {}, {} host threads, checks {}",
                           setting.threads, setting.smem_bytes, setting.cluster,
                           setting.host_threads, setting.checks));
  setting.blocks = fit;
  std::vector<std::uint32_t> words(fit + more + 2);
  const LaunchResult passed = launch(grid_barrier(), setting, words);
  EXPECT_FALSE(passed.fault) << passed.fault->describe();
  for (const Report& report : passed.reports) ADD_FAILURE() << report.describe();
  EXPECT_EQ(words[0], fit);
  EXPECT_EQ(words[1], fit * (fit - 1) / 2);

  setting.blocks = fit + more;
  words.assign(words.size(), 0);
  setting.timeout_s = 0.5;
  const LaunchResult stuck = launch(grid_barrier(), setting, words);
  ASSERT_EQ(findings(stuck), std::vector<Finding>{Finding::timed_out});
  const std::string note = fmt::format(
      "; {} more blocks cannot start until a running block ends: the GPU has no room for more "
      "blocks",
      more);
  EXPECT_NE(stuck.fault->text.find(note), std::string::npos) << stuck.fault->text;
  EXPECT_EQ(words[0], fit) << "only those that fit have begun";
}

TEST(Residency, IsLimitedByThreads) {
  for (const int host_threads : {1, 4}) {
    for (const bool checks : {true, false}) {
      Setting setting;
      setting.host_threads = host_threads;
      setting.checks = checks;
      setting.sm_count = 2;
      setting.threads = 1024;
      expect_residency(setting, 4, 3);
      setting.threads = 257;  // as many as nine warps
      expect_residency(setting, 2 * 7, 2);
    }
  }
}

TEST(Residency, IsLimitedByBlocks) {
  Setting setting;
  setting.threads = 32;
  expect_residency(setting, 32, 5);
  setting.sm_count = 3;
  setting.threads = 1;
  expect_residency(setting, 96, 2);
}

TEST(Residency, IsLimitedBySharedMemory) {
  Setting setting;
  setting.sm_count = 3;
  setting.threads = 64;
  setting.smem_bytes = 75 << 10;  // and 1 KiB of the driver's: three times 76 of 228
  expect_residency(setting, 9, 4);
  setting.smem_bytes = (75 << 10) + 1;
  expect_residency(setting, 6, 2);
  setting.smem_bytes = 227 << 10;
  expect_residency(setting, 3, 2);
}

TEST(Residency, CountsWholeClusters) {
  Setting setting;
  setting.cluster = 4;
  setting.threads = 512;
  setting.sm_count = 3;  // twelve blocks
  expect_residency(setting, 12, 4);
  setting.threads = 1024;  // six blocks, of which one cluster makes four
  expect_residency(setting, 4, 8);
}

TEST(HostThreads, FindTheSameRaces) {
  const std::string text = kernel_text(R"(
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1+4], %r1;
    ret;
  )",
                                       1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<std::pair<std::uint32_t, std::string>> places;
    for (const int host_threads : {1, 4}) {
      Setting setting;
      setting.blocks = 2;
      setting.threads = 1;
      setting.host_threads = host_threads;
      std::vector<std::uint32_t> words(2);
      const LaunchResult result = launch(text, setting, words);
      ASSERT_EQ(findings(result), std::vector<Finding>{Finding::race}) << host_threads;
      places.emplace_back(result.reports[0].instruction, result.reports[0].place);
      EXPECT_LE(words[1], 1U);
    }
    EXPECT_EQ(places[0], places[1]);
  }
}

TEST(HostThreads, CountTheSame) {
  const std::string text = kernel_text(R"(
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %ctaid.x;
    red.global.add.u32 [%rd1], 1;
    red.global.max.u32 [%rd1+4], %r1;
    atom.global.cas.b32 %r2, [%rd1+8], 0, 5;
    ret;
  )",
                                       1);
  for (const int host_threads : {1, 2, 4, 7}) {
    Setting setting;
    setting.blocks = 500;
    setting.threads = 40;
    setting.sm_count = 4;
    setting.host_threads = host_threads;
    std::vector<std::uint32_t> words(3);
    const LaunchResult result = launch(text, setting, words);
    EXPECT_TRUE(findings(result).empty());
    EXPECT_EQ(words, (std::vector<std::uint32_t>{500 * 40, 499, 5}));
    EXPECT_EQ(result.instructions, 500U * 2 * 6);
  }
}

TEST(Checks, OffFindsNoRaceButStillWhatIsOutside) {
  const auto text = [](int offset) {
    return kernel_text(fmt::format(R"(
      .reg .b32 %r<8>; .reg .b64 %rd<8>;
      ld.param.u64 %rd1, [p0];
      mov.u32 %r1, %ctaid.x;
      st.global.u32 [%rd1+{}], %r1;
      ret;
    )",
                                   offset),
                       1);
  };
  for (const int host_threads : {1, 4}) {
    Setting setting;
    setting.blocks = 8;
    setting.host_threads = host_threads;
    setting.checks = false;
    std::vector<std::uint32_t> words(4);
    EXPECT_TRUE(findings(launch(text(0), setting, words)).empty());
    EXPECT_EQ(findings(launch(text(16), setting, words)),
              std::vector<Finding>{Finding::out_of_bounds});
    EXPECT_EQ(findings(launch(text(2), setting, words)), std::vector<Finding>{Finding::misaligned});
    setting.checks = true;
    EXPECT_EQ(findings(launch(text(0), setting, words)), std::vector<Finding>{Finding::race});
  }
}

}  // namespace
}  // namespace kiln::emulated
