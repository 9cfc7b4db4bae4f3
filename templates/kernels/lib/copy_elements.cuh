// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies a tile to shared memory element by element, converted to the type that is computed with,
/// with zeros beyond the matrix, so that the arithmetic needs no edge case. Works for every
/// alignment and type.
///
///      global memory                 shared memory (rows of the layout)
///     +-----------+---               +-----------+---+
///     | 1 2 3 4 5 |  beyond    -->   | 1 2 3 4 5 | 0 |
///     | 6 7 8 9 a |                  | 6 7 8 9 a | 0 |
///     +-----------+---               +-----------+---+
///
/// Neighbouring threads take neighbours in memory; one pass of all threads takes whole lines.

#include "common/annotations.cuh"
#include "common/element.cuh"
#include "lib/panel.cuh"

namespace kiln {

template <class T, class Number, TileShape kTile, auto kLayout, int kThreads>
class CopyElements {
  static_assert(kThreads % kTile.cols() == 0, "A pass must take whole lines");

 public:
  using Element = Number;
  KILN_DEVICE explicit CopyElements(const Panel<T>& panel)
      : panel_(panel), step_(kTile.depth_contiguous ? kTile.depth : kTile.depth * panel.ld) {}

  KILN_DEVICE void copy(Number* tile, int left) {
    const int across = panel_.across();
    constexpr int kLines = kThreads / kTile.cols();
    const int along = static_cast<int>(threadIdx.x) % kTile.cols();
    int line = static_cast<int>(threadIdx.x) / kTile.cols();
    const T* from = panel_.origin + line * panel_.ld + along;
#pragma unroll
    for (int pass = 0; pass < (kTile.rows() + kLines - 1) / kLines; ++pass) {
      if (kTile.rows() % kLines != 0 && line >= kTile.rows()) break;
      const int x = kTile.depth_contiguous ? line : along;
      const int z = kTile.depth_contiguous ? along : line;
      tile[kLayout.offset(x, z)] =
          x < across && z < left ? to_accumulator<Number>(*from) : Number(0);
      line += kLines;
      from += kLines * panel_.ld;
    }
  }
  KILN_DEVICE void advance() {
    panel_.origin += step_;
  }

 private:
  Panel<T> panel_;
  long long step_;
};

}  // namespace kiln
