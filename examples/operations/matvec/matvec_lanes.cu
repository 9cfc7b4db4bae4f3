// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   matvec_lanes
//@ purpose    Some lanes of a warp a row, so that short rows leave none without work.
//@ operation  matvec
//@ types      a=f32|f16|bf16 x=a y=a|f32
//@ tune       row_lanes = 1 2 4 8* 16 32      // that share a row
//@ tune       block_size = 64 128* 256 512    // threads
//@ tune       vector_bytes = 4 8 16*          // of one load
//@ tune       loads_together = 1 2 4*         // that a lane has in flight
//@ let        vector_elements = vector_bytes / a_bytes
//@ let        block_rows = block_size / row_lanes
//@ require    vector_bytes >= a_bytes
//@ require    ceil_div(batch * rows, block_rows) <= 2147483647         // one-dimensional grid
//@ prefer     row_lanes * vector_bytes <= cols * a_bytes || row_lanes == 1            // no idling
//@ prefer     row_lanes * vector_bytes * 8 >= cols * a_bytes || row_lanes == 32
//@ launch     matvec_lanes<a, y, vector_elements, row_lanes, block_size, loads_together>
//@   grid     ceil_div(batch * rows, block_rows)
//@   block    block_size
//@   args     a, x, y, (long long) batch * rows, rows, cols

/// \file
/// The matrices of the batch lie one after another, and so do their rows: to the kernel they are
/// one tall matrix, whose row r belongs to the vector r / rows. No block begins or ends with a
/// matrix, so none is partly idle however small the matrices are.
///
///     a[0] | row 0 | lanes 0-7   \
///          | row 1 | lanes 8-15   |  a warp, 8 lanes a row; lanes of a row are `vector` elements
///     a[1] | row 0 | lanes 16-23  |  apart, and add their sums by shuffles at the end
///          | row 1 | lanes 24-31 /
///
/// Every number of a is read once: memory is the limit. x comes from the caches for all rows but
/// the first. Tunables reach this kernel as template arguments.

#include "common/element.cuh"

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
  T of[kCount];
};

/// Whether every row starts where a vector may.
template <int kCount, class T>
__device__ bool rows_hold_vectors(const T* matrix, int cols) {
  return cols % kCount == 0 &&
         reinterpret_cast<unsigned long long>(matrix) % alignof(Vector<T, kCount>) == 0;
}

/// What one lane adds to the product of a row and a vector.
template <int kCount, int kLanes, int kLoads, class T>
__device__ float product_of_share(const T* __restrict__ row, const T* __restrict__ x, int cols) {
  using V = Vector<T, kCount>;
  const V* const of_row = reinterpret_cast<const V*>(row);
  const V* const of_x = reinterpret_cast<const V*>(x);
  const int vectors = cols / kCount;
  float sums[kCount] = {};
  for (int begin = threadIdx.x % kLanes; begin < vectors; begin += kLoads * kLanes) {
    V numbers[kLoads];
    V factors[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = begin + i * kLanes;
      if (at < vectors) {
        numbers[i] = of_row[at];
        factors[i] = of_x[at];
      }
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (begin + i * kLanes >= vectors) break;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        sums[j] += kiln::to_accumulator<float>(numbers[i].of[j]) *
                   kiln::to_accumulator<float>(factors[i].of[j]);
      }
    }
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kCount; ++j) sum += sums[j];
  return sum;
}

template <class T, class Y, int kCount, int kLanes, int kThreads, int kLoads>
__global__ void __launch_bounds__(kThreads)
    matvec_lanes(const T* __restrict__ a, const T* __restrict__ x, Y* __restrict__ y,
                 long long all_rows, int rows, int cols) {
  const long long row =
      blockIdx.x * static_cast<long long>(kThreads / kLanes) + threadIdx.x / kLanes;
  float sum = 0.0f;
  if (row < all_rows) {
    const T* of_row = a + row * cols;
    const T* of_x = x + row / rows * cols;
    sum = rows_hold_vectors<kCount>(a, cols) && rows_hold_vectors<kCount>(x, cols)
              ? product_of_share<kCount, kLanes, kLoads>(of_row, of_x, cols)
              : product_of_share<1, kLanes, kLoads>(of_row, of_x, cols);
  }
  // All lanes of the warp take part, those past the last row with zeros.
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  }
  if (row < all_rows && threadIdx.x % kLanes == 0) y[row] = kiln::from_accumulator<Y>(sum);
}
