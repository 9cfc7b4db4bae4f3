// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The matrix atom of plain arithmetic: each thread multiplies and adds m x n elements of D in
/// registers, because one shared-memory load for each product would be as slow as the caches were.
/// Elements come in pieces of vec_m x vec_n that are spread over the tile, so that neighbouring
/// threads read and write neighbouring vectors:
///
///     vec_n = 2, n = 4, threads_n = 4:   t0 t0 t1 t1 t2 t2 t3 t3 | t0 t0 t1 t1 t2 t2 t3 t3
///
/// A step along k reads m + n numbers of a stage, m of A and n of B, for m * n products.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"

namespace kiln {

struct ThreadTileShape {
  int m;
  int n;
  int depth;
  int vec_m;
  int vec_n;
  int threads_m;
  int threads_n;
};

template <class Number, ThreadTileShape kShape, auto kA, auto kB>
class ThreadTile {
 public:
  struct Accumulators {
    Number at[kShape.m][kShape.n] = {};
  };
  static KILN_HD constexpr ThreadTileShape shape() { return kShape; }
  static KILN_DEVICE int row(int thread_row, int i) {
    return spread<kShape.vec_m, kShape.threads_m>(thread_row, i);
  }
  static KILN_DEVICE int col(int thread_col, int j) {
    return spread<kShape.vec_n, kShape.threads_n>(thread_col, j);
  }

  static KILN_DEVICE void multiply_stage(const Number* stage, int thread_row, int thread_col,
                                         Accumulators& sums) {
    constexpr int kDepth = kShape.depth;
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      Number a[kShape.m];
      Number b[kShape.n];
      read_share<kShape.vec_m, kShape.threads_m>(stage + kA.offset(0, step), thread_row, a);
      read_share<kShape.vec_n, kShape.threads_n>(stage + kB.first + kB.offset(0, step), thread_col,
                                                 b);
#pragma unroll
      for (int i = 0; i < kShape.m; ++i) {
#pragma unroll
        for (int j = 0; j < kShape.n; ++j) sums.at[i][j] += a[i] * b[j];
      }
    }
  }

 private:
  template <int kVec, int kThreads>
  static KILN_DEVICE int spread(int thread, int i) {
    return (i / kVec * kThreads + thread) * kVec + i % kVec;
  }
  template <int kVec, int kThreads, int kCount>
  KILN_DEVICE static void read_share(const Number* row, int thread, Number (&share)[kCount]) {
    using Vector = ElementVector<Number, kVec>;
#pragma unroll
    for (int i = 0; i < kCount; i += kVec) {
      const Vector vector =
          *reinterpret_cast<const Vector*>(row + spread<kVec, kThreads>(thread, i));
#pragma unroll
      for (int j = 0; j < kVec; ++j) share[i + j] = vector.element[j];
    }
  }
};

}  // namespace kiln
