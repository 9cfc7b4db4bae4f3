// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   pnpoly_kernel
//@ purpose    A thread tests tile_size points against every edge of the polygon.
//@ operation  pnpoly
//@ tune       block_size_x = 32 64 96 128 160 192 224 256 288 320 352 384 416 448 480 512 544 576
//@                           608 640 672 704 736 768 800 832 864 896 928 960 992
//@ tune       tile_size = 1 2 4 6 8 10 12 14 16 18 20   // points of a thread
//@ tune       between_method = 0 1 2 3          // how an edge is found to span the point's height
//@ tune       use_precomputed_slopes = 0 1      // slopes from memory, or divided in the kernel
//@ tune       use_method = 0 1                  // branches, or the parity of a sum
//@ require    block_size_x <= device.max_threads
//@ launch     pnpoly
//@   grid     ceil_div(n, block_size_x * tile_size)
//@   block    block_size_x
//@   args     inside, points, n
//@ constant   d_vertices = vertices
//@ constant   d_slopes = slopes

#define polygon_vertices 600

__constant__ float2 d_vertices[polygon_vertices];
__constant__ float d_slopes[polygon_vertices];  // of the edge from the vertex before to this one

/// Whether a horizontal line at `height` crosses an edge between two heights.
__device__ __forceinline__ bool spans(float height, float from, float to) {
#if between_method == 0
  return (from > height) != (to > height);
#elif between_method == 1
  return (from > height && to <= height) || (from <= height && to > height);
#elif between_method == 2
  return from - height == 0.0f || (from - height) * (to - height) < 0.0f;
#else
  return (__float_as_int(from - height) ^ __float_as_int(to - height)) < 0;
#endif
}

extern "C" __global__ void pnpoly(int* inside, const float2* points, int n) {
  const int first = blockIdx.x * (block_size_x * tile_size) + threadIdx.x;
  if (first >= n) return;

  float2 point[tile_size];
  int crossings[tile_size];
#pragma unroll
  for (int i = 0; i < tile_size; ++i) {
    const int at = first + i * block_size_x;
    crossings[i] = 0;
    point[i] = at < n ? points[at] : make_float2(0.0f, 0.0f);
  }

  float2 before = d_vertices[polygon_vertices - 1];
  for (int edge = 0; edge < polygon_vertices; ++edge) {
    const float2 vertex = d_vertices[edge];
#if use_precomputed_slopes == 1
    const float slope = d_slopes[edge];
#else
    const float slope = (before.x - vertex.x) / (before.y - vertex.y);
#endif
#pragma unroll
    for (int i = 0; i < tile_size; ++i) {
      const float crossing = slope * (point[i].y - vertex.y) + vertex.x;
#if use_method == 0
      if (spans(point[i].y, vertex.y, before.y)) {
        if (point[i].x < crossing) crossings[i] = !crossings[i];
      }
#else
      crossings[i] ^= spans(point[i].y, vertex.y, before.y) & (point[i].x < crossing);
#endif
    }
    before = vertex;
  }

#pragma unroll
  for (int i = 0; i < tile_size; ++i) {
    const int at = first + i * block_size_x;
    if (at < n) inside[at] = crossings[i];
  }
}
