// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sums in two launches.
#if vector == 1
typedef float floatvector;
#elif vector == 2
typedef float2 floatvector;
#else
typedef float4 floatvector;
#endif

__device__ __forceinline__ float add_up(float4 v) {
  return v.x + v.y + v.z + v.w;
}
__device__ __forceinline__ float add_up(float2 v) {
  return v.x + v.y;
}
__device__ __forceinline__ float add_up(float v) {
  return v;
}

__device__ __forceinline__ void finish(float* result, float sum) {
  __shared__ float parts[block_size_x];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = block_size_x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) result[blockIdx.x] = parts[0];
}

__global__ void sum_part(float* partial, const floatvector* array, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * block_size_x + threadIdx.x; i < n / vector;
       i += num_blocks * block_size_x) {
    sum += add_up(array[i]);
  }
  finish(partial, sum);
}

__global__ void sum_rest(float* total, const float* partial, int count) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += block_size_x) sum += partial[i];
  finish(total, sum);
}
