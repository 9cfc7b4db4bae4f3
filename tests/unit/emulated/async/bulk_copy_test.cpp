// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk without tensors: into and out of shared memory, with waits left out.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;

/// %r1 is the thread, %r2 the mbarrier (for one arrival), %r3 512 bytes of shared memory, %r4 the
/// thread's element of it, %rd1 and %rd2 source and destination, %rd3 the own element of the
/// latter. %p1: not the first thread.
const std::string kBegin = R"(
  .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .shared .align 8 .b64 barrier;
  .shared .align 128 .b8 data[512];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, barrier;
  mov.u32 %r3, data;
  shl.b32 %r4, %r1, 2;
  add.u32 %r4, %r3, %r4;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd3, %rd2, %rd3;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";

const std::string kBulkFence = "fence.proxy.async.shared::cta;";
const std::string kLoad = R"(
  @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
  @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 512, [%r2];
)";
const std::string kBulkWait = R"(
  WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
)";
const std::string kOut = "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd3], %r5;\n";

std::vector<std::uint32_t> numbers(std::uint32_t first = 0) {
  std::vector<std::uint32_t> values(128);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(BulkCopy, LoadsReportTheirBytes) {
  PtxRunner run(kernel_text(kBegin + kLoad + kBulkWait + kOut + "ret;", 2));
  const auto out = run.fresh_buffer(512);
  run.launch_clean({1, 1, 1}, {128, 1, 1}, run.buffer(numbers(7)), out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 128), numbers(7));
}

TEST(BulkCopy, AMissingWaitIsFoundAndReadsOldData) {
  PtxRunner run(kernel_text(kBegin + "st.shared.u32 [%r4], 4711;" + kBulkFence + "bar.sync 0;" +
                                kLoad + kOut + kBulkWait + "ret;",
                            2));
  const auto out = run.fresh_buffer(512);
  const auto result = run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers(7)), out);
  EXPECT_TRUE(found_only(result, {Finding::missing_wait, Finding::race}));
  EXPECT_EQ(run.read<std::uint32_t>(out, 128), std::vector<std::uint32_t>(128, 4711));
}

TEST(BulkCopy, AThreadThatWaitsForAnotherBarrierRaces) {
  // Both copies are done when the second is waited for; that says nothing about the first.
  PtxRunner run(kernel_text(kBegin + R"(
    .shared .align 8 .b64 other;
    .shared .align 16 .b8 more[512];
    mov.u32 %r6, other;
    mov.u32 %r7, more;
    @!%p1 mbarrier.init.shared.b64 [%r6], 1;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
  )" + kLoad + R"(
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 512;
    @!%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r7], [%rd1], 512, [%r6];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;
    @!%p2 bra WAIT;
  )" + kOut + "ret;",
                            2));
  const auto result =
      run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers()), run.fresh_buffer(512));
  EXPECT_TRUE(found_only(result, Finding::race));
}

TEST(BulkCopy, AnMbarrierThatNoFenceFollowedIsFound) {
  std::string text = kBegin + kLoad + kBulkWait + kOut + "ret;";
  const std::string fence = "fence.mbarrier_init.release.cluster;";
  PtxRunner with_proxy_fence(kernel_text(
      std::string(text).replace(text.find(fence), fence.size(), "fence.proxy.async;"), 2));
  with_proxy_fence.launch_clean({1, 1, 1}, {128, 1, 1}, with_proxy_fence.buffer(numbers()),
                                with_proxy_fence.fresh_buffer(512));
  PtxRunner run(kernel_text(text.erase(text.find(fence), fence.size()), 2));
  const auto result =
      run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers()), run.fresh_buffer(512));
  EXPECT_TRUE(found_only(result, Finding::missing_fence));
}

TEST(BulkCopy, WrongByteCountsNeverCompleteAPhase) {
  std::string load = kLoad;
  load.replace(load.find("[%r2], 512"), 10, "[%r2], 528");
  PtxRunner run(kernel_text(kBegin + load + kBulkWait + kOut + "ret;", 2));
  const auto result =
      run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers()), run.fresh_buffer(512));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->finding, Finding::deadlock);
  EXPECT_NE(result.fault->text.find("arrivals and 16 bytes"), std::string::npos)
      << result.fault->text;
}

TEST(BulkCopy, SizesAndAddressesAreChecked) {
  const auto run_with = [](const std::string& copy) {
    PtxRunner run(kernel_text(kBegin + "@!%p1 " + copy + "ret;", 2));
    return findings(
        run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers()), run.fresh_buffer(512)));
  };
  const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  EXPECT_EQ(run_with(load + "[%r3], [%rd1], 20, [%r2];"),
            std::vector<Finding>{Finding::invalid_operand});
  EXPECT_EQ(run_with(load + "[%r3+8], [%rd1], 16, [%r2];"),
            std::vector<Finding>{Finding::misaligned});
  EXPECT_EQ(run_with(load + "[%r3], [%rd1+8], 16, [%r2];"),
            std::vector<Finding>{Finding::misaligned});
  EXPECT_EQ(run_with(load + "[%r3], [%rd1], 1024, [%r2];"),
            std::vector<Finding>{Finding::out_of_bounds});
  EXPECT_EQ(run_with(load + "[%r3], [%rd1+512], 16, [%r2];"),
            std::vector<Finding>{Finding::out_of_bounds});
  EXPECT_EQ(run_with(load + "[%r3], [%rd1], 16, [%r3];"),
            std::vector<Finding>{Finding::invalid_operand});
}

