// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Where things go: tiles of D to blocks, stages of a ring to steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

class OrderBlocks : public BlockTest {};

TEST_F(OrderBlocks, EveryTileHasOneBlock) {
  load(R"(
#include "lib/tile_order.cuh"
#include "common/gemm_args.cuh"
__global__ void places(const kiln::GemmArgs args) {
  const kiln::TilePlace place = kiln::grouped_tile(blockIdx.x, args.m, args.n, args.k);
  static_cast<int*>(args.d)[2 * blockIdx.x] = place.row;
  static_cast<int*>(args.d)[2 * blockIdx.x + 1] = place.col;
}
)",
       {"places"});
  const auto places = [&](int tiles_m, int tiles_n, int group_m) {
    GemmArgs args{};
    args.m = tiles_m;
    args.n = tiles_n;
    args.k = group_m;
    const auto blocks = static_cast<unsigned>(tiles_m * tiles_n);
    args.d = fresh(blocks * 2 * sizeof(int));
    run(0, {{blocks, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
    const auto found = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), blocks * 2UL);
    std::vector<std::pair<int, int>> list;
    for (std::size_t i = 0; i < found.size(); i += 2) list.emplace_back(found[i], found[i + 1]);
    return list;
  };
  for (const int tiles_m : {1, 2, 7, 8, 9}) {
    for (const int tiles_n : {1, 3, 8}) {
      for (const int group_m : {1, 3, 4, 8, 100}) {
        SCOPED_TRACE(::testing::Message() << tiles_m << " x " << tiles_n << " by " << group_m);
        const auto list = places(tiles_m, tiles_n, group_m);
        EXPECT_EQ(std::set(list.begin(), list.end()).size(), list.size()) << "one has two blocks";
        for (const auto& [row, col] : list) {
          EXPECT_TRUE(row >= 0 && row < tiles_m && col >= 0 && col < tiles_n);
        }
      }
    }
  }
  // The picture in the header.
  const std::vector<std::pair<int, int>> drawn{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}};
  auto list = places(5, 2, 3);
  const std::vector<std::pair<int, int>> rest{{3, 0}, {4, 0}, {3, 1}, {4, 1}};
  EXPECT_TRUE(std::equal(drawn.begin(), drawn.end(), list.begin()));
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), list.begin() + 6));
}

TEST_F(OrderBlocks, ARingComesRoundToItsFirstStage) {
  load(R"(
#include "common/gemm_args.cuh"
#include "lib/ring.cuh"
template <int kStages>
__global__ void walk(const kiln::GemmArgs args) {
  __shared__ float stages[kStages * 16];
  kiln::RingCursor<float, kStages, 16> cursor(stages);
  for (int i = 0; i < args.m; ++i) {
    static_cast<int*>(args.d)[i] = static_cast<int>(cursor.stage() - stages);
    cursor.advance();
  }
}
)",
       {"walk<1>", "walk<3>", "walk<4>"});
  for (const auto& [kernel, stages] : {std::pair{0, 1}, {1, 3}, {2, 4}}) {
    GemmArgs args{};
    args.m = 11;
    args.d = fresh(11 * sizeof(int));
    run(static_cast<std::size_t>(kernel), {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
    const auto at = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), 11);
    for (int i = 0; i < 11; ++i) {
      EXPECT_EQ(at[static_cast<std::size_t>(i)], i % stages * 16) << stages << " stages";
    }
  }
}

}  // namespace
}  // namespace kiln::testing
