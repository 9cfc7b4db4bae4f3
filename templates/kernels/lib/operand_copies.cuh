// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a producer brings of an operand: the tiles of a panel, one a stage, by tensor copies. Of a
/// tile that several blocks of a cluster have in common each brings a part, to all of them:
///
///     tile of the operand       block 0 of two            block 1
///     +-----------------+       copies this part          and this one
///     |     part 0      |       to both blocks
///     +-----------------+
///     |     part 1      |
///     +-----------------+

#include "common/annotations.cuh"
#include "lib/ptx_tensor_copy.cuh"
#include "lib/warpgroup_tile.cuh"

/// Templates that use this define the tile of each operand: `tile_a` or `tile_b` rows by `tile_k`,
/// which `share_a` or `share_b` blocks of a cluster copy together.
struct OperandCopiesConfig {  //@ config
  int span_a;                 //@ let k_major_a == 1 ? depth_bytes : 128   // of the swizzle
  int span_b;                 //@ let k_major_b == 1 ? depth_bytes : 128
  int box_a;                  //@ let (k_major_a == 1 ? tile_a : tile_k) / share_a   // its rows
  int box_b;                  //@ let (k_major_b == 1 ? tile_b : tile_k) / share_b
};
//@ require    box_a % 8 == 0 && box_a * share_a == (k_major_a == 1 ? tile_a : tile_k)
//@ require    box_b % 8 == 0 && box_b * share_b == (k_major_b == 1 ? tile_b : tile_k)
//@ require    (k_major_a == 1 || tile_a % 64 == 0) && (k_major_b == 1 || tile_b % 64 == 0)
//@ require    repack_a == 1 || align_a >= 16   // as TMA wants
//@ require    repack_b == 1 || align_b >= 16

namespace kiln {

/// A block's place in a cluster of kRows x kCols, and which of its blocks have the same rows of D,
/// or columns: bits of their ranks.
template <int kRows, int kCols>
struct ClusterPlace {
  int row;
  int col;
  KILN_DEVICE explicit ClusterPlace(int rank) : row(rank % kRows), col(rank / kRows) {}
  KILN_DEVICE unsigned short same_row() const {
    constexpr unsigned kOneOfEachCol = ((1U << kRows * kCols) - 1) / ((1U << kRows) - 1);
    return static_cast<unsigned short>(kOneOfEachCol << row);
  }
  KILN_DEVICE unsigned short same_col() const {
    constexpr unsigned kOneCol = (1U << kRows) - 1;
    return static_cast<unsigned short>(kOneCol << col * kRows);
  }
};

/// \tparam kBox          rows of one copy
/// \tparam kShare        blocks of the cluster that have the same tile
/// \tparam kLeavesFirst  L2 gives the operand's lines up before others: what is read once does not
///                       displace what is read again, or D
template <StageOperand kOperand, int kBox, int kShare, bool kLeavesFirst = false>
struct OperandCopies {
  const TensorMap& map;
  int index;              ///< of the block among those that share
  unsigned short blocks;  ///< all of those, as bits of their ranks in the cluster

  /// Starts the copies of the tile at row (or column) `across` of the operand and at depth `k` to
  /// `tile` in shared memory.
  KILN_DEVICE void start(unsigned char* tile, int across, int k, Barrier& full) const {
    constexpr int kSlabRows = kOperand.k_major ? kOperand.across : kOperand.depth;
    constexpr int kSlabBytes = kSlabRows * kOperand.span;
    constexpr int kBoxBytes = kBox * kOperand.span;
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) {
      unsigned char* const to = tile + slab * kSlabBytes + index * kBoxBytes;  // mutant: copy_to
      const BoxPlace from = box_at(slab, across, k);
      if constexpr (kShare == 1) {
        tma_load_2d<kLeavesFirst>(to, map, from, full);
      } else {
        tma_load_2d_multicast<kLeavesFirst>(blocks, to, map, from, full);  // mutant: multicast
      }
    }
  }

  /// Asks L2 for what those copies will read.
  KILN_DEVICE void ask_for(int across, int k) const {
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) tma_prefetch_2d(map, box_at(slab, across, k));
  }

 private:
  static constexpr int kCols = kOperand.span / kOperand.bytes;  // of a slab
  static constexpr int kSlabs = (kOperand.k_major ? kOperand.depth : kOperand.across) / kCols;

  /// Of the tile's slab the part that this block brings.
  KILN_DEVICE BoxPlace box_at(int slab, int across, int k) const {
    return kOperand.k_major ? BoxPlace{k + slab * kCols, across + index * kBox}
                            : BoxPlace{across + slab * kCols, k + index * kBox};
  }
};

}  // namespace kiln
