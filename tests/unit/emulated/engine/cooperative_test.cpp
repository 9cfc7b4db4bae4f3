// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Cooperative launches: all blocks run at once and wait for each other at the barrier of the grid.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// sync() of grid_group, as NVRTC makes it; `%p2` sends all threads but the first of a block past
/// the grid's barrier.
std::string sync_text(std::string_view name) {
  return fmt::format(R"(
    barrier.sync 0;
    @%p2 bra WAIT_{0};
    atom.add.release.gpu.u32 %r8, [%rd4+4], %r7;
  POLL_{0}:
    ld.acquire.gpu.u32 %r9, [%rd4+4];
    xor.b32 %r9, %r9, %r8;
    setp.gt.s32 %p4, %r9, -1;
    @%p4 bra POLL_{0};
  WAIT_{0}:
    barrier.sync 0;)",
                     name);
}

/// In three rounds, each block writes its word of p0, waits for all, and goes on with one more than
/// the next block's word, once all have read. With `%p5` set block 1 leaves before the second wait.
std::string kernel_of(bool leaves) {
  return emulated::test::kernel_text(fmt::format(R"(
    .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.b64 %rd4, {{%r2, %r1}};
    setp.ne.s64 %p1, %rd4, 0;
    @%p1 bra VALID;
    trap;
  VALID:
    ld.param.u64 %rd5, [p0];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %nctaid.x;
    mad.wide.u32 %rd6, %r4, 4, %rd5;
    add.u32 %r6, %r4, 1;
    rem.u32 %r6, %r6, %r5;
    mad.wide.u32 %rd7, %r6, 4, %rd5;
    setp.ne.u32 %p2, %r3, 0;
    setp.eq.u32 %p5, %r4, {1};
    sub.u32 %r7, 0x80000001, %r5;
    setp.eq.u32 %p3, %r4, 0;
    selp.u32 %r7, %r7, 1, %p3;
    mov.u32 %r11, 0;
    mov.u32 %r12, 1;
  ROUND:
    @%p2 bra WRITTEN;
    st.global.u32 [%rd6], %r12;
  WRITTEN:
    {0}
    @%p5 bra DONE;
    @%p2 bra READ;
    ld.global.u32 %r12, [%rd7];
    add.u32 %r12, %r12, 1;
  READ:
    {2}
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p6, %r11, 3;
    @%p6 bra ROUND;
  DONE:
    ret;)",
                                                 sync_text("A"), leaves ? 1 : -1, sync_text("B")),
                                     1);
}

struct Grid {
  explicit Grid(std::uint32_t blocks, bool leaves = false) {
    const std::string text = kernel_of(leaves);
    DeviceStatus status;
    module = device.load(std::as_bytes(std::span(text.data(), text.size())), {"k"}, status);
    EXPECT_TRUE(status.ok()) << status.message;
    words = device.allocate(std::int64_t{4} * blocks);
    device.fill(words, 0, std::int64_t{4} * blocks);
    request.function = module->functions().front();
    request.geometry.grid = {blocks, 1, 1};
    request.geometry.block = {64, 1, 1};
    request.geometry.cooperative = true;
    request.arguments = &words;
    request.argument_bytes = sizeof words;
  }
  DeviceStatus launch() { return device.launch(request, nullptr); }
  std::vector<std::uint32_t> read() {
    std::vector<std::uint32_t> values(request.geometry.grid[0]);
    device.copy_to_host(values.data(), words, static_cast<std::int64_t>(4 * values.size()));
    return values;
  }

  EmulatedDevice device{"h200", EmulationOptions{.checks = true, .host_threads = 2}};
  std::unique_ptr<LoadedModule> module;
  LaunchRequest request;
  DevicePtr words = 0;
};

TEST(CooperativeLaunch, BlocksWaitForEachOtherAtTheBarrierOfTheGrid) {
  Grid grid(40);
  const DeviceStatus status = grid.launch();
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_THAT(grid.read(), Each(3U));
  ASSERT_TRUE(grid.launch().ok()) << "the barrier of a second launch begins anew";
}

TEST(CooperativeLaunch, GridThatDoesNotFitIsRefusedBeforeItRuns) {
  Grid grid(132 * 32 + 1);  // 64 threads: 32 blocks on each multiprocessor
  const DeviceStatus refused =
      grid.device.check_residency(grid.request.function, grid.request.geometry);
  EXPECT_EQ(refused.code, DeviceStatus::Code::out_of_resources);
  EXPECT_THAT(
      refused.message,
      HasSubstr("(64 threads each) must be resident at the same time, but only 4224 blocks fit"));
  EXPECT_EQ(grid.launch().message, refused.message);
  grid.request.geometry.cooperative = false;
  EXPECT_TRUE(grid.device.check_residency(grid.request.function, grid.request.geometry).ok());
}

TEST(CooperativeLaunch, KernelThatSyncsItsGridSaysThatItsLaunchIsNotCooperative) {
  Grid grid(4);
  grid.request.geometry.cooperative = false;
  EXPECT_THAT(grid.launch().message, HasSubstr("add a line \"//@   cooperative\""));
}

TEST(CooperativeLaunch, BlockThatLeavesKeepsTheOthersWaiting) {
  Grid grid(4, true);
  const DeviceStatus status = grid.launch();
  EXPECT_EQ(status.code, DeviceStatus::Code::faulted);
  EXPECT_THAT(status.message, HasSubstr("deadlock"));
  EXPECT_THAT(status.message, HasSubstr("some blocks have not reached the grid's barrier"));
}

TEST(CooperativeLaunch, TimeIsPredictedFromBlocksThatDoNotWait) {
  Grid grid(132);
  DeviceStatus status;
  EXPECT_GT(grid.device.predict(grid.request, status).time_ns, 0.0);
  EXPECT_TRUE(status.ok()) << status.message;
}

}  // namespace
}  // namespace kiln
