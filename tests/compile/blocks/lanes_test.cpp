// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What gemm_simt is made of: tiles that copies transpose, a warp's share dealt to its lanes, slices
// of warps that add up their sums, and stores of vectors. Right products at every edge, and where
// tiles are whole, no bank conflict from the first copy to the last exchange.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

const char* const kKernel = R"(
#include "common/arithmetic.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_scattered.cuh"
#include "lib/epilogue_direct.cuh"
#include "lib/lane_tile.cuh"
#include "lib/main_loop_async.cuh"
#include "lib/output.cuh"
#include "lib/slices.cuh"

namespace kiln {

/// Each slice has two warps side by side. Rows of A run along k, those of B across it.
template <class T, int kLanesM, int kM, int kN, int kSlices, int kStages, bool kColumnsFirst>
__global__ void product(const GemmArgs args) {
  constexpr int kVec = 16 / static_cast<int>(sizeof(T));
  constexpr int kThreads = 64 * kSlices;
  constexpr int kWarpN = 32 / kLanesM * kN;
  constexpr TileShape kTileA{kLanesM * kM, 16, true};
  constexpr TileShape kTileB{2 * kWarpN, 16, false};
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{kTileA.across + 4}, false, 0},
      {{kTileB.across}, false, 16 * (kTileA.across + 4)},
      16 * (kTileA.across + 4 + kTileB.across)};
  constexpr LaneTileShape kShare{kM, kN, 16 / kSlices, kLanesM, kM % kVec == 0 ? kVec : kVec / 2,
                                 kVec, 2, kColumnsFirst, kColumnsFirst};
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* stages = reinterpret_cast<T*>(shared_memory);
  const int row = static_cast<int>(blockIdx.y) * kTileA.across;
  const int col = static_cast<int>(blockIdx.x) * kTileB.across;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const Panel<T> panel_a = panel_of_a<false, T>(args, row);
  const Panel<T> panel_b = panel_of_b<false, T>(args, col);
  CopyScattered<T, kTileA, kStage.a, kThreads> copy_a(panel_a);
  CopyAsync<TileChunks<T, kTileB, kStage.b, kVec, kThreads>, true> copy_b(panel_b);
  LaneTile<T, kShare, kStage> mma(0, warp % 2 * kWarpN, warp / 2 * kShare.depth);
  run_async_ring<kStage, kStages, kThreads, RingIndex, true>(
      mma, copy_a, copy_b, stages, ceil_div(args.k, 16),
      min(panel_a.whole_tiles(kTileA), panel_b.whole_tiles(kTileB)));
  if constexpr (kSlices > 1) {
    __syncthreads();
    add_slices<kSlices, kThreads>(mma, stages, warp / 2);
  }
  store_vectors<kVec, kVec, kVec, kSlices>(mma, Output<T, T, T, true>(args), row, col, warp / 2);
}

}  // namespace kiln
)";

struct LaneCase {
  DType type;
  int lanes_m;
  int m;
  int n;
  int slices;
  int stages;
  bool columns_first;
};

class LaneBlocks : public BlockTest {
 protected:
  static int rows(const LaneCase& one) { return one.lanes_m * one.m; }
  static int cols(const LaneCase& one) { return 2 * (32 / one.lanes_m) * one.n; }
  static LaunchGeometry geometry(const LaneCase& one, const GemmArgs& args) {
    const auto blocks = [](int size, int tile) {
      return static_cast<unsigned>((size + tile - 1) / tile);
    };
    return {{blocks(args.n, cols(one)), blocks(args.m, rows(one)), 1},
            {static_cast<unsigned>(64 * one.slices), 1, 1},
            {1, 1, 1},
            96 * 1024};
  }

