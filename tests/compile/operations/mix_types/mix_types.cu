// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every type that only declared operations have, of arrays and of numbers by value.

//@ operation  mix_types
//@ purpose    Chosen complex numbers, scaled and conjugated; sums and counts of integers
//@ size       n 1..100000
//@ size       entries 1..100000
//@ type       y cf32 cf64
//@ type       sum s64
//@ type       count u32
//@ type       table cf32
//@ type       index s64
//@ type       weight s16
//@ type       mask u16
//@ type       big u64
//@ scalar     turn bool = 1
//@ scalar     letter s8 = -3
//@ scalar     gain f16 = 0.3
//@ scalar     bias bf16 = 1.7
//@ scalar     step s64 = -5
//@ scalar     seed u64 = 4294967297
//@ operand    y out: n
//@ operand    sum out: n
//@ operand    count inout: n
//@ operand    table in: entries
//@ operand    index in: n; fill integers 0 (entries - 1)
//@ operand    weight in: n
//@ operand    mask in: n
//@ operand    big in: n
//@ right      y bound 8 of f32
//@ right      sum exact
//@ right      count exact
//@ ragged     n=1 entries=1
//@ ragged     n=130 entries=7
//@ flops      8 * n
//@ reference  mix_types_reference
//@   grid     ceil_div(n, 32)
//@   block    32
//@   args     y.f64, y.magnitude, sum, count, table.f64, index, weight, mask, big, n, turn, letter,
//@            (float) gain, (double) bias, step, seed

__global__ void mix_types_reference(double2* y, double* magnitude, long long* sum, unsigned* count,
                                    const double2* table, const long long* index,
                                    const short* weight, const unsigned short* mask,
                                    const unsigned long long* big, int n, bool turn, char letter,
                                    float gain, double bias, long long step,
                                    unsigned long long seed) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  const double2 from = table[index[i]];
  const double factor = static_cast<double>(gain) * weight[i];
  const double imaginary = factor * from.y;
  y[i].x = factor * from.x + bias;
  y[i].y = turn ? -imaginary : imaginary;
  magnitude[i] = fabs(factor * from.x) + fabs(bias) + fabs(imaginary);
  sum[i] = static_cast<long long>(big[i] * 4099 + seed) + step * weight[i];
  count[i] += mask[i] + letter;
}
