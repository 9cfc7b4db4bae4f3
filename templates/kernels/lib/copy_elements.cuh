// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles element by element and converts on the way: each element goes to shared memory as a
/// number of the accumulator's type, so that the arithmetic has nothing left to convert.
///
///     memory (rows along k)          shared memory (rows across k)
///
///     t0  t1  t2  t3   line 0        t0 t4 t8 ...
///     t4  t5  t6  t7   line 1        t1 t5 t9 ...       kLength = 4, kLines = threads / kLength
///     t8  t9  ...                    t2 ...
///
/// Neighbouring threads take neighbours in memory, whichever way those run; one pass of all threads
/// takes kLines whole lines. Beyond the matrix there are zeros, so that the arithmetic needs no
/// edge case. It works for any alignment, and reads one element at a time.

#include "common/annotations.cuh"
#include "common/element.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

template <class T, class Acc, TileShape kTile, auto kLayout, int kThreads>
class CopyElements {
 public:
  KILN_DEVICE explicit CopyElements(const Panel<T>& panel)
      : source_(panel.origin), ld_(panel.ld), across_(panel.across()) {}

  /// Copies the current tile; `depth` elements of k are left, of which it takes what it needs.
  KILN_DEVICE void copy(Acc* tile, int depth) const {
    constexpr int kLength = kTile.cols();
    constexpr int kAllLines = kTile.rows();
    constexpr int kLines = kThreads / kLength;
    constexpr bool kDepthContiguous = kTile.depth_contiguous;
    constexpr auto kPlaces = kLayout;
    static_assert(kThreads % kLength == 0, "A pass must take whole lines");
    const int along = static_cast<int>(threadIdx.x) % kLength;
    int line = static_cast<int>(threadIdx.x) / kLength;
    const T* from = source_ + line * ld_ + along;
#pragma unroll
    for (int pass = 0; pass < (kAllLines + kLines - 1) / kLines; ++pass) {
      if (kAllLines % kLines != 0 && line >= kAllLines) break;
      const int x = kDepthContiguous ? line : along;
      const int z = kDepthContiguous ? along : line;
      tile[kPlaces.offset(x, z)] = x < across_ && z < depth ? to_accumulator<Acc>(*from) : Acc(0);
      line += kLines;
      from += kLines * ld_;
    }
  }

  /// Steps to the panel's next tile.
  KILN_DEVICE void advance() {
    constexpr int kDepth = kTile.depth;
    source_ += kTile.depth_contiguous ? kDepth : kDepth * ld_;
  }

 private:
  const T* source_;
  long long ld_;
  int across_;
};

}  // namespace kiln
