// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   total_partials
//@ purpose    Every block sums a part; one block sums the parts.
//@ operation  total
//@ tune       block_size = 32 64 128*   // threads
//@ tune       items = 1 2 4*            // numbers of a thread
//@ let        tile = block_size * items
//@ scratch    partial y: ceil_div(n, tile)
//@ launch     sum_tiles
//@   grid     ceil_div(n, tile)
//@   block    block_size
//@   args     x, partial, n
//@ launch     sum_tiles
//@   grid     1
//@   block    block_size
//@   args     partial, y, ceil_div(n, tile)

/// Blocks take tiles in turn, so that one block can take all.
__global__ void __launch_bounds__(block_size) sum_tiles(const float* x, float* sums, int n) {
  __shared__ float parts[block_size];
  float sum = 0.0f;
  for (int first = blockIdx.x * tile; first < n; first += gridDim.x * tile) {
    for (int j = 0; j < items; ++j) {
      const int i = first + j * block_size + threadIdx.x;
      if (i < n) sum += x[i];
    }
  }
  parts[threadIdx.x] = sum;
  for (int half = block_size / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = parts[0];
}
