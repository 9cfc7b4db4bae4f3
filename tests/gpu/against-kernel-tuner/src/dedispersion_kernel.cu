// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   dedispersion_kernel
//@ purpose    A thread sums the channels for some samples of some dispersion measures.
//@ operation  dedispersion
//@ tune       block_size_x = 1 2 4 8 16 32           // threads along the dispersion measures
//@ tune       block_size_y = 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184
//@                           192 200 208 216 224 232 240 248 256   // and along the samples
//@ tune       tile_size_x = 1 2 3 4                  // dispersion measures of a thread
//@ tune       tile_size_y = 1 2 3 4 5 6 7 8          // samples of a thread
//@ tune       tile_stride_x = 0 1                    // whether these lie a block apart
//@ tune       tile_stride_y = 0 1
//@ tune       unroll_channels = 0 1 2 4 8            // 0: as the compiler chooses
//@ require    block_size_x * block_size_y >= 32
//@ require    block_size_x * block_size_y <= device.max_threads
//@ require    tile_size_x > 1 || tile_stride_x == 0
//@ require    tile_size_y > 1 || tile_stride_y == 0
//@ launch     dedispersion
//@   grid     ceil_div(dms, block_size_x * tile_size_x),
//@            ceil_div(length, block_size_y * tile_size_y)
//@   block    block_size_x, block_size_y
//@   args     sums, input, shifts, dms, length, channels

// A pragma takes a constant, not a macro.
constexpr int unrolled_channels = unroll_channels;

/// The number of the `i`th element of thread `lane` in a tile.
__device__ __forceinline__ int place(int lane, int lanes, int i, int each, bool strided) {
  return strided ? lane + i * lanes : lane * each + i;
}

/// A signal of dispersion measure `dm` arrives in a channel later by `dm` times the channel's
/// shift.
extern "C" __global__ void __launch_bounds__(block_size_x* block_size_y)
    dedispersion(float* sums, const unsigned char* __restrict__ input,
                 const float* __restrict__ shifts, int dms, int samples, int channels) {
  const int first_dm = blockIdx.x * (block_size_x * tile_size_x);
  const int first_sample = blockIdx.y * (block_size_y * tile_size_y);
  const size_t pitch = samples + dms;
  int dm[tile_size_x];
  int sample[tile_size_y];
  float sum[tile_size_x][tile_size_y];
#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) {
    dm[i] = first_dm + place(threadIdx.x, block_size_x, i, tile_size_x, tile_stride_x);
#pragma unroll
    for (int j = 0; j < tile_size_y; ++j) sum[i][j] = 0.0f;
  }
#pragma unroll
  for (int j = 0; j < tile_size_y; ++j) {
    sample[j] = first_sample + place(threadIdx.y, block_size_y, j, tile_size_y, tile_stride_y);
  }

#if unroll_channels > 0
#pragma unroll unrolled_channels
#endif
  for (int channel = 0; channel < channels; ++channel) {
    const float shift = shifts[channel];
    const unsigned char* from = input + channel * pitch;
#pragma unroll
    for (int i = 0; i < tile_size_x; ++i) {
      const int delay = static_cast<int>(shift * min(dm[i], dms - 1));
#pragma unroll
      for (int j = 0; j < tile_size_y; ++j) sum[i][j] += from[min(sample[j], samples - 1) + delay];
    }
  }

#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) {
#pragma unroll
    for (int j = 0; j < tile_size_y; ++j) {
      if (dm[i] < dms && sample[j] < samples) {
        sums[dm[i] * static_cast<size_t>(samples) + sample[j]] = sum[i][j];
      }
    }
  }
}
