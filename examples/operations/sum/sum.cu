// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  sum
//@ purpose    The sum of all numbers of an array
//@ size       n 1..2147483647
//@ type       x f32 f16 bf16
//@ type       y f32
//@ operand    x in: n; fill normal
//@ operand    y out: 1
//@ right      y bound 64 of f32   // of the sum of absolute values: terms may cancel
//@ integers   2
//@ ragged     n=1
//@ ragged     n=37
//@ ragged     n=1023
//@ ragged     n=100003
//@ deterministic 1
//@ flops      n
//@ reference  sum_reference
//@   grid     min(ceil_div(n, 1024), 1024)
//@   block    256
//@   args     x.f64, y.f64, y.magnitude, n

// Atomic additions are good enough here: their order changes a float64 in its last bits.
__global__ void sum_reference(const double* x, double* y, double* magnitude, int n) {
  double sum = 0.0;
  double of_sizes = 0.0;
  for (long long at = blockIdx.x * 256LL + threadIdx.x; at < n; at += gridDim.x * 256LL) {
    sum += x[at];
    of_sizes += fabs(x[at]);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, distance);
    of_sizes += __shfl_xor_sync(0xffffffffU, of_sizes, distance);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(y, sum);
    atomicAdd(magnitude, of_sizes);
  }
}
