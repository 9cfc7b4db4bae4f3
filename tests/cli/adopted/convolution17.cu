// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define filter_height 17
#define filter_width 17
#define border_height ((filter_height / 2) * 2)
#define border_width ((filter_width / 2) * 2)

#define row_length (image_width + border_width)

__constant__ float d_filter[filter_height * filter_width];

__global__ void convolution(float* output, const float* __restrict__ input) {
  const int x0 = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
  const int y0 = blockIdx.y * block_size_y * tile_size_y + threadIdx.y;
  for (int ty = 0; ty < tile_size_y; ty++) {
    for (int tx = 0; tx < tile_size_x; tx++) {
      const int x = x0 + tx * block_size_x, y = y0 + ty * block_size_y;
      if (x < image_width && y < image_height) {
        float sum = 0.0f;
        for (int i = 0; i < filter_height; i++)
          for (int j = 0; j < filter_width; j++) {
#if read_only == 1
            sum += d_filter[i * filter_width + j] * __ldg(&input[(y + i) * row_length + x + j]);
#else
            sum += d_filter[i * filter_width + j] * input[(y + i) * row_length + x + j];
#endif
          }
        output[y * image_width + x] = sum;
      }
    }
  }
}
