// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   coulomb_kernel
//@ purpose    A thread sums all charges for some points of the grid that lie behind each other.
//@ operation  coulomb
//@ tune       block_size_x = 16 32 64
//@ tune       block_size_y = 1 2 4 8 16
//@ tune       z_iterations = 1 2 4 8 16 32                // points of a thread
//@ tune       inner_unroll_factor = 0 1 2 4 8 16 32       // of the loop over atoms; 0: none
//@ tune       use_constant_memory = 0 1
//@ tune       use_soa = 0 1                               // an array for each coordinate
//@ tune       vector_size = 1 2 4                         // numbers of one load of a coordinate
//@ require    block_size_x * block_size_y <= device.max_threads
//@ require    use_constant_memory == 0 || use_soa == 0
//@ require    use_soa == 1 || vector_size == 1
//@ workspace  16 * round_up(count, 4)
//@ launch     coulomb_arrays
//@   when     use_soa
//@   grid     ceil_div(round_up(count, 4), 256)
//@   block    256
//@   args     workspace, atoms, count
//@ launch     coulomb
//@   grid     ceil_div(width, block_size_x), ceil_div(height, block_size_y),
//@            ceil_div(depth, z_iterations)
//@   block    block_size_x, block_size_y
//@   args     potential, atoms, workspace, count, width, height, depth, spacing
//@ constant   d_atoms = atoms

#define most_atoms 4096

__constant__ float4 d_atoms[most_atoms];

/// The coordinates and charges of the atoms as four arrays. A multiple of four long, so the last
/// few may be of no atom, and have no charge.
extern "C" __global__ void coulomb_arrays(float* arrays, const float4* atoms, int count) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  const int length = (count + 3) / 4 * 4;
  if (at >= length) return;
  const float4 atom = at < count ? atoms[at] : make_float4(-1.0f, -1.0f, -1.0f, 0.0f);
  arrays[at] = atom.x;
  arrays[length + at] = atom.y;
  arrays[2 * length + at] = atom.z;
  arrays[3 * length + at] = atom.w;
}

// A pragma takes a constant, not a macro.
constexpr int unrolled_atoms = inner_unroll_factor;

/// A coordinate of as many atoms as one load brings.
struct alignas(4 * vector_size) Pack {
  float item[vector_size];
};

extern "C" __global__ void __launch_bounds__(block_size_x* block_size_y)
    coulomb(float* potential, const float4* __restrict__ atoms, const float* __restrict__ arrays,
            int count, int width, int height, int depth, float spacing) {
  const int x = blockIdx.x * block_size_x + threadIdx.x;
  const int y = blockIdx.y * block_size_y + threadIdx.y;
  const int z = blockIdx.z * z_iterations;
  const float at_x = x * spacing;
  const float at_y = y * spacing;
  float at_z[z_iterations];
  float sum[z_iterations];
#pragma unroll
  for (int i = 0; i < z_iterations; ++i) {
    at_z[i] = (z + i) * spacing;
    sum[i] = 0.0f;
  }

#if use_soa == 1
  const int loads = (count + 3) / 4 * 4 / vector_size;
  const Pack* xs = reinterpret_cast<const Pack*>(arrays);
  const Pack* ys = xs + loads;
  const Pack* zs = ys + loads;
  const Pack* charges = zs + loads;
#else
  const int loads = count;
#endif
#if inner_unroll_factor > 0
#pragma unroll unrolled_atoms
#endif
  for (int j = 0; j < loads; ++j) {
#if use_soa == 1
    const Pack atom_x = xs[j];
    const Pack atom_y = ys[j];
    const Pack atom_z = zs[j];
    const Pack charge = charges[j];
#else
#if use_constant_memory == 1
    const float4 atom = d_atoms[j];
#else
    const float4 atom = atoms[j];
#endif
    const Pack atom_x{{atom.x}};
    const Pack atom_y{{atom.y}};
    const Pack atom_z{{atom.z}};
    const Pack charge{{atom.w}};
#endif
#pragma unroll
    for (int v = 0; v < vector_size; ++v) {
      const float dx = at_x - atom_x.item[v];
      const float dy = at_y - atom_y.item[v];
      const float across = dx * dx + dy * dy;
#pragma unroll
      for (int i = 0; i < z_iterations; ++i) {
        const float dz = at_z[i] - atom_z.item[v];
        sum[i] += charge.item[v] * rsqrtf(across + dz * dz);
      }
    }
  }

  if (x >= width || y >= height) return;
#pragma unroll
  for (int i = 0; i < z_iterations; ++i) {
    if (z + i < depth) potential[((z + i) * static_cast<size_t>(height) + y) * width + x] = sum[i];
  }
}
