// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#ifndef nr_channels
#define nr_channels 64
#endif
#define max_shift 32

__constant__ float shifts[nr_channels];

extern "C" __global__ void dedispersion(const unsigned char* samples, float* series, float dm_first,
                                        float dm_step, int nr_samples, int nr_dms) {
  const int first_sample = blockIdx.x * (block_size_x * tile_size_x);
  const int first_dm = blockIdx.y * (block_size_y * tile_size_y);
  float sum[tile_size_y][tile_size_x];
#pragma unroll
  for (int y = 0; y < tile_size_y; y++)
    for (int x = 0; x < tile_size_x; x++) sum[y][x] = 0.0f;
#if loop_unroll_factor_channel > 0
#pragma unroll loop_unroll_factor_channel
#endif
  for (int c = 0; c < nr_channels; c++) {
    for (int y = 0; y < tile_size_y; y++) {
#if tile_stride_y == 1
      const int dm = first_dm + threadIdx.y + y * block_size_y;
#else
      const int dm = first_dm + threadIdx.y * tile_size_y + y;
#endif
      const int shift = (int)((dm_first + dm * dm_step) * shifts[c]) & (max_shift - 1);
      for (int x = 0; x < tile_size_x; x++) {
#if tile_stride_x == 1
        const int sample = first_sample + threadIdx.x + x * block_size_x;
#else
        const int sample = first_sample + threadIdx.x * tile_size_x + x;
#endif
        if (sample < nr_samples && dm < nr_dms) {
          sum[y][x] += samples[c * (nr_samples + max_shift) + sample + shift];
        }
      }
    }
  }
  for (int y = 0; y < tile_size_y; y++) {
#if tile_stride_y == 1
    const int dm = first_dm + threadIdx.y + y * block_size_y;
#else
    const int dm = first_dm + threadIdx.y * tile_size_y + y;
#endif
    for (int x = 0; x < tile_size_x; x++) {
#if tile_stride_x == 1
      const int sample = first_sample + threadIdx.x + x * block_size_x;
#else
      const int sample = first_sample + threadIdx.x * tile_size_x + x;
#endif
      if (sample < nr_samples && dm < nr_dms) series[(size_t)dm * nr_samples + sample] = sum[y][x];
    }
  }
}
