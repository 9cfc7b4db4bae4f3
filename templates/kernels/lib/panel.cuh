// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a block reads of an operand: a panel, as wide as its tile of D and as long as k, which is
/// walked over tile by tile.
///
///              k
///     +------+------+------+--
///     | tile | tile | tile |  ...   `across` rows of A (or columns of B)
///     +------+------+------+--
///
/// Packed numbers count by the bytes that have them, so a panel of them is that much less deep;
/// they are packed along k.
///
/// k_major says whether neighbours in memory run along k (a row-major A, a transposed B).

#include "common/annotations.cuh"
#include "common/element.cuh"
#include "common/gemm_args.cuh"

namespace kiln {

/// The tiles of a panel.
struct TileShape {
  int across;
  int depth;
  bool k_major;
  KILN_HD constexpr int rows() const { return k_major ? across : depth; }
  KILN_HD constexpr int cols() const { return k_major ? depth : across; }
};

template <class T>
struct Panel {
  const T* origin;
  long long ld;
  int first;  ///< of the rows or columns of the matrix, which has `end`
  int end;
  int depth;
  KILN_DEVICE int across() const { return end - first; }
  /// Tiles, from the first on, that lie in the matrix with all of their rows and columns.
  KILN_DEVICE int whole_tiles(TileShape tile) const {
    return across() >= tile.across ? depth / tile.depth : 0;  // mutant: whole_tiles
  }
};

template <bool kTransposed, class A>
KILN_DEVICE Panel<A> panel_of_a(const GemmArgs args, int row) {
  constexpr int kPacked = Packed<A>::kValues;
  static_assert(kPacked == 1 || !kTransposed, "Packed numbers are multiplied along k");
  const long long ld = args.lda / kPacked;
  const A* origin = static_cast<const A*>(args.a) + (kTransposed ? row : row * ld);
  return {origin, ld, row, args.m, args.k / kPacked};
}

template <bool kTransposed, class B>
KILN_DEVICE Panel<B> panel_of_b(const GemmArgs args, int col) {
  constexpr int kPacked = Packed<B>::kValues;
  static_assert(kPacked == 1 || kTransposed, "Packed numbers are multiplied along k");
  const long long ld = args.ldb / kPacked;
  const B* origin = static_cast<const B*>(args.b) + (kTransposed ? col * ld : col);
  return {origin, ld, col, args.n, args.k / kPacked};
}

}  // namespace kiln
