// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  expdist
//@ purpose    How alike two sets of localisations are: a sum over pairs, one point of each set
//@ size       n 1..1048576                 // points of each set
//@ type       distance f64
//@ type       a f64
//@ type       b f64
//@ type       scale_a f64
//@ type       scale_b f64
//@ let        one = 1
//@ operand    distance out: one
//@ operand    a in: n, 2                   // x, y
//@ operand    b in: n, 2
//@ operand    scale_a in: n; fill positive // squared uncertainty
//@ operand    scale_b in: n; fill positive
//@ right      distance within 1e-10 0      // a sum of positive numbers
//@ ragged     n=1
//@ ragged     n=67
//@ ragged     n=300
//@ flops      26 * n * n
//@ reference  expdist_reference
//@   grid     1
//@   block    1024
//@   args     distance.f64, a.f64, b.f64, scale_a.f64, scale_b.f64, n

__global__ void expdist_reference(double* distance, const double* a, const double* b,
                                  const double* scale_a, const double* scale_b, int n) {
  __shared__ double parts[1024];
  double sum = 0.0;
  for (int i = threadIdx.x; i < n; i += 1024) {
    for (int j = 0; j < n; ++j) {
      const double dx = a[2 * i] - b[2 * j];
      const double dy = a[2 * i + 1] - b[2 * j + 1];
      sum += exp(-(dx * dx + dy * dy) / (scale_a[i] + scale_b[j]));
    }
  }
  parts[threadIdx.x] = sum;
  for (int half = 512; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *distance = parts[0];
}
