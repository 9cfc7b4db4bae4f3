// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  pnpoly
//@ purpose    For every point, whether it lies in a polygon of 600 vertices
//@ size       n 1..100000000            // points
//@ let        vertex_count = 600
//@ type       inside s32
//@ type       points f32
//@ type       vertices f32
//@ type       slopes f32
//@ operand    inside out: n             // 1 in the polygon, 0 outside
//@ operand    points in: n, 2           // x, y
//@ operand    vertices in: vertex_count, 2
//@ operand    slopes in: vertex_count; fill kernel slopes_of   // dx / dy of the edge to a vertex
//@ right      inside checker
//@ ragged     n=1
//@ ragged     n=1000
//@ ragged     n=20011
//@ flops      4 * vertex_count * n
//@ fill       slopes_of
//@   grid     ceil_div(vertex_count, 128)
//@   block    128
//@   args     vertices, slopes
//@ checker    pnpoly_checker
//@   grid     ceil_div(n, 256)
//@   block    256
//@   args     inside, points, n, wrong, first_wrong
//@ constant   polygon_corners = vertices

__constant__ float2 polygon_corners[600];

__global__ void slopes_of(const float2* vertices, float* slopes) {
  const int to = blockIdx.x * 128 + threadIdx.x;
  if (to >= 600) return;
  const float2 before = vertices[to == 0 ? 599 : to - 1];
  slopes[to] = (before.x - vertices[to].x) / (before.y - vertices[to].y);
}

// A point within rounding of an edge, or as high as a vertex, may be on either side: the ways to
// test it differ there.
__global__ void pnpoly_checker(const int* inside, const float2* points, int n,
                               unsigned long long* wrong, unsigned long long* first_wrong) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= n) return;
  const float2 point = points[at];
  int expected = 0;
  bool is_clear = true;
  float2 before = polygon_corners[599];
  for (int edge = 0; edge < 600; ++edge) {
    const float2 corner = polygon_corners[edge];
    const float height = point.y - corner.y;
    is_clear = is_clear && fabsf(height) > 1e-6f;
    if ((corner.y > point.y) != (before.y > point.y)) {
      const float slope = (before.x - corner.x) / (before.y - corner.y);
      const float distance = slope * height + corner.x - point.x;
      is_clear = is_clear && fabsf(distance) > 1e-5f * (1.0f + fabsf(slope * height));
      expected ^= distance > 0.0f;
    }
    before = corner;
  }
  const int got = inside[at];
  if (got == expected || (!is_clear && (got == 0 || got == 1))) return;
  atomicAdd(wrong, 1ULL);
  atomicMin(first_wrong, static_cast<unsigned long long>(at));
}
