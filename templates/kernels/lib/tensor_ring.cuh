// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A ring of stages in shared memory between warps that only copy and warpgroups that only
/// multiply. Two barriers belong to each stage:
///
///                  wait(empty)          copies count at `full`
///     producer   ------------> fill ------------------------->  consumers wait(full)
///         ^                                                         |  multiply
///         +---------------------  mbarrier_arrive(empty)  <------------------+
///
/// All of them walk the stages in the same order. A place in the ring knows its stage and the
/// parity of the phase that the barriers are in, which changes each time round:
///
///     stage      0  1  2  3 | 0  1  2  3 | 0 ...
///     parity     0  0  0  0 | 1  1  1  1 | 0 ...
///
/// In a cluster, blocks that share an operand each bring a part of it to all of them. So a stage is
/// empty when the consumers of every block have released it.

#include "common/annotations.cuh"
#include "lib/ptx_barrier.cuh"

namespace kiln {

struct RingPlace {
  int stage = 0;
  int parity = 0;

  /// Past so many stages, which another warpgroup multiplies.
  template <int kStages>
  KILN_DEVICE void skip(int stages) {
    const int end = stage + stages;
    stage = end % kStages;
    parity ^= end / kStages & 1;
  }
  template <int kStages>
  KILN_DEVICE void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;  // mutant: flip_parity
    }
  }
};

/// A warp that waits for a phase by its parity must be less than two phases behind. So warpgroups
/// that take tiles in turn, whose stages lie far apart, wait for their turn first. Each of their
/// warps passes the turn on for itself, so that it can't come again before the last of them has
/// seen it: they meet in products, but a tile without depth has none.
///
/// kConsumers: warpgroups of a block that multiply what a stage has. kBlocks: of the cluster.
/// kTurns: warpgroups that take turns, or 0.
template <int kStages, int kConsumers, int kBlocks, int kTurns>
struct RingBarriers {
  Barrier full[kStages];
  Barrier empty[kStages];
  Barrier turn[kTurns > 0 ? kTurns : 1];

  /// By one thread, before all blocks of the cluster meet.
  KILN_DEVICE void init() {
    for (int i = 0; i < kStages; ++i) {
      mbarrier_init(full[i], 1);
      mbarrier_init(empty[i], kConsumers * kBlocks);  // mutant: readers
    }
    for (int i = 0; i < kTurns; ++i) mbarrier_init(turn[i], 4);
    fence_mbarrier_init();  // mutant: init_fence
  }

  /// The producer's: until all consumers left the stage, then announces what copies will bring.
  KILN_DEVICE void begin_fill(RingPlace at, int bytes) {
    wait_until_empty(at);                              // mutant: fill_wait
    mbarrier_arrive_expect_tx(full[at.stage], bytes);  // mutant: fill_bytes
  }
  // mutant: wait_empty
  KILN_DEVICE void wait_until_empty(RingPlace at) { mbarrier_wait(empty[at.stage], at.parity ^ 1); }
  /// The producer's, from the place behind its last fill: until all blocks have arrived at this
  /// one's barriers for the last time, so that it may exit.
  KILN_DEVICE void drain(RingPlace at) {
    if constexpr (kBlocks > 1) {
      for (int i = 0; i < kStages; ++i) {
        wait_until_empty(at);
        at.template advance<kStages>();
      }
    }
  }

  /// Warpgroup `taker` waits for its turn number `count`, from 0; the first of the first is free.
  KILN_DEVICE void wait_for_turn(int taker, int count) {
    mbarrier_wait(turn[taker], (count & 1) ^ (taker == 0 ? 1 : 0));
  }
  /// A warp of it started its last product; `lane` of the warp.
  KILN_DEVICE void pass_turn(int taker, int lane) {
    __syncwarp();
    if (lane == 0) mbarrier_arrive(turn[taker + 1 == kTurns ? 0 : taker + 1]);  // mutant: pass_turn
  }

  /// A consumer's.
  // mutant: wait_full
  KILN_DEVICE void wait_until_full(RingPlace at) { mbarrier_wait(full[at.stage], at.parity); }
  /// Its warpgroup's last use of the stage is over; `thread` of the warpgroup.
  KILN_DEVICE void release(RingPlace at, int thread) {
    if constexpr (kBlocks == 1) {
      if (thread == 0) mbarrier_arrive(empty[at.stage]);
    } else {
      if (thread < kBlocks) mbarrier_arrive_remote(empty[at.stage], thread);  // mutant: release
    }
  }
};

}  // namespace kiln
