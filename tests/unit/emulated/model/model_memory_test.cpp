// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the time model says of memory and tensor cores, against figures of the device profile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/compile/register_note.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "runtime/emulated/model/performance_model.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::kernel_text;

constexpr std::uint32_t kSms = 132;

struct Launch {
  std::uint32_t blocks = kSms;
  std::uint32_t threads = 256;
  std::uint32_t smem_bytes = 0;
  std::int64_t source_bytes = 1 << 20;
};

/// What the model says of kernel `k`, whose parameters are a source and 1 MiB for results.
Prediction prediction_of(const std::string& text, const Launch& launch) {
  EmulatedDevice device("h200");
  const std::string ptx = text + register_note({{"k", 32}});
  DeviceStatus status;
  const auto module = device.load(std::as_bytes(std::span(ptx.data(), ptx.size())), {"k"}, status);
  EXPECT_TRUE(status.ok()) << status.message;
  if (!status.ok()) return {};
  const std::uint64_t arguments[2] = {device.allocate(launch.source_bytes),
                                      device.allocate(1 << 20)};
  LaunchRequest request;
  request.function = module->functions().front();
  request.geometry.grid = {launch.blocks, 1, 1};
  request.geometry.block = {launch.threads, 1, 1};
  request.geometry.smem_bytes = launch.smem_bytes;
  request.arguments = arguments;
  const Prediction prediction = device.predict(request, status);
  EXPECT_TRUE(status.ok()) << status.message;
  return prediction;
}

/// A loop over %r10 from 0 to `turns`. %r1 is the thread in the grid, %r2 how many there are, %r3
/// the thread in its block, %rd1 the source; `setup` comes before the loop. %r20 to %r23 are stored
/// in the end.
std::string loop(const std::string& setup, const std::string& body, int turns) {
  return kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<64>; .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %nctaid.x;
    mad.lo.u32 %r1, %r4, %r5, %r3;
    mul.lo.u32 %r2, %r6, %r5;
    mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;
  )" + setup + R"(
    mov.u32 %r10, 0;
  AGAIN:
  )" + body +
                         fmt::format(R"(
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p1, %r10, {};
    @%p1 bra AGAIN;
    mad.wide.u32 %rd2, %r3, 16, %rd2;
    st.global.v4.u32 [%rd2], {{%r20, %r21, %r22, %r23}};
    ret;
  )",
                                     turns),
                     2);
}

/// Every thread loads 16 bytes four times in a turn, the grid side by side. Indices are cut by
/// `mask`, in units of 16 bytes.
std::string streaming(int turns, std::uint32_t mask) {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    body += fmt::format(R"(
      and.b32 %r{0}, %r11, {1};
      mad.wide.u32 %rd{2}, %r{0}, 16, %rd1;
      ld.global.v4.u32 {{%r{3}, %r{4}, %r{5}, %r{6}}}, [%rd{2}];
      add.u32 %r11, %r11, %r2;
    )",
                        12 + i, mask, 4 + i, 24 + 4 * i, 25 + 4 * i, 26 + 4 * i, 27 + 4 * i);
  }
  for (int i = 0; i < 16; ++i) {
    body += fmt::format("xor.b32 %r{0}, %r{0}, %r{1};\n", 20 + i % 4, 24 + i);
  }
  return loop("mov.u32 %r11, %r1;", body, turns);
}

TEST(MemoryModel, StreamingTakesItsBytesOverTheRateOfDram) {
  const DeviceProfile profile = profile_of("h200");
  double before_ns = 0.0;
  for (const int turns : {16, 32}) {
    Launch launch;
    launch.blocks = kSms * 8;
    launch.source_bytes = std::int64_t{launch.blocks} * launch.threads * 64 * turns;
    const Prediction prediction = prediction_of(streaming(turns, 0xFFFFFFFFU), launch);
    const double dram_ns = static_cast<double>(launch.source_bytes) / profile.dram_bytes_per_ns;
    EXPECT_GE(prediction.time_ns, dram_ns);
    EXPECT_LE(prediction.time_ns, dram_ns * 1.25 + profile.launch_ns);
    if (before_ns > 0.0) {
      EXPECT_NEAR(prediction.time_ns / before_ns, 2.0, 0.2);
    }
    before_ns = prediction.time_ns;
  }
}

