// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   stencil3d_kernel
//@ purpose    A grid of three dimensions; a thread walks through some planes.
//@ operation  stencil3d
//@ tune       block_size_x = 16 32* 64 128
//@ tune       block_size_y = 1 2 4* 8 16
//@ tune       block_size_z = 1* 2 4
//@ tune       tile_size_z = 1 2 4* 8 16        // planes of a thread
//@ require    block_size_x * block_size_y * block_size_z <= device.max_threads
//@ require    block_size_x * block_size_y * block_size_z >= 32
//@ prefer     block_size_x * block_size_y * block_size_z <= 512
//@ launch     heat_step
//@   grid     ceil_div(nx, block_size_x), ceil_div(ny, block_size_y),
//@            ceil_div(nz, block_size_z * tile_size_z)
//@   block    block_size_x, block_size_y, block_size_z

extern "C" __global__ void heat_step(float* next, const float* now, int nx, int ny, int nz,
                                     float rate) {
  int x = blockIdx.x * block_size_x + threadIdx.x;
  int y = blockIdx.y * block_size_y + threadIdx.y;
  int first_z = (blockIdx.z * block_size_z + threadIdx.z) * tile_size_z;
  if (x >= nx || y >= ny) return;

  const size_t row = nx;
  const size_t plane = row * ny;
  bool on_edge = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;

#pragma unroll
  for (int i = 0; i < tile_size_z; i++) {
    int z = first_z + i;
    if (z < nz) {
      size_t at = z * plane + y * row + x;
      float here = now[at];
      if (on_edge || z == 0 || z == nz - 1) {
        next[at] = here;
      } else {
        float around = now[at - 1] + now[at + 1] + now[at - row] + now[at + row] + now[at - plane] +
                       now[at + plane];
        next[at] = here + rate * (around - 6.0f * here);
      }
    }
  }
}
