// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The matrix atom of the WMMA interface: one warp multiplies a fragment of A by one of B.
///
///              +--- n ---+
///            k |    B    |
///     +- k -+  +---------+
///     |  A  |  |   sum   | m        m x n x k: 16x16x16, 32x8x16, 8x32x16, ... by element type
///     +-----+  +---------+
///
/// Which lane has which element is up to the hardware; what a kernel sees are whole fragments,
/// which come from shared memory and return to it. Operands keep their orientation in memory: a
/// fragment is row_major or col_major by whether its rows run along k.

#include <mma.h>

#include "common/annotations.cuh"

namespace kiln {

template <bool kRowMajor>
struct WmmaLayout {
  using type = nvcuda::wmma::row_major;
};
template <>
struct WmmaLayout<false> {
  using type = nvcuda::wmma::col_major;
};

struct WmmaShape {
  int m;
  int n;
  int k;
};

template <class T, class Acc, WmmaShape kShape, bool kDepthContiguousA, bool kDepthContiguousB>
struct AtomWmma {
  using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kShape.m, kShape.n, kShape.k, T,
                                           typename WmmaLayout<kDepthContiguousA>::type>;
  using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kShape.m, kShape.n, kShape.k, T,
                                           typename WmmaLayout<!kDepthContiguousB>::type>;
  using Accumulator =
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kShape.m, kShape.n, kShape.k, Acc>;
  KILN_HD static constexpr bool addressed_by_lane() { return false; }
  KILN_HD static constexpr int rows() { return kShape.m; }
  KILN_HD static constexpr int cols() { return kShape.n; }
  KILN_HD static constexpr int depth() { return kShape.k; }

  KILN_DEVICE static void clear(Accumulator& sum) { nvcuda::wmma::fill_fragment(sum, Acc(0)); }
  KILN_DEVICE static void load_a(FragmentA& a, const T* from, int stride) {
    nvcuda::wmma::load_matrix_sync(a, from, stride);
  }
  KILN_DEVICE static void load_b(FragmentB& b, const T* from, int stride) {
    nvcuda::wmma::load_matrix_sync(b, from, stride);
  }
  KILN_DEVICE static void multiply(Accumulator& sum, const FragmentA& a, const FragmentB& b) {
    nvcuda::wmma::mma_sync(sum, a, b, sum);
  }
  KILN_DEVICE static void store(const Accumulator& sum, Acc* to, int stride) {
    nvcuda::wmma::store_matrix_sync(to, sum, stride, nvcuda::wmma::mem_row_major);
  }
};

}  // namespace kiln
