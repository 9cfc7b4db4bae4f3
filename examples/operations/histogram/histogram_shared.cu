// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   histogram_shared
//@ purpose    Histograms of each block in shared memory, added up by atomics at its end.
//@ operation  histogram
//@ types      values=u8|s32 counts=s32
//@ tune       block_size = 128 256* 512 1024   // threads
//@ tune       blocks_per_sm = 1 2 4* 8
//@ tune       block_copies = 1 2 4* 8          // histograms of a block, dealt to its warps
//@ tune       copy_padding = 0 1*              // counts between them: one value, several banks
//@ tune       vector_bytes = 4 8 16*           // of one load
//@ require    vector_bytes >= values_bytes
//@ require    block_size <= device.max_threads
//@ require    32 * block_copies <= block_size                              // a warp for each
//@ require    4 * block_copies * (bins + copy_padding) <= device.smem_static
//@ prefer     block_size * blocks_per_sm <= device.max_threads_per_sm      // all blocks at once
//@ prefer     block_size * vector_bytes / values_bytes <= n || block_size == 128
//@ launch     histogram_clear
//@   grid     1
//@   block    256
//@   args     counts, bins
//@ launch     histogram_shared<values>
//@   grid     min(device.sm_count * blocks_per_sm, ceil_div(n, block_size))
//@   block    block_size
//@   smem     4 * block_copies * (bins + copy_padding)
//@   args     values, counts, n, bins

/// \file
/// Counting is atomic additions, and those to one address wait for each other. In shared memory
/// they are quick and only threads of a block compete, in copies only some of its warps:
///
///     values | block 0 | block 1 | ...
///                 |
///              warps 0, 4, ..   1, 5, ..   2, 6, ..   3, 7, ..
///              [ copy 0 ]       [ copy 1 ] [ copy 2 ] [ copy 3 ]     shared memory
///                   \___________ added, once at the end __________/
///                                |  one atomic addition a bin and block
///                             counts
///
/// The counts that a kernel gets hold anything, so a launch of its own clears them first: no block
/// of the second launch could tell whether another has done it. Sums of whole numbers do not depend
/// on the order, so the result is exact and always the same.

/// Neighbours that are loaded by one instruction.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
  T of[kCount];
};

__global__ void __launch_bounds__(256) histogram_clear(int* counts, int bins) {
  for (int bin = threadIdx.x; bin < bins; bin += 256) counts[bin] = 0;
}

/// Counts this thread's share of the values: vectors, and what is left past the last whole one.
template <int kCount, class T>
__device__ void count_share(const T* __restrict__ values, int* mine, int n) {
  const long long vectors = n / kCount;
  const long long threads = gridDim.x * static_cast<long long>(block_size);
  const long long thread = blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
  // Two loads in flight: while one's values are counted, the next is on its way.
  const Vector<T, kCount>* from = reinterpret_cast<const Vector<T, kCount>*>(values);
  Vector<T, kCount> next;
  if (thread < vectors) next = from[thread];
  for (long long at = thread; at < vectors; at += threads) {
    const Vector<T, kCount> held = next;
    if (at + threads < vectors) next = from[at + threads];
#pragma unroll
    for (int i = 0; i < kCount; ++i) atomicAdd(mine + held.of[i], 1);
  }
  const long long rest = vectors * kCount + thread;
  if (rest < n) atomicAdd(mine + values[rest], 1);  // fewer than a vector
}

template <class T>
__global__ void __launch_bounds__(block_size)
    histogram_shared(const T* __restrict__ values, int* counts, int n, int bins) {
  extern __shared__ int copies[];
  const int pitch = bins + copy_padding;
  for (int at = threadIdx.x; at < block_copies * pitch; at += block_size) copies[at] = 0;
  __syncthreads();

  constexpr int kCount = vector_bytes / sizeof(T);
  int* const mine = copies + threadIdx.x / 32 % block_copies * pitch;
  if (reinterpret_cast<unsigned long long>(values) % vector_bytes == 0) {
    count_share<kCount>(values, mine, n);
  } else {
    count_share<1>(values, mine, n);
  }
  __syncthreads();

  for (int bin = threadIdx.x; bin < bins; bin += block_size) {
    int sum = 0;
#pragma unroll
    for (int copy = 0; copy < block_copies; ++copy) sum += copies[copy * pitch + bin];
    if (sum != 0) atomicAdd(counts + bin, sum);
  }
}
