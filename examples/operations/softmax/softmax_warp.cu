// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   softmax_warp
//@ purpose    One warp a row: for rows that its registers hold.
//@ operation  softmax
//@ tune       rows_per_block = 1 2 4* 8 16   // warps of a block
//@ tune       vector_bytes = 4 8 16*         // of one load; elements one by one where rows are odd
//@ tune       held_vectors = 1 2 4* 8        // that a lane loads together and keeps
//@ let        row_threads = 32 * rows_per_block
//@ require    vector_bytes >= x_bytes
//@ prefer     cols <= 32 * held_vectors * vector_bytes / x_bytes         // read once
//@ prefer     2 * cols > 32 * held_vectors * vector_bytes / x_bytes ||
//@              held_vectors == 1                                        // no idle loads
//@ prefer     rows_per_block >= 2 && held_vectors * vector_bytes / x_bytes <= 32
//@ launch     softmax_warp<x, y>
//@   grid     ceil_div(rows, rows_per_block)
//@   block    row_threads

/// \file
/// A warp computes a row, and its lanes exchange what they have by shuffles: neither shared memory
/// nor a barrier, so that warps never wait for each other.
///
///     row   | lane 0 | lane 1 | ... | lane 31 | lane 0 | lane 1 | ...
///             vector                            the next that it holds
///
/// Memory is the limit (a number is read and written for a handful of operations), and what fills
/// it is bytes in flight: a lane starts all loads of its share before it uses the first. A row that
/// fits into the registers of a warp is read once. A longer one goes through them in pieces, twice:
/// for the sum and for the results; the second time it mostly comes from the L2 cache.

#include "softmax_row.cuh"

template <int kCount, class X, class Y>
__device__ void softmax_of_row(const X* x, Y* y, int cols, float scale) {
  const int lane = threadIdx.x % 32;
  const int vectors = cols / kCount;
  constexpr int kPiece = 32 * held_vectors;
  Share<held_vectors, kCount> share;
  PowerSum total;
  for (int at = 0; at < vectors; at += kPiece) {
    share.load(x, at + lane, 32, vectors, scale);
    share.add_to(total);
  }
  total.add_lanes();
  for (int at = 0; at < vectors; at += kPiece) {
    if (vectors > kPiece) {
      share.load(x, at + lane, 32, vectors, scale);
      share.raise_two(total.greatest);
    }
    share.store(y, at + lane, 32, vectors, total);
  }
}

template <class X, class Y>
__global__ void __launch_bounds__(row_threads)
    softmax_warp(const X* __restrict__ x, Y* __restrict__ y, int rows, int cols, float scale) {
  constexpr int kCount = vector_bytes / sizeof(X);
  const long long row = blockIdx.x * static_cast<long long>(rows_per_block) + threadIdx.x / 32;
  if (row >= rows) return;  // the whole warp
  const X* from = x + row * cols;
  Y* to = y + row * cols;
  if (rows_hold_vectors<kCount>(x, cols) && rows_hold_vectors<kCount>(y, cols)) {
    softmax_of_row<kCount>(from, to, cols, scale * kLog2E);
  } else {
    softmax_of_row<1>(from, to, cols, scale * kLog2E);
  }
}
