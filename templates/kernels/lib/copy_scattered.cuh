// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies a tile whose rows run along k into rows across k, in the background: cp.async moves
/// single elements, each to a row of its own, so that the tile is transposed on the way and no
/// register or instruction of arithmetic is spent on it.
///
///     memory (rows along k)               shared memory (rows across k, `stride` elements apart)
///
///         k 0  1  2  3  4  5  6  7            row 0  1  2  3
///     row 0 t0 t1 t2 t3 t4 t5 t6 t7         k 0  t0 t8 t16 t24
///         1 t8 t9 ...                         1  t1 t9 ...
///         2 t16 ...                           2  t2 ...
///         3 t24 ...                          ...
///
/// A warp takes 32 bytes of k, a whole sector of each row, from as many rows as its lanes reach.
/// With strides of 4 modulo 8 elements it then writes to 32 different banks: 8 rows of shared
/// memory begin 4 banks apart, and 4 neighbours fill the gap. (Elements of 8 bytes: 4 rows, 8 banks
/// apart, for either half of the warp.)
///
/// It takes rows of any alignment. Beyond the matrix there are zeros.

#include "common/annotations.cuh"
#include "lib/panel.cuh"
#include "lib/ptx_async_copy.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

template <class T, TileShape kTile, auto kLayout, int kThreads>
class CopyScattered {
  static constexpr int kBytes = static_cast<int>(sizeof(T));
  static constexpr int kRun = 32 / kBytes;        // elements of k that neighbouring threads take
  static constexpr int kLines = kThreads / kRun;  // rows that a pass takes
  static constexpr int kRows = kTile.across;
  static constexpr int kRuns = kTile.depth / kRun;
  static constexpr int kPasses = (kRows + kLines - 1) / kLines;
  static constexpr int kStride = kLayout.layout.stride;
  static_assert(kTile.k_major && !kLayout.k_major,
                "The copy turns rows along k into rows across it");
  static_assert(kTile.depth % kRun == 0, "A tile must be whole sectors deep");
  static_assert(kStride % 8 == 4, "Rows must begin 4 elements apart, modulo 8");

 public:
  using Element = T;

  KILN_DEVICE explicit CopyScattered(const Panel<T>& panel) {
    const int run = static_cast<int>(threadIdx.x) % kRun;
    line_ = static_cast<int>(threadIdx.x) / kRun;
    lines_ = panel.across() - line_;
    depth_ = panel.depth - run;
    place_ = run * kStride + line_;
    step_ = kLines * panel.ld;
    source_ = panel.origin + line_ * panel.ld + run - kTile.depth;
  }

  /// Starts to copy the next tile, which lies in the matrix.
  KILN_DEVICE void start_whole(T* tile) {
    source_ += kTile.depth;  // mutant: next_scattered
    start_copies(tile + place_, [](int, int) { return kBytes; });
    depth_ -= kTile.depth;
  }

  /// The same of any tile.
  KILN_DEVICE void start(T* tile) {
    T* to = tile + place_;
    // The address moves before the copies, not after them: they read it late, and what overwrites
    // it waits for that.
    source_ += kTile.depth;
    // Inside of the matrix there is nothing to ask for each copy.
    if (lines_ > (kPasses - 1) * kLines && depth_ > (kRuns - 1) * kRun) {
      start_copies(to, [](int, int) { return kBytes; });
    } else {
      start_copies(to, [&](int pass, int i) {
        return pass * kLines < lines_ && i * kRun < depth_ ? kBytes : 0;
      });
    }
    depth_ -= kTile.depth;
  }

 private:
  /// All copies of a tile, of so many bytes in a pass and a run of k.
  template <class Bytes>
  KILN_DEVICE void start_copies(T* to, const Bytes& bytes) const {
    const T* from = source_;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
      for (int i = 0; i < kRuns; ++i) {
        if (in_tile(pass)) {
          copy_async<kBytes>(to + i * kRun * kStride + pass * kLines, from + i * kRun,
                             bytes(pass, i));
        }
      }
      from += step_;
    }
  }

  KILN_DEVICE bool in_tile(int pass) const {
    if constexpr (kRows % kLines == 0) return true;
    return line_ + pass * kLines < kRows;
  }

  const T* source_;  ///< the thread's first element of the tile before the next
  long long step_;   ///< to the row of the next pass
  int line_;         ///< of the tile, in the first pass
  int lines_;        ///< rows and depth of the matrix from the first element on; may be negative
  int depth_;
  int place_;  ///< in shared memory
};

}  // namespace kiln