  /// `lda` is free, as the copy takes rows of any alignment; the other rows start on 16 bytes.
  GemmArgs problem(const LaneCase& one, int m, int n, int k, int lda) {
    const int ld = (n + 3) / 4 * 4;
    GemmArgs args{};
    args.m = m;
    args.n = n;
    args.k = k;
    args.lda = lda;
    args.ldb = ld;
    args.ldc = ld;
    args.ldd = ld;
    args.alpha = 2.0;
    args.beta = 3.0;
    args.a = matrix(one.type, m, k, lda);
    args.b = matrix(one.type, k, n, ld);
    args.c = matrix(one.type, m, n, ld);
    args.d = poisoned(static_cast<std::size_t>(m * ld * size_bytes(one.type)));
    return args;
  }

  /// The counter of conflicts expects lanes to want different numbers: 4 wavefronts for a load of
  /// 16 bytes, 2 for one of 8. Lanes that share them take half of it. A conflict anywhere would
  /// show as a smaller difference.
  static std::int64_t saved_wavefronts(const LaneCase& one, int k) {
    const int vec = 16 / static_cast<int>(size_bytes(one.type));
    const auto of_share = [vec](int count) {
      return count % vec == 0 ? 2 * count / vec : count / 2;
    };
    const int warps = 2 * one.slices;
    return warps * (1 + k / one.slices) * (of_share(one.m) + of_share(one.n));
  }

  void check(std::size_t kernel, const LaneCase& one, int m, int n, int k) {
    SCOPED_TRACE(fmt::format("{} x {} x {}", m, n, k));
    const GemmArgs args = problem(one, m, n, k, k + 1);
    run(kernel, geometry(one, args), args);
    const auto got = values(one.type, args.d, static_cast<std::size_t>(m * args.ldd));
    const double untouched = values(one.type, poisoned(8), 1)[0];
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < args.ldd; ++col) {
        double wanted = 3.0 * number_at(row, col);
        for (int z = 0; z < k; ++z) wanted += 2.0 * number_at(row, z) * number_at(z, col);
        if (col >= n) wanted = untouched;
        const auto at = static_cast<std::size_t>(row * args.ldd + col);
        ASSERT_EQ(got[at], wanted) << "row " << row << " column " << col;
      }
    }
  }
};

TEST_F(LaneBlocks, ProductsAreRightAndFreeOfBankConflicts) {
  const std::vector<LaneCase> cases{
      {DType::f32, 8, 8, 8, 1, 3, true},  {DType::f32, 4, 8, 16, 1, 2, false},
      {DType::f32, 8, 4, 8, 2, 4, true},  {DType::f32, 4, 10, 4, 2, 2, false},
      {DType::f32, 8, 8, 4, 4, 2, false}, {DType::f64, 8, 4, 4, 1, 3, false},
      {DType::f64, 4, 8, 4, 2, 2, true},
  };
  std::vector<std::string> kernels;
  kernels.reserve(cases.size());
  for (const LaneCase& one : cases) {
    kernels.push_back(fmt::format("kiln::product<{}, {}, {}, {}, {}, {}, {}>",
                                  one.type == DType::f64 ? "double" : "float", one.lanes_m, one.m,
                                  one.n, one.slices, one.stages, one.columns_first));
  }
  load(kKernel, kernels);
  if (HasFatalFailure()) return;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const LaneCase& one = cases[i];
    SCOPED_TRACE(kernels[i]);
    check(i, one, 1, 1, 1);
    check(i, one, rows(one), cols(one), 16);
    check(i, one, rows(one) - 1, cols(one) - 3, 39);
    check(i, one, rows(one) + 5, cols(one) + 2, 65);
    // Rows of A that begin in different banks: only then can the copies read without conflicts.
    const GemmArgs whole = problem(one, rows(one), cols(one), 64, one.type == DType::f64 ? 68 : 72);
    EXPECT_EQ(static_cast<std::int64_t>(bench().conflicts(geometry(one, whole), whole, i)),
              -saved_wavefronts(one, 64));
  }
}

}  // namespace
}  // namespace kiln::testing
