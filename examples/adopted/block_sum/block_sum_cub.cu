// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   block_sum_cub
//@ purpose    Sums of blocks by CUB, added up by a second launch.
//@ operation  block_sum
//@ tune       block_size_x = 64 128 256* 512 1024
//@ tune       grid_blocks = 64 128 256 512* 1024 2048
//@ tune       use_vector = 1 2 4*               // numbers of a load
//@ require    block_size_x <= device.max_threads
//@ workspace  4 * grid_blocks
//@ launch     sum_blocks
//@   grid     grid_blocks
//@   block    block_size_x
//@   args     workspace, input, n
//@ launch     sum_partials
//@   grid     1
//@   block    block_size_x
//@   args     sum, workspace

#include <cub/cub.cuh>

#if use_vector == 1
typedef float numbers;
#elif use_vector == 2
typedef float2 numbers;
#else
typedef float4 numbers;
#endif

__device__ float total(float v) {
  return v;
}
__device__ float total(float2 v) {
  return v.x + v.y;
}
__device__ float total(float4 v) {
  return (v.x + v.y) + (v.z + v.w);
}

extern "C" __global__ void sum_blocks(float* partials, const float* input, int n) {
  typedef cub::BlockReduce<float, block_size_x> BlockReduce;
  __shared__ typename BlockReduce::TempStorage storage;

  const numbers* vectors = reinterpret_cast<const numbers*>(input);
  int count = n / use_vector;
  int thread = blockIdx.x * block_size_x + threadIdx.x;
  float sum = 0.0f;
  for (int i = thread; i < count; i += grid_blocks * block_size_x) {
    sum += total(vectors[i]);
  }
  // The last ones, if they are no whole vector.
  if (thread < n - count * use_vector) {
    sum += input[count * use_vector + thread];
  }

  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
  }
}

extern "C" __global__ void sum_partials(float* sum, const float* partials) {
  typedef cub::BlockReduce<float, block_size_x> BlockReduce;
  __shared__ typename BlockReduce::TempStorage storage;

  float mine = 0.0f;
  for (int i = threadIdx.x; i < grid_blocks; i += block_size_x) {
    mine += partials[i];
  }
  mine = BlockReduce(storage).Sum(mine);
  if (threadIdx.x == 0) {
    *sum = mine;
  }
}
