// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies of boxes of a tensor between global and shared memory (TMA, compute capability 9.0 and
/// newer), which one thread starts and no register passes through. What lies outside of the tensor
/// arrives as zeros, and is not stored.

#include "common/annotations.cuh"
#include "common/tensor_map.cuh"
#include "lib/ptx_barrier.cuh"

namespace kiln {

/// Of a box's first element, the innermost dimension first.
struct BoxPlace {
  int x;
  int y;
};

KILN_DEVICE void tma_prefetch_descriptors(const TensorMap& a, const TensorMap& b) {
  asm volatile("prefetch.tensormap [%0];\nprefetch.tensormap [%1];" ::"l"(&a), "l"(&b) : "memory");
}

/// Asks L2 for the map's box. No thread gets to see what it reads, so it may be of memory that
/// another launch still writes.
KILN_DEVICE void tma_prefetch_2d(const TensorMap& map, BoxPlace at) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
               "r"(at.x), "r"(at.y)
               : "memory");
}

/// The policy of lines that leave L2 first, as `createpolicy.fractional` makes it for all of them.
constexpr unsigned long long kFirstToLeave = 0x12F0000000000000ULL;

/// Starts a copy of the map's box to shared memory; its bytes count at the barrier. kLeavesFirst:
/// its lines leave L2 before others.
template <bool kLeavesFirst = false>
KILN_DEVICE void tma_load_2d(void* to, const TensorMap& map, BoxPlace from, Barrier& barrier) {
  if constexpr (!kLeavesFirst) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
        "l"(&map), "r"(from.x), "r"(from.y), "r"(shared_address(&barrier))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%3, %4}], [%5], %2;" ::"r"(shared_address(to)),
        "l"(&map), "l"(kFirstToLeave), "r"(from.x), "r"(from.y), "r"(shared_address(&barrier))
        : "memory");
  }
}

/// The same to all blocks of the cluster whose bits are set in `blocks`, at the same place in each,
/// where it counts at the barrier in the same place.
template <bool kLeavesFirst = false>
KILN_DEVICE void tma_load_2d_multicast(unsigned short blocks, void* to, const TensorMap& map,
                                       BoxPlace at, Barrier& barrier) {
  if constexpr (!kLeavesFirst) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
        "l"(&map), "r"(at.x), "r"(at.y), "r"(shared_address(&barrier)), "h"(blocks)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%5], %6, %2;" ::"r"(
            shared_address(to)),
        "l"(&map), "l"(kFirstToLeave), "r"(at.x), "r"(at.y), "r"(shared_address(&barrier)),
        "h"(blocks)
        : "memory");
  }
}

/// Starts a copy of a box in shared memory to the tensor. Before, the threads that wrote it there
/// published it with fence_proxy_async() and met.
KILN_DEVICE void tma_store_2d(const TensorMap& map, BoxPlace to, const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(to.x), "r"(to.y), "r"(shared_address(from))
      : "memory");
}
/// Closes the group of this thread's stores since the last call; it may be empty.
KILN_DEVICE void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// What this thread wrote to shared memory is there for copies.
KILN_DEVICE void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Waits until at most kPending of this thread's newest groups of stores still read shared memory.
template <int kPending>
KILN_DEVICE void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace kiln
