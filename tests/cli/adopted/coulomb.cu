// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#if USE_SOA == 1
#define ATOM(i) make_float4(atom_x[i], atom_y[i], atom_z[i], atom_q[i])
#else
#define ATOM(i) atoms[i]
#endif

// The potential of all atoms at the points of a lattice.
__global__ void coulomb(const float4* atoms, const float* atom_x, const float* atom_y,
                        const float* atom_z, const float* atom_q, int n_atoms, float spacing,
                        int grid_size, float* potential) {
  const int xi = blockIdx.x * WORK_GROUP_SIZE_X + threadIdx.x;
  const int yi = blockIdx.y * WORK_GROUP_SIZE_Y + threadIdx.y;
  const int zi = (blockIdx.z * WORK_GROUP_SIZE_Z + threadIdx.z) * Z_ITERATIONS;
  if (xi >= grid_size || yi >= grid_size || zi >= grid_size) return;
  float sum[Z_ITERATIONS];
  for (int z = 0; z < Z_ITERATIONS; ++z) sum[z] = 0.0f;
  const float x = spacing * xi, y = spacing * yi;
#if INNER_UNROLL_FACTOR > 0
#pragma unroll INNER_UNROLL_FACTOR
#endif
  for (int i = 0; i < n_atoms; ++i) {
    const float4 atom = ATOM(i);
    const float dx = x - atom.x, dy = y - atom.y;
    for (int z = 0; z < Z_ITERATIONS; ++z) {
      const float dz = spacing * (zi + z) - atom.z;
      sum[z] += atom.w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
  }
  for (int z = 0; z < Z_ITERATIONS; ++z) {
    if (zi + z < grid_size) {
      potential[((size_t)(zi + z) * grid_size + yi) * grid_size + xi] = sum[z];
    }
  }
}
