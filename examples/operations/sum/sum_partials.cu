// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   sum_partials
//@ purpose    A partial sum for each block, in a workspace; a second launch adds them.
//@ operation  sum
//@ tune       block_size = 128 256* 512 1024   // threads
//@ tune       blocks_per_sm = 1 2 4 8* 16
//@ tune       vector_bytes = 4 8 16*           // of one load
//@ tune       loads_together = 1 2 4* 8        // that a thread has in flight
//@ require    vector_bytes >= x_bytes
//@ require    block_size <= device.max_threads
//@ prefer     block_size * blocks_per_sm <= device.max_threads_per_sm   // all blocks at once
//@ prefer     block_size * blocks_per_sm * vector_bytes * loads_together >= 32768   // in flight
//@ prefer     block_size * vector_bytes / x_bytes <= n || block_size == 128
//@ workspace  4 * device.sm_count * blocks_per_sm
//@ launch     sum_to_partials<x>
//@   grid     min(device.sm_count * blocks_per_sm, ceil_div(n, block_size))
//@   block    block_size
//@   args     x, workspace, n
//@ launch     sum_of_partials
//@   grid     1
//@   block    256
//@   args     workspace, y, min(device.sm_count * blocks_per_sm, ceil_div(n, block_size))

/// \file
/// As many blocks as the GPU runs at a time walk through the array side by side:
///
///     x | block 0 | block 1 | ... | block b | block 0 | block 1 | ...      each `loads_together`
///            \         |             /                                     vectors of every thread
///     workspace [ p0 , p1 , ... , pb ]
///                      |   second launch, one block
///                      y
///
/// Blocks of one launch can't wait for each other, so what they have goes through memory, and a
/// second launch, which begins when the first has ended, adds it. No atomics: every addition has
/// its place, and the same input gives the same bits. The size of the workspace follows from
/// tunables, so it is the template's to say.
///
/// Each thread keeps several sums, which are independent of each other like the loads that feed
/// them, and adds them up at the end. That also keeps rounding errors small.

#include "common/element.cuh"

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
  T of[kCount];
};

/// The block's sum, right in thread 0.
template <int kThreads>
__device__ float sum_of_block(float mine) {
  __shared__ float of_warps[kThreads / 32];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    mine += __shfl_xor_sync(0xffffffffU, mine, distance);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  float sum = 0.0f;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int warp = 0; warp < kThreads / 32; ++warp) sum += of_warps[warp];
  }
  return sum;
}

/// This thread's share of x[0] to x[n - 1]: vectors, and what is left past the last whole one.
template <int kCount, class X>
__device__ float sum_of_share(const X* __restrict__ x, int n) {
  const long long vectors = n / kCount;
  const long long threads = gridDim.x * static_cast<long long>(block_size);
  const long long thread = blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
  const Vector<X, kCount>* from = reinterpret_cast<const Vector<X, kCount>*>(x);
  float sums[loads_together][kCount] = {};

  long long at = thread;
  for (; at + (loads_together - 1) * threads < vectors; at += loads_together * threads) {
    Vector<X, kCount> held[loads_together];
#pragma unroll
    for (int i = 0; i < loads_together; ++i) held[i] = from[at + i * threads];
#pragma unroll
    for (int i = 0; i < loads_together; ++i) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        sums[i][j] += kiln::to_accumulator<float>(held[i].of[j]);
      }
    }
  }
  for (; at < vectors; at += threads) {
    const Vector<X, kCount> held = from[at];
#pragma unroll
    for (int j = 0; j < kCount; ++j) sums[0][j] += kiln::to_accumulator<float>(held.of[j]);
  }
  const long long rest = vectors * kCount + thread;
  if (rest < n) sums[0][0] += kiln::to_accumulator<float>(x[rest]);  // fewer than a vector

  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < loads_together; ++i) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) sum += sums[i][j];
  }
  return sum;
}

template <class X>
__global__ void __launch_bounds__(block_size)
    sum_to_partials(const X* __restrict__ x, float* __restrict__ partials, int n) {
  constexpr int kCount = vector_bytes / sizeof(X);
  const bool aligned = reinterpret_cast<unsigned long long>(x) % vector_bytes == 0;
  const float mine = aligned ? sum_of_share<kCount>(x, n) : sum_of_share<1>(x, n);
  const float sum = sum_of_block<block_size>(mine);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(256)
    sum_of_partials(const float* __restrict__ partials, float* __restrict__ y, int count) {
  float mine = 0.0f;
#pragma unroll 4
  for (int at = threadIdx.x; at < count; at += 256) mine += partials[at];
  const float sum = sum_of_block<256>(mine);
  if (threadIdx.x == 0) *y = sum;
}
