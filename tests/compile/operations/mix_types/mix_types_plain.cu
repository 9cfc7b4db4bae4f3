// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   mix_types_plain
//@ purpose    A thread for each
//@ operation  mix_types
//@ tune       block_size = 64*
//@ launch     mix_types<y>
//@   grid     ceil_div(n, block_size)
//@   block    block_size
//@   args     y, sum, count, table, index, weight, mask, big, (unsigned short) n, turn, letter,
//@            gain, bias, step, seed

__device__ void set(float2& to, float x, float y) {
  to = make_float2(x, y);
}
__device__ void set(double2& to, float x, float y) {
  to = make_double2(x, y);
}

template <class Y>
__global__ void mix_types(Y* y, long long* sum, unsigned* count, const float2* table,
                          const long long* index, const short* weight, const unsigned short* mask,
                          const unsigned long long* big, unsigned short n, bool turn, char letter,
                          __half gain, __nv_bfloat16 bias, long long step,
                          unsigned long long seed) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float2 from = table[index[i]];
  const float factor = __half2float(gain) * weight[i];
  set(y[i], factor * from.x + __bfloat162float(bias), turn ? -factor * from.y : factor * from.y);
  const unsigned long long far = big[i] * 4099ULL + seed;
  sum[i] = static_cast<long long>(far) + step * weight[i];
  count[i] += mask[i] + letter;
}
