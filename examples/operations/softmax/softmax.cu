// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  softmax
//@ purpose    Softmax of every row: y = exp(scale * x) / (the sum of these over the row)
//@ size       rows 1..2147483647
//@ size       cols 1..65536        // numbers in a row
//@ type       x f32 f16 bf16
//@ type       y f32 f16 bf16
//@ scalar     scale f32 = 1        // the inverse temperature
//@ operand    x in: rows, cols; fill normal
//@ operand    y out: rows, cols
//@ right      y bound (64 + cols / 1024) of f32   // exp of a rounded difference, then a long sum
//@ integers   0                    // exp of a whole number is none
//@ ragged     rows=1 cols=1
//@ ragged     rows=7 cols=33
//@ ragged     rows=5 cols=1000
//@ ragged     rows=3 cols=4099
//@ flops      5 * rows * cols      // scale, compare, subtract, exp, divide
//@ reference  softmax_reference
//@   grid     rows
//@   block    256
//@   args     x.f64, y.f64, cols, scale

// Combines what the block's threads have; all of them get the result.
template <class Combine>
__device__ double of_all_threads(double mine, Combine combine) {
  __shared__ double held[256];
  __syncthreads();  // the last use of `held` is over
  held[threadIdx.x] = mine;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      held[threadIdx.x] = combine(held[threadIdx.x], held[threadIdx.x + half]);
    }
  }
  __syncthreads();
  return held[0];
}

__global__ void softmax_reference(const double* x, double* y, int cols, float scale) {
  const double* from = x + blockIdx.x * static_cast<long long>(cols);
  double* to = y + blockIdx.x * static_cast<long long>(cols);

  // exp() of the difference to the greatest does not overflow, and the quotient is the same.
  double greatest = -1e300;
  for (int j = threadIdx.x; j < cols; j += 256) greatest = fmax(greatest, scale * from[j]);
  greatest = of_all_threads(greatest, [](double a, double b) { return fmax(a, b); });

  double sum = 0.0;
  for (int j = threadIdx.x; j < cols; j += 256) sum += exp(scale * from[j] - greatest);
  sum = of_all_threads(sum, [](double a, double b) { return a + b; });

  for (int j = threadIdx.x; j < cols; j += 256) to[j] = exp(scale * from[j] - greatest) / sum;
}
