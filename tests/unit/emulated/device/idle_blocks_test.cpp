// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The remark on grids whose end has nothing to do: never on a right one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Pair = std::array<std::uint32_t, 2>;

/// Threads write the elements of rows x cols that are at least `margin` away from every edge, with
/// a loop over what the grid leaves of a row.
std::string interior_kernel(std::uint32_t margin) {
  return emulated::test::kernel_text(fmt::format(R"(
    .reg .pred %p<6>; .reg .b32 %r<16>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p0];
    ld.param.u32 %r1, [p1];
    ld.param.u32 %r2, [p1+4];
    sub.s32 %r3, %r1, {0};
    sub.s32 %r4, %r2, {0};
    mov.u32 %r5, %ntid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %tid.x;
    mad.lo.u32 %r8, %r5, %r6, %r7;
    mov.u32 %r6, %nctaid.x;
    mul.lo.u32 %r9, %r5, %r6;
    mov.u32 %r5, %ntid.y; mov.u32 %r6, %ctaid.y; mov.u32 %r7, %tid.y;
    mad.lo.u32 %r10, %r5, %r6, %r7;
    setp.lt.s32 %p1, %r10, {0};
    setp.ge.s32 %p2, %r10, %r4;
    or.pred %p1, %p1, %p2;
    @%p1 ret;
  again:
    setp.ge.s32 %p1, %r8, %r3;
    @%p1 ret;
    mad.lo.u32 %r11, %r10, %r1, %r8;
    mul.wide.u32 %rd2, %r11, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ge.s32 %p2, %r8, {0};
    @%p2 st.global.u32 [%rd3], %r8;
    add.u32 %r8, %r8, %r9;
    bra again;
  )",
                                                 margin),
                                     2);
}

/// Launches of that kernel on a matrix of any size; each has a grid and a block.
class Launches {
 public:
  explicit Launches(std::uint32_t margin) : text_(interior_kernel(margin)), device_("h200") {
    DeviceStatus status;
    module_ = device_.load(std::as_bytes(std::span(text_)), {"k"}, status);
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_TRUE(device_.use_checks(true));
  }

  void run(const Pair& extents, const Pair& grid, const Pair& block) {
    const auto [cols, rows] = extents;
    struct {
      DevicePtr memory;
      std::uint32_t cols, rows;
    } arguments{device_.allocate(std::int64_t{4} * cols * rows), cols, rows};
    LaunchRequest request;
    request.function = module_->functions().front();
    request.arguments = &arguments;
    request.argument_bytes = sizeof(arguments);
    request.geometry.grid = {grid[0], grid[1], 1};
    request.geometry.block = {block[0], block[1], 1};
    const DeviceStatus status = device_.launch(request, nullptr);
    EXPECT_TRUE(status.ok()) << status.message;
    device_.free(arguments.memory);
  }
  [[nodiscard]] std::string remark() { return device_.take_remark(); }

 private:
  std::string text_;
  EmulatedDevice device_;
  std::unique_ptr<LoadedModule> module_;
};

std::uint32_t ceil_div(std::uint32_t n, std::uint32_t by) {
  return (n + by - 1) / by;
}

constexpr std::array<Pair, 8> kExtents{
    {{70, 37}, {37, 70}, {33, 33}, {100, 1}, {1000, 1}, {1023, 1}, {1025, 1}, {4096, 1}}};
constexpr std::array<Pair, 9> kBlocks{
    {{32, 1}, {64, 1}, {128, 1}, {256, 1}, {1024, 1}, {8, 4}, {16, 16}, {32, 32}, {1, 64}}};

TEST(IdleBlocks, AGridOfWholeBlocksIsNeverRemarked) {
  for (const std::uint32_t margin : {0U, 1U}) {
    Launches launches(margin);
    for (const Pair& extents : kExtents) {
      for (const Pair& block : kBlocks) {
        // A margin in one row leaves nothing to do.
        if (margin > 0 && extents[1] == 1) continue;
        launches.run({3, 3}, {1, 1}, {32, 4});
        launches.run(extents, {ceil_div(extents[0], block[0]), ceil_div(extents[1], block[1])},
                     block);
        EXPECT_EQ(launches.remark(), "") << fmt::format("{} x {} by {} x {}, margin {}", extents[0],
                                                        extents[1], block[0], block[1], margin);
      }
    }
  }
}

TEST(IdleBlocks, AGridStrideLoopIsNeverRemarked) {
  Launches launches(0);
  for (const std::uint32_t cols : {37U, 100U, 1000U, 1023U, 4096U}) {
    for (const std::uint32_t block : {32U, 256U, 1024U}) {
      for (const std::uint32_t most : {1U, 4U, 64U}) {
        launches.run({3, 1}, {1, 1}, {block, 1});
        launches.run({cols, 1}, {std::min(most, ceil_div(cols, block)), 1}, {block, 1});
        EXPECT_EQ(launches.remark(), "") << cols << " by " << block << ", at most " << most;
      }
      launches.run({3, 1}, {64, 1}, {block, 1});
      launches.run({cols, 1}, {64, 1}, {block, 1});
      EXPECT_EQ(launches.remark(), "") << cols << " by " << block << ", a fixed grid";
    }
  }
}

TEST(IdleBlocks, AGridOfOtherExtentsIsRemarked) {
  Launches launches(0);
  const auto remark_on = [&](const Pair& extents, const Pair& grid, const Pair& block) {
    launches.run({3, 3}, {1, 1}, {32, 4});
    launches.run(extents, grid, block);
    return launches.remark();
  };
  // Of 70 columns in place of 37 rows.
  EXPECT_THAT(remark_on({70, 37}, {1, 70}, {128, 1}), HasSubstr("33 of 70 blocks of k"));
  EXPECT_THAT(remark_on({70, 37}, {3, 70}, {32, 1}), HasSubstr("99 of 210 blocks of k"));
  EXPECT_THAT(remark_on({70, 37}, {5, 5}, {16, 16}), HasSubstr("10 of 25 blocks of k"));
  EXPECT_EQ(remark_on({70, 37}, {3, 3}, {32, 32}), "") << "one block may be an edge's";
  // Of elements in place of threads that take four each, or of blocks.
  EXPECT_THAT(remark_on({1000, 1}, {32, 1}, {128, 1}), HasSubstr("24 of 32 blocks of k"));
  EXPECT_THAT(remark_on({1000, 1}, {1000, 1}, {128, 1}), HasSubstr("992 of 1000 blocks of k"));
}

}  // namespace
}  // namespace kiln
