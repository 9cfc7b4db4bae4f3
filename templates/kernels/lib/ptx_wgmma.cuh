// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// wgmma (compute capability 9.0a): the four warps of a warpgroup multiply tiles of 64 rows that
/// lie in shared memory, while their threads go on. Products are gathered into groups; sums may be
/// read once the group is waited for.

#include "common/annotations.cuh"
#include "common/element.cuh"
#include "lib/ptx_wgmma_counts.cuh"

namespace kiln {

/// Which instruction multiplies A by B for such sums, and what it takes.
template <class A, class B, class Acc>
struct WgmmaTypes;

#define KILN_WGMMA_TYPES(A, B, Acc, Sum, kind, per_register)        \
  template <>                                                       \
  struct WgmmaTypes<A, B, Acc> {                                    \
    using Register = Sum; /* of a thread's sums */                  \
    static constexpr WgmmaKind kKind = WgmmaKind::kind;             \
    static constexpr int kSums = per_register; /* in a register */  \
    static constexpr int kDepth = 32 / static_cast<int>(sizeof(A)); \
  }
#if KILN_USES_BF16
KILN_WGMMA_TYPES(__nv_bfloat16, __nv_bfloat16, float, float, bf16, 1);
#endif
#if KILN_USES_F16
KILN_WGMMA_TYPES(__half, __half, float, float, f16, 1);
KILN_WGMMA_TYPES(__half, __half, __half, unsigned, f16_sums, 2);
#endif
KILN_WGMMA_TYPES(tf32, tf32, float, float, tf32, 1);
KILN_WGMMA_TYPES(signed char, signed char, int, int, s8s8, 1);
KILN_WGMMA_TYPES(signed char, unsigned char, int, int, s8u8, 1);
KILN_WGMMA_TYPES(unsigned char, signed char, int, int, u8s8, 1);
KILN_WGMMA_TYPES(unsigned char, unsigned char, int, int, u8u8, 1);
#undef KILN_WGMMA_TYPES

/// Rows of an operand in shared memory, in groups of eight that a swizzle spans; `span` bytes each,
/// the chunks of 16 bytes exchanged as a tensor copy does (128, 64 or 32).
struct SwizzledRows {
  int span;
  int leading;  ///< bytes from one span of a row to the next, where it has several
};

/// The descriptor of an operand that starts at `address` (PTX ISA, "Matrix Descriptor Format"). The
/// start can be moved on by adding a sixteenth of the bytes.
template <SwizzledRows kRows>
KILN_DEVICE u64 wgmma_descriptor(unsigned address) {
  constexpr u64 kMode = kRows.span == 128 ? 1 : kRows.span == 64 ? 2 : 3;  // mutant: swizzle_mode
  constexpr u64 kLeading = kRows.leading / 16;
  constexpr u64 kStride = 8 * kRows.span / 16;  // mutant: swizzle_stride
  return (address & 0x3ffffU) >> 4 | kLeading << 16 | kStride << 32 | kMode << 62;
}

/// Before the first product of a group: what this thread did with its sums is done.
KILN_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Closes the group of products since the last call.
KILN_DEVICE void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most kPending of the newest groups are unfinished.
template <int kPending>
KILN_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Keeps the compiler from moving a use of the sums across.
KILN_DEVICE void pin(float& sum) {
  asm volatile("" : "+f"(sum)::"memory");
}
KILN_DEVICE void pin(int& sum) {
  asm volatile("" : "+r"(sum)::"memory");
}
KILN_DEVICE void pin(unsigned& sum) {
  asm volatile("" : "+r"(sum)::"memory");
}

/// Registers of each thread of the warpgroup from here on: more of them wait until others gave some
/// back. All its threads call it.
template <int kCount>
KILN_DEVICE void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
KILN_DEVICE void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

}  // namespace kiln
