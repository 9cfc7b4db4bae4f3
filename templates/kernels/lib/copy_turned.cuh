// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies a tile whose rows run along k into rows across k, through registers: a thread loads 16
/// bytes of a row, a tile ahead, and stores them to as many rows of shared memory as they have
/// elements. As copy_scattered.cuh, with other costs: registers for one tile's share, but a quarter
/// of the requests to memory, and no bank conflict in either direction:
///
///     memory (rows along k), a warp          shared memory (rows across k, `stride` elements
///     apart)
///
///         k 0 ... 3   4 ... 7                    row 0  1  2 ... 15
///     row 0   t0        t1                   k 0  t0 t2 t4
///         1   t2        t3                     1  t0 t2 t4           the first of four stores
///        ...                                   ...                   writes k 0 and k 4
///        15   t30       t31                    4  t1 t3 t5
///
/// A store writes 16 neighbours of two rows that are four rows apart (f64: by half warps 8 of rows
/// two apart): with strides of 4 modulo 8 elements the one half of the banks and the other.
///
/// Rows of any alignment are taken; beyond the matrix there are zeros. start() fits a ring of
/// stages: what it stores is visible after the next barrier, and was loaded by the call before.

#include "common/annotations.cuh"
#include "lib/chunk_load.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

template <class T, TileShape kTile, auto kLayout, int kAligned, int kThreads>
class CopyTurned {
  static constexpr int kVec = 16 / static_cast<int>(sizeof(T));
  static constexpr int kRun = 2 * kVec;        // elements of k that neighbouring threads take
  static constexpr int kLines = kThreads / 2;  // rows that a pass takes
  static constexpr int kRows = kTile.across;
  static constexpr int kRuns = kTile.depth / kRun;
  static constexpr int kPasses = (kRows + kLines - 1) / kLines;
  static constexpr int kStride = kLayout.layout.stride;
  using Load = ChunkLoad<T, kVec, kAligned>;
  static_assert(kTile.k_major && !kLayout.k_major,
                "The copy turns rows along k into rows across it");
  static_assert(kTile.depth % kRun == 0, "A tile must be whole sectors deep");
  static_assert(kStride % 8 == 4, "Rows must begin 4 elements apart, modulo 8");

 public:
  using Element = T;

  KILN_DEVICE explicit CopyTurned(const Panel<T>& panel) {
    const int first = static_cast<int>(threadIdx.x) % 2 * kVec;
    line_ = static_cast<int>(threadIdx.x) / 2;
    lines_ = panel.across() - line_;
    depth_ = panel.depth - first;
    place_ = first * kStride + line_;
    step_ = kLines * panel.ld;
    source_ = panel.origin + line_ * panel.ld + first;
    load<false>();
  }

  /// Stores the next tile, and starts to load the one after it.
  KILN_DEVICE void start(T* tile) {
    store(tile);
    load<false>();
  }

  /// The same where that one lies in the matrix as well.
  KILN_DEVICE void start_whole(T* tile) {
    store(tile);
    load<true>();
  }

 private:
  KILN_DEVICE void store(T* tile) const {
    T* to = tile + place_;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
      for (int run = 0; run < kRuns; ++run) {
        if (!in_tile(pass)) continue;
        T elements[kVec];
        memcpy(elements, &loaded_[pass][run], sizeof(elements));
#pragma unroll
        for (int i = 0; i < kVec; ++i) {
          to[(run * kRun + i) * kStride + pass * kLines] = elements[i];
        }
      }
    }
  }

  template <bool kWhole>
  KILN_DEVICE void load() {
    const T* from = source_;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
      for (int run = 0; run < kRuns; ++run) {
        int left = kVec;
        if constexpr (!kWhole) {
          left = pass * kLines < lines_ ? min(max(depth_ - run * kRun, 0), kVec) : 0;
        }
        if (in_tile(pass)) Load::load(loaded_[pass][run], from + run * kRun, left, false);
      }
      from += step_;
    }
    source_ += kTile.depth;
    depth_ -= kTile.depth;
  }

  KILN_DEVICE bool in_tile(int pass) const {
    if constexpr (kRows % kLines == 0) return true;
    return line_ + pass * kLines < kRows;
  }

  typename Load::Loaded loaded_[kPasses][kRuns];
  const T* source_;  ///< the thread's first element of the tile to load next
  long long step_;   ///< to the row of the next pass
  int line_;         ///< of the tile, in the first pass
  int lines_;        ///< rows and depth of the matrix from the first element on; may be negative
  int depth_;
  int place_;  ///< in shared memory
};

}  // namespace kiln
