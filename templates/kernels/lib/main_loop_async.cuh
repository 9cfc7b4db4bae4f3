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
///
/// Copies that look at the matrix's edge are code beside the loop, and jumps over it; those of
/// tiles that lie in the matrix need none, and the compiler spreads them among the multiplications.
/// So such tiles can have a loop of their own, with the other one for the rest. That is twice the
/// text: for many tiles along k only.

#include "common/annotations.cuh"
#include "lib/ptx_async_copy.cuh"
#include "lib/ring.cuh"

namespace kiln {

/// The ring and where the loop is on it.
template <auto kStage, int kStages, template <class, int, int> class Cursor, class Mma, class CopyA,
          class CopyB, class T>
class AsyncRing {
  static constexpr int kElements = kStage.elements;
  static constexpr int kSteps = Mma::steps();
  static constexpr int kBuffers = Mma::shape().buffers;
  static_assert(kSteps % kBuffers == 0, "Fragment buffers alternate across stages");

 public:
  KILN_DEVICE AsyncRing(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stages, int tiles)
      : mma_(mma), copy_a_(copy_a), copy_b_(copy_b), write_(stages), read_(stages), left_(tiles) {}

  /// Fills all stages but one, and waits for the first.
  KILN_DEVICE void fill() {
#pragma unroll
    for (int i = 0; i < kStages - 1; ++i) start_next<false>();  // mutant: async_fill
    wait_async_groups<kStages - 2>();
    __syncthreads();  // mutant: async_filled
    mma_.load_fragments(read_.stage(), 0, 0);
  }

  /// Multiplies a tile while the copy of a later one runs. kWhole: that one lies in the matrix, all
  /// of it and for all threads, so that its copies are but instructions among others.
  template <bool kWhole>
  KILN_DEVICE void turn() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // All warps have read the tile before this one ahead of the last barrier: its place is free.
      if (step == 0) start_next<kWhole>();
      if (kBuffers == 1) mma_.multiply(0);
      if (step == kSteps - 1) {
        read_.advance();
        wait_async_groups<kStages - 2>();  // mutant: async_wait
        __syncthreads();                   // mutant: async_barrier
      }
      // After the last tile this reads a stage that holds old data, which nothing uses. A branch
      // around it would cost a tenth of the speed.
      // mutant: async_load
      mma_.load_fragments(read_.stage(), (step + 1) % kSteps, (step + 1) % kBuffers);
      if (kBuffers == 2) mma_.multiply(step % 2);
    }
  }

 private:
  /// One group of copies per tile, empty past the last, so that the number of groups tells which
  /// tiles have arrived.
  template <bool kWhole>
  KILN_DEVICE void start_next() {
    if constexpr (kWhole) {
      copy_a_.start_whole(write_.stage());
      copy_b_.start_whole(write_.stage() + kStage.b.first);
    } else if (left_ > 0) {
      copy_a_.start(write_.stage());
      copy_b_.start(write_.stage() + kStage.b.first);
    }
    commit_async_group();  // mutant: async_group
    --left_;
    write_.advance();
  }

  Mma& mma_;
  CopyA& copy_a_;
  CopyB& copy_b_;
  Cursor<T, kStages, kElements> write_;
  Cursor<T, kStages, kElements> read_;
  int left_;  ///< tiles whose copies have not started
};

/// kWholeFirst: a loop of its own for the tiles that need no look at the edge, of which there are
/// `whole`, counted from the first.
template <auto kStage, int kStages, int kThreads,
          template <class, int, int> class Cursor = RingCursor, bool kWholeFirst = false, class Mma,
          class CopyA, class CopyB, class T>
KILN_DEVICE void run_async_ring(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stages, int tiles,
                                int whole = 0) {
  clear_unused_stage<kStages, kStage.elements, kThreads>(stages, tiles);
  AsyncRing<kStage, kStages, Cursor, Mma, CopyA, CopyB, T> ring(mma, copy_a, copy_b, stages, tiles);
  ring.fill();
  int tile = 0;
  if constexpr (kWholeFirst) {
    for (; tile < whole - (kStages - 1); ++tile) ring.template turn<true>();  // mutant: whole_first
  }
  for (; tile < tiles; ++tile) ring.template turn<false>();
}

}  // namespace kiln
