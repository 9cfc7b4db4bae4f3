// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rows of an operand in chunks of 16 bytes that go straight to registers, for kernels that read
/// what they need once:
///
///     row of 20 elements, 16 bits      | 0 ... 7 | 8 ... 15 | 16 ... 19, 0 0 0 0 |
///
/// Rows start on 16 bytes. Of a chunk that reaches beyond the row's end only what exists is read,
/// and zeros fill the rest.

#include "common/annotations.cuh"

namespace kiln {

/// Whether the caches may expect an address to be read again.
enum class Reuse { none, likely };

/// 16 bytes of global memory that no kernel writes meanwhile.
template <Reuse kReuse>
KILN_DEVICE uint4 load_16_bytes(const void* from) {
  if constexpr (kReuse == Reuse::likely) return *static_cast<const uint4*>(from);
  uint4 chunk;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
#else
  asm("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
#endif
      : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
      : "l"(from));
  return chunk;
}

/// The chunk of `row` that begins at element `first`, a multiple of a chunk; the row has `length`.
template <Reuse kReuse, class T>
KILN_DEVICE uint4 load_chunk(const T* row, unsigned first, unsigned length) {
  constexpr int kChunk = 16 / static_cast<int>(sizeof(T));
  if (first + kChunk <= length) return load_16_bytes<kReuse>(row + first);
  T elements[kChunk];
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    elements[i] = first + i < length ? row[first + i] : static_cast<T>(0.0F);
  }
  uint4 chunk;
  memcpy(&chunk, elements, sizeof(chunk));
  return chunk;
}

}  // namespace kiln
