// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#ifndef reduce_block_size
#define reduce_block_size 256
#endif

template <typename T>
__device__ __forceinline__ T pair_term(const T* A, const T* B, int m, int n, int i, int j,
                                       const T* scale_A, const T* scale_B) {
  T dist = 0;
  for (int d = 0; d < 2; d++) {
    const T diff = A[i + d * m] - B[j + d * n];
    dist += diff * diff;
  }
  return exp(-dist / (scale_A[i] + scale_B[j]));
}

extern "C" __global__ void ExpDist(const double* A, const double* B, int m, int n,
                                   const double* scale_A, const double* scale_B,
                                   double* d_cross_term) {
  const int i = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
  const int j = blockIdx.y * block_size_y * tile_size_y + threadIdx.y;
  double sum = 0;
#pragma unroll loop_unroll_factor_x
  for (int ti = 0; ti < tile_size_x; ti++) {
    for (int tj = 0; tj < tile_size_y; tj++) {
      const int a = i + ti * block_size_x, b = j + tj * block_size_y;
      if (a < m && b < n) sum += pair_term<double>(A, B, m, n, a, b, scale_A, scale_B);
    }
  }
  __shared__ double parts[block_size_x * block_size_y];
  const int t = threadIdx.y * block_size_x + threadIdx.x;
  parts[t] = sum;
  __syncthreads();
  if (t == 0) {
    for (int k = 1; k < block_size_x * block_size_y; k++) sum += parts[k];
    d_cross_term[blockIdx.y * gridDim.x + blockIdx.x] = sum;
  }
}

extern "C" __global__ void reduce_cross_term(double* output, const double* d_cross_term,
                                             int nblocks) {
  __shared__ double parts[reduce_block_size];
  double sum = 0;
  for (int i = threadIdx.x; i < nblocks; i += reduce_block_size) sum += d_cross_term[i];
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < reduce_block_size; k++) sum += parts[k];
    output[0] = sum;
  }
}
