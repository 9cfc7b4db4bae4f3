// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// layouts

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
