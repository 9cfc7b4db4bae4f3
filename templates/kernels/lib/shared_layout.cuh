// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the elements of a tile are in shared memory.
///
/// A padded layout has `stride` elements from one row to the next, more than a row holds: rows that
/// are read together then begin in different banks:
///
///     stride 32:  row 0  bank 0 ...      stride 36:  row 0  bank 0 ...
///                 row 1  bank 0 ...                  row 1  bank 4 ...
///
/// An operand's rows run along k or across it, as they do in memory; a stage has one tile of A and
/// one of B:
///
///     | A tile ............ | B tile ............ |   `elements` in all
///     0                     b.first

#include "common/annotations.cuh"

namespace kiln {

struct PaddedLayout {
  int stride;
  KILN_HD constexpr int period() const { return 1; }
  KILN_HD constexpr int offset(int row, int col) const { return row * stride + col; }
  template <class T>
  KILN_DEVICE T* at(T* tile, int row, int col) const {
    return tile + row * stride + col;
  }
};

template <class Layout>
struct OperandLayout {
  Layout layout;
  bool depth_contiguous;
  int first;
  KILN_HD constexpr int offset(int across, int depth) const {
    return depth_contiguous ? layout.offset(across, depth) : layout.offset(depth, across);
  }
};

template <class LayoutA, class LayoutB>
struct Stage {
  OperandLayout<LayoutA> a;
  OperandLayout<LayoutB> b;
  int elements;
};

}  // namespace kiln
