// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The loop over k, in forms that differ in what overlaps:
///
///     run_unbuffered      copy -> barrier -> multiply -> barrier        the plain textbook loop
///     run_single_buffer   the same, with all loads of a tile in flight before the first store
///     run_double_buffer   the next tile travels through registers while this one is multiplied;
///                         one barrier a tile: reader and writer use different stages
///
/// main_loop_async.cuh has a fourth, whose copies need no registers.

#include "common/annotations.cuh"

namespace kiln {

template <auto kStage, class Mma, class CopyA, class CopyB, class T>
KILN_DEVICE void run_unbuffered(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stage, int depth) {
  constexpr int kFirstB = kStage.b.first;
  constexpr int kDepth = Mma::shape().depth;
  for (int left = depth; left > 0; left -= kDepth) {
    copy_a.copy(stage, left);
    copy_b.copy(stage + kFirstB, left);
    __syncthreads();  // mutant: unbuffered_filled
    mma.multiply_stage(stage);
    __syncthreads();  // mutant: unbuffered_read
    copy_a.advance();
    copy_b.advance();
  }
}

template <auto kStage, class Mma, class CopyA, class CopyB, class T>
KILN_DEVICE void run_single_buffer(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stage, int tiles) {
  constexpr int kFirstB = kStage.b.first;
  typename CopyA::Registers a;
  typename CopyB::Registers b;
  for (int tile = 0; tile < tiles; ++tile) {
    copy_a.load(a);
    copy_b.load(b);
    copy_a.store(a, stage);
    copy_b.store(b, stage + kFirstB);
    __syncthreads();
    mma.multiply_stage(stage);
    __syncthreads();
  }
}

template <auto kStage, class Mma, class CopyA, class CopyB, class T>
KILN_DEVICE void run_double_buffer(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stages, int tiles) {
  constexpr int kFirstB = kStage.b.first;
  constexpr int kElements = kStage.elements;
  typename CopyA::Registers a;
  typename CopyB::Registers b;
  copy_a.load(a);
  copy_b.load(b);
  copy_a.store(a, stages);
  copy_b.store(b, stages + kFirstB);
  __syncthreads();  // mutant: first_filled
  for (int tile = 0; tile < tiles; ++tile) {
    const bool more = tile + 1 < tiles;
    if (more) {
      copy_a.load(a);
      copy_b.load(b);
    }
    mma.multiply_stage(stages + tile % 2 * kElements);
    if (more) {
      T* next = stages + (tile + 1) % 2 * kElements;  // mutant: next_stage
      copy_a.store(a, next);
      copy_b.store(b, next + kFirstB);  // mutant: store_next_b
    }
    __syncthreads();  // mutant: next_filled
  }
}

/// The loop for that many stages, 1 or 2.
template <auto kStage, int kStages, class Mma, class CopyA, class CopyB, class T>
KILN_DEVICE void run_buffered(Mma& mma, CopyA& copy_a, CopyB& copy_b, T* stages, int tiles) {
  if constexpr (kStages == 1) {
    run_single_buffer<kStage>(mma, copy_a, copy_b, stages, tiles);
  } else {
    run_double_buffer<kStage>(mma, copy_a, copy_b, stages, tiles);
  }
}

}  // namespace kiln
