// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  nbody
//@ purpose    The pull of all bodies on each of them
//@ size       n 1..16777216                  // bodies
//@ scalar     softening f32 = 0.0009765625   // added to squared distances
//@ type       pull f32
//@ type       bodies f32
//@ operand    pull out: n, 3
//@ operand    bodies in: n, 4; fill uniform  // x, y, z, mass
//@ right      pull bound 64 + n / 64 of f32  // of the sum of absolute pulls: they may cancel
//@ ragged     n=1
//@ ragged     n=67
//@ ragged     n=1030
//@ flops      20 * n * n
//@ reference  nbody_reference
//@   grid     ceil_div(n, 128)
//@   block    128
//@   args     pull.f64, pull.magnitude, bodies.f64, n, softening

__global__ void nbody_reference(double* pull, double* magnitude, const double* bodies, int n,
                                float softening) {
  const int body = blockIdx.x * 128 + threadIdx.x;
  if (body >= n) return;
  double sum[3] = {0.0, 0.0, 0.0};
  double of_sizes[3] = {0.0, 0.0, 0.0};
  for (int other = 0; other < n; ++other) {
    double away[3];
    double square = softening;
    for (int i = 0; i < 3; ++i) {
      away[i] = bodies[4LL * other + i] - bodies[4LL * body + i];
      square += away[i] * away[i];
    }
    const double inverse = rsqrt(square);
    const double weight = bodies[4LL * other + 3] * inverse * inverse * inverse;
    for (int i = 0; i < 3; ++i) {
      sum[i] += weight * away[i];
      of_sizes[i] += fabs(weight * away[i]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    pull[3LL * body + i] = sum[i];
    magnitude[3LL * body + i] = of_sizes[i];
  }
}
