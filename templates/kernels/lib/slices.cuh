// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A block that shares the depth of its stages out to slices: groups of warps that all compute the
/// whole tile of D, each from its own rows of the stage, so that a small tile still has enough
/// warps to hide latencies with large register blocks.
///
///              stage of 16 rows          slice 0: warps 0 ... 3     rows 0 ... 7
///                                        slice 1: warps 4 ... 7     rows 8 ... 15
///
/// In the end the slices' sums are added through shared memory. Of each thread's rows a slice
/// finishes one part, and leaves its sums of the others to those that finish them:
///
///     slice 0    | keeps rows 0, 1 | gives rows 2, 3 |  -+
///     slice 1    | gives rows 0, 1 | keeps rows 2, 3 |  <+   and the other way round
///
/// Threads write and read neighbouring numbers: no bank conflicts. Where warps store their shares
/// whole (a warp tile), collect_slices() leaves all sums to slice 0.

#include "common/annotations.cuh"

namespace kiln {

/// Numbers of shared memory that add_slices() needs for a thread tile of m x n.
KILN_HD constexpr int slice_exchange(int slices, int threads, int m, int n) {
  return slices == 1 ? 0 : (slices - 1) * (threads / slices) * m * n;
}

/// Adds the sums of all slices, of which this thread is in `slice`: its rows from
/// slice * m / kSlices on, so many, are then whole. Precondition: no thread reads the stages any
/// more, whose place `exchange` takes.
template <int kSlices, int kThreads, class Mma, class Acc>
KILN_DEVICE void add_slices(Mma& mma, Acc* exchange, int slice) {
  constexpr int kM = Mma::shape().m;
  constexpr int kN = Mma::shape().n;
  constexpr int kPart = kM / kSlices;
  constexpr int kGroup = kThreads / kSlices;
  static_assert(kM % kSlices == 0, "Slices must share a thread's rows evenly");
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
#pragma unroll
  for (int part = 0; part < kSlices; ++part) {
    if (part == slice) continue;
    // What a slice gets lies in the order of the givers, itself left out.
    const int giver = slice < part ? slice : slice - 1;
    Acc* to = exchange + (part * (kSlices - 1) + giver) * (kPart * kN * kGroup) + thread;
#pragma unroll
    for (int i = 0; i < kPart * kN; ++i) {
      to[i * kGroup] = mma.sum(part * kPart + i / kN, i % kN);
    }
  }
  __syncthreads();
#pragma unroll
  for (int part = 0; part < kSlices; ++part) {
    if (part != slice) continue;
#pragma unroll
    for (int giver = 0; giver < kSlices - 1; ++giver) {
      const Acc* from = exchange + (part * (kSlices - 1) + giver) * (kPart * kN * kGroup) + thread;
#pragma unroll
      for (int i = 0; i < kPart * kN; ++i) {
        mma.add(part * kPart + i / kN, i % kN, from[i * kGroup]);
      }
    }
  }
}

/// Adds the sums of all slices of a warp tile to those of slice 0. Precondition: no thread uses
/// `exchange` any more, which has room for (kSlices - 1) tiles of D.
template <int kSlices, int kThreads, class Mma, class Acc>
KILN_DEVICE void collect_slices(Mma& mma, Acc* exchange, int slice) {
  constexpr int kGroup = kThreads / kSlices;
  constexpr int kCount = Mma::count();
  Acc* place = exchange + static_cast<int>(threadIdx.x) % kGroup;
  if (slice > 0) {
    Acc* to = place + (slice - 1) * kCount * kGroup;
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i * kGroup] = mma.sum(i);
  }
  __syncthreads();
  if (slice > 0) return;
#pragma unroll
  for (int giver = 0; giver < kSlices - 1; ++giver) {
    const Acc* from = place + giver * kCount * kGroup;
#pragma unroll
    for (int i = 0; i < kCount; ++i) mma.sum(i) += from[i * kGroup];
  }
}

}  // namespace kiln
