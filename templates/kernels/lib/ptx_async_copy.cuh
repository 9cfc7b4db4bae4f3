// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies from global to shared memory that pass no register and finish in the background
/// (cp.async, compute capability 8.0 and newer). Copies are gathered into groups; a thread waits
/// for its own groups only, so a block barrier must follow before others read the data.

#include "common/annotations.cuh"

namespace kiln {

/// Copies `kBytes` (4, 8 or 16; both addresses aligned to it), of which the first `source_bytes`
/// come from `source` and the rest are zeros. Nothing beyond `source_bytes` is read.
template <int kBytes>
KILN_DEVICE void copy_async(void* destination, const void* source, int source_bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async moves 4, 8 or 16 bytes");
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(destination));
  if constexpr (kBytes == 16) {
    // .cg: a tile is read once by this block, so it need not occupy L1.
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(source),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(source),
                 "n"(kBytes), "r"(source_bytes)
                 : "memory");
  }
}

/// The same when all of it comes from `source`.
template <int kBytes>
KILN_DEVICE void copy_async(void* destination, const void* source) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async moves 4, 8 or 16 bytes");
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(destination));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(source)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(source),
                 "n"(kBytes)
                 : "memory");
  }
}

/// Closes the group of this thread's copies since the last call; it may be empty.
KILN_DEVICE void commit_async_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `kPending` of this thread's newest groups are unfinished.
template <int kPending>
KILN_DEVICE void wait_async_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace kiln
