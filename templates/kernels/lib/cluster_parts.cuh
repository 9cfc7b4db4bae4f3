// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The sum of split-K for warpgroups that have their tiles in registers (lib/warpgroup_tile.cuh):
/// the blocks that share a tile of D along k form a cluster, leave their sums in shared memory, and
/// each collects from all of them a share of the tile, which is a smaller tile in registers again:
///
///     block 0      block 1              block 0: share 0    block 1: share 1
///     +---+---+    +---+---+            +---+               +---+
///     |   |   |    |   |   |    ==>     |0+1|               |0+1|
///     |   |   |    |   |   |            |   |               |   |
///     +---+---+    +---+---+            +---+               +---+
///
/// A share is some of the columns, or if there are too few groups of eight, some of the blocks of
/// 64 rows. Every thread reads what the threads in its own place wrote: the four sums that it has
/// of eight columns and sixteen rows are 16 bytes, which lie beside those of its neighbours. Parts
/// are added in the order of k, so the result is the same bit for bit in every run.

#include "common/annotations.cuh"
#include "common/meta.cuh"
#include "lib/ptx_cluster.cuh"
#include "lib/warpgroup_tile.cuh"

namespace kiln {

/// How the tile of a warpgroup is divided among the blocks of a cluster.
struct ShareShape {
  int along_rows;  ///< shares one below the other
  int along_cols;

  KILN_HD constexpr int parts() const { return along_rows * along_cols; }
};

/// The shape of a share.
KILN_HD constexpr WarpgroupTileShape share_of(WarpgroupTileShape tile, ShareShape shares) {
  tile.blocks /= shares.along_rows;
  tile.cols /= shares.along_cols;
  return tile;
}
template <class Tile, ShareShape kShares>
struct ShareOfTile;
template <class A, class B, class Acc, WarpgroupTileShape kTile, ShareShape kShares>
struct ShareOfTile<WarpgroupTile<A, B, Acc, kTile>, kShares> {
  using type = WarpgroupTile<A, B, Acc, share_of(kTile, kShares)>;
};
/// The type of a share; that of the tile where it is all of it.
template <class Tile, ShareShape kShares>
using ShareOf = typename ShareOfTile<Tile, kShares>::type;

/// Where a thread's sums of block `block` and group `group` of the tile are. `thread` of the
/// kThreads that have tiles.
template <int kThreads, class Tile>
KILN_DEVICE uint4* place_of_sums(unsigned char* memory, int block, int group, int thread) {
  constexpr int kGroups = Tile::shape().cols / 8;
  return reinterpret_cast<uint4*>(memory) + ((block * kGroups + group) * kThreads + thread);
}

/// Leaves the tile in `memory`, tile_m * tile_n * 4 bytes that nothing else uses any more.
template <int kThreads, class Tile>
KILN_DEVICE void leave_sums(const Tile& tile, unsigned char* memory, int thread) {
  static_assert(sizeof(typename Tile::Sum) == 4, "Four sums are a vector");
#pragma unroll
  for (int block = 0; block < Tile::shape().blocks; ++block) {
#pragma unroll
    for (int group = 0; group < Tile::shape().cols / 8; ++group) {
      *place_of_sums<kThreads, Tile>(memory, block, group, thread) = tile.four(block, group);
    }
  }
}

/// Vectors of other blocks that a thread has on their way at a time: each takes as long as a trip
/// to L2.
constexpr int kVectorsFromBlocks = 16;

/// Share number `part` of the tiles that the blocks of the cluster left, once all their threads
/// met.
template <ShareShape kShares, int kThreads, class Tile, class Share>
KILN_DEVICE void collect_share(Share& share, unsigned char* memory, int part, int thread) {
  constexpr int kGroups = Share::shape().cols / 8;
  constexpr int kVectors = Share::shape().blocks * kGroups;
  constexpr int kParts = kShares.parts();
  constexpr int kAtOnce = kVectorsFromBlocks / kParts;
  const int first_block = part / kShares.along_cols * Share::shape().blocks;
  const int first_group = part % kShares.along_cols * kGroups;
#pragma unroll
  for (int first = 0; first < kVectors; first += kAtOnce) {
    uint4 parts[kAtOnce][kParts];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = first + i;
      if (at >= kVectors) continue;
      const uint4* const mine = place_of_sums<kThreads, Tile>(memory, first_block + at / kGroups,
                                                              first_group + at % kGroups, thread);
#pragma unroll
      for (int from = 0; from < kParts; ++from)
        parts[i][from] = load_from_cluster_block(mine, from);  // mutant: load_part
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = first + i;
      if (at >= kVectors) continue;
      share.set_four(at / kGroups, at % kGroups, parts[i][0]);
#pragma unroll
      for (int from = 1; from < kParts; ++from) {
        share.add_four(at / kGroups, at % kGroups, parts[i][from]);
      }
    }
  }
}

/// Adds up the tiles of the cluster's blocks, of which each gets the share of its rank. The first
/// kThreads threads of all of them call it, and the others attend_sum_in_cluster(). `row`, `col`:
/// where the tile begins, and then the share.
/// A block exits after cluster_wait(): until then others may read its sums.
template <ShareShape kShares, int kThreads, class Tile, class Share>
KILN_DEVICE void sum_in_cluster(const Tile& tile, Share& share, unsigned char* memory, int rank,
                                int& row, int& col) {
  const int thread = static_cast<int>(threadIdx.x);
  // All have read the stages, which were there.
  named_barrier_sync<kThreads>();  // mutant: stages_read
  leave_sums<kThreads>(tile, memory, thread);
  cluster_sync();  // mutant: parts_left
  collect_share<kShares, kThreads, Tile>(share, memory, rank, thread);
  cluster_arrive();
  row += rank / kShares.along_cols * Share::shape().blocks * 64;
  col += rank % kShares.along_cols * Share::shape().cols;  // mutant: share_col
}

/// What the other threads of the blocks do meanwhile.
KILN_DEVICE void attend_sum_in_cluster() {
  cluster_sync();
  cluster_arrive();
}

/// What a block finishes: its share, or the tile where they are the same, because no cluster shares
/// it.
template <class Share, class Tile>
KILN_DEVICE const Share& share_or_tile(const Share& share, const Tile& tile) {
  if constexpr (kSameType<Share, Tile>) {
    return tile;
  } else {
    return share;
  }
}

}  // namespace kiln
