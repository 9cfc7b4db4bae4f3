// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   potential_columns
//@ purpose    A few columns of the lattice a thread, which share what an atom needs of a row.
//@ operation  potential
//@ tune       block_size_x = 16 32*   // threads
//@ tune       block_size_y = 1 2* 4   // likewise
//@ tune       columns = 1 2 4*        // of a thread
//@ tune       arrays = 0 1*           // a structure of arrays instead of an array of structures
//@ launch     potential_columns
//@   grid     ceil_div(width, block_size_x * columns), ceil_div(height, block_size_y)
//@   block    block_size_x, block_size_y
//@   args     atom, place, charge, energy, height, width, atoms, spacing

__global__ void potential_columns(const float4* atom, const float* place, const float* charge,
                                  float* energy, int height, int width, int atoms, float spacing) {
  const int row = blockIdx.y * block_size_y + threadIdx.y;
  const int first = (blockIdx.x * block_size_x * columns) + threadIdx.x;
  if (row >= height) return;
  float sum[columns] = {};
  for (int i = 0; i < atoms; ++i) {
#if arrays
    const float ax = place[i], ay = place[atoms + i], az = place[2 * atoms + i], q = charge[i];
#else
    const float ax = atom[i].x, ay = atom[i].y, az = atom[i].z, q = atom[i].w;
#endif
    const float dy = row * spacing - ay, dz = 1.0f + az;
    const float rest = dy * dy + dz * dz;
    for (int j = 0; j < columns; ++j) {
      const float dx = (first + j * block_size_x) * spacing - ax;
      sum[j] += q * rsqrtf(dx * dx + rest);
    }
  }
  for (int j = 0; j < columns; ++j) {
    const int col = first + j * block_size_x;
    if (col < width) energy[row * width + col] += sum[j];
  }
}
