// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// The electric potential of charged atoms on a slice of a lattice, summed directly.

//@ operation  potential
//@ purpose    The potential of charged atoms on a lattice
//@ size       height 1..4096
//@ size       width 1..4096
//@ size       atoms 1..4000
//@ type       atom f32
//@ type       place f32
//@ type       charge f32
//@ type       energy f32
//@ scalar     spacing f32 = 0.5
//@ operand    atom in: atoms, 4; fill uniform
//@ operand    place in: 3, atoms; fill kernel split_atoms
//@ operand    charge in: atoms; fill kernel split_atoms
//@ operand    energy inout: height, width
//@ right      energy bound 8 + atoms / 4 of f32
//@ ragged     height=1 width=1 atoms=1
//@ ragged     height=5 width=33 atoms=7
//@ flops      height * width * atoms * 9
//@ fill       split_atoms
//@   grid     1
//@   block    64
//@   args     atom, place, charge, atoms
//@ reference  potential_reference
//@   grid     ceil_div(width, 32), height
//@   block    32
//@   args     atom.f64, energy.f64, energy.magnitude, width, atoms, spacing

__global__ void split_atoms(const float4* atom, float* place, float* charge, int atoms) {
  for (int i = threadIdx.x; i < atoms; i += 64) {
    place[i] = atom[i].x;
    place[atoms + i] = atom[i].y;
    place[2 * atoms + i] = atom[i].z;
    charge[i] = atom[i].w;
  }
}

__global__ void potential_reference(const double* atom, double* energy, double* magnitude,
                                    int width, int atoms, float spacing) {
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (col >= width) return;
  const double x = static_cast<double>(col) * spacing,
               y = static_cast<double>(blockIdx.y) * spacing;
  double sum = energy[blockIdx.y * width + col];
  double total = fabs(sum);
  for (int i = 0; i < atoms; ++i) {
    const double dx = x - atom[4 * i], dy = y - atom[4 * i + 1], dz = 1.0 + atom[4 * i + 2];
    const double term = atom[4 * i + 3] / sqrt(dx * dx + dy * dy + dz * dz);
    sum += term;
    total += fabs(term);
  }
  energy[blockIdx.y * width + col] = sum;
  magnitude[blockIdx.y * width + col] = total;
}
