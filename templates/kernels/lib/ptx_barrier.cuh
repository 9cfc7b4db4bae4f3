// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Barriers in shared memory (mbarrier, compute capability 9.0 and newer). A phase of one completes
/// when as many threads arrived as it counts, and all bytes that were announced for it came. A
/// thread waits for a phase by its parity: of the first phase it is 0, of the one before, 1.

#include "common/annotations.cuh"

namespace kiln {

using Barrier = unsigned long long;

KILN_DEVICE unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

KILN_DEVICE void mbarrier_init(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

/// Whether this lane is the one that the warp, all of it here, has do something. Unlike a
/// comparison this tells the compiler that there is only one, as instructions for copies want: else
/// it loops over lanes.
KILN_DEVICE bool elect_one() {
  unsigned is_elected;
  asm volatile(
      "{\n.reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, elected;\n}"
      : "=r"(is_elected));
  return is_elected != 0;
}

/// After the barriers of a block are initialised, before a copy or another block uses them.
KILN_DEVICE void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and announces `bytes` that copies bring.
KILN_DEVICE void mbarrier_arrive_expect_tx(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

KILN_DEVICE void mbarrier_arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

/// Arrives at the barrier that block `rank` of the cluster has in this one's place. It publishes
/// nothing that this thread wrote: that would take a fence that all of its block's accesses wait
/// for.
KILN_DEVICE void mbarrier_arrive_remote(Barrier& barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 theirs;\n"
      "mapa.shared::cluster.u32 theirs, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [theirs];\n}" ::"r"(shared_address(&barrier)),
      "r"(rank)
      : "memory");
}

/// Waits for the end of the phase of that parity.
KILN_DEVICE void mbarrier_wait(Barrier& barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

}  // namespace kiln
