// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   heat_halves
//@ purpose    A step is two launches: one for the sums of neighbours, one that adds them.
//@ operation  heat
//@ tune       block_size_x = 32 64*   // threads
//@ scratch    sums f32: height, width
//@ launch     copy_cells
//@   grid     ceil_div(height * width, block_size_x)
//@   block    block_size_x
//@   args     before, after, height * width
//@ launch     sum_neighbours
//@   repeat   steps; launches 2
//@   grid     ceil_div(width, block_size_x), height
//@   block    block_size_x
//@   args     after, sums, height, width
//@ launch     add_sums
//@   grid     ceil_div(height * width, block_size_x)
//@   block    block_size_x
//@   args     sums, power, after, height * width

__global__ void copy_cells(const float* from, float* to, int cells) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < cells) to[i] = from[i];
}

__global__ void sum_neighbours(const float* from, float* sums, int height, int width) {
  const int col = blockIdx.x * block_size_x + threadIdx.x, row = blockIdx.y;
  if (col >= width) return;
  const int i = row * width + col;
  sums[i] = from[row > 0 ? i - width : i] + from[row + 1 < height ? i + width : i] +
            from[col > 0 ? i - 1 : i] + from[col + 1 < width ? i + 1 : i];
}

__global__ void add_sums(const float* sums, const float* power, float* to, int cells) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < cells) to[i] += 0.125f * (sums[i] - 4.0f * to[i]) + 0.01f * power[i];
}
