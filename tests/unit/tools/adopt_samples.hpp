// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::test {

// Kernels as users of other tuners have them.

inline constexpr const char* kVectorAddSource = R"(extern "C" __global__
void vector_add(float* c, const float* a, const float* b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}
)";

/// A filter in constant memory, tile factors behind macros, a flag, sizes of the filter as macros.
inline constexpr const char* kConvolutionSource = R"(
#ifndef filter_width
  #define filter_width 7
#endif
#define filter_height 7
#define tile_width (block_size_x * tile_size_x)
/* weights, " set by the host */
__constant__ float d_filter[filter_height * filter_width];

__device__ __forceinline__ int clamped(int at, int most) { return at < most ? at : most - 1; }

extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y)
convolution_kernel(float *output, const float *__restrict__ input, int height, int width) {
  __shared__ float image[block_size_y * tile_size_y + filter_height - 1]
                        [tile_width + filter_width - 1 + use_padding];
  const int first_x = blockIdx.x * tile_width;
  const int first_y = blockIdx.y * (block_size_y * tile_size_y);
  const int input_width = width + filter_width - 1;
  for (int y = threadIdx.y; y < block_size_y * tile_size_y + filter_height - 1; y += block_size_y) {
    for (int x = threadIdx.x; x < tile_width + filter_width - 1; x += block_size_x) {
      image[y][x] = input[(first_y + y) * input_width + first_x + x];
    }
  }
  __syncthreads();
  float sum[tile_size_y][tile_size_x] = {};
#pragma unroll filter_unroll
  for (int i = 0; i < filter_height; i++) {
    for (int j = 0; j < filter_width; j++) {
      for (int ty = 0; ty < tile_size_y; ty++) {
        for (int tx = 0; tx < tile_size_x; tx++) {
          sum[ty][tx] += d_filter[i * filter_width + j] *
                         image[threadIdx.y + ty * block_size_y + i]
                              [threadIdx.x + tx * block_size_x + j];
        }
      }
    }
  }
  for (int ty = 0; ty < tile_size_y; ty++) {
    int y = first_y + threadIdx.y + ty * block_size_y;
    for (int tx = 0; tx < tile_size_x; tx++) {
      int x = first_x + threadIdx.x + tx * block_size_x;
      if (y < height && x < width) output[y * width + x] = sum[ty][tx];
    }
  }
}
)";

/// Three dimensions, early return, blocks of the size that the launch says, a plain twin beside it.
inline constexpr const char* kStencilSource = R"(
namespace heat {

/* The plain one. */
__global__ void stencil_naive(float* next, const float* now, int nx, int ny, int nz, float rate) {
  const long long x = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const long long at = (z * (long long)ny + y) * nx + x;
  next[at] = now[at] * (1.0f - rate);
}

__global__ void stencil(float* next, const float* now, int nx, int ny, int nz, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  int first_z = (blockIdx.z * blockDim.z + threadIdx.z) * tile_size_z;
  if (x >= nx || y >= ny) return;
#if loop_order == 1
  for (int i = 0; i < tile_size_z; i++) {
#else
  for (int i = tile_size_z - 1; i >= 0; i--) {
#endif
    int z = first_z + i;
    if (z < nz) {
      size_t at = (z * (size_t)ny + y) * nx + x;
      next[at] = now[at] * (1.0f - rate);
    }
  }
}

}  // namespace heat
)";

/// Complex numbers in place, template parameters, a default that gives way, host code below.
inline constexpr const char* kComplexSource = R"(#include <cstdio>
#ifndef block_size_x
#define block_size_x 192
#endif

template <typename T, int kPerThread = 2, bool kCheck = true>
__global__ void __launch_bounds__(block_size_x)
complex_scale(float2* signal, const T* __restrict__ factors, const unsigned n, const float gain) {
  const unsigned first = (blockIdx.x * block_size_x + threadIdx.x) * kPerThread;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const unsigned at = first + i;
    if (!kCheck || at < n) {
      float2 value = signal[at];
      value.x *= gain * static_cast<float>(factors[2 * at]);
      signal[at] = value;
    }
  }
}

int main() {
  const int block_count = 12;
  printf("%s", "}}}{ not code");
  complex_scale<float><<<block_count, 192>>>(nullptr, nullptr, 0, 1.0f);
}
)";

/// Two launches with partial sums between them.
inline constexpr const char* kSumSource = R"(#include <cub/cub.cuh>
typedef cub::BlockReduce<float, block_size_x> BlockReduce;

extern "C" __global__ void sum_blocks(float* partials, const float* input, int n) {
  __shared__ typename BlockReduce::TempStorage storage;
  float sum = 0.0f;
  for (int i = blockIdx.x * block_size_x + threadIdx.x; i < n; i += grid_blocks * block_size_x) {
    sum += input[i];
  }
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
  }
}

extern "C" __global__ void sum_partials(float* sum, const float* partials, int count) {
  __shared__ typename BlockReduce::TempStorage storage;
  float mine = 0.0f;
  for (int i = threadIdx.x; i < count; i += block_size_x) mine += partials[i];
  mine = BlockReduce(storage).Sum(mine);
  if (threadIdx.x == 0) *sum = mine;
}
)";

}  // namespace kiln::test
