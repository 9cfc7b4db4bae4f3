// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Where things go: tiles of D to blocks, stages of a ring to steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
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
__global__ void places_by_inverses(const kiln::GemmArgs args) {
  constexpr int kMost = 2147483647;
  const int rows = args.m < args.k ? args.m : args.k;
  const kiln::TilePlace place = kiln::grouped_tile(
      blockIdx.x, kiln::TileGrid{args.m, args.n, args.k, kMost / (rows * args.n), kMost / rows,
                                 kMost / ((args.m - 1) % args.k + 1)});
  static_cast<int*>(args.d)[2 * blockIdx.x] = place.row;
  static_cast<int*>(args.d)[2 * blockIdx.x + 1] = place.col;
}
)",
       {"places", "places_by_inverses"});
  const auto places = [&](int tiles_m, int tiles_n, int group_m, std::size_t kernel = 0) {
    GemmArgs args{};
    args.m = tiles_m;
    args.n = tiles_n;
    args.k = group_m;
    const auto blocks = static_cast<unsigned>(tiles_m * tiles_n);
    args.d = fresh(blocks * 2 * sizeof(int));
    run(kernel, {{blocks, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
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
        EXPECT_EQ(places(tiles_m, tiles_n, group_m, 1), list) << "by inverses";
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

TEST_F(OrderBlocks, QuotientsByInversesAreExact) {
  load(R"(
#include "lib/tile_order.cuh"
#include "common/gemm_args.cuh"
__global__ void quotients(const kiln::GemmArgs args) {  // pairs of numbers: of their quotients
  const unsigned* const pair = static_cast<const unsigned*>(args.a) + 2 * blockIdx.x;
  const auto by = static_cast<int>(pair[1]);
  static_cast<unsigned*>(args.d)[blockIdx.x] =
      kiln::quotient(pair[0], kiln::Divisor{by, 2147483647 / by});
}
)",
       {"quotients"});
  constexpr unsigned kEnd = 1U << 30;
  std::vector<std::array<unsigned, 2>> pairs;
  for (const unsigned by : {1U, 2U, 3U, 7U, 8U, 1000U, 65535U, 65536U, 32767U * 3, kEnd / 2 - 1,
                            kEnd / 2, kEnd - 1, kEnd, 2147483647U}) {
    for (const unsigned times : {0U, 1U, 2U, 5U, kEnd / by / 2, kEnd / by - 1, kEnd / by}) {
      for (const unsigned past : {0U, 1U, by / 2, by - 1}) {
        const std::uint64_t n = std::uint64_t{times} * by + past;
        if (n < kEnd) pairs.push_back({static_cast<unsigned>(n), by});
      }
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const auto by = static_cast<unsigned>((random() >> random() % 31) % kEnd);
    pairs.push_back({static_cast<unsigned>(random() % kEnd), std::max(1U, by)});
  }
  GemmArgs args{};
  args.a = reinterpret_cast<const void*>(bench().upload(pairs));
  args.d = fresh(pairs.size() * sizeof(unsigned));
  run(0, {{static_cast<unsigned>(pairs.size()), 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
  const auto found = bench().download<unsigned>(reinterpret_cast<DevicePtr>(args.d), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(found[i], pairs[i][0] / pairs[i][1]) << pairs[i][0] << " / " << pairs[i][1];
  }
}

// Each stage of each tile has one cluster; and what adds the pieces of a tile up finds them where
// they were left.
TEST_F(OrderBlocks, SharesOfStreamKCoverEveryStageOnce) {
  load(R"(
#include "common/gemm_args.cuh"
#include "lib/work_units.cuh"
struct Launch {
  int row_tiles, col_tiles, group_m, k_each, units, clusters;
  int tiles, inverse_tiles, inverse_group, inverse_rows, inverse_last;
};
template <int kStream>
constexpr kiln::UnitShape kShape{64, 8, 16, 1, 1, 1, kStream};
KILN_DEVICE Launch launch_of(const kiln::GemmArgs& args) {
  constexpr int kMost = 2147483647;
  const int rows = args.m < 4 ? args.m : 4;
  return {args.m, args.n, 4, static_cast<int>(args.lda) * 16, static_cast<int>(args.ldb), args.k,
          args.m * args.n, kMost / (args.m * args.n), kMost / (rows * args.n), kMost / rows,
          kMost / ((args.m - 1) % 4 + 1)};
}
template <int kStream>
__global__ void units(const kiln::GemmArgs args) {  // block: unit
  const Launch launch = launch_of(args);
  const kiln::Unit unit = kiln::unit_at<kShape<kStream>>(blockIdx.x, 0, launch.k_each, launch);
  int* const to = static_cast<int*>(args.d) + 6 * blockIdx.x;
  to[0] = unit.row / 64 + args.m * (unit.col / 8);
  to[1] = unit.first_k / 16;
  to[2] = unit.steps;
  to[3] = unit.is_piece;
  to[4] = unit.to_row / 64;
  to[5] = unit.to_col / 8;
}
template <int kStream>
__global__ void sums(const kiln::GemmArgs args) {  // block: tile that is cut
  const Launch launch = launch_of(args);
  const kiln::Shares shares = kiln::shares_of<kShape<kStream>>(launch);
  const kiln::TileCorner corner =
      kiln::tile_at<kShape<kStream>>(shares.whole + blockIdx.x, 0, launch);
  const long long begin = static_cast<long long>(blockIdx.x) * shares.steps;
  const int first = shares.with(begin);
  const int last = shares.with(begin + shares.steps - 1);
  int* const to = static_cast<int*>(args.d) + 40 * blockIdx.x;
  to[0] = corner.row / 64 + args.m * (corner.col / 8);
  to[1] = last - first + 1;
  for (int share = first; share <= last; ++share) {
    const bool is_first = share > first || shares.first(first) == begin;
    to[2 + share - first] = kiln::piece_row<kShape<kStream>>(shares, share, is_first, 0) / 64;
  }
}
)",
       {"units<1>", "units<2>", "sums<1>", "sums<2>"});
  struct Case {
    int rows, cols, steps, clusters, stream;
  };
  for (const Case& one : {Case{3, 5, 7, 4, 1},
                          {3, 5, 7, 4, 2},
                          {2, 2, 30, 13, 1},
                          {2, 3, 5, 30, 1},
                          {5, 5, 1, 4, 2},
                          {4, 4, 9, 16, 2},
                          {9, 7, 64, 60, 2},
                          {1, 1, 33, 33, 1},
                          {1, 1, 5, 9, 1},
                          {2, 2, 3, 2, 1}}) {
    SCOPED_TRACE(::testing::Message() << one.rows << " x " << one.cols << " tiles of " << one.steps
                                      << " for " << one.clusters << ", " << one.stream);
    GemmArgs args{};
    args.m = one.rows;
    args.n = one.cols;
    args.k = one.clusters;
    args.lda = one.steps;
    const int tiles = one.rows * one.cols;
    const int whole = std::max(0, tiles / one.clusters - one.stream + 1) * one.clusters;
    const auto units = static_cast<unsigned>(whole + (one.stream + 1) * one.clusters);
    args.ldb = static_cast<int>(units);
    args.d = fresh(units * 6 * sizeof(int));
    const auto kernel = static_cast<std::size_t>(one.stream - 1);
    run(kernel, {{units, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
    const auto unit = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), units * 6UL);
    std::map<std::pair<int, int>, int> covered;  // tile, stage
    std::map<int, std::map<int, int>> pieces;    // of a tile: first stage, place
    std::set<int> places;
    std::vector<int> work(static_cast<std::size_t>(one.clusters), 0);
    for (std::size_t i = 0; i < units; ++i) {
      const int* const at = &unit[6 * i];
      for (int step = at[1]; step < at[1] + at[2]; ++step) ++covered[{at[0], step}];
      work[i % work.size()] += at[2];
      if (at[2] == 0) {
        EXPECT_EQ(at[3], 1) << "which stores nothing";
      } else if (at[3] == 1) {
        pieces[at[0]][at[1]] = at[4];
        EXPECT_TRUE(places.insert(at[4]).second) << "two pieces in one place";
        EXPECT_LT(at[4], 2 * one.clusters);
      } else {
        EXPECT_EQ(at[4] + one.rows * at[5], at[0]);
        EXPECT_EQ(at[2], one.steps);
      }
    }
    EXPECT_EQ(covered.size(), static_cast<std::size_t>(tiles * one.steps));
    for (const auto& [stage, times] : covered) EXPECT_EQ(times, 1);
    EXPECT_LE(*std::max_element(work.begin(), work.end()),
              *std::min_element(work.begin(), work.end()) + 1);
    const auto cut = static_cast<unsigned>(tiles - whole);
    if (cut == 0) continue;
    args.d = fresh(cut * 40 * sizeof(int));
    run(2 + kernel, {{cut, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
    const auto sum = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), cut * 40UL);
    for (std::size_t i = 0; i < cut; ++i) {
      const int* const at = &sum[40 * i];
      std::vector<int> left;
      for (const auto& [stage, place] : pieces[at[0]]) left.push_back(place);
      if (at[1] == 1) {
        EXPECT_TRUE(left.empty()) << "a tile of one cluster is stored whole";
      } else {
        EXPECT_EQ(std::vector<int>(at + 2, at + 2 + at[1]), left) << "in the order of k";
      }
    }
  }
}

// Of a panel that clusters of the first turn share, each asks L2 for other stages, and together
// they ask for all, none more often than there are clusters to spare.
TEST_F(OrderBlocks, AskingAheadIsSharedOut) {
  load(R"(
#include "common/gemm_args.cuh"
#include "lib/main_loop_ring.cuh"
struct Launch {
  int row_tiles, col_tiles, group_m, clusters;
};
struct Asked {  // counts by panel and stage
  int* counts;
  int across;
  KILN_DEVICE void ask_for(int at, int k) const { atomicAdd(counts + at / across * 8 + k / 16, 1); }
};
__global__ void ask(const kiln::GemmArgs args) {  // block: cluster
  const Launch launch{args.m, args.n, static_cast<int>(args.lda), args.k};
  const kiln::TilePlace place = kiln::grouped_tile(blockIdx.x, args.m, args.n, launch.group_m);
  const kiln::Unit unit{place.row * 64, place.col * 8, 0, 0, static_cast<int>(args.ldb)};
  int* const counts = static_cast<int*>(args.d);
  kiln::ask_ahead<6, kiln::UnitShape{64, 8, 16, 1, 1, 1, 0}>(
      Asked{counts, 64}, Asked{counts + 8 * args.m, 8}, unit, launch);
}
)",
       {"ask"});
  struct Case {
    int rows, cols, group_m, clusters, steps;
  };
  for (const Case& one : {Case{1, 20, 1, 13, 9},
                          {2, 20, 8, 16, 9},
                          {8, 9, 4, 36, 9},
                          {8, 9, 8, 24, 9},
                          {3, 3, 2, 9, 4},
                          {16, 2, 4, 32, 1}}) {
    SCOPED_TRACE(::testing::Message() << one.rows << " x " << one.cols << " by " << one.group_m
                                      << ", " << one.clusters << " at a time");
    GemmArgs args{};
    args.m = one.rows;
    args.n = one.cols;
    args.lda = one.group_m;
    args.k = one.clusters;
    args.ldb = one.steps;
    const auto count = static_cast<std::size_t>(one.rows + one.cols) * 8;
    args.d = reinterpret_cast<void*>(bench().upload(std::vector<int>(count, 0)));
    run(0, {{static_cast<unsigned>(one.clusters), 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);
    const auto counts = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), count);
    // Clusters that read each panel.
    std::map<int, int> readers;
    const int group = std::min(one.group_m, one.rows);
    for (int i = 0; i < one.clusters; ++i) {
      const int within = i % (group * one.cols);
      ++readers[i / (group * one.cols) * group + within % group];
      ++readers[one.rows + within / group];
    }
    const int stages = std::min(6, one.steps);
    for (const auto& [panel, clusters] : readers) {
      for (int stage = 0; stage < 8; ++stage) {
        const int times = counts[static_cast<std::size_t>(panel * 8 + stage)];
        EXPECT_EQ(times > 0, stage < stages) << "panel " << panel << ", stage " << stage;
        EXPECT_LE(times, (clusters + 5) / 6) << "panel " << panel << ", stage " << stage;
      }
    }
  }
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