TEST(MemoryModel, ASmallTableIsReadFasterThanALargeOne) {
  Launch launch;
  launch.blocks = kSms * 8;
  launch.source_bytes = std::int64_t{launch.blocks} * launch.threads * 64 * 16;
  const double streamed_ns = prediction_of(streaming(16, 0xFFFFFFFFU), launch).time_ns;
  launch.source_bytes = 16 << 10;
  const double small_ns = prediction_of(streaming(16, 1023), launch).time_ns;
  EXPECT_LT(small_ns * 1.3, streamed_ns);
}

/// 1 MiB for each block of 256 threads, the same for all.
std::string streaming_alike() {
  std::string text = streaming(64, 0xFFFFFFFFU);
  const std::string start = "mov.u32 %r11, %r1;";
  return text.replace(text.find(start), start.size(), "mov.u32 %r11, %r3; mov.u32 %r2, %r5;");
}

TEST(MemoryModel, WhatBlocksReadAlikeComesOnceToTheirMultiprocessor) {
  // Blocks of one warp, 32 of which run together: all read the same, or each its own.
  Launch launch;
  launch.blocks = kSms * 32;
  launch.threads = 32;
  launch.source_bytes = std::int64_t{launch.blocks} * launch.threads * 64 * 64;
  const double apart_ns = prediction_of(streaming(64, 0xFFFFFFFFU), launch).time_ns;
  const double alike_ns = prediction_of(streaming_alike(), launch).time_ns;
  EXPECT_LT(alike_ns * 3, apart_ns);
}

/// 64 loads of 4 KiB by each block, one after the other: the same for every block.
std::string chain() {
  return loop("mov.u32 %r11, %r3;", R"(
    mad.wide.u32 %rd3, %r11, 16, %rd1;
    ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd3];
    and.b32 %r12, %r20, 0;
    add.u32 %r11, %r11, 256;
    add.u32 %r11, %r11, %r12;
  )",
              64);
}

TEST(MemoryModel, MoreBlocksThatReadAlikeTakeNoLessTime) {
  Launch launch;
  launch.source_bytes = 64 * 4096;
  double before_ns = 0.0;
  for (const std::uint32_t blocks : {kSms, kSms * 2, kSms * 8, kSms * 9, kSms * 16}) {
    launch.blocks = blocks;
    const double time_ns = prediction_of(chain(), launch).time_ns;
    // Which requests go to DRAM is drawn.
    EXPECT_GE(time_ns, before_ns * 0.88) << blocks;
    before_ns = time_ns;
  }
}

TEST(MemoryModel, ARoundOfFewBlocksTakesTheirTimeAlone) {
  Launch launch;
  const double alone_ns = prediction_of(streaming_alike(), launch).time_ns;
  launch.blocks = kSms * 8;
  const double full_ns = prediction_of(streaming_alike(), launch).time_ns;
  launch.blocks = kSms * 9;
  const double launch_ns = profile_of("h200").launch_ns;
  EXPECT_NEAR(prediction_of(streaming_alike(), launch).time_ns, full_ns + alone_ns - launch_ns,
              0.15 * alone_ns);
}

