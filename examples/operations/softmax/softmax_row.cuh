// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the kernels of softmax share: vectors of elements, and sums of exponentials whose base
/// moves.

#include "common/element.cuh"

/// Neighbours that are loaded or stored by one instruction, or by two if they have 32 bytes.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Vector {
  T of[kCount];
};

/// Whether every row starts where a vector of `kCount` may.
template <int kCount, class T>
__device__ bool rows_hold_vectors(const T* matrix, int cols) {
  return cols % kCount == 0 &&
         reinterpret_cast<unsigned long long>(matrix) % alignof(Vector<T, kCount>) == 0;
}

constexpr float kLowest = -3.402823466e38f;  // finite: minus itself it is zero, where inf is NaN

/// A sum of exp(v) over numbers v, kept as `sum * exp(greatest)` so that nothing overflows. The
/// greatest is not known before the end: whenever it grows, the sum so far shrinks accordingly.
/// That makes one pass over a row of what takes two with the greatest first.
struct ExpSum {
  float greatest = kLowest;
  float sum = 0.0f;

  __device__ void add(ExpSum other) {
    const float grown = fmaxf(greatest, other.greatest);
    sum = sum * __expf(greatest - grown) + other.sum * __expf(other.greatest - grown);
    greatest = grown;
  }

  /// Of all lanes of a warp, in an order that depends on nothing: each gets the same.
  __device__ void add_lanes() {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      ExpSum other;
      other.greatest = __shfl_xor_sync(0xffffffffU, greatest, distance);
      other.sum = __shfl_xor_sync(0xffffffffU, sum, distance);
      add(other);
    }
  }
};

/// A thread's share of a row, in registers: vectors `first`, `first + stride`, ... of it.
template <int kVectors, int kCount>
struct Share {
  float numbers[kVectors][kCount];

  /// All loads first, so that they are in flight together. Past the row's end lies what adds
  /// nothing to a sum of exponentials.
  template <class X>
  __device__ void load(const X* row, int first, int stride, int vectors, float scale) {
    Vector<X, kCount> loaded[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int at = first + i * stride;
      if (at < vectors) loaded[i] = reinterpret_cast<const Vector<X, kCount>*>(row)[at];
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const bool inside = first + i * stride < vectors;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        numbers[i][j] = inside ? scale * kiln::to_accumulator<float>(loaded[i].of[j]) : kLowest;
      }
    }
  }

  __device__ void add_to(ExpSum& total) const {
    ExpSum mine;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) mine.greatest = fmaxf(mine.greatest, numbers[i][j]);
    }
    // A sum for each place in a vector: the additions of one need not wait for the others'.
    float sums[kCount] = {};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        // What is past the end must not count where nothing else is in the share either.
        const float part = __expf(numbers[i][j] - mine.greatest);
        sums[j] += numbers[i][j] == kLowest ? 0.0f : part;
      }
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) mine.sum += sums[j];
    total.add(mine);
  }

  template <class Y>
  __device__ void store(Y* row, int first, int stride, int vectors, ExpSum total) const {
    const float factor = 1.0f / total.sum;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int at = first + i * stride;
      if (at >= vectors) break;
      float results[kCount];
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        results[j] = __expf(numbers[i][j] - total.greatest) * factor;
      }
      Vector<Y, kCount> stored;
      kiln::from_accumulators<kCount>(results, stored.of);
      reinterpret_cast<Vector<Y, kCount>*>(row)[at] = stored;
    }
  }
};
