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
    constexpr int kSlabRows = kOperand.along_k ? kOperand.across : kOperand.depth;
    constexpr int kSlabBytes = kSlabRows * kOperand.span;
    constexpr int kBoxBytes = kBox * kOperand.span;
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) {
      unsigned char* const to = tile + slab * kSlabBytes + index * kBoxBytes;
      const BoxPlace from = box_at(slab, across, k);
      if constexpr (kShare == 1) {
        load_box<kLeavesFirst>(to, map, from, full);
      } else {
        load_box_to<kLeavesFirst>(blocks, to, map, from, full);
      }
    }
  }

  /// Asks L2 for what those copies will read.
  KILN_DEVICE void ask_for(int across, int k) const {
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) ask_for_box(map, box_at(slab, across, k));
  }

 private:
  static constexpr int kCols = kOperand.span / kOperand.bytes;  // of a slab
  static constexpr int kSlabs = (kOperand.along_k ? kOperand.depth : kOperand.across) / kCols;

  /// Of the tile's slab the part that this block brings.
  KILN_DEVICE BoxPlace box_at(int slab, int across, int k) const {
    return kOperand.along_k ? BoxPlace{k + slab * kCols, across + index * kBox}
                            : BoxPlace{across + slab * kCols, k + index * kBox};
  }
};

}  // namespace kiln
