// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   stencil2d_stream
//@ purpose    Threads walk down columns with rows in registers; lanes exchange what lies between.
//@ operation  stencil2d
//@ tune       block_size = 32 64 128* 256
//@ tune       walk_rows = 16 32* 64 128     // rows of results that a thread computes
//@ tune       rows_ahead = 1 2 4* 8         // that are loaded together
//@ tune       vector_elements = 1 2 4* 8    // neighbours that a thread computes together
//@ let        block_cols = block_size * vector_elements
//@ require    vector_elements * x_bytes <= 16 && vector_elements * y_bytes <= 16
//@ require    ceil_div(rows, walk_rows) * ceil_div(cols, block_cols) <= 2147483647
//@ prefer     rows_ahead * vector_elements <= 32    // registers
//@ prefer     32 * vector_elements * x_bytes >= 128  // whole lines of the cache
//@ launch     stencil2d_stream<x, y>
//@   grid     ceil_div(rows, walk_rows) * ceil_div(cols, block_cols)
//@   block    block_size

/// \file
/// Where stencil2d_tile.cu brings tiles to shared memory, nothing is shared here but by lanes of a
/// warp, so no thread ever waits for another block's or warp's loads:
///
///      lane      30        31      next warp
///             . a b c d | e f g h |
///    row - 1  . a b c d | e f g h |       three rows are in registers; the next ones are on
///    row      . a b c d | e f g h | i     their way while these are used
///    row + 1  . a b c d | e f g h |
///
/// What a lane needs of its neighbours comes by a shuffle; only the first and the last lane load
/// one number more, which their neighbouring warp has brought to the cache. The rows above and
/// below the walk are read by two threads: 2 of walk_rows + 2.

#include "common/element.cuh"
#include "row_vector.cuh"

/// The numbers of a row that a thread has loaded: its vector, and of the first and the last lane
/// the number beside the warp's.
template <class X>
struct Loaded {
  Vector<X, vector_elements> vector;
  X beside;
};

/// What a row gives the results of its own row and those of the rows above and below it: two sums
/// of three products each, the same for both, so that a result takes two additions more.
struct Piece {
  float own[vector_elements];
  float beyond[vector_elements];
};

struct Weights {
  float centre, side, corner;
};

/// The columns of a thread.
template <bool kWhole, class X>
struct Columns {
  const X* x;
  long long first;
  int rows, cols;
  bool has_beside;       ///< whether this lane loads a number beside the warp's
  long long beside_col;  ///< which may lie outside

  __device__ Columns(const X* matrix, int height, int width, long long col)
      : x(matrix), first(col), rows(height), cols(width) {
    const int lane = threadIdx.x % 32;
    beside_col = lane == 0 ? first - 1 : first + vector_elements;
    has_beside = (lane == 0 || lane == 31) && beside_col >= 0 && beside_col < cols;
  }

  /// Zeros where the matrix has nothing.
  __device__ Loaded<X> load(long long row) const {
    Loaded<X> loaded = {};
    if (row < 0 || row >= rows) return loaded;
    const X* const from = x + row * cols;
    if constexpr (kWhole) {
      if (first < cols) {
        loaded.vector = *reinterpret_cast<const Vector<X, vector_elements>*>(from + first);
      }
    } else {
#pragma unroll
      for (int j = 0; j < vector_elements; ++j) {
        if (first + j < cols) loaded.vector.of[j] = from[first + j];
      }
    }
    if (has_beside) loaded.beside = from[beside_col];
    return loaded;
  }
};