/// Stores the block's numbers through shared memory.
std::string store_kernel(const std::string& fence, const std::string& wait,
                         const std::string& copy =
                             "cp.async.bulk.global.shared::cta.bulk_group "
                             "[%rd2], [%r3], 512;") {
  return kernel_text(kBegin + "ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r1;" +
                         "st.shared.u32 [%r4], %r5;" + fence + "bar.sync 0; @%p1 bra DONE;" + copy +
                         "cp.async.bulk.commit_group;" + wait + "DONE: ret;",
                     2);
}

TEST(BulkCopy, StoresAreWaitedForInGroups) {
  PtxRunner run(store_kernel(kBulkFence, "cp.async.bulk.wait_group 0;"));
  const auto out = run.fresh_buffer(512);
  run.launch_clean({1, 1, 1}, {128, 1, 1}, run.buffer(numbers(3)), out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 128), numbers(3));
}

TEST(BulkCopy, AMissingProxyFenceIsFound) {
  PtxRunner run(store_kernel("", "cp.async.bulk.wait_group 0;"));
  const auto result =
      run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers()), run.fresh_buffer(512));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::missing_fence});
}

TEST(BulkCopy, WaitingForReadsLetsTheSourceBeOverwritten) {
  PtxRunner good(
      store_kernel(kBulkFence, "cp.async.bulk.wait_group.read 0; st.shared.u32 [%r3], %r1;"));
  const auto out = good.fresh_buffer(512);
  good.launch_clean({1, 1, 1}, {128, 1, 1}, good.buffer(numbers(3)), out);
  EXPECT_EQ(good.read<std::uint32_t>(out, 128), numbers(3));

  PtxRunner bad(
      store_kernel(kBulkFence, "cp.async.bulk.wait_group.read 1; st.shared.u32 [%r3], %r1;"));
  const auto result =
      bad.launch({1, 1, 1}, {128, 1, 1}, bad.buffer(numbers(3)), bad.fresh_buffer(512));
  EXPECT_TRUE(found_only(result, Finding::missing_wait));
}

TEST(BulkCopy, ABlockThatExitsBeforeItsSourceIsReadIsFound) {
  PtxRunner run(store_kernel(kBulkFence, ""));
  const auto result =
      run.launch({1, 1, 1}, {128, 1, 1}, run.buffer(numbers()), run.fresh_buffer(512));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::missing_wait});
}

TEST(BulkCopy, ReductionsUpdateGlobalMemory) {
  PtxRunner run(store_kernel(kBulkFence, "cp.async.bulk.wait_group 0;",
                             "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
                             "[%rd2], [%r3], 512;"));
  const auto out = run.buffer(numbers(1000));
  run.launch_clean({3, 1, 1}, {128, 1, 1}, run.buffer(numbers(3)), out);
  const auto result = run.read<std::uint32_t>(out, 128);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(result[i], 1000 + i + 3 * (i + 3));
}

TEST(BulkCopy, SumsOfSinglesFlushSubnormalNumbers) {
  PtxRunner run(store_kernel(kBulkFence, "cp.async.bulk.wait_group 0;",
                             "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                             "[%rd2], [%r3], 512;"));
  const auto out = run.buffer(std::vector<std::uint32_t>(128, 0x80000000U));
  run.launch_clean({1, 1, 1}, {128, 1, 1}, run.buffer(std::vector<std::uint32_t>(1, 0x80000001U)),
                   out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 128), std::vector<std::uint32_t>(128, 0x80000000U));
}

TEST(BulkCopy, ReductionsOfHalvesTakeTheSmaller) {
  PtxRunner run(store_kernel(kBulkFence, "cp.async.bulk.wait_group 0;",
                             "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 "
                             "[%rd2], [%r3], 512;"));
  // 2.0 and -2.0 in memory against 1.0 and -1.0; the thread's number goes to the low mantissa.
  const auto out = run.buffer(std::vector<std::uint32_t>(128, 0xc0004000U));
  run.launch_clean({1, 1, 1}, {128, 1, 1}, run.buffer(std::vector<std::uint32_t>(1, 0xbc003c00U)),
                   out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 128), numbers(0xc0003c00U));
}

