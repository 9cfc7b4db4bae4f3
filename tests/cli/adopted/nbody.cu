// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#ifndef WORK_GROUP_SIZE_X
#define WORK_GROUP_SIZE_X 128
#endif
#if USE_SOA == 1
#define BODY(i) make_float4(pos_x[i], pos_y[i], pos_z[i], mass[i])
#else
#define BODY(i) bodies[i]
#endif

__device__ __forceinline__ void pull(float3* acc, float4 me, float4 other, float softening) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
  const float s = other.w * inverse * inverse * inverse;
  acc->x += dx * s;
  acc->y += dy * s;
  acc->z += dz * s;
}

__global__ void nbody(float time_delta, const float4* bodies, const float* pos_x,
                      const float* pos_y, const float* pos_z, const float* mass, float4* new_bodies,
                      int n, float softening) {
#if LOCAL_MEM == 1
  __shared__ float4 tile[WORK_GROUP_SIZE_X];
#endif
  const int first = blockIdx.x * (WORK_GROUP_SIZE_X * OUTER_UNROLL_FACTOR) + threadIdx.x;
  float4 me[OUTER_UNROLL_FACTOR];
  float3 acc[OUTER_UNROLL_FACTOR];
  for (int u = 0; u < OUTER_UNROLL_FACTOR; ++u) {
    const int i = first + u * WORK_GROUP_SIZE_X;
    me[u] = i < n ? BODY(i) : make_float4(0, 0, 0, 0);
    acc[u] = make_float3(0, 0, 0);
  }
#if LOCAL_MEM == 1
  for (int start = 0; start < n; start += WORK_GROUP_SIZE_X) {
    const int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? BODY(j) : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll INNER_UNROLL_FACTOR
    for (int k = 0; k < WORK_GROUP_SIZE_X; ++k) {
      for (int u = 0; u < OUTER_UNROLL_FACTOR; ++u) pull(&acc[u], me[u], tile[k], softening);
    }
    __syncthreads();
  }
#else
#pragma unroll INNER_UNROLL_FACTOR
  for (int j = 0; j < n; ++j) {
    for (int u = 0; u < OUTER_UNROLL_FACTOR; ++u) pull(&acc[u], me[u], BODY(j), softening);
  }
#endif
  for (int u = 0; u < OUTER_UNROLL_FACTOR; ++u) {
    const int i = first + u * WORK_GROUP_SIZE_X;
    if (i < n) {
      new_bodies[i] = make_float4(me[u].x + time_delta * acc[u].x, me[u].y + time_delta * acc[u].y,
                                  me[u].z + time_delta * acc[u].z, me[u].w);
    }
  }
}
