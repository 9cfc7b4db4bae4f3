// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   stencil2d_tile
//@ purpose    Tiles with their border in shared memory; a thread walks down a strip of a tile.
//@ operation  stencil2d
//@ tune       tile_cols = 32 64 128* 256     // numbers that a block computes along a row
//@ tune       tile_rows = 8 16 32* 64        // and down a column
//@ tune       thread_rows = 2 4 8* 16        // rows that a thread walks down
//@ tune       vector_elements = 1 2 4* 8     // neighbours that a thread computes together
//@ let        block_size = tile_cols / vector_elements * (tile_rows / thread_rows)
//@ let        tile_pitch = tile_cols + 8     // in shared memory; vectors start on 16 bytes
//@ require    vector_elements * x_bytes <= 16 && vector_elements * y_bytes <= 16
//@ require    tile_rows >= thread_rows
//@ require    block_size >= 32
//@ require    block_size <= device.max_threads
//@ require    4 * (tile_rows + 2) * tile_pitch <= device.smem_static
//@ require    ceil_div(rows, tile_rows) * ceil_div(cols, tile_cols) <= 2147483647
//@ prefer     block_size >= 64 && block_size <= 512
//@ prefer     tile_cols * x_bytes >= 128     // whole lines of the cache
//@ launch     stencil2d_tile<x, y>
//@   grid     ceil_div(rows, tile_rows) * ceil_div(cols, tile_cols)
//@   block    block_size

/// \file
/// Every number is needed by nine sums. A block brings its tile, and a border of one number around
/// it, to shared memory once:
///
///               tile_cols
///        + - + ----------- + - +
///        |   |             |   |      rows above and below: vectors like the rest
///        + - +-------------+ - +
///        |   |   |   |   | |   |      columns to the left and right: one by one
///        |   |   v   v   v |   |
///        |   | threads walk|   |      what lies outside of the matrix: zeros, so that the
///        |   | down strips |   |      arithmetic needs no edge case
///        + - +-------------+ - +
///        |   |             |   |
///        + - + ----------- + - +
///
/// A thread keeps three rows of its strip in registers and reads one new row for each row of
/// results. The border is read by two blocks, but the second time it comes from the L2 cache, since
/// neighbours run at about the same time. Where rows do not start on whole vectors, threads go
/// element by element.

#include "common/element.cuh"
#include "row_vector.cuh"

constexpr int kFirst = 4;  // place of the tile's first column in a shared row: on 16 bytes
constexpr int kRows = tile_rows + 2;

/// The tile without the columns at its sides. All loads of a thread are started before the first is
/// waited for. `row` and `col` are those of the tile's first result.
template <int kCount, class X>
__device__ void load_rows(float* tile, const X* __restrict__ x, int rows, int cols, long long row,
                          long long col) {
  constexpr int kAcross = tile_cols / kCount;
  constexpr int kVectors = kRows * kAcross;
  constexpr int kEach = (kVectors + block_size - 1) / block_size;
  constexpr int kTogether = kEach < 12 ? kEach : 12;  // so that registers suffice
  for (int begin = threadIdx.x; begin < kVectors; begin += kTogether * block_size) {
    Vector<X, kCount> held[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = begin + i * block_size;
      const long long from_row = row - 1 + at / kAcross;
      const long long from_col = col + at % kAcross * kCount;
      if (at < kVectors && from_row >= 0 && from_row < rows && from_col < cols) {
        held[i] = *reinterpret_cast<const Vector<X, kCount>*>(x + from_row * cols + from_col);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = begin + i * block_size;
      if (at >= kVectors) break;
      const long long from_row = row - 1 + at / kAcross;
      const long long from_col = col + at % kAcross * kCount;
      const bool inside = from_row >= 0 && from_row < rows && from_col < cols;
      Vector<float, kCount> numbers;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        numbers.of[j] = inside ? kiln::to_accumulator<float>(held[i].of[j]) : 0.0f;
      }
      float* const to = tile + at / kAcross * tile_pitch + kFirst + at % kAcross * kCount;
      *reinterpret_cast<Vector<float, kCount>*>(to) = numbers;
    }
  }
}