TEST(ReadSharing, GrowsAsAPowerOfTheBlocks) {
  const ReadSharing alike{1.0 - 1.0 / 8, 8};
  EXPECT_DOUBLE_EQ(alike.among(8), 1.0 - 1.0 / 8);
  EXPECT_NEAR(alike.among(4), 1.0 - 1.0 / 4, 1e-12);
  EXPECT_NEAR(alike.among(32), 1.0 - 1.0 / 32, 1e-12);
  EXPECT_DOUBLE_EQ(alike.among(1), 0.0);
  // A square of blocks whose rows and columns read alike: 4 of 16 blocks' worth of sectors.
  const ReadSharing tiles{0.75, 16};
  EXPECT_NEAR(tiles.among(4), 0.5, 1e-12);
  const ReadSharing apart{0.0, 8};
  EXPECT_DOUBLE_EQ(apart.among(32), 0.0);
  EXPECT_DOUBLE_EQ(ReadSharing{}.among(32), 0.0);
}

/// Turns of one copy of 16 bytes for each thread, waited for so that `open` groups stay open.
std::string copies(int turns, int open) {
  const std::string setup = R"(
    .shared .align 16 .b8 place[16384];
    mov.u32 %r11, place;
    mad.lo.u32 %r11, %r3, 16, %r11;
    mad.wide.u32 %rd3, %r1, 16, %rd1;
    mul.wide.u32 %rd4, %r2, 16;
  )";
  const std::string body = fmt::format(R"(
    and.b32 %r12, %r10, 3;
    shl.b32 %r12, %r12, 12;
    add.u32 %r12, %r12, %r11;
    cp.async.cg.shared.global [%r12], [%rd3], 16;
    cp.async.commit_group;
    add.u64 %rd3, %rd3, %rd4;
    cp.async.wait_group {};
    bar.sync 0;
    ld.shared.u32 %r20, [%r11];
  )",
                                       open);
  return loop(setup, body, turns);
}

TEST(MemoryModel, CopiesInFlightHideTheLatency) {
  const DeviceProfile profile = profile_of("h200");
  constexpr int kTurns = 120;
  Launch launch;
  launch.source_bytes = std::int64_t{launch.blocks} * launch.threads * 16 * kTurns;
  const double each_ns = prediction_of(copies(kTurns, 0), launch).time_ns;
  const double one_open_ns = prediction_of(copies(kTurns, 1), launch).time_ns;
  const double three_open_ns = prediction_of(copies(kTurns, 3), launch).time_ns;
  // Every turn waits for DRAM at least.
  EXPECT_GE(each_ns, kTurns * profile.latency.dram / profile.clock_ghz);
  EXPECT_LT(one_open_ns, each_ns * 0.7);
  EXPECT_LT(three_open_ns, one_open_ns * 0.8);
}

/// Turns of `chains` products of 16 x 8 x 16 that do not wait for each other.
std::string products(int turns, int chains) {
  std::string body;
  for (int i = 0; i < chains; ++i) {
    body += fmt::format(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%r{0}, %r{1}, %r{2}, %r{3}}}, "
        "{{%r11, %r12, %r13, %r14}}, {{%r15, %r16}}, {{%r{0}, %r{1}, %r{2}, %r{3}}};\n",
        20 + 4 * i, 21 + 4 * i, 22 + 4 * i, 23 + 4 * i);
  }
  return loop("", body, turns);
}

TEST(MemoryModel, ManyProductsRunAtTheRateOfTheTensorCores) {
  const DeviceProfile profile = profile_of("h200");
  Launch launch;
  launch.blocks = kSms * 4;
  constexpr int kTurns = 100;
  const Prediction prediction = prediction_of(products(kTurns, 4), launch);
  const double multiply_adds = kTurns * 4.0 * (launch.threads / 32) * 4 * 16 * 8 * 16;
  const double clocks = multiply_adds / profile.mma.f16;
  EXPECT_NEAR(prediction.time_ns - profile.launch_ns, clocks / profile.clock_ghz,
              0.06 * clocks / profile.clock_ghz);
  EXPECT_EQ(prediction.bound, "tensor");
}

