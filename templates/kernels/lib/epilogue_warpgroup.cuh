// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a warpgroup's tile to D through a slab of shared memory for each warp, some columns at a
/// time (lib/epilogue_staged.cuh): for every alignment, and for tiles that lie on their side, whose
/// rows are columns of D.

#include "lib/epilogue_staged.cuh"
#include "lib/output.cuh"
#include "lib/warpgroup_tile.cuh"

namespace kiln {

struct SlabShape {
  bool on_side;
  int cols;    ///< of the tile that are stored at a time
  int stride;  ///< of the slab, in sums
};

/// As look_ahead(), for the warpgroup's tile that begins there, in its own rows and columns.
template <SlabShape kSlab, bool kReadsC, class CIn, class Tile>
KILN_DEVICE void look_ahead_of_tile(const GemmArgs& args, int row, int col) {
  constexpr int kRows = Tile::shape().blocks * 64;
  constexpr int kCols = Tile::shape().cols;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  if constexpr (kSlab.on_side) {
    look_ahead<kReadsC, kCols, kRows, CIn>(args, col, row, thread, 128);
  } else {
    look_ahead<kReadsC, kRows, kCols, CIn>(args, row, col, thread, 128);
  }
}

/// A warp's piece of a tile, which begins there in the tile's rows and columns.
template <SlabShape kSlab, int kVecC, int kVecD, class Piece, class Output, class Sum>
KILN_DEVICE void store_piece(const Piece& piece, const Output& output, Sum* slab, int row,
                             int col) {
  constexpr bool kOnSide = kSlab.on_side;
  store_staged<kVecC, kVecD, kSlab.stride>(piece, output, slab, kOnSide ? col : row,
                                           kOnSide ? row : col);
}

/// `row` and `col`: where the tile begins, in its own rows and columns.
template <SlabShape kSlab, int kVecC, int kVecD, class Tile, class Output>
KILN_DEVICE void store_tile(const Tile& tile, const Output& output, typename Tile::Sum* slab,
                            int row, int col) {
  using Sum = typename Tile::Sum;
  constexpr int kBlocks = Tile::shape().blocks;
  constexpr int kAllGroups = Tile::shape().cols / 8;
  row += static_cast<int>(threadIdx.x) / 32 % 4 * 16;
  if constexpr (kSlab.on_side && kBlocks * kAllGroups > 8) {
    // With a long expression so many would be too much text for the compiler, which then leaves the
    // sums in local memory and lets every product wait.
#pragma unroll 1
    for (int i = 0; i < kBlocks * kAllGroups; ++i) {
      const int block = i / kAllGroups;
      const int group = i % kAllGroups;
      store_piece<kSlab, kVecC, kVecD>(ChosenColumns<Tile, Sum>(tile, block, group), output, slab,
                                       row + block * 64, col + group * 8);
    }
  } else {
    constexpr int kGroups = kSlab.on_side ? 1 : kSlab.cols / 8;
    using Piece = Conditional<kSlab.on_side, WarpColumns<Tile, Sum>, WarpRows<Tile, Sum, kGroups>>;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int group = 0; group < kAllGroups; group += kGroups) {
        store_piece<kSlab, kVecC, kVecD>(Piece(tile, block, group), output, slab, row + block * 64,
                                         col + group * 8);
      }
    }
  }
}

}  // namespace kiln