/// A ring of two stages that one warp fills and another empties, `tiles` tiles of 512 bytes.
std::string ring_kernel(bool waits_for_empty, const std::string& consumer_end) {
  return kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    .shared .align 128 .b8 ring[1024];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [full], 1;
    mbarrier.init.shared.b64 [full+8], 1;
    mbarrier.init.shared.b64 [empty], 32;
    mbarrier.init.shared.b64 [empty+8], 32;
    fence.mbarrier_init.release.cluster;
  READY:
    bar.sync 0;
    mov.u32 %r10, 0;            // tile
    shr.u32 %r2, %r1, 5;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra CONSUMER;
    @%p1 bra DONE;
  FILL:
    and.b32 %r11, %r10, 1;      // stage
    shl.b32 %r12, %r11, 3;
    mov.u32 %r13, full;  add.u32 %r13, %r13, %r12;
    mov.u32 %r14, empty; add.u32 %r14, %r14, %r12;
    shl.b32 %r15, %r11, 9;
    mov.u32 %r16, ring;  add.u32 %r16, %r16, %r15;
    shr.u32 %r17, %r10, 1; and.b32 %r17, %r17, 1; xor.b32 %r17, %r17, 1;
  )" +
                         std::string(waits_for_empty ? R"(
  EMPTY:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r14], %r17;
    @!%p3 bra EMPTY;
  )"
                                                     : "") +
                         R"(
    mbarrier.arrive.expect_tx.shared.b64 _, [%r13], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd1], 512, [%r13];
    add.s64 %rd1, %rd1, 512;
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p4, %r10, 8;
    @%p4 bra FILL;
    bra.uni DONE;
  CONSUMER:
    and.b32 %r3, %r1, 31;
    mul.wide.u32 %rd3, %r3, 16;
    add.s64 %rd2, %rd2, %rd3;
  TAKE:
    and.b32 %r11, %r10, 1;
    shl.b32 %r12, %r11, 3;
    mov.u32 %r13, full;  add.u32 %r13, %r13, %r12;
    mov.u32 %r14, empty; add.u32 %r14, %r14, %r12;
    shl.b32 %r15, %r11, 9;
    mov.u32 %r16, ring;  add.u32 %r16, %r16, %r15;
    shl.b32 %r18, %r3, 4; add.u32 %r16, %r16, %r18;
    shr.u32 %r17, %r10, 1; and.b32 %r17, %r17, 1;
  FULL:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r13], %r17;
    @!%p3 bra FULL;
  )" + consumer_end + R"(
    st.global.v4.u32 [%rd2], {%r20, %r21, %r22, %r23};
    add.s64 %rd2, %rd2, 512;
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p4, %r10, 8;
    @%p4 bra TAKE;
  DONE:
    ret;)",
                     2);
}
const std::string kTake = "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r16];\n";
const std::string kRelease = "mbarrier.arrive.shared.b64 _, [%r14];\n";

std::vector<std::uint32_t> tiles() {
  std::vector<std::uint32_t> values(8 * 128);
  std::iota(values.begin(), values.end(), 5U);
  return values;
}

TEST(BulkRing, ProducerAndConsumerPassTilesOn) {
  PtxRunner run(ring_kernel(true, kTake + kRelease));
  const auto out = run.fresh_buffer(4096);
  run.launch_clean({1, 1, 1}, {64, 1, 1}, run.buffer(tiles()), out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1024), tiles());
}

TEST(BulkRing, AProducerThatDoesNotWaitIsFound) {
  // It arrives a second time in a phase that is not over.
  PtxRunner run(ring_kernel(false, kTake + kRelease));
  const auto result =
      run.launch({1, 1, 1}, {64, 1, 1}, run.buffer(tiles()), run.fresh_buffer(4096));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::invalid_operand});
}

TEST(BulkRing, AConsumerThatReleasesTooEarlyIsFound) {
  PtxRunner run(ring_kernel(true, kRelease + kTake));
  const auto result =
      run.launch({1, 1, 1}, {64, 1, 1}, run.buffer(tiles()), run.fresh_buffer(4096));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::race});
}

TEST(BulkRing, WarpsThatSpinOnMemoryDoNotHoldCopiesUp) {
  // The second warp spins on a flag that the first sets once its copy has come.
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    .shared .align 8 .b64 full;
    .shared .align 16 .b8 tile[512];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    setp.gt.u32 %p1, %r1, 31;
    @%p1 bra SPIN;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra DONE;
    mbarrier.init.shared.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 512, [full];
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
    @!%p3 bra WAIT;
    ld.shared.u32 %r2, [tile+4];
    st.release.gpu.global.u32 [%rd2], %r2;
    bra.uni DONE;
  SPIN:
    ld.acquire.gpu.global.u32 %r3, [%rd2];
    setp.eq.u32 %p4, %r3, 0;
    @%p4 bra SPIN;
  DONE:
    ret;)",
                            2));
  const auto flag = run.buffer(std::vector<std::uint32_t>(1, 0));
  run.launch_clean({1, 1, 1}, {64, 1, 1}, run.buffer(tiles()), flag);
  EXPECT_EQ(run.read<std::uint32_t>(flag, 1)[0], 6U);
}

}  // namespace
}  // namespace kiln::emulated
