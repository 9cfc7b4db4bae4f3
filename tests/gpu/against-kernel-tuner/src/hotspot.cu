// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  hotspot
//@ purpose    The temperature of a chip after some time steps of its heat equation
//@ size       height 1..16384
//@ size       width 1..16384
//@ size       steps 1..1000 = 24
//@ scalar     to_power f32 = 0.0625              // degrees for a unit of power, in a step
//@ scalar     to_neighbour f32 = 0.125           // of the difference, in a step
//@ scalar     to_ambient f32 = 0.03125           // of the difference, in a step
//@ scalar     ambient f32 = 0.5                  // temperature around the chip
//@ type       result f32
//@ type       temperature f32
//@ type       power f32
//@ operand    result out: height, width
//@ operand    temperature in: height, width
//@ operand    power in: height, width
//@ right      result bound 16 * steps of f32     // of 1 + the result's absolute value
//@ ragged     height=1 width=1
//@ ragged     height=17 width=33 steps=12
//@ ragged     height=40 width=130
//@ flops      10 * steps * height * width
//@ bytes      12 * height * width
//@ reference  hotspot_reference
//@   grid     1
//@   block    1024
//@   args     result.f64, result.magnitude, temperature.f64, power.f64, width, height, steps,
//@            to_power, to_neighbour, to_ambient, ambient

/// One block, so that every step can wait for the one before. `spare` has every other step.
__global__ void hotspot_reference(double* result, double* spare, const double* start,
                                  const double* power, int width, int height, int steps,
                                  float to_power, float to_neighbour, float to_ambient,
                                  float ambient) {
  const int cells = width * height;
  const double* old = start;
  for (int step = 0; step < steps; ++step) {
    double* next = (steps - 1 - step) % 2 == 0 ? result : spare;
    for (int at = threadIdx.x; at < cells; at += 1024) {
      const int x = at % width;
      const int y = at / width;
      const double here = old[at];
      const double around = old[y > 0 ? at - width : at] + old[y < height - 1 ? at + width : at] +
                            old[x > 0 ? at - 1 : at] + old[x < width - 1 ? at + 1 : at];
      next[at] = here + to_power * power[at] + to_neighbour * (around - 4.0 * here) +
                 to_ambient * (ambient - here);
    }
    __syncthreads();
    old = next;
  }
  for (int at = threadIdx.x; at < cells; at += 1024) spare[at] = 1.0 + fabs(result[at]);
}
