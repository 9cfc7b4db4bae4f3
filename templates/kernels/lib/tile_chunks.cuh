// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A tile of a row-major matrix as vectors, dealt to the threads of a block in passes:
///
///     cols = 32, kVec = 8, 64 threads          (t: the chunk of thread t, one pass)
///
///     t0   t1   t2   t3
///     t4   t5   t6   t7          rows_per_pass = 64 / (32 / 8) = 16
///     ...
///     t60  t61  t62  t63
///
/// Neighbouring threads take neighbouring chunks of a row, so that a warp's loads are whole
/// sectors. Beyond the matrix a chunk has fewer valid elements, or none. How the chunks travel is
/// up to CopyRegisters and CopyAsync.

#include "common/annotations.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

/// A machine word of that many bytes to move elements in.
template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

struct ChunkGrid {
  int chunks_per_row;
  int rows_per_pass;
  int passes;
  bool even;
};
KILN_HD constexpr ChunkGrid chunk_grid(TileShape tile, int vec, int threads) {
  const int chunks_per_row = tile.cols() / vec;
  const int rows_per_pass = threads / chunks_per_row;
  return {chunks_per_row, rows_per_pass, (tile.rows() + rows_per_pass - 1) / rows_per_pass,
          threads % chunks_per_row == 0 && tile.rows() % rows_per_pass == 0};
}

template <class T, TileShape kTile, auto kLayout, int kVec, int kThreads>
class TileChunks {
  static_assert(kTile.cols() % kVec == 0, "A row of the tile must be whole vectors");
  static_assert(kThreads >= kTile.cols() / kVec,
                "One pass of all threads must cover a row of the tile");
  static_assert(kLayout.layout.stride >= kTile.cols(), "Rows of the tile must not overlap");
  static_assert(chunk_grid(kTile, kVec, kThreads).rows_per_pass % kLayout.layout.period() == 0,
                "The layout's pattern must repeat with the passes");

 public:
  using Element = T;
  using Vector = typename Word<kVec* static_cast<int>(sizeof(T))>::type;
  KILN_DEVICE static constexpr int vec() { return kVec; }
  KILN_DEVICE static constexpr ChunkGrid grid() { return chunk_grid(kTile, kVec, kThreads); }
  KILN_DEVICE static constexpr auto layout() { return kLayout.layout; }
  /// From the place of a pass's chunk in the tile to that of the next.
  KILN_DEVICE static constexpr int step() { return grid().rows_per_pass * kLayout.layout.stride; }

  KILN_DEVICE explicit TileChunks(const Panel<T>& panel)
      : TileChunks(panel.origin, panel.ld, kTile.k_major ? panel.across() : panel.depth,
                   kTile.k_major ? panel.depth : panel.across()) {}

  /// Whether the thread has a chunk in that pass.
  KILN_DEVICE bool in_tile(int pass) const {
    constexpr ChunkGrid kGrid = grid();
    if constexpr (kGrid.even) return true;
    constexpr int kRowsPerPass = kGrid.rows_per_pass;
    constexpr int kRows = kTile.rows();
    return row_ < kRowsPerPass && row_ + pass * kRowsPerPass < kRows;
  }
  /// Elements of the pass's chunk that exist.
  KILN_DEVICE int valid(int pass) const {
    constexpr int kRowsPerPass = grid().rows_per_pass;
    return pass * kRowsPerPass < rows_ ? min(max(cols_, 0), kVec) : 0;
  }
  KILN_DEVICE const T* source(int pass) const {
    constexpr int kRowsPerPass = grid().rows_per_pass;
    return source_ + static_cast<long long>(pass * kRowsPerPass) * ld_;
  }
  /// Steps to the panel's next tile.
  KILN_DEVICE void advance() {
    constexpr int kRows = kTile.rows();
    constexpr int kCols = kTile.cols();
    if constexpr (kTile.k_major) {
      source_ += kCols;
      cols_ -= kCols;
    } else {
      source_ += kRows * ld_;
      rows_ -= kRows;
    }
  }
  /// Steps back to the tile before.
  KILN_DEVICE void retreat() {
    constexpr int kRows = kTile.rows();
    constexpr int kCols = kTile.cols();
    if constexpr (kTile.k_major) {
      source_ -= kCols;
      cols_ += kCols;
    } else {
      source_ -= kRows * ld_;
      rows_ += kRows;
    }
  }

  KILN_DEVICE TileChunks(const T* origin, long long ld, int rows, int cols) {
    constexpr int kChunksPerRow = grid().chunks_per_row;
    row_ = static_cast<int>(threadIdx.x) / kChunksPerRow;
    col_ = static_cast<int>(threadIdx.x) % kChunksPerRow * kVec;
    rows_ = rows - row_;
    cols_ = cols - col_;
    ld_ = ld;
    source_ = origin + row_ * ld + col_;
  }

  int row_;  ///< of the thread's first chunk in the tile
  int col_;
  int rows_;  ///< rows and columns of the matrix from that chunk on; may be negative
  int cols_;
  long long ld_;
  const T* source_;
};

}  // namespace kiln
