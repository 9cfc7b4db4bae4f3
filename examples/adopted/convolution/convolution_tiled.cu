// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   convolution_tiled
//@ purpose    The part of the image that a block needs in shared memory, a patch a thread.
//@ operation  convolution
//@ tune       block_size_x = 8 16 32* 64
//@ tune       block_size_y = 1 2 4 8* 16
//@ tune       tile_size_x = 1 2* 4 8           // results of a thread along a row
//@ tune       tile_size_y = 1 2* 4 8           // and down a column
//@ tune       use_padding = 0 1*               // rows in shared memory longer by one number
//@ let        shared_width = block_size_x * tile_size_x + 6 + use_padding
//@ let        shared_height = block_size_y * tile_size_y + 6
//@ require    block_size_x * block_size_y <= device.max_threads
//@ require    block_size_x * block_size_y >= 32
//@ require    4 * shared_width * shared_height <= device.smem_static
//@ require    ceil_div(height, block_size_y * tile_size_y) <= 65535   // of a grid
//@ prefer     block_size_x * block_size_y <= 512
//@ prefer     tile_size_x * tile_size_y <= 16                         // registers
//@ launch     convolution_tiled
//@   grid     ceil_div(width, block_size_x * tile_size_x),
//@            ceil_div(height, block_size_y * tile_size_y)
//@   block    block_size_x, block_size_y
//@   args     output, input, width, height
//@ constant   d_filter = filter

#define filter_width 7
#define filter_height 7

__constant__ float d_filter[filter_height * filter_width];

#define tile_width (block_size_x * tile_size_x)
#define tile_height (block_size_y * tile_size_y)

extern "C" __global__ void convolution_tiled(float* output, const float* input, int width,
                                             int height) {
  __shared__ float image[shared_height][shared_width];

  const int input_width = width + filter_width - 1;
  const int input_height = height + filter_height - 1;
  const int first_x = blockIdx.x * tile_width;
  const int first_y = blockIdx.y * tile_height;

  // The block's part of the image.
  for (int y = threadIdx.y; y < tile_height + filter_height - 1; y += block_size_y) {
    for (int x = threadIdx.x; x < tile_width + filter_width - 1; x += block_size_x) {
      if (first_y + y < input_height && first_x + x < input_width) {
        image[y][x] = input[(size_t)(first_y + y) * input_width + first_x + x];
      } else {
        image[y][x] = 0.0f;
      }
    }
  }
  __syncthreads();

  // Neighbouring threads take neighbouring numbers; a thread's own are a block apart.
  float sum[tile_size_y][tile_size_x] = {};
#pragma unroll
  for (int i = 0; i < filter_height; i++) {
#pragma unroll
    for (int j = 0; j < filter_width; j++) {
      float weight = d_filter[i * filter_width + j];
#pragma unroll
      for (int ty = 0; ty < tile_size_y; ty++) {
#pragma unroll
        for (int tx = 0; tx < tile_size_x; tx++) {
          sum[ty][tx] +=
              weight *
              image[threadIdx.y + ty * block_size_y + i][threadIdx.x + tx * block_size_x + j];
        }
      }
    }
  }

#pragma unroll
  for (int ty = 0; ty < tile_size_y; ty++) {
    int y = first_y + threadIdx.y + ty * block_size_y;
#pragma unroll
    for (int tx = 0; tx < tile_size_x; tx++) {
      int x = first_x + threadIdx.x + tx * block_size_x;
      if (y < height && x < width) {
        output[(size_t)y * width + x] = sum[ty][tx];
      }
    }
  }
}
