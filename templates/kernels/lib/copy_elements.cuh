// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles element by element.

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
