// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ operation  block_sum
//@ purpose    The sum of all numbers of an array
//@ size       n 1..1000000000
//@ type       sum f32
//@ type       input f32
//@ operand    sum out: 1
//@ operand    input in: n
//@ right      sum bound 64 of f32   // of the sum of absolute values: terms may cancel
//@ integers   2
//@ ragged     n=1
//@ ragged     n=1000
//@ ragged     n=70001
//@ flops      n
//@ reference  block_sum_reference
//@   grid     1
//@   block    1024
//@   args     sum.f64, sum.magnitude, input.f64, n

__global__ void block_sum_reference(double* sum, double* magnitude, const double* input, int n) {
  __shared__ double sums[1024];
  __shared__ double sizes[1024];
  double mine = 0.0;
  double of_sizes = 0.0;
  for (int i = threadIdx.x; i < n; i += 1024) {
    mine += input[i];
    of_sizes += fabs(input[i]);
  }
  sums[threadIdx.x] = mine;
  sizes[threadIdx.x] = of_sizes;
  for (int half = 512; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
      sizes[threadIdx.x] += sizes[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    *sum = sums[0];
    *magnitude = sizes[0];
  }
}