TEST(MemoryModel, OneChainOfProductsWaitsForEach) {
  const DeviceProfile profile = profile_of("h200");
  Launch launch;
  launch.threads = 32;
  const Prediction prediction = prediction_of(products(400, 1), launch);
  const double chain_ns = 400 * profile.latency.mma / profile.clock_ghz;
  EXPECT_NEAR(prediction.time_ns - profile.launch_ns, chain_ns, 0.15 * chain_ns);
  EXPECT_EQ(prediction.bound, "latency");
}

TEST(MemoryModel, SharedMemoryLimitsTheBlocksOfAMultiprocessor) {
  struct Case {
    std::uint32_t smem_bytes;
    int blocks;
  };
  for (const auto& [smem_bytes, blocks] :
       {Case{0, 8}, Case{56 << 10, 4}, Case{(56 << 10) + 1, 3}, Case{75 << 10, 3},
        Case{113 << 10, 2}, Case{(113 << 10) + 1, 1}, Case{227 << 10, 1}}) {
    Launch launch;
    launch.blocks = kSms * 12;
    launch.smem_bytes = smem_bytes;
    const Prediction prediction = prediction_of(products(20, 1), launch);
    EXPECT_EQ(prediction.blocks_per_sm, blocks) << smem_bytes;
    EXPECT_DOUBLE_EQ(prediction.rounds, 12.0 / blocks) << smem_bytes;
  }
}

/// 32 KiB for each block of 256 threads, from a place of its own, and `also`.
std::string copies_and(const std::string& also) {
  return loop(R"(
    .shared .align 16 .b8 place[32768];
    mov.u32 %r11, place;
    mad.lo.u32 %r11, %r3, 16, %r11;
    mad.wide.u32 %rd3, %r4, 32768, %rd1;
    mad.wide.u32 %rd3, %r3, 16, %rd3;
  )" + also,
              R"(
    cp.async.cg.shared.global [%r11], [%rd3], 16;
    add.u32 %r11, %r11, 4096;
    add.u64 %rd3, %rd3, 4096;
  )",
              8);
}

TEST(MemoryModel, CopiesShareNothingWhateverLoadsShare) {
  Launch launch;
  launch.blocks = kSms * 32;
  launch.source_bytes = std::int64_t{launch.blocks} * 32768;
  const double copies_ns = prediction_of(copies_and(""), launch).time_ns;
  const double more_ns = prediction_of(copies_and("ld.global.u32 %r20, [%rd1];"), launch).time_ns;
  EXPECT_GE(more_ns, copies_ns * 0.999);
}

TEST(ReadSharing, IsOfLoadsAndNotOfCopies) {
  const auto sharing_of = [](const std::string& load) {
    test::PtxRunner run(kernel_text(R"(
      .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
      .shared .align 128 .b8 place[1024];
      .shared .align 8 .b64 bar;
      ld.param.u64 %rd1, [p0];
      mov.u32 %r1, %ctaid.x;
      mad.wide.u32 %rd2, %r1, 128, %rd1;
      mov.u32 %r2, place;
      mov.u32 %r3, bar;
      mbarrier.init.shared.b64 [%r3], 1;
      fence.proxy.async;
      mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 512;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r3];
      cp.async.ca.shared.global [%r2+512], [%rd1], 16;
    WAIT:
      mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;
      @!%p1 bra WAIT;
      cp.async.wait_all;
    )" + load + "ret;",
                                    1));
    return run.sharing({4, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>(256)));
  };
  EXPECT_DOUBLE_EQ(sharing_of("").share, 0.0);
  EXPECT_DOUBLE_EQ(sharing_of("ld.global.u32 %r4, [%rd2];").share, 0.0);
  const ReadSharing alike = sharing_of("ld.global.u32 %r4, [%rd1];");
  EXPECT_DOUBLE_EQ(alike.share, 0.75);
  EXPECT_EQ(alike.blocks, 4);
}

}  // namespace
}  // namespace kiln::emulated
