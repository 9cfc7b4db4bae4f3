// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The loop over k on a ring of stages that tensor copies fill, for warps that multiply in
/// registers. No barrier of the block is in it: a warp waits for the copies of its next stage only,
/// and the thread that refills a stage for all warps to have left it:
///
///     stage     0          1          2          3          (4 stages)
///     tile     i-1         i         i+1        i+2
///              left      multiply   ready     arriving
///            i+3 starts
///
/// To start copies takes a thread about as long as a product, and holds up its warp. So each stage
/// has its own, in another warp: one that has them all would be late in every step, and all warps
/// with it.
///
/// With five stages and more the refilled one is not the last that was multiplied but the one
/// before, which the slowest warp has left, too.

#include "common/annotations.cuh"
#include "lib/operand_copies.cuh"
#include "lib/ring.cuh"
#include "lib/tensor_ring.cuh"

namespace kiln {

/// The first elements of the tiles that a block begins with: in A, in B, and along k.
struct TilesPlace {
  int row;
  int col;
  int k;
};

/// An operand's tile in a stage, of so many elements.
template <class T>
KILN_HD constexpr StageOperand boxed_operand(auto operand, int depth, int elements) {
  const int bytes = static_cast<int>(sizeof(T));
  return {operand.k_major, operand.layout.stride * bytes, elements / depth, depth, bytes};
}

/// `ring`: of a block, whose consumers are its warps; initialised by one of its threads. The maps'
/// boxes are as wide as the stride of the stage's layout, and have all of the tile's rows.
template <auto kStage, int kStages, int kThreads, int kDepth, class Mma, class Ring, class T>
KILN_DEVICE void run_box_ring(Mma& mma, Ring& ring, const TensorMap& map_a, const TensorMap& map_b,
                              TilesPlace at, T* stages, int tiles) {
  constexpr int kFirstB = kStage.b.first;
  constexpr StageOperand kA = boxed_operand<T>(kStage.a, kDepth, kFirstB);
  constexpr StageOperand kB = boxed_operand<T>(kStage.b, kDepth, kStage.elements - kFirstB);
  const OperandCopies<kA, kA.k_major ? kA.across : kDepth, 1> copy_a{map_a, 0, 1};
  const OperandCopies<kB, kB.k_major ? kB.across : kDepth, 1> copy_b{map_b, 0, 1};
  constexpr int kSteps = Mma::steps();
  constexpr int kBuffers = Mma::shape().buffers;
  constexpr int kElements = kStage.elements;
  constexpr int kBytes = kElements * static_cast<int>(sizeof(T));
  static_assert(kSteps % kBuffers == 0, "Fragment buffers alternate across stages");
  constexpr int kLag = kStages > 4 ? 2 : 1;  // of the refilled stage
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
  clear_unused_stage<kStages, kElements, kThreads>(stages, tiles);
  __syncthreads();
  const auto start_copies = [&](int tile, int stage, int parity) {
    if (warp != stage % (kThreads / 32) || tile >= tiles || !elect_one()) return;
    T* const to = stages + stage * kElements;
    const int k = at.k + tile * kDepth;        // mutant: box_k
    ring.begin_fill({stage, parity}, kBytes);  // mutant: box_bytes
    copy_a.start(reinterpret_cast<unsigned char*>(to), at.row, k, ring.full[stage]);
    copy_b.start(reinterpret_cast<unsigned char*>(to + kFirstB), at.col, k, ring.full[stage]);
  };
#pragma unroll
  for (int i = 0; i < kStages - kLag; ++i) start_copies(i, i, 0);
  if (tiles > 0) ring.wait_until_full({0, 0});
  mma.load_fragments(stages, 0, 0);
  int parity = 0;
  // A turn of the loop goes round the ring once, so that all places in it are constants.
#pragma unroll 1
  for (int first = 0; first < tiles; first += kStages) {
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      const int tile = first + stage;
      if (tile == tiles) break;
      const int next = (stage + 1) % kStages;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps / 2) {
          start_copies(tile + kStages - kLag, (stage + kStages - kLag) % kStages,  // mutant: refill
                       stage < kLag ? parity : parity ^ 1);
        }
        if (kBuffers == 1) mma.multiply(0);
        // mutant: last_step
        if (step == kSteps - 1 && tile + 1 < tiles) {
          ring.wait_until_full({next, next == 0 ? parity ^ 1 : parity});  // mutant: next_box
        }
        // After the last tile this reads a stage that holds old data, which nothing uses.
        mma.load_fragments(stages + (step == kSteps - 1 ? next : stage) * kElements,
                           (step + 1) % kSteps, (step + 1) % kBuffers);
        if (kBuffers == 2) mma.multiply(step % 2);
      }
      __syncwarp();
      ring.release({stage, parity}, lane);
    }
    parity ^= 1;
  }
}

}  // namespace kiln
