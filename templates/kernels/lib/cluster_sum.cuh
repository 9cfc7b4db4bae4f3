// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The sum of split-K without a workspace and without a second launch: the blocks that share a tile
/// of D along k form a cluster, leave their sums in shared memory, and each finishes its share of
/// the tile, which it collects from all of them:
///
///     block 0     block 1     block 2          block 0 finishes     block 1          block 2
///     +-----+     +-----+     +-----+          | 0 0 0 |            |       |        |       |
///     | sums|     | sums|     | sums|   ==>    |       |            | 1 1 1 |        |       |
///     +-----+     +-----+     +-----+          |       |            |       |        | 2 2 2 |
///
/// Parts are added in the order of k, so the result is the same bit for bit in every run.

#include "common/epilogue.cuh"
#include "lib/ptx_cluster.cuh"

namespace kiln {

/// The blocks of a cluster that every GPU with clusters can run.
constexpr int kMostInCluster = 8;

/// A tile of sums in shared memory.
struct SumTile {
  int rows;
  int cols;
  int stride;  ///< elements, whole 16 bytes
};

/// Stores the warp's sums, whose first is at `row` and `col` of the tile.
template <SumTile kTile, class Mma, class Acc>
KILN_DEVICE void leave_sums(const Mma& mma, Acc* tile, int row, int col) {
  constexpr int kStride = kTile.stride;
  constexpr int kRows = Mma::Atom::rows();
#pragma unroll
  for (int i = 0; i < Mma::shape().rows; ++i) {
    mma.store_row(i, tile + (row + i * kRows) * kStride + col, kStride);
  }
}

/// Finishes this block's share of the tile of D at `row` and `col`. Every thread of the `blocks`
/// blocks calls it, after its sums were left; the block is the one of that `rank`.
template <SumTile kTile, int kThreads, int kVecC, int kVecD, class Output, class Acc>
KILN_DEVICE void sum_in_cluster(const Output& output, const Acc* tile, int rank, int blocks,
                                int row, int col) {
  constexpr int kPiece = 16 / static_cast<int>(sizeof(Acc));
  constexpr int kStore = kVecD < kPiece ? kVecD : kPiece;
  constexpr int kPieceC = kVecC < kStore ? kVecC : kStore;
  constexpr int kStride = kTile.stride;
  constexpr int kPieces = kTile.cols / kPiece;  // of a row
  constexpr int kAll = kTile.rows * kPieces;
  using Scaled = typename Output::Scaled;
  const Scaled alpha = output.alpha();
  const Scaled beta = output.beta();
  cluster_sync();  // mutant: sums_left
  for (int piece = rank * kThreads + static_cast<int>(threadIdx.x); piece < kAll;
       piece += blocks * kThreads) {  // mutant: next_sums
    const int y = piece / kPieces;
    const int x = piece % kPieces * kPiece;
    if (row + y >= output.rows() || col + x >= output.cols()) continue;
    // All parts are on their way before the first is added.
    uint4 parts[kMostInCluster];
#pragma unroll
    for (int from = 0; from < kMostInCluster; ++from) {
      // mutant: load_sums
      if (from < blocks) parts[from] = load_from_cluster_block(tile + y * kStride + x, from);
    }
    Acc sum[kPiece] = {};
#pragma unroll
    for (int from = 0; from < kMostInCluster; ++from) {
      if (from >= blocks) continue;
      Acc part[kPiece];
      memcpy(part, &parts[from], sizeof(part));
#pragma unroll
      for (int i = 0; i < kPiece; ++i) sum[i] += part[i];
    }
#pragma unroll
    for (int first = 0; first < kPiece; first += kStore) {
      if (col + x + first >= output.cols()) continue;
      Scaled product[kStore];
#pragma unroll
      for (int i = 0; i < kStore; ++i) product[i] = Output::scaled(sum[first + i]);
      output.template store<kPieceC>(row + y, col + x + first, product, alpha, beta);
    }
  }
  // Until the last of them is read, no block's sums may go.
  cluster_sync();  // mutant: sums_read
}

}  // namespace kiln
