// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
__global__ void scan_blocks(float* out, float* sums, const float* in, int n) {
  __shared__ float part[block_size_x];
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  float mine = i < n ? in[i] : 0.0f;
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int step = 1; step < block_size_x; step *= 2) {
    const float other = threadIdx.x >= step ? part[threadIdx.x - step] : 0.0f;
    __syncthreads();
    part[threadIdx.x] += other;
    __syncthreads();
  }
  if (i < n) out[i] = part[threadIdx.x];
  if (threadIdx.x == block_size_x - 1) sums[blockIdx.x] = part[threadIdx.x];
}
__global__ void scan_sums(float* sums, int count) {
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int i = 0; i < count; ++i) {
      const float one = sums[i];
      sums[i] = total;
      total += one;
    }
  }
}
__global__ void add_sums(float* out, const float* sums, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}
