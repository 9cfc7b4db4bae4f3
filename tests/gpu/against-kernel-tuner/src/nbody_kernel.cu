// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   nbody_kernel
//@ purpose    A thread sums the pulls of all bodies on some of them.
//@ operation  nbody
//@ tune       block_size_x = 64 128 256 512
//@ tune       outer_unroll_factor = 1 2 4 8            // bodies of a thread
//@ tune       inner_unroll_factor1 = 0 1 2 4 8 16 32   // of the loop over global memory
//@ tune       inner_unroll_factor2 = 0 1 2 4 8 16 32   // of the loop over shared memory
//@ tune       use_soa = 0 1                            // an array for each coordinate
//@ tune       local_mem = 0 1                          // bodies staged in shared memory
//@ tune       vector_type = 1 2 4                      // numbers of one load of a coordinate
//@ require    block_size_x <= device.max_threads
//@ require    local_mem == 1 || inner_unroll_factor2 == 0
//@ require    local_mem == 0 || inner_unroll_factor1 == 0
//@ require    use_soa == 1 || vector_type == 1
//@ workspace  16 * round_up(n, 4)
//@ launch     nbody_arrays
//@   when     use_soa
//@   grid     ceil_div(round_up(n, 4), 256)
//@   block    256
//@   args     workspace, bodies, n
//@ launch     nbody
//@   grid     ceil_div(n, block_size_x * outer_unroll_factor)
//@   block    block_size_x
//@   args     pull, bodies, workspace, n, softening

/// The coordinates and masses of the bodies as four arrays. A multiple of four long, so the last
/// few may be of no body, and have no mass.
extern "C" __global__ void nbody_arrays(float* arrays, const float4* bodies, int n) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  const int length = (n + 3) / 4 * 4;
  if (at >= length) return;
  const float4 body = at < n ? bodies[at] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  arrays[at] = body.x;
  arrays[length + at] = body.y;
  arrays[2 * length + at] = body.z;
  arrays[3 * length + at] = body.w;
}

// A pragma takes a constant, not a macro.
constexpr int unrolled = inner_unroll_factor1 + inner_unroll_factor2;  // one of them is 0

/// A coordinate of as many bodies as one load brings.
struct alignas(4 * vector_type) Pack {
  float item[vector_type];
};

#if use_soa == 1
struct Bodies {
  Pack x, y, z, mass;
};
/// Bodies in global or shared memory.
struct Source {
  const Pack *x, *y, *z, *mass;
  __device__ __forceinline__ Bodies operator[](int i) const { return {x[i], y[i], z[i], mass[i]}; }
};
#else
struct alignas(16) Bodies {
  Pack x, y, z, mass;
};
struct Source {
  const Bodies* all;
  __device__ __forceinline__ Bodies operator[](int i) const { return all[i]; }
};
#endif

/// A thread's own bodies, and the pull on them so far.
struct Own {
  float3 at[outer_unroll_factor];
  float3 pull[outer_unroll_factor];

  __device__ __forceinline__ void add(const Bodies& others, float softening) {
#pragma unroll
    for (int i = 0; i < outer_unroll_factor; ++i) {
#pragma unroll
      for (int v = 0; v < vector_type; ++v) {
        const float dx = others.x.item[v] - at[i].x;
        const float dy = others.y.item[v] - at[i].y;
        const float dz = others.z.item[v] - at[i].z;
        const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
        const float weight = others.mass.item[v] * inverse * inverse * inverse;
        pull[i].x += weight * dx;
        pull[i].y += weight * dy;
        pull[i].z += weight * dz;
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(block_size_x)
    nbody(float* pull, const float4* __restrict__ bodies, const float* __restrict__ arrays, int n,
          float softening) {
  const int first = blockIdx.x * (block_size_x * outer_unroll_factor) + threadIdx.x;
  Own own;
#pragma unroll
  for (int i = 0; i < outer_unroll_factor; ++i) {
    const float4 body = bodies[min(first + i * block_size_x, n - 1)];
    own.at[i] = make_float3(body.x, body.y, body.z);
    own.pull[i] = make_float3(0.0f, 0.0f, 0.0f);
  }
#if use_soa == 1
  const int length = (n + 3) / 4 * 4;
  const int loads = length / vector_type;
  const Pack* xs = reinterpret_cast<const Pack*>(arrays);
  const Source source{xs, xs + loads, xs + 2 * loads, xs + 3 * loads};
#else
  const int loads = n;
  const Source source{reinterpret_cast<const Bodies*>(bodies)};
#endif

#if local_mem == 1
#if use_soa == 1
  __shared__ Pack staged[4][block_size_x];
  const Source near{staged[0], staged[1], staged[2], staged[3]};
#else
  __shared__ Bodies staged[block_size_x];
  const Source near{staged};
#endif
  for (int from = 0; from < loads; from += block_size_x) {
    const Bodies mine = source[min(from + static_cast<int>(threadIdx.x), loads - 1)];
    __syncthreads();  // nobody reads the bodies before any more
#if use_soa == 1
    staged[0][threadIdx.x] = mine.x;
    staged[1][threadIdx.x] = mine.y;
    staged[2][threadIdx.x] = mine.z;
    staged[3][threadIdx.x] = mine.mass;
#else
    staged[threadIdx.x] = mine;
#endif
    __syncthreads();
    const int count = min(block_size_x, loads - from);
#if inner_unroll_factor2 > 0
#pragma unroll unrolled
#endif
    for (int j = 0; j < count; ++j) own.add(near[j], softening);
  }
#else
#if inner_unroll_factor1 > 0
#pragma unroll unrolled
#endif
  for (int j = 0; j < loads; ++j) own.add(source[j], softening);
#endif

#pragma unroll
  for (int i = 0; i < outer_unroll_factor; ++i) {
    const int body = first + i * block_size_x;
    if (body < n) {
      pull[3 * body] = own.pull[i].x;
      pull[3 * body + 1] = own.pull[i].y;
      pull[3 * body + 2] = own.pull[i].z;
    }
  }
}
