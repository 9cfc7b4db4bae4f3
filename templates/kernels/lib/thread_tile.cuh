// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One thread's share of the block's tile, multiplied with plain arithmetic: m x n sums in
/// registers, because one shared-memory read per product would be as slow as the caches were.
///
///              b0 b1 b2 b3      registers, read from one row of B's tile
///            +-------------+
///         a0 |  s  s  s  s |    each of the `depth` steps reads m + n numbers
///         a1 |  s  s  s  s |    and does m * n multiplications and additions
///            +-------------+
///
/// A thread's rows and columns come in pieces of vec_m and vec_n, the pieces spread over the tile,
/// so that neighbouring threads read and write neighbouring vectors:
///
///     vec_n = 2, n = 4, threads_n = 4:   t0 t0 t1 t1 t2 t2 t3 t3 | t0 t0 t1 t1 t2 t2 t3 t3
///
/// Both tiles lie in shared memory as rows across k.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

struct ThreadTileShape {
  int m;  ///< rows of D that a thread computes
  int n;
  int depth;
  int threads_m;  ///< threads along the rows of the block's tile
  int threads_n;
  int vec_m;  ///< neighbouring rows of one piece
  int vec_n;
};

template <class AccType, ThreadTileShape kShape, auto kStage>
class ThreadTile {
  static_assert(kShape.m % kShape.vec_m == 0 && kShape.n % kShape.vec_n == 0,
                "A thread's share must be whole vectors");

 public:
  using Acc = AccType;
  KILN_HD static constexpr ThreadTileShape shape() { return kShape; }

  KILN_DEVICE ThreadTile()
      : row_(static_cast<int>(threadIdx.x) / kShape.threads_n),
        col_(static_cast<int>(threadIdx.x) % kShape.threads_n) {}

  /// Adds the product of a stage's tiles.
  KILN_DEVICE void multiply_stage(const Acc* stage) {
    constexpr ThreadTileShape kTile = kShape;
    constexpr int kFirstB = kStage.b.first;
#pragma unroll
    for (int z = 0; z < kTile.depth; ++z) {
      Acc a[kTile.m];
      Acc b[kTile.n];
      read_share<kTile.vec_m, kTile.threads_m, kStage.a>(stage, z, row_, a);
      read_share<kTile.vec_n, kTile.threads_n, kStage.b>(stage + kFirstB, z, col_, b);
#pragma unroll
      for (int i = 0; i < kTile.m; ++i) {
#pragma unroll
        for (int j = 0; j < kTile.n; ++j) sums_[i][j] += a[i] * b[j];
      }
    }
  }

  /// Where the thread's i-th row lies in the block's tile.
  KILN_DEVICE int row(int i) const {
    return spread<kShape.vec_m, kShape.threads_m>(row_, i);
  }
  KILN_DEVICE int col(int j) const {
    return spread<kShape.vec_n, kShape.threads_n>(col_, j);
  }
  KILN_DEVICE Acc sum(int i, int j) const {
    return sums_[i][j];
  }

 private:
  template <int kVec, int kThreads>
  KILN_DEVICE static int spread(int thread, int i) {
    return (i / kVec * kThreads + thread) * kVec + i % kVec;  // mutant: spread
  }

  /// Reads a thread's share of one row.
  template <int kVec, int kThreads, auto kLayout, int kCount>
  KILN_DEVICE static void read_share(const Acc* tile, int z, int thread, Acc (&share)[kCount]) {
    using Vector = ElementVector<Acc, kVec>;
    constexpr auto kPlaces = kLayout;
#pragma unroll
    for (int i = 0; i < kCount; i += kVec) {
      const int x = spread<kVec, kThreads>(thread, i);
      const Vector vector = *reinterpret_cast<const Vector*>(kPlaces.at(tile, x, z));
#pragma unroll
      for (int j = 0; j < kVec; ++j) share[i + j] = vector.element[j];
    }
  }

  int row_;
  int col_;
  Acc sums_[kShape.m][kShape.n] = {};
};

}  // namespace kiln
