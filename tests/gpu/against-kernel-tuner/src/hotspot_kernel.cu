// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   hotspot_kernel
//@ purpose    Some time steps of a tile in shared memory; its halo shrinks by a cell a step.
//@ operation  hotspot
//@ tune       block_size_x = 1 2 4 8 16 32 64 96 128 160 192 224 256 288 320 352 384 416 448 480
//@                           512 544 576 608 640 672 704 736 768 800 832 864 896 928 960 992 1024
//@ tune       block_size_y = 1 2 4 8 16 32
//@ tune       tile_size_x = 1 2 3 4 5 6 7 8 9 10    // results of a thread along a row
//@ tune       tile_size_y = 1 2 3 4 5 6 7 8 9 10    // and down a column
//@ tune       temporal_tiling_factor = 1 2 3 4 6 8  // time steps of a launch
//@ tune       unroll_time = 1 2 3 4 6 8             // unrolling of the loop over these steps
//@ tune       sh_power = 0 1                        // whether the power is staged in shared memory
//@ tune       blocks_per_sm = 0 1 2 3 4             // that registers must allow; 0: any number
//@ require    block_size_x * block_size_y <= device.max_threads
//@ require    block_size_x * block_size_y >= 32
//@ require    temporal_tiling_factor % unroll_time == 0
//@ require    blocks_per_sm * block_size_x * block_size_y <= device.max_threads_per_sm
//@ require    4 * (2 + sh_power) * (block_size_x * tile_size_x + 2 * temporal_tiling_factor) *
//@              (block_size_y * tile_size_y + 2 * temporal_tiling_factor) <= device.smem_static
//@ require    steps % temporal_tiling_factor == 0   // only whole launches
//@ scratch    spare result: height, width
//@ compile    --ftz=true   // CuPy always gives this option, so Kernel Tuner has it, too
//@ launch     hotspot
//@   repeat   steps / temporal_tiling_factor
//@   grid     ceil_div(width, block_size_x * tile_size_x),
//@            ceil_div(height, block_size_y * tile_size_y)
//@   block    block_size_x, block_size_y
//@   args     result, spare, temperature, power, width, height, to_power, to_neighbour,
//@            to_ambient, ambient, repeat_index, repeat_count

#define tile_width (block_size_x * tile_size_x)
#define tile_height (block_size_y * tile_size_y)
#define halo temporal_tiling_factor
#define staged_width (tile_width + 2 * halo)
#define staged_height (tile_height + 2 * halo)

// A pragma takes a constant, not a macro.
constexpr int unrolled_steps = unroll_time;

#if blocks_per_sm > 0
#define bounds __launch_bounds__(block_size_x* block_size_y, blocks_per_sm)
#else
#define bounds __launch_bounds__(block_size_x* block_size_y)
#endif

/// The steps of one launch, which is number `launch` of `launches`: launches write `spare` and
/// `result` in turn, the last one `result`.
extern "C" __global__ void bounds hotspot(float* result, float* spare, const float* start,
                                          const float* power, int width, int height, float to_power,
                                          float to_neighbour, float to_ambient, float ambient,
                                          int launch, int launches) {
  __shared__ float cells[2][staged_height][staged_width];
#if sh_power == 1
  __shared__ float staged_power[staged_height][staged_width];
#endif
  const bool to_result = (launches - 1 - launch) % 2 == 0;
  const float* from = launch == 0 ? start : to_result ? spare : result;
  float* to = to_result ? result : spare;
  const int first_x = static_cast<int>(blockIdx.x * tile_width) - halo;
  const int first_y = static_cast<int>(blockIdx.y * tile_height) - halo;

  for (int y = threadIdx.y; y < staged_height; y += block_size_y) {
    for (int x = threadIdx.x; x < staged_width; x += block_size_x) {
      const int at_y = first_y + y;
      const int at_x = first_x + x;
      if (at_y >= 0 && at_y < height && at_x >= 0 && at_x < width) {
        cells[0][y][x] = from[at_y * (size_t)width + at_x];
#if sh_power == 1
        staged_power[y][x] = power[at_y * (size_t)width + at_x];
#endif
      }
    }
  }
  __syncthreads();

#pragma unroll unrolled_steps
  for (int step = 1; step <= halo; ++step) {
    const float(*old)[staged_width] = cells[(step + 1) % 2];
    for (int y = threadIdx.y + step; y < staged_height - step; y += block_size_y) {
      for (int x = threadIdx.x + step; x < staged_width - step; x += block_size_x) {
        const int at_y = first_y + y;
        const int at_x = first_x + x;
        if (at_y >= 0 && at_y < height && at_x >= 0 && at_x < width) {
          const float here = old[y][x];
          const float up = old[at_y > 0 ? y - 1 : y][x];
          const float down = old[at_y < height - 1 ? y + 1 : y][x];
          const float left = old[y][at_x > 0 ? x - 1 : x];
          const float right = old[y][at_x < width - 1 ? x + 1 : x];
#if sh_power == 1
          const float heat = staged_power[y][x];
#else
          const float heat = power[at_y * (size_t)width + at_x];
#endif
          const float next = here + to_power * heat +
                             to_neighbour * (up + down + left + right - 4.0f * here) +
                             to_ambient * (ambient - here);
          if (step == halo) {
            to[at_y * (size_t)width + at_x] = next;
          } else {
            cells[step % 2][y][x] = next;
          }
        }
      }
    }
    if (step < halo) __syncthreads();
  }
}
