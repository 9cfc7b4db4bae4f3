// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor: boxes in and out, at the edges of tensors, swizzled, im2col, multicast.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/emulated/async/tensor_map.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;

constexpr std::uint32_t kRows = 20;
constexpr std::uint32_t kCols = 24;
constexpr std::uint32_t kBoxRows = 8;
constexpr std::uint32_t kBoxCols = 16;
constexpr std::uint32_t kBoxWords = kBoxRows * kBoxCols;

TensorSpec matrix(std::uint64_t address) {
  TensorSpec spec;
  spec.type = TensorType::s32;
  spec.rank = 2;
  spec.address = address;
  spec.dims = {kCols, kRows};
  spec.strides = {kCols * 4};
  spec.box = {kBoxCols, kBoxRows};
  return spec;
}

std::uint64_t map_of(PtxRunner& run, const TensorSpec& spec) {
  const EncodedTensorMap encoded = encode_tensor_map(spec);
  EXPECT_EQ(encoded.fault, "");
  return run.buffer(std::vector<TensorMap>{encoded.map});
}

std::vector<std::int32_t> tensor_numbers() {
  std::vector<std::int32_t> values(kRows * kCols);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

/// p0 is the tensor map, p1 global memory, p2 and p3 the coordinates. %r1 the thread of 128, %r2 an
/// mbarrier, %r3 the box, %r4 the thread's word of it, %rd3 its word of p1.
const std::string kTensorBegin = R"(
  .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .shared .align 1024 .b8 box[1024];
  .shared .align 8 .b64 barrier;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, barrier;
  mov.u32 %r3, box;
  shl.b32 %r4, %r1, 2;
  add.u32 %r4, %r3, %r4;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u32 %r10, [p2];
  ld.param.u32 %r11, [p3];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd3, %rd2, %rd3;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 prefetch.tensormap [%rd1];
  @!%p1 mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";
const std::string kWaitAndCopyOut = R"(
  WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  ld.shared.u32 %r5, [%r4];
  st.global.u32 [%rd3], %r5;
  ret;)";
const std::string kTensorLoad = R"(
  @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
  @!%p1
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint
      [%r3], [%rd1, {%r10, %r11}], [%r2], %rd9;
)";

std::vector<std::int32_t> load_box(const TensorSpec& of, int x, int y) {
  PtxRunner run(kernel_text(kTensorBegin + "mov.u64 %rd9, 0;" + kTensorLoad + kWaitAndCopyOut, 4));
  TensorSpec spec = of;
  spec.address = run.buffer(tensor_numbers());
  const auto out = run.fresh_buffer(kBoxWords * 4);
  run.launch_clean({1, 1, 1}, {kBoxWords, 1, 1}, map_of(run, spec), out, x, y);
  return run.read<std::int32_t>(out, kBoxWords);
}

/// What lies at a place of the tensor, or 0 outside.
std::int32_t number_at(int x, int y) {
  const bool inside =
      x >= 0 && y >= 0 && x < static_cast<int>(kCols) && y < static_cast<int>(kRows);
  return inside ? y * static_cast<int>(kCols) + x + 1 : 0;
}

TEST(BulkTensor, BoxesMayLieAcrossEveryEdge) {
  for (const auto& [x, y] :
       {std::pair(0, 0), std::pair(4, 5), std::pair(-4, -2), std::pair(16, 15), std::pair(40, 0)}) {
    const auto box = load_box(matrix(0), x, y);
    for (int row = 0; row < static_cast<int>(kBoxRows); ++row) {
      for (int col = 0; col < static_cast<int>(kBoxCols); ++col) {
        ASSERT_EQ(box[static_cast<std::size_t>(row) * kBoxCols + static_cast<std::size_t>(col)],
                  number_at(x + col, y + row))
            << x << " " << y << " " << row << " " << col;
      }
    }
  }
}

TEST(BulkTensor, SwizzledBoxesChangeTheirChunks) {
  TensorSpec spec = matrix(0);
  spec.swizzle = Swizzle::bytes64;
  const auto box = load_box(spec, 4, 1);
  for (std::uint32_t row = 0; row < kBoxRows; ++row) {
    for (std::uint32_t col = 0; col < kBoxCols; ++col) {
      // 64-byte rows: the chunk's number is XORed with that of the 128 bytes, modulo 4.
      const std::uint32_t chunk = (col / 4) ^ (row / 2 % 4);
      ASSERT_EQ(box[row * 16 + chunk * 4 + col % 4],
                number_at(static_cast<int>(col) + 4, static_cast<int>(row) + 1));
    }
  }
}

