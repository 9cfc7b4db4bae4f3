// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   complex_scale_kernel
//@ purpose    Complex numbers as float2, some of them a thread.
//@ operation  complex_scale
//@ tune       block_size_x = 64 128 256* 512 1024
//@ tune       tile_size_x = 1 2* 4 8            // numbers of a thread, a block apart
//@ tune       use_restrict = 0 1*               // filter and signal do not overlap: say so
//@ require    block_size_x <= device.max_threads
//@ launch     complex_scale
//@   grid     ceil_div(n, block_size_x * tile_size_x)
//@   block    block_size_x
//@   args     signal, filter, n

#if use_restrict == 1
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

__device__ float2 multiply(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

extern "C" __global__ void complex_scale(float2* RESTRICT signal, const float2* RESTRICT filter,
                                         int n) {
  int first = blockIdx.x * (block_size_x * tile_size_x) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < tile_size_x; i++) {
    int at = first + i * block_size_x;
    if (at < n) {
      signal[at] = multiply(signal[at], filter[at]);
    }
  }
}
