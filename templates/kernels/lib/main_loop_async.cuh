// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The loop over k on a ring of stages that cp.async fills: the copy of tile i + stages - 1 starts
/// when all warps have read tile i - 1, whose stage it takes:
///
///     stage     0          1          2          3          (4 stages)
///     tile     i-1         i         i+1        i+2
///            i+3 starts  multiply   ready     arriving

#include "common/annotations.cuh"
#include "lib/ptx_async_copy.cuh"
#include "lib/ring.cuh"

namespace kiln {

template <auto kStage, int kStages, int kThreads,
          template <class, int, int> class Cursor = RingCursor, class Mma, class CopyA, class CopyB,
          class T>
KILN_DEVICE void run_async_ring(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stages, int tiles) {
  constexpr int kSteps = Mma::steps();
  constexpr int kBuffers = Mma::shape().buffers;
  constexpr int kFirstB = kStage.b.first;
  constexpr int kElements = kStage.elements;
  static_assert(kSteps % kBuffers == 0, "Fragment buffers alternate across stages");
  // One group of copies per tile, empty past the last, so that the number of groups tells which
  // tiles have arrived.
  int started = 0;
  Cursor<T, kStages, kElements> write(stages);
  const auto start_next = [&] {
    if (started < tiles) {
      copy_a.start(write.stage());
      copy_b.start(write.stage() + kFirstB);
    }
    commit_async_group();
    ++started;
    write.advance();
  };

  // With fewer tiles than stages, the stage that is read last holds nothing.
  if (tiles < kStages) {
    T* last = stages + tiles * kElements;
    for (int i = static_cast<int>(threadIdx.x); i < kElements; i += kThreads) {
      last[i] = static_cast<T>(0.0F);
    }
  }
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) start_next();
  wait_async_groups<kStages - 2>();
  __syncthreads();
  Cursor<T, kStages, kElements> read(stages);
  mma.load_fragments(read.stage(), 0, 0);
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // All warps have read the tile before this one ahead of the last barrier: its place is free.
      if (step == 0) start_next();
      if (kBuffers == 1) mma.multiply(0);
      if (step == kSteps - 1) {
        read.advance();
        wait_async_groups<kStages - 2>();
        __syncthreads();
      }
      // After the last tile this reads a stage that holds old data, which nothing uses. A branch
      // around it would cost a tenth of the speed.
      mma.load_fragments(read.stage(), (step + 1) % kSteps, (step + 1) % kBuffers);
      if (kBuffers == 2) mma.multiply(step % 2);
    }
  }
}

}  // namespace kiln
