// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   heat_tiles
//@ purpose    A launch does several steps: each block computes a tile with a margin that shrinks.
//@ operation  heat
//@ tune       block_size_x = 16 32*   // threads
//@ tune       block_size_y = 8 16*    // likewise
//@ tune       tile_t = 1 2 3*         // steps of a launch
//@ let        inner_x = block_size_x - 2 * tile_t
//@ let        inner_y = block_size_y - 2 * tile_t
//@ require    inner_x > 0 && inner_y > 0   // a tile has cells besides its margin
//@ scratch    between before: height, width
//@ launch     heat_tiles
//@   repeat   ceil_div(steps, tile_t)
//@   grid     ceil_div(width, inner_x), ceil_div(height, inner_y)
//@   block    block_size_x, block_size_y
//@   args     repeat_index == 0 ? before :
//@              (repeat_count - repeat_index) % 2 == 0 ? after : between,
//@            power, (repeat_count - repeat_index) % 2 == 1 ? after : between, height, width,
//@            min(tile_t, steps - repeat_index * tile_t)

__global__ void __launch_bounds__(block_size_x* block_size_y)
    heat_tiles(const float* from, const float* power, float* to, int height, int width, int steps) {
  __shared__ float cells[block_size_y][block_size_x];
  const int x = threadIdx.x, y = threadIdx.y;
  const int col = static_cast<int>(blockIdx.x) * inner_x + x - tile_t;
  const int row = static_cast<int>(blockIdx.y) * inner_y + y - tile_t;
  const bool is_cell = col >= 0 && col < width && row >= 0 && row < height;
  const long long at = static_cast<long long>(row) * width + col;
  float value = is_cell ? from[at] : 0.0f;
  const float heat = is_cell ? 0.01f * power[at] : 0.0f;
  cells[y][x] = value;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const bool is_inside = x > 0 && x + 1 < block_size_x && y > 0 && y + 1 < block_size_y;
    if (is_cell && is_inside) {
      const float sum = cells[row > 0 ? y - 1 : y][x] + cells[row + 1 < height ? y + 1 : y][x] +
                        cells[y][col > 0 ? x - 1 : x] + cells[y][col + 1 < width ? x + 1 : x];
      value += 0.125f * (sum - 4.0f * value) + heat;
    }
    __syncthreads();
    cells[y][x] = value;
    __syncthreads();
  }
  const bool is_inner = x >= tile_t && x < tile_t + inner_x && y >= tile_t && y < tile_t + inner_y;
  if (is_cell && is_inner) to[at] = value;
}
