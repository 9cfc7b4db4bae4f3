// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  coulomb
//@ purpose    The potential of charged atoms at all points of a grid
//@ size       depth 1..4096
//@ size       height 1..4096
//@ size       width 1..4096
//@ size       count 1..4096                   // atoms
//@ scalar     spacing f32 = 0.00390625        // of the grid's points
//@ type       potential f32
//@ type       atoms f32
//@ operand    potential out: depth, height, width
//@ operand    atoms in: count, 4; fill uniform  // x, y, z, charge
//@ right      potential bound 256 + count / 4 of f32   // a sum of positive numbers
//@ ragged     depth=1 height=1 width=1 count=1
//@ ragged     depth=5 height=17 width=33 count=67
//@ ragged     depth=33 height=9 width=70 count=130
//@ flops      9 * depth * height * width * count
//@ bytes      4 * depth * height * width
//@ reference  coulomb_reference
//@   grid     ceil_div(width, 64), height, depth
//@   block    64
//@   args     potential.f64, atoms.f64, count, width, height, spacing

__global__ void coulomb_reference(double* potential, const double* atoms, int count, int width,
                                  int height, float spacing) {
  const int x = blockIdx.x * 64 + threadIdx.x;
  if (x >= width) return;
  const double at_x = x * static_cast<double>(spacing);
  const double at_y = blockIdx.y * static_cast<double>(spacing);
  const double at_z = blockIdx.z * static_cast<double>(spacing);
  double sum = 0.0;
  for (int j = 0; j < count; ++j) {
    const double dx = at_x - atoms[4 * j];
    const double dy = at_y - atoms[4 * j + 1];
    const double dz = at_z - atoms[4 * j + 2];
    sum += atoms[4 * j + 3] * rsqrt(dx * dx + dy * dy + dz * dz);
  }
  potential[(blockIdx.z * static_cast<size_t>(height) + blockIdx.y) * width + x] = sum;
}