TEST(BulkTensor, AMissingWaitIsFound) {
  PtxRunner run(kernel_text(kTensorBegin + "mov.u64 %rd9, 0;" + kTensorLoad +
                                "ld.shared.u32 %r5, [%r4]; bar.sync 0;" + kWaitAndCopyOut,
                            4));
  const auto map = map_of(run, matrix(run.buffer(tensor_numbers())));
  const auto result =
      run.launch({1, 1, 1}, {kBoxWords, 1, 1}, map, run.fresh_buffer(kBoxWords * 4), 0, 0);
  EXPECT_TRUE(found_only(result, {Finding::missing_wait, Finding::uninitialised, Finding::race}));
}

TEST(BulkTensor, BadMapsAndPlacesAreFaults) {
  const auto finding_of = [](const std::string& copy, bool good_map = true, bool wide = false) {
    PtxRunner run(kernel_text(kTensorBegin + "@!%p1 " + copy + "ret;", 4));
    TensorSpec spec = matrix(run.buffer(tensor_numbers()));
    if (wide) spec.dims = {kCols, kRows + 8};
    const auto map = good_map ? map_of(run, spec) : run.buffer(std::vector<std::uint8_t>(128, 3));
    const auto result = run.launch({1, 1, 1}, {kBoxWords, 1, 1}, map, 0, 0, kRows);
    return findings(result);
  };
  const std::string load =
      "cp.async.bulk.tensor.{}.shared::cluster.global.mbarrier::complete_tx::bytes ";
  const std::string two = fmt::format(fmt::runtime(load), "2d");
  const std::vector<Finding> invalid{Finding::invalid_operand};
  EXPECT_EQ(finding_of(two + "[%r3], [%rd1, {%r10, %r11}], [%r2];", false), invalid);
  EXPECT_EQ(finding_of(fmt::format(fmt::runtime(load), "1d") + "[%r3], [%rd1, {%r10}], [%r2];"),
            invalid);
  EXPECT_EQ(finding_of(two + "[%r3+64], [%rd1, {%r10, %r11}], [%r2];"),
            std::vector<Finding>{Finding::misaligned});
  EXPECT_EQ(finding_of(two + "[%r3], [%rd1+32, {%r10, %r11}], [%r2];"),
            std::vector<Finding>{Finding::misaligned});
  EXPECT_EQ(finding_of(two + "[%r3+1024], [%rd1, {%r10, %r11}], [%r2];"),
            std::vector<Finding>{Finding::out_of_bounds});
  // Two words to the right: eight bytes.
  EXPECT_EQ(finding_of("mov.u32 %r12, 2; @!%p1 " + two + "[%r3], [%rd1, {%r12, %r11}], [%r2];"),
            std::vector<Finding>{Finding::misaligned});
  // The map claims rows that its memory does not have.
  EXPECT_EQ(finding_of(two + "[%r3], [%rd1, {%r10, %r11}], [%r2];", true, true),
            std::vector<Finding>{Finding::out_of_bounds});
}

std::vector<std::int32_t> store_box(const std::string& copy) {
  PtxRunner run(kernel_text(kTensorBegin + R"(
    add.u32 %r5, %r1, 1000;
    st.shared.u32 [%r4], %r5;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 bra DONE;
  )" + copy + R"(
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  DONE: ret;)",
                            4));
  const auto tensor = run.buffer(tensor_numbers());
  run.launch_clean({1, 1, 1}, {kBoxWords, 1, 1}, map_of(run, matrix(tensor)), 0, 12, 15);
  return run.read<std::int32_t>(tensor, kRows * kCols);
}

/// The number that the box at (12, 15) has for a place of the tensor; 0 if it is outside.
std::int32_t stored_at(int x, int y) {
  const int col = x - 12;
  const int row = y - 15;
  const bool inside =
      col >= 0 && row >= 0 && col < static_cast<int>(kBoxCols) && row < static_cast<int>(kBoxRows);
  return inside ? 1000 + row * static_cast<int>(kBoxCols) + col : 0;
}

TEST(BulkTensor, StoresLeaveOutWhatLiesOutside) {
  const auto tensor = store_box(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r10, %r11}], [%r3];");
  for (int y = 0; y < static_cast<int>(kRows); ++y) {
    for (int x = 0; x < static_cast<int>(kCols); ++x) {
      const int stored = stored_at(x, y);
      ASSERT_EQ(tensor[static_cast<std::size_t>(y) * kCols + static_cast<std::size_t>(x)],
                stored != 0 ? stored : number_at(x, y));
    }
  }
}

