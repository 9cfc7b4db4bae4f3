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
/// exp(v) is 2^(kLog2E * v), and powers of two are what the hardware computes.
constexpr float kLog2E = 1.4426950408889634f;

__device__ inline float power_of_two(float exponent) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

/// A sum of powers 2^v over numbers v, kept as `sum * 2^greatest` so that nothing overflows. The
/// greatest is not known before the end: whenever it grows, the sum so far shrinks accordingly.
/// That makes one pass over a row of what takes two with the greatest first.
struct PowerSum {
  float greatest = kLowest;
  float sum = 0.0f;

  __device__ void add(PowerSum other) {
    const float grown = fmaxf(greatest, other.greatest);
    sum = sum * power_of_two(greatest - grown) + other.sum * power_of_two(other.greatest - grown);
    greatest = grown;
  }

  /// Of all lanes of a warp, in an order that depends on nothing: each gets the same.
  __device__ void add_lanes() {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      PowerSum other;
      other.greatest = __shfl_xor_sync(0xffffffffU, greatest, distance);
      other.sum = __shfl_xor_sync(0xffffffffU, sum, distance);
      add(other);
    }
  }
};

/// A thread's share of a row, in registers: vectors `first`, `first + stride`, ... of it. Computing
/// a power is the dearest step, so the powers that were summed stay here: relative to the share's
/// own greatest number, which one factor makes up for in the end.
template <int kVectors, int kCount>
struct Share {
  float numbers[kVectors][kCount];  ///< exponents, then powers
  float base;                       ///< what the exponents of the powers are relative to

  /// All loads first, so that they are in flight together. Past the row's end lies what adds
  /// nothing to a sum of powers. `scale` makes exponents of two of the row's numbers.
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

  __device__ void raise_two(float relative_to) {
    base = relative_to;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) numbers[i][j] = power_of_two(numbers[i][j] - base);
    }
  }

  __device__ void add_to(PowerSum& total) {
    PowerSum mine;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) mine.greatest = fmaxf(mine.greatest, numbers[i][j]);
    }
    raise_two(mine.greatest);
    // Past the end lies nothing that counts, also where nothing else is in the share.
    if (mine.greatest == kLowest) return;
    // A sum for each place in a vector: the additions of one need not wait for the others'.
    float sums[kCount] = {};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) sums[j] += numbers[i][j];
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) mine.sum += sums[j];
    total.add(mine);
  }

  template <class Y>
  __device__ void store(Y* row, int first, int stride, int vectors, PowerSum total) const {
    const float factor = power_of_two(base - total.greatest) / total.sum;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int at = first + i * stride;
      if (at >= vectors) break;
      float results[kCount];
#pragma unroll
      for (int j = 0; j < kCount; ++j) results[j] = numbers[i][j] * factor;
      Vector<Y, kCount> stored;
      kiln::from_accumulators<kCount>(results, stored.of);
      reinterpret_cast<Vector<Y, kCount>*>(row)[at] = stored;
    }
  }
};
