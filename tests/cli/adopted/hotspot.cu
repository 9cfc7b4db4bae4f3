// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Heat on a chip: each launch does temporal_tiling_factor steps on a tile with a border.
#define input_width (block_size_x * tile_size_x + 2 * temporal_tiling_factor)
#define input_height (block_size_y * tile_size_y + 2 * temporal_tiling_factor)
#ifndef grid_width
#define grid_width 4096
#define grid_height 4096
#endif

extern "C" __global__ void hotspot(const float* power, const float* temp_in, float* temp_out,
                                   float rx, float ry, float rz, float step) {
  __shared__ float now[2][input_height][input_width];
#if sh_power == 1
  __shared__ float heat[input_height][input_width];
#endif
  const int first_x = blockIdx.x * (block_size_x * tile_size_x) - temporal_tiling_factor;
  const int first_y = blockIdx.y * (block_size_y * tile_size_y) - temporal_tiling_factor;
  for (int y = threadIdx.y; y < input_height; y += block_size_y) {
    for (int x = threadIdx.x; x < input_width; x += block_size_x) {
      const int gx = min(max(first_x + x, 0), grid_width - 1);
      const int gy = min(max(first_y + y, 0), grid_height - 1);
      now[0][y][x] = temp_in[gy * grid_width + gx];
#if sh_power == 1
      heat[y][x] = power[gy * grid_width + gx];
#endif
    }
  }
  __syncthreads();
  int from = 0;
#pragma unroll loop_unroll_factor_t
  for (int t = 1; t <= temporal_tiling_factor; t++) {
    for (int y = threadIdx.y + t; y < input_height - t; y += block_size_y) {
      for (int x = threadIdx.x + t; x < input_width - t; x += block_size_x) {
        const int gx = first_x + x, gy = first_y + y;
        if (gx >= 0 && gx < grid_width && gy >= 0 && gy < grid_height) {
          const float c = now[from][y][x];
          const float n = gy == 0 ? c : now[from][y - 1][x];
          const float s = gy == grid_height - 1 ? c : now[from][y + 1][x];
          const float w = gx == 0 ? c : now[from][y][x - 1];
          const float e = gx == grid_width - 1 ? c : now[from][y][x + 1];
#if sh_power == 1
          const float p = heat[y][x];
#else
          const float p = power[gy * grid_width + gx];
#endif
          now[1 - from][y][x] =
              c + step * (p + (n + s - 2.0f * c) * ry + (e + w - 2.0f * c) * rx + (80.0f - c) * rz);
        }
      }
    }
    __syncthreads();
    from = 1 - from;
  }
  for (int ty = 0; ty < tile_size_y; ty++) {
    for (int tx = 0; tx < tile_size_x; tx++) {
      const int x = threadIdx.x + tx * block_size_x, y = threadIdx.y + ty * block_size_y;
      const int gx = blockIdx.x * (block_size_x * tile_size_x) + x;
      const int gy = blockIdx.y * (block_size_y * tile_size_y) + y;
      if (gx < grid_width && gy < grid_height) {
        temp_out[gy * grid_width + gx] =
            now[from][y + temporal_tiling_factor][x + temporal_tiling_factor];
      }
    }
  }
}