TEST(BulkTensor, StoresBeginWithinTheTensor) {
  PtxRunner run(kernel_text(kTensorBegin + R"(
    st.shared.u32 [%r4], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @!%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r10, %r11}], [%r3];
    ret;)",
                            4));
  const auto map = map_of(run, matrix(run.buffer(tensor_numbers())));
  for (const auto& [x, y] : {std::pair(-4, 0), std::pair(0, -1)}) {
    EXPECT_EQ(findings(run.launch({1, 1, 1}, {kBoxWords, 1, 1}, map, 0, x, y)),
              std::vector<Finding>{Finding::invalid_operand});
  }
}

TEST(BulkTensor, ReductionsCombineWithTheTensor) {
  const auto tensor = store_box(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
      "[%rd1, {%r10, %r11}], [%r3];");
  for (int y = 0; y < static_cast<int>(kRows); ++y) {
    for (int x = 0; x < static_cast<int>(kCols); ++x) {
      ASSERT_EQ(tensor[static_cast<std::size_t>(y) * kCols + static_cast<std::size_t>(x)],
                stored_at(x, y) + number_at(x, y));
    }
  }
}

TEST(BulkTensor, ImageColumnsWalkThroughTheirBox) {
  // An image of 4 x 3 pixels of 4 channels; a filter of 2 x 2 at offset (1, 1).
  PtxRunner run(kernel_text(kTensorBegin + R"(
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 96;
    mov.u32 %r12, 0;
    mov.b16 %h1, 1;
    @!%p1 cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
        [%r3], [%rd1, {%r12, %r10, %r11, %r12}], [%r2], {%h1, %h1};
  WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd3], %r5;
    ret;)",
                            4));
  TensorSpec spec;
  spec.mode = TensorMode::im2col;
  spec.type = TensorType::s32;
  spec.rank = 4;
  spec.address = run.buffer(tensor_numbers());
  spec.dims = {4, 4, 3, 1};
  spec.strides = {16, 64, 192};
  spec.upper = {-1, -1};
  spec.channels = 4;
  spec.pixels = 6;
  const auto out = run.fresh_buffer(24 * 4);
  run.launch_clean({1, 1, 1}, {24, 1, 1}, map_of(run, spec), out, 0, 0);
  const auto result = run.read<std::int32_t>(out, 24);
  for (int pixel = 0; pixel < 6; ++pixel) {
    const int x = pixel % 3 + 1;
    const int y = pixel / 3 + 1;
    for (int c = 0; c < 4; ++c) {
      EXPECT_EQ(result[static_cast<std::size_t>(pixel * 4 + c)], (y * 4 + x) * 4 + c + 1);
    }
  }
}

/// Two blocks of a cluster each load one half of a box for both.
std::string multicast_kernel(const std::string& sync) {
  return kernel_text(kTensorBegin + R"(
    mov.u32 %r12, %cluster_ctarank;
    mov.b16 %h1, 3;
  )" + sync + R"(
    @%p1 bra LOADED;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;
    shl.b32 %r13, %r12, 9;
    add.u32 %r13, %r3, %r13;
    shl.b32 %r14, %r12, 3;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
        [%r13], [%rd1, {%r10, %r14}], [%r2], %h1;
  LOADED:
  WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r5, [%r4];
    ld.shared.u32 %r6, [%r4+512];
    add.u32 %r5, %r5, %r6;
    mul.wide.u32 %rd4, %r12, 512;
    add.s64 %rd3, %rd3, %rd4;
    st.global.u32 [%rd3], %r5;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;)",
                     4);
}

TEST(BulkTensor, BlocksOfAClusterLoadForEachOther) {
  PtxRunner run(multicast_kernel("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"));
  run.cluster = {2, 1, 1};
  const auto map = map_of(run, matrix(run.buffer(tensor_numbers())));
  const auto out = run.fresh_buffer(1024);
  run.launch_clean({2, 1, 1}, {kBoxWords, 1, 1}, map, out, 0, 0);
  const auto result = run.read<std::int32_t>(out, 256);
  for (int block = 0; block < 2; ++block) {
    for (int i = 0; i < 128; ++i) {
      ASSERT_EQ(result[static_cast<std::size_t>(block * 128 + i)],
                number_at(i % 16, i / 16) + number_at(i % 16, i / 16 + 8));
    }
  }
}

TEST(BulkTensor, MulticastNeedsTheOthersBarrier) {
  PtxRunner run(multicast_kernel(""));
  run.cluster = {2, 1, 1};
  const auto map = map_of(run, matrix(run.buffer(tensor_numbers())));
  const auto result = run.launch({2, 1, 1}, {kBoxWords, 1, 1}, map, run.fresh_buffer(1024), 0, 0);
  // Nothing says that the other block has initialised its mbarrier by then.
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::race});
}

}  // namespace
}  // namespace kiln::emulated
