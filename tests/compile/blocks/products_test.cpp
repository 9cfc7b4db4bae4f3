// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What multiplies two tiles of shared memory, and the loops over k that feed it: right products
// without a race, for any number of tiles and a last one that is not whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

const char* const kHeaders = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#define KILN_USES_BF16 1
#include "common/arithmetic.cuh"
#include "common/meta.cuh"
#include "lib/atom_wmma.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_elements.cuh"
#include "lib/copy_registers.cuh"
#include "lib/main_loop.cuh"
#include "lib/main_loop_async.cuh"
#include "lib/thread_tile.cuh"
#include "lib/warp_tile.cuh"
)";

// One stage, filled by hand; D is the product of A (m x k) and B (k x n).
const char* const kTiles = R"(
namespace kiln {

template <auto kStage, class T>
KILN_DEVICE void fill_stage(const GemmArgs& args, T* stage) {
  constexpr auto kPlaces = kStage;
  const T* a = static_cast<const T*>(args.a);
  const T* b = static_cast<const T*>(args.b);
  for (int i = static_cast<int>(threadIdx.x); i < args.m * args.k; i += blockDim.x) {
    stage[kPlaces.a.offset(i / args.k, i % args.k)] = a[i];
  }
  for (int i = static_cast<int>(threadIdx.x); i < args.n * args.k; i += blockDim.x) {
    stage[kPlaces.b.first + kPlaces.b.offset(i % args.n, i / args.n)] = b[i];
  }
  __syncthreads();
}

/// One warp, two atoms high and wide, two steps deep.
template <class T, int kM, int kN, bool kAlongA, bool kAlongB, int kBuffers>
__global__ void warp_tile(const GemmArgs args) {
  constexpr int kA = 2 * kM * 40 > 32 * (2 * kM + 8) ? 2 * kM * 40 : 32 * (2 * kM + 8);
  constexpr int kB = 2 * kN * 40 > 32 * (2 * kN + 8) ? 2 * kN * 40 : 32 * (2 * kN + 8);
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{kAlongA ? 40 : 2 * kM + 8}, kAlongA, 0},
      {{kAlongB ? 40 : 2 * kN + 8}, kAlongB, kA},
      kA + kB};
  __shared__ __align__(128) T stage[kA + kB];
  __shared__ __align__(128) float slab[kM * 2 * kN];
  fill_stage<kStage>(args, stage);
  WarpTile<AtomWmma<T, float, WmmaShape{kM, kN}, kAlongA, kAlongB>,
           WarpTileShape{2, 2, 32, kBuffers}, kStage>
      mma(0, 0);
  mma.multiply_stage(stage);
  float* d = static_cast<float*>(args.d);
  for (int row = 0; row < 2; ++row) {
    mma.store_row(row, slab, 2 * kN);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x); i < kM * 2 * kN; i += 32) {
      d[row * kM * 2 * kN + i] = slab[i];
    }
    __syncwarp();
  }
}

/// kRows x kCols threads with 4 x 4 elements each.
template <class T, int kRows, int kCols, int kVecM, int kVecN>
__global__ void thread_tile(const GemmArgs args) {
  constexpr int kStrideA = 4 * kRows + 4;
  constexpr int kStrideB = 4 * kCols + 4;
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{kStrideA}, false, 0}, {{kStrideB}, false, 8 * kStrideA}, 8 * (kStrideA + kStrideB)};
  __shared__ __align__(16) T stage[8 * (kStrideA + kStrideB)];
  fill_stage<kStage>(args, stage);
  ThreadTile<T, ThreadTileShape{4, 4, 8, kRows, kCols, kVecM, kVecN}, kStage> mma;
  mma.multiply_stage(stage);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      static_cast<T*>(args.d)[mma.row(i) * args.n + mma.col(j)] = mma.sum(i, j);
    }
  }
}

}  // namespace kiln
)";

// Two warps with 16 x 32 elements each, stages 32 deep; or 64 threads with 4 x 4 elements.
const char* const kLoops = R"(
namespace kiln {

enum class Loop { unbuffered, single_buffer, double_buffer, async_ring };

template <Loop kLoop, int kStages, int kBuffers>
__global__ void product(const GemmArgs args) {
  constexpr TileShape kTileA{32, 32, true};
  constexpr TileShape kTileB{32, 32, false};
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{40}, true, 0}, {{40}, false, 32 * 40}, 2 * 32 * 40};
  using ChunksA = TileChunks<__half, kTileA, kStage.a, 8, 64>;
  using ChunksB = TileChunks<__half, kTileB, kStage.b, 8, 64>;
  constexpr bool kAsync = kLoop == Loop::async_ring;
  using CopyA = Conditional<kAsync, CopyAsync<ChunksA>, CopyRegisters<ChunksA>>;
  using CopyB = Conditional<kAsync, CopyAsync<ChunksB>, CopyRegisters<ChunksB>>;
  __shared__ __align__(128) __half stages[kStages * kStage.elements];
  __shared__ __align__(128) float slabs[2][16 * 32];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  CopyA copy_a(panel_of_a<false, __half>(args, 0));
  CopyB copy_b(panel_of_b<false, __half>(args, 0));
  WarpTile<AtomWmma<__half, float, WmmaShape{16, 16}, true, false>,
           WarpTileShape{1, 2, 32, kBuffers}, kStage>
      mma(warp * 16, 0);
  const int tiles = ceil_div(args.k, 32);
  if constexpr (kAsync) {
    run_async_ring<kStage, kStages, 64>(mma, copy_a, copy_b, stages, tiles);
  } else if constexpr (kLoop == Loop::single_buffer) {
    run_single_buffer<kStage>(mma, copy_a, copy_b, stages, tiles);
  } else {
    run_double_buffer<kStage>(mma, copy_a, copy_b, stages, tiles);
  }
  mma.store_row(0, slabs[warp], 32);
  __syncwarp();
  for (int i = static_cast<int>(threadIdx.x) % 32; i < 16 * 32; i += 32) {
    static_cast<float*>(args.d)[warp * 16 * 32 + i] = slabs[warp][i];
  }
}

