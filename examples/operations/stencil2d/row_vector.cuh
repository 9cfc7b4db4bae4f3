// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Neighbours in a row that a thread loads and stores together.

template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Vector {
  T of[kCount];
};

/// Whether every row starts where a vector may.
template <int kCount, class T>
__device__ bool rows_hold_vectors(const T* matrix, int cols) {
  return cols % kCount == 0 &&
         reinterpret_cast<unsigned long long>(matrix) % alignof(Vector<T, kCount>) == 0;
}

/// Stores a vector of 8 or 16 bytes by one instruction. The compiler may make several of an
/// assignment, which __stcs rules out; it also tells the cache that nobody will read the vector
/// soon.
template <class V>
__device__ void store_whole(V* to, const V& vector) {
  if constexpr (sizeof(V) == 16) {
    uint4 words;
    memcpy(&words, &vector, sizeof(words));
    __stcs(reinterpret_cast<uint4*>(to), words);
  } else if constexpr (sizeof(V) == 8) {
    uint2 words;
    memcpy(&words, &vector, sizeof(words));
    __stcs(reinterpret_cast<uint2*>(to), words);
  } else {
    *to = vector;
  }
}
