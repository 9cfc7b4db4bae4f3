// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   softmax_block
//@ purpose    One block a row: for long rows.
//@ operation  softmax
//@ tune       row_threads = 64 128 256* 512 1024   // of a block
//@ tune       vector_bytes = 4 8 16*               // of one load
//@ tune       held_vectors = 1 2 4* 8              // that a thread loads together and keeps
//@ require    row_threads <= device.max_threads
//@ require    vector_bytes >= x_bytes
//@ prefer     cols <= row_threads * held_vectors * vector_bytes / x_bytes       // read once
//@ prefer     2 * cols > row_threads * held_vectors * vector_bytes / x_bytes ||
//@              row_threads * held_vectors == 64                                // no idle loads
//@ prefer     row_threads * (held_vectors * vector_bytes / x_bytes + 24) <= device.regs_per_sm
//@ launch     softmax_block<x, y>
//@   grid     rows
//@   block    row_threads
//@   args     x, y, cols, scale

/// \file
/// As in softmax_warp.cu, but a row's share is that of a block, whose registers hold 256 KiB less
/// what the arithmetic needs. The warps' sums meet in shared memory:
///
///     lanes -> warp (shuffles) -> shared memory -> every warp adds all of them -> results
///
/// The one barrier stalls a block until its last load has come; other blocks of the multiprocessor
/// keep the memory busy meanwhile, so two or more of them should fit.

#include "softmax_row.cuh"

/// Of all threads of the block: each gets the same.
__device__ void add_threads(PowerSum& total) {
  constexpr int kWarps = row_threads / 32;
  __shared__ float greatest[kWarps];
  __shared__ float sums[kWarps];
  total.add_lanes();
  const int lane = threadIdx.x % 32;
  if (lane == 0) {
    greatest[threadIdx.x / 32] = total.greatest;
    sums[threadIdx.x / 32] = total.sum;
  }
  __syncthreads();
  total = PowerSum();
  if (lane < kWarps) {
    total.greatest = greatest[lane];
    total.sum = sums[lane];
  }
  total.add_lanes();
}

template <int kCount, class X, class Y>
__device__ void softmax_of_row(const X* x, Y* y, int cols, float scale) {
  const int thread = threadIdx.x;
  const int vectors = cols / kCount;
  constexpr int kPiece = row_threads * held_vectors;
  Share<held_vectors, kCount> share;
  PowerSum total;
  for (int at = 0; at < vectors; at += kPiece) {
    share.load(x, at + thread, row_threads, vectors, scale);
    share.add_to(total);
  }
  add_threads(total);
  for (int at = 0; at < vectors; at += kPiece) {
    if (vectors > kPiece) {
      share.load(x, at + thread, row_threads, vectors, scale);
      share.raise_two(total.greatest);
    }
    share.store(y, at + thread, row_threads, vectors, total);
  }
}

template <class X, class Y>
__global__ void __launch_bounds__(row_threads)
    softmax_block(const X* __restrict__ x, Y* __restrict__ y, int cols, float scale) {
  constexpr int kCount = vector_bytes / sizeof(X);
  const X* from = x + blockIdx.x * static_cast<long long>(cols);
  Y* to = y + blockIdx.x * static_cast<long long>(cols);
  if (rows_hold_vectors<kCount>(x, cols) && rows_hold_vectors<kCount>(y, cols)) {
    softmax_of_row<kCount>(from, to, cols, scale * kLog2E);
  } else {
    softmax_of_row<1>(from, to, cols, scale * kLog2E);
  }
}