template <>
__global__ void product<Loop::unbuffered, 1, 1>(const GemmArgs args) {
  constexpr TileShape kTileA{32, 8, true};
  constexpr TileShape kTileB{32, 8, false};
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{36}, false, 0}, {{36}, false, 8 * 36}, 2 * 8 * 36};
  __shared__ __align__(16) float stage[kStage.elements];
  CopyElements<__half, float, kTileA, kStage.a, 64> copy_a(panel_of_a<false, __half>(args, 0));
  CopyElements<__half, float, kTileB, kStage.b, 64> copy_b(panel_of_b<false, __half>(args, 0));
  ThreadTile<float, ThreadTileShape{4, 4, 8, 8, 8, 4, 2}, kStage> mma;
  run_unbuffered<kStage>(mma, copy_a, copy_b, stage, args.k);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      static_cast<float*>(args.d)[mma.row(i) * 32 + mma.col(j)] = mma.sum(i, j);
    }
  }
}

}  // namespace kiln
)";

class ProductBlocks : public BlockTest {
 protected:
  /// Every element of D is the sum of k products of number_at().
  void check(std::size_t kernel, DType type, DType result, int m, int n, int k, unsigned threads) {
    GemmArgs args{};
    args.m = m;
    args.n = n;
    args.k = k;
    args.lda = (k + 7) / 8 * 8;
    if (m != 32 || n != 32) args.lda = k;  // fill_stage() reads matrices without gaps
    args.ldb = n;
    args.a = matrix(type, m, k, static_cast<int>(args.lda));
    args.b = matrix(type, k, n, n);
    const auto count = static_cast<std::size_t>(m * n);
    args.d = fresh(count * static_cast<std::size_t>(size_bytes(result)));
    run(kernel, {{1, 1, 1}, {threads, 1, 1}, {1, 1, 1}, 0}, args);
    const auto got = values(result, args.d, count);
    for (std::size_t i = 0; i < count; ++i) {
      const int row = static_cast<int>(i) / n;
      const int col = static_cast<int>(i) % n;
      double wanted = 0.0;
      for (int z = 0; z < k; ++z) wanted += number_at(row, z) * number_at(z, col);
      ASSERT_EQ(got[i], wanted) << "row " << row << " column " << col;
    }
  }
};

TEST_F(ProductBlocks, WarpTileOfWmmaAtoms) {
  struct Case {
    std::string type;
    int m;
    int n;
    bool k_major_a;
    bool k_major_b;
    int buffers;
  };
  const std::vector<Case> cases{
      {"__half", 16, 16, true, false, 1},  {"__half", 16, 16, false, true, 2},
      {"__half", 32, 8, true, true, 2},    {"__half", 8, 32, true, false, 1},
      {"__half", 16, 16, false, false, 2}, {"__nv_bfloat16", 16, 16, true, true, 1},
  };
  std::vector<std::string> kernels;
  for (const Case& one : cases) {
    kernels.push_back(fmt::format("kiln::warp_tile<{}, {}, {}, {}, {}, {}>", one.type, one.m, one.n,
                                  one.k_major_a, one.k_major_b, one.buffers));
  }
  load(std::string(kHeaders) + kTiles, kernels);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(kernels[i]);
    const DType type = cases[i].type == "__half" ? DType::f16 : DType::bf16;
    check(i, type, DType::f32, 2 * cases[i].m, 2 * cases[i].n, 32, 32);
  }
}

TEST_F(ProductBlocks, ThreadTile) {
  load(std::string(kHeaders) + kTiles,
       {"kiln::thread_tile<float, 4, 16, 4, 4>", "kiln::thread_tile<float, 8, 4, 1, 2>",
        "kiln::thread_tile<double, 8, 4, 2, 2>", "kiln::thread_tile<int, 4, 8, 4, 1>"});
  check(0, DType::f32, DType::f32, 16, 64, 8, 64);
  check(1, DType::f32, DType::f32, 32, 16, 8, 32);
  check(2, DType::f64, DType::f64, 32, 16, 8, 32);
  check(3, DType::s32, DType::s32, 16, 32, 8, 32);
}

TEST_F(ProductBlocks, MainLoops) {
  const std::vector<std::string> kernels{
      "kiln::product<kiln::Loop::unbuffered, 1, 1>",
      "kiln::product<kiln::Loop::single_buffer, 1, 1>",
      "kiln::product<kiln::Loop::single_buffer, 1, 2>",
      "kiln::product<kiln::Loop::double_buffer, 2, 1>",
      "kiln::product<kiln::Loop::double_buffer, 2, 2>",
      "kiln::product<kiln::Loop::async_ring, 2, 1>",
      "kiln::product<kiln::Loop::async_ring, 3, 2>",
      "kiln::product<kiln::Loop::async_ring, 4, 1>",
      "kiln::product<kiln::Loop::async_ring, 4, 2>",
  };
  load(std::string(kHeaders) + kLoops, kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (const int k : {1, 8, 32, 33, 64, 96, 128, 171}) {
      SCOPED_TRACE(kernels[i] + " k " + std::to_string(k));
      check(i, DType::f16, DType::f32, 32, 32, k, 64);
    }
  }
}

}  // namespace
}  // namespace kiln::testing
