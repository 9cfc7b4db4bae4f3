// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   attraction_blocks
//@ purpose    A body a thread; the others come through shared memory, a block of them at a time.
//@ operation  attraction
//@ tune       block_size = 32 64* 128   // threads
//@ tune       arrays = 0 1*             // a structure of arrays instead of an array of structures
//@ launch     attraction_blocks
//@   grid     ceil_div(bodies, block_size)
//@   block    block_size
//@   args     body, x, y, z, mass, pull, bodies, softening

__global__ void __launch_bounds__(block_size)
    attraction_blocks(const float4* body, const float* x, const float* y, const float* z,
                      const float* mass, float* pull, int bodies, float softening) {
  __shared__ float4 others[block_size];
  const auto load = [&](int i) {
#if arrays
    return make_float4(x[i], y[i], z[i], mass[i]);
#else
    return body[i];
#endif
  };
  const int i = blockIdx.x * block_size + threadIdx.x;
  const float4 mine = i < bodies ? load(i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  for (int first = 0; first < bodies; first += block_size) {
    const int j = first + threadIdx.x;
    others[threadIdx.x] = j < bodies ? load(j) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
    for (int k = 0; k < block_size; ++k) {
      const float4 other = others[k];
      const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      const float square = softening + dx * dx + dy * dy + dz * dz;
      const float factor = other.w / (square * sqrtf(square));
      sum.x += factor * dx;
      sum.y += factor * dy;
      sum.z += factor * dz;
    }
    __syncthreads();
  }
  if (i >= bodies) return;
  pull[3 * i] = sum.x;
  pull[3 * i + 1] = sum.y;
  pull[3 * i + 2] = sum.z;
}
