// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Clusters (compute capability 9.0 and newer): blocks that run at the same time on neighbouring
/// multiprocessors, and read each other's shared memory.

#include "common/annotations.cuh"

namespace kiln {

/// The two halves of cluster_sync(): what is between them need not wait for the others.
KILN_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
KILN_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Waits for all threads of all blocks of the cluster; what they wrote before is visible after.
KILN_DEVICE void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

/// The halves of a meeting of all threads of the block, or of the cluster of kBlocks blocks: what
/// is between them need not wait for other blocks.
template <int kBlocks>
KILN_DEVICE void arrive_at_block_or_cluster() {
  if constexpr (kBlocks > 1) cluster_arrive();
}
template <int kBlocks>
KILN_DEVICE void wait_for_block_or_cluster() {
  if constexpr (kBlocks == 1) {
    __syncthreads();  // mutant: wait_for_block
  } else {
    cluster_wait();
  }
}

/// The first kThreads threads of the block, whole warps, while others do something else.
template <int kThreads>
KILN_DEVICE void named_barrier_sync() {
  asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
}

/// The block's number in its cluster.
KILN_DEVICE int cluster_block_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// The 16 bytes that block `rank` of the cluster has where this one has `mine`, in shared memory.
KILN_DEVICE uint4 load_from_cluster_block(const void* mine, int rank) {
  unsigned theirs;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(theirs)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(mine))), "r"(rank));
  uint4 value;
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(theirs)
               : "memory");
  return value;
}

}  // namespace kiln