/// The columns to the left and to the right of the tile.
template <class X>
__device__ void load_sides(float* tile, const X* __restrict__ x, int rows, int cols, long long row,
                           long long col) {
  for (int at = threadIdx.x; at < 2 * kRows; at += block_size) {
    const int in_row = at / 2;
    const long long from_row = row - 1 + in_row;
    const long long from_col = at % 2 == 0 ? col - 1 : col + tile_cols;
    const bool inside = from_row >= 0 && from_row < rows && from_col >= 0 && from_col < cols;
    tile[in_row * tile_pitch + (at % 2 == 0 ? kFirst - 1 : kFirst + tile_cols)] =
        inside ? kiln::to_accumulator<float>(x[from_row * cols + from_col]) : 0.0f;
  }
}

/// A piece of a shared row with one number more at each side.
__device__ void read_strip(const float* from, float (&numbers)[vector_elements + 2]) {
#pragma unroll
  for (int j = 0; j < vector_elements + 2; ++j) numbers[j] = from[j - 1];
}

/// Walks down a strip of the tile: `from` is its first number in shared memory, `to` its first
/// result, `below` and `beside` how many of y's rows and columns begin there. Whole vectors are
/// stored by a function of their own, since the compiler would otherwise join both ways of storing.
template <bool kWhole, class Y>
__device__ void walk_down(const float* from, Y* to, long long below, long long beside, int cols,
                          float centre, float side, float corner) {
  float upper[vector_elements + 2];
  float middle[vector_elements + 2];
  float lower[vector_elements + 2];
  read_strip(from - tile_pitch, upper);
  read_strip(from, middle);
#pragma unroll
  for (int i = 0; i < thread_rows; ++i) {
    if (i >= below) return;
    read_strip(from + (i + 1) * tile_pitch, lower);
    float results[vector_elements];
#pragma unroll
    for (int j = 0; j < vector_elements; ++j) {
      const float sides = upper[j + 1] + lower[j + 1] + middle[j] + middle[j + 2];
      const float corners = upper[j] + upper[j + 2] + lower[j] + lower[j + 2];
      results[j] = centre * middle[j + 1] + side * sides + corner * corners;
    }
    Vector<Y, vector_elements> stored;
    kiln::from_accumulators<vector_elements>(results, stored.of);
    if constexpr (kWhole) {
      store_whole(reinterpret_cast<Vector<Y, vector_elements>*>(to), stored);
    } else {
#pragma unroll
      for (int j = 0; j < vector_elements; ++j) {
        if (j < beside) to[j] = stored.of[j];
      }
    }
    to += cols;
#pragma unroll
    for (int j = 0; j < vector_elements + 2; ++j) {
      upper[j] = middle[j];
      middle[j] = lower[j];
    }
  }
}

template <class X, class Y>
__global__ void __launch_bounds__(block_size)
    stencil2d_tile(const X* __restrict__ x, Y* __restrict__ y, int rows, int cols, float centre,
                   float side, float corner) {
  __shared__ __align__(16) float tile[kRows * tile_pitch];
  const long long tiles_right = (cols + (tile_cols - 1LL)) / tile_cols;
  const long long row = blockIdx.x / tiles_right * tile_rows;
  const long long col = blockIdx.x % tiles_right * tile_cols;
  if (rows_hold_vectors<vector_elements>(x, cols)) {
    load_rows<vector_elements>(tile, x, rows, cols, row, col);
  } else {
    load_rows<1>(tile, x, rows, cols, row, col);
  }
  load_sides(tile, x, rows, cols, row, col);
  __syncthreads();

  constexpr int kAcross = tile_cols / vector_elements;
  const int in_row = threadIdx.x / kAcross * thread_rows;
  const int in_col = threadIdx.x % kAcross * vector_elements;
  const long long below = rows - (row + in_row);
  const long long beside = cols - (col + in_col);
  if (below <= 0 || beside <= 0) return;
  const float* const from = tile + (in_row + 1) * tile_pitch + kFirst + in_col;
  Y* const to = y + (row + in_row) * cols + col + in_col;
  if (rows_hold_vectors<vector_elements>(y, cols)) {
    walk_down<true>(from, to, below, beside, cols, centre, side, corner);
  } else {
    walk_down<false>(from, to, below, beside, cols, centre, side, corner);
  }
}
