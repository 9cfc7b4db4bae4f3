// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Which points lie inside a polygon: a ray from the point to the right crosses an odd number of
// edges. Where it crosses an edge follows from the edge's slope, which the host computes once.

//@ operation  point_in_polygon
//@ purpose    Which points lie inside a polygon
//@ size       points 1..16777216
//@ size       vertices 3..600
//@ type       point f32
//@ type       vertex f32
//@ type       slope f32
//@ type       inside s32
//@ operand    point in: points, 2
//@ operand    vertex in: vertices, 2; fill kernel star
//@ operand    slope in: vertices; fill kernel slopes_of
//@ operand    inside out: points
//@ right      inside exact
//@ integers   3
//@ ragged     points=1 vertices=3
//@ ragged     points=77 vertices=40
//@ flops      points * vertices * 4
//@ fill       slopes_of
//@   grid     ceil_div(vertices, 64)
//@   block    64
//@   args     vertex, slope, vertices
//@ fill       star   // corners around the origin, now near and now far
//@   grid     1
//@   block    256
//@   args     vertex, vertices, seed
//@ reference  inside_reference
//@   grid     ceil_div(points, 128)
//@   block    128
//@   args     point, vertex, slope, inside, points, vertices

#include <math.h>

__global__ void star(float2* vertex, int vertices, unsigned long long seed) {
  for (int i = threadIdx.x; i < vertices; i += blockDim.x) {
    const unsigned mixed = static_cast<unsigned>((seed + i) * 0x9E3779B97F4A7C15ULL >> 40);
    const float radius = 0.5f + mixed % 1024 / 1024.0f;
    const float angle = 6.2831853f * i / vertices;
    vertex[i] = make_float2(radius * cosf(angle), radius * sinf(angle));
  }
}

__global__ void slopes_of(const float2* vertex, float* slope, int vertices) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= vertices) return;
  const float2 from = vertex[i];
  const float2 to = vertex[i == 0 ? vertices - 1 : i - 1];
  slope[i] = (to.x - from.x) / (to.y - from.y);
}

__global__ void inside_reference(const float2* point, const float2* vertex, const float* slope,
                                 int* inside, int points, int vertices) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at >= points) return;
  const float2 p = point[at];
  int crossings = 0;
  for (int i = 0; i < vertices; ++i) {
    const float2 from = vertex[i];
    const float2 to = vertex[i == 0 ? vertices - 1 : i - 1];
    const bool spans = (from.y > p.y) != (to.y > p.y);
    if (spans && p.x < fmaf(slope[i], p.y - from.y, from.x)) ++crossings;
  }
  inside[at] = crossings % 2;
}
