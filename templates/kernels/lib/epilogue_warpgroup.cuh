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

/// `row` and `col`: where the tile begins, in its own rows and columns.
template <SlabShape kSlab, int kVecC, int kVecD, class Tile, class Output>
KILN_DEVICE void store_tile(const Tile& tile, const Output& output, typename Tile::Sum* slab,
                            int row, int col) {
  using Sum = typename Tile::Sum;
  constexpr int kGroups = kSlab.on_side ? 1 : kSlab.cols / 8;
  constexpr int kStride = kSlab.stride;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int block = 0; block < Tile::shape().blocks; ++block) {
    const int at = row + block * 64 + warp * 16;
#pragma unroll
    for (int group = 0; group < Tile::shape().cols / 8; group += kGroups) {
      if constexpr (kSlab.on_side) {
        store_staged<kVecC, kVecD, kStride>(WarpColumns<Tile, Sum>(tile, block, group), output,
                                            slab, col + group * 8, at);
      } else {
        store_staged<kVecC, kVecD, kStride>(WarpRows<Tile, Sum, kGroups>(tile, block, group),
                                            output, slab, at, col + group * 8);
      }
    }
  }
}

}  // namespace kiln
