// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#ifndef VERTICES
#define VERTICES 600
#endif
#ifndef between_method
#define between_method 1
#endif

__constant__ float2 d_vertices[VERTICES];
__constant__ float d_slopes[VERTICES];

/* Whether y lies between the ends of an edge. */
__device__ __forceinline__ int is_between(float from, float y, float to) {
#if between_method == 0
  return (from > y) != (to > y);
#elif between_method == 1
  return ((from <= y) && (y < to)) || ((to <= y) && (y < from));
#elif between_method == 2
  return ((y - from) * (y - to)) < 0.0f;
#else
  return (from < to) ? (from <= y && y < to) : (to <= y && y < from);
#endif
}

extern "C" __global__ void pnpoly(int* inside, const float2* points, int n) {
  int i = blockIdx.x * block_size_x * tile_size + threadIdx.x;
  if (i < n) {
    int crossed[tile_size];
    float2 p[tile_size];
#pragma unroll
    for (int t = 0; t < tile_size; t++) {
      crossed[t] = 0;
      if (i + block_size_x * t < n) p[t] = points[i + block_size_x * t];
    }
    int last = VERTICES - 1;
    for (int v = 0; v < VERTICES; last = v++) {
      float2 a = d_vertices[v], b = d_vertices[last];
#if use_precomputed_slopes == 1
      float slope = d_slopes[v];
#else
      float slope = (b.x - a.x) / (b.y - a.y);
#endif
      for (int t = 0; t < tile_size; t++) {
        if (is_between(a.y, p[t].y, b.y) && (p[t].x < slope * (p[t].y - a.y) + a.x)) {
#if use_method == 0
          crossed[t] = !crossed[t];
#else
          crossed[t] += 1;
#endif
        }
      }
    }
    for (int t = 0; t < tile_size; t++) {
      if (i + block_size_x * t < n) inside[i + block_size_x * t] = crossed[t] & 1;
    }
  }
}
