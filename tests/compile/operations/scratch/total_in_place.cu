// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   total_in_place
//@ purpose    One block adds the upper half of the numbers to the lower half until one is left.
//@ operation  total
//@ tune       block_size = 64 256*   // threads
//@ launch     total_in_place
//@   grid     1
//@   block    block_size
//@   args     x, y, n

__global__ void __launch_bounds__(block_size) total_in_place(float* x, float* y, int n) {
  while (n > 1) {
    const int half = (n + 1) / 2;
    for (int i = threadIdx.x; i < n / 2; i += block_size) x[i] += x[i + half];
    n = half;
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = x[0];
}
