// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   convolution_kernel
//@ purpose    The part of the image that a block needs in shared memory, a patch a thread.
//@ operation  convolution17
//@ tune       block_size_x = 16 32 48 64 80 96 112 128
//@ tune       block_size_y = 1 2 4 8 16 32
//@ tune       tile_size_x = 1 2 3 4 5 6 7 8   // results of a thread along a row
//@ tune       tile_size_y = 1 2 3 4 5 6 7 8   // and down a column
//@ tune       use_padding = 0 1               // rows of a warp in other banks of shared memory
//@ tune       read_only = 0 1                 // reads the image through the read-only cache
//@ require    block_size_x * block_size_y <= device.max_threads
//@ require    use_padding == 0 || block_size_x % 32 != 0   // a warp has one row: nothing to pad
//@ launch     convolution
//@   grid     ceil_div(width, block_size_x * tile_size_x),
//@            ceil_div(height, block_size_y * tile_size_y)
//@   block    block_size_x, block_size_y
//@   args     output, input, width, height
//@ constant   d_filter = filter

#define filter_extent 17
#define tile_width (block_size_x * tile_size_x)
#define tile_height (block_size_y * tile_size_y)
#define image_width (tile_width + filter_extent - 1)
#define image_height (tile_height + filter_extent - 1)
// The next length at which the rows of a warp, each half a warp long, fall into different banks.
#define padded_width (image_width + (48 - image_width % 32) % 32)

__constant__ float d_filter[filter_extent * filter_extent];

extern "C" __global__ void convolution(float* output, const float* __restrict__ input, int width,
                                       int height) {
#if use_padding == 1
  __shared__ float image[image_height][padded_width];
#else
  __shared__ float image[image_height][image_width];
#endif
  const int first_x = blockIdx.x * tile_width;
  const int first_y = blockIdx.y * tile_height;
  const int input_width = width + filter_extent - 1;
  const int input_height = height + filter_extent - 1;

  for (int y = threadIdx.y; y < image_height; y += block_size_y) {
    for (int x = threadIdx.x; x < image_width; x += block_size_x) {
      float pixel = 0.0f;
      if (first_y + y < input_height && first_x + x < input_width) {
        const float* from = input + (first_y + y) * (size_t)input_width + first_x + x;
#if read_only == 1
        pixel = __ldg(from);
#else
        pixel = *from;
#endif
      }
      image[y][x] = pixel;
    }
  }
  __syncthreads();

  float sum[tile_size_y][tile_size_x];
#pragma unroll
  for (int ty = 0; ty < tile_size_y; ++ty) {
#pragma unroll
    for (int tx = 0; tx < tile_size_x; ++tx) sum[ty][tx] = 0.0f;
  }
#pragma unroll
  for (int i = 0; i < filter_extent; ++i) {
#pragma unroll
    for (int j = 0; j < filter_extent; ++j) {
      const float weight = d_filter[i * filter_extent + j];
#pragma unroll
      for (int ty = 0; ty < tile_size_y; ++ty) {
#pragma unroll
        for (int tx = 0; tx < tile_size_x; ++tx) {
          sum[ty][tx] +=
              weight *
              image[threadIdx.y + ty * block_size_y + i][threadIdx.x + tx * block_size_x + j];
        }
      }
    }
  }

#pragma unroll
  for (int ty = 0; ty < tile_size_y; ++ty) {
    const int y = first_y + threadIdx.y + ty * block_size_y;
#pragma unroll
    for (int tx = 0; tx < tile_size_x; ++tx) {
      const int x = first_x + threadIdx.x + tx * block_size_x;
      if (y < height && x < width) output[y * (size_t)width + x] = sum[ty][tx];
    }
  }
}
