// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the elements of a tile are in shared memory, which has 32 banks of 4 bytes: lanes that
/// want different words of one bank wait for each other.
///
/// A padded layout has `stride` elements from one row to the next, more than a row holds: rows that
/// are read together then begin in different banks:
///
///     stride 32:  row 0  bank 0 ...      stride 36:  row 0  bank 0 ...
///                 row 1  bank 0 ...                  row 1  bank 4 ...
///
/// A swizzled layout needs no more room than the tile. It exchanges the 16-byte chunks of a row, in
/// each row differently, so that a column of chunks lies in all banks. Rows of 128 bytes, chunk c:
///
///     row 0   0 1 2 3 4 5 6 7        chunk c of row r is where c ^ (r % 8) would be;
///     row 1   1 0 3 2 5 4 7 6        of rows of 64 and 32 bytes, 2 and 4 lie in one line of the
///     row 2   2 3 0 1 6 7 4 5        banks and are exchanged alike, as tensor maps and wgmma do
///     ...
///     row 7   7 6 5 4 3 2 1 0        (128-, 64- and 32-byte swizzle; the tile starts at a multiple
///     row 8   0 1 2 3 4 5 6 7         of 1024 bytes there)
///
/// Lanes that read words of 4 or 8 bytes, four rows of 32 bytes at a time, want those pieces of a
/// column in different banks: then chunks of 32 bytes are exchanged, of which a line has 4.
///
/// Tensor copies bring lines of 128 bytes, and one box brings the same line of all rows. So rows
/// that are longer lie in slabs, one line wide:
///
///     slab 0   row 0, first line         slab 1   row 0, second line
///              row 1, first line                  row 1, second line
///              ...                                ...
///
/// An operand's rows run along k or across it; a stage has one tile of A and one of B:
///
///     | A tile ............ | B tile ............ |   `elements` in all
///     0                     b.first

#include "common/annotations.cuh"

namespace kiln {

struct PaddedLayout {
  int stride;
  /// The pattern of places repeats after so many rows.
  KILN_HD constexpr int period() const { return 1; }
  /// From a place to the one `cols` further along its row. Precondition: no bit of `cols`, whole
  /// chunks of 16 bytes, is set in the place's column.
  KILN_HD constexpr int along(int place, int cols) const { return place + cols; }
  KILN_HD constexpr int offset(int row, int col) const { return row * stride + col; }
  template <class T>
  KILN_DEVICE T* at(T* tile, int row, int col) const {
    return tile + row * stride + col;
  }
};

struct SwizzledLayout {
  int stride;     ///< elements from one row to the next; 2, 4 or a multiple of `line` chunks
  int chunk;      ///< elements of 16 bytes, or of 32
  int line = 8;   ///< chunks of 128 bytes
  int apart = 1;  ///< lines from one of a row to the next; more than 1 in slabs
  KILN_HD constexpr int period() const { return line; }
  KILN_HD constexpr int along(int place, int cols) const {
    const int within = cols % (line * chunk);  // rows are exchanged within lines
    return (place ^ within) + (cols - within) * apart;
  }
  KILN_HD constexpr int offset(int row, int col) const {
    const int span = stride / chunk < line ? stride / chunk : line;
    const int turn = row / (line / span) % span;
    const int within = col % (line * chunk);
    return row * stride + (col - within) * apart + (within / chunk ^ turn) * chunk + col % chunk;
  }
  template <class T>
  KILN_DEVICE T* at(T* tile, int row, int col) const {
    return tile + offset(row, col);
  }
};

template <class Layout>
struct OperandLayout {
  Layout layout;
  bool k_major;
  int first;
  KILN_HD constexpr int offset(int across, int depth) const {
    return k_major ? layout.offset(across, depth) : layout.offset(depth, across);
  }
  template <class T>
  KILN_DEVICE T* at(T* tile, int across, int depth) const {
    return k_major ? layout.at(tile, across, depth) : layout.at(tile, depth, across);
  }
};

template <class LayoutA, class LayoutB>
struct Stage {
  OperandLayout<LayoutA> a;
  OperandLayout<LayoutB> b;
  int elements;
};

}  // namespace kiln
