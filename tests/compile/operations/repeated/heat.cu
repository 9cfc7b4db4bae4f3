// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// How a chip's temperature changes: in each step, every cell moves towards its neighbours and is
// heated by its power. A cell at the border is its own neighbour.

//@ operation  heat
//@ purpose    The temperature of a chip after some steps
//@ size       height 1..4096
//@ size       width 1..4096
//@ size       steps 1..64
//@ type       before f32
//@ type       power f32
//@ type       after f32
//@ operand    before in: height, width; fill uniform
//@ operand    power in: height, width; fill positive
//@ operand    after out: height, width
//@ right      after within 1e-4 1e-5
//@ ragged     height=1 width=1 steps=1
//@ ragged     height=19 width=37 steps=2
//@ ragged     height=19 width=37 steps=7
//@ flops      height * width * steps * 8
//@ reference  heat_reference
//@   grid     1
//@   block    1024
//@   args     before.f64, power.f64, after.f64, height, width, steps

__global__ void heat_reference(double* before, const double* power, double* after, int height,
                               int width, int steps) {
  const int cells = height * width;
  double* from = before;  // a copy, as every .f64 argument
  double* to = after;
  for (int step = 0; step < steps; ++step) {
    for (int i = threadIdx.x; i < cells; i += 1024) {
      const int row = i / width, col = i % width;
      const double sum = from[row > 0 ? i - width : i] + from[row + 1 < height ? i + width : i] +
                         from[col > 0 ? i - 1 : i] + from[col + 1 < width ? i + 1 : i];
      to[i] = from[i] + 0.125 * (sum - 4.0 * from[i]) + 0.01 * power[i];
    }
    __syncthreads();
    double* const swapped = from;
    from = to;
    to = swapped;
  }
  for (int i = threadIdx.x; from != after && i < cells; i += 1024) after[i] = from[i];
}