/// All lanes of a warp must call this together.
template <class X>
__device__ Piece exchange(const Loaded<X>& loaded, const Weights& weights) {
  const int lane = threadIdx.x % 32;
  float numbers[vector_elements + 2];  // with one more at each side
#pragma unroll
  for (int j = 0; j < vector_elements; ++j) {
    numbers[j + 1] = kiln::to_accumulator<float>(loaded.vector.of[j]);
  }
  const float beside = kiln::to_accumulator<float>(loaded.beside);
  const float left = __shfl_up_sync(0xffffffffU, numbers[vector_elements], 1);
  const float right = __shfl_down_sync(0xffffffffU, numbers[1], 1);
  numbers[0] = lane == 0 ? beside : left;
  numbers[vector_elements + 1] = lane == 31 ? beside : right;
  Piece piece;
#pragma unroll
  for (int j = 0; j < vector_elements; ++j) {
    const float sides = numbers[j] + numbers[j + 2];
    piece.own[j] = weights.centre * numbers[j + 1] + weights.side * sides;
    piece.beyond[j] = weights.side * numbers[j + 1] + weights.corner * sides;
  }
  return piece;
}

/// Stores results from column `col` of a row on.
template <bool kWhole, class Y>
__device__ void store_results(Y* row, long long col, int cols,
                              const float (&results)[vector_elements]) {
  Vector<Y, vector_elements> stored;
  kiln::from_accumulators<vector_elements>(results, stored.of);
  if constexpr (kWhole) {
    if (col < cols) store_whole(reinterpret_cast<Vector<Y, vector_elements>*>(row + col), stored);
  } else {
#pragma unroll
    for (int j = 0; j < vector_elements; ++j) {
      if (col + j < cols) row[col + j] = stored.of[j];
    }
  }
}

template <bool kWhole, class X, class Y>
__device__ void walk_down(const X* x, Y* y, int rows, int cols, long long row, long long col,
                          const Weights& weights) {
  const Columns<kWhole, X> columns(x, rows, cols, col);
  const long long end = row + walk_rows < rows ? row + walk_rows : rows;
  const Loaded<X> above = columns.load(row - 1);
  const Loaded<X> first = columns.load(row);
  Loaded<X> ahead[rows_ahead];
#pragma unroll
  for (int i = 0; i < rows_ahead; ++i) ahead[i] = columns.load(row + 1 + i);
  Piece upper = exchange(above, weights);
  Piece middle = exchange(first, weights);
  for (; row < end; row += rows_ahead) {
    Loaded<X> used[rows_ahead];
#pragma unroll
    for (int i = 0; i < rows_ahead; ++i) used[i] = ahead[i];
    // In flight while the rows in hand are used. The last turn has nothing left to load.
    if (row + rows_ahead < end) {
#pragma unroll
      for (int i = 0; i < rows_ahead; ++i) ahead[i] = columns.load(row + rows_ahead + 1 + i);
    }
#pragma unroll
    for (int i = 0; i < rows_ahead; ++i) {
      const Piece lower = exchange(used[i], weights);
      float results[vector_elements];
#pragma unroll
      for (int j = 0; j < vector_elements; ++j) {
        results[j] = upper.beyond[j] + middle.own[j] + lower.beyond[j];
      }
      if (row + i < end) store_results<kWhole>(y + (row + i) * cols, col, cols, results);
      upper = middle;
      middle = lower;
    }
  }
}

template <class X, class Y>
__global__ void __launch_bounds__(block_size)
    stencil2d_stream(const X* __restrict__ x, Y* __restrict__ y, int rows, int cols, float centre,
                     float side, float corner) {
  const long long blocks_right = (cols + (block_cols - 1LL)) / block_cols;
  const long long row = blockIdx.x / blocks_right * walk_rows;
  const long long col = blockIdx.x % blocks_right * block_cols +
                        static_cast<long long>(threadIdx.x) * vector_elements;
  const Weights weights{centre, side, corner};
  // Lanes beyond the last column go along: their neighbours exchange with them.
  if (rows_hold_vectors<vector_elements>(x, cols) && rows_hold_vectors<vector_elements>(y, cols)) {
    walk_down<true>(x, y, rows, cols, row, col, weights);
  } else {
    walk_down<false>(x, y, rows, cols, row, col, weights);
  }
}
