// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ template   polygon_tiles
//@ purpose    A few points a thread, edges in constant memory.
//@ operation  point_in_polygon
//@ tune       block_size = 32 64 128* 256   // threads
//@ tune       tile = 1 2* 4                 // points of a thread
//@ tune       use_slopes = 0 1*             // instead of a division for each edge and point
//@ launch     polygon_tiles
//@   grid     ceil_div(points, block_size * tile)
//@   block    block_size
//@   args     point, inside, points, vertices
//@ constant   corners = vertex
//@ constant   slopes = slope

__constant__ float2 corners[600];
__constant__ float slopes[600];

__global__ void __launch_bounds__(block_size)
    polygon_tiles(const float2* point, int* inside, int points, int vertices) {
  const int first = blockIdx.x * block_size * tile + threadIdx.x;
  float2 p[tile];
  int crossings[tile];
  for (int j = 0; j < tile; ++j) {
    const int at = first + j * block_size;
    p[j] = at < points ? point[at] : make_float2(0.0f, 0.0f);
    crossings[j] = 0;
  }
  float2 to = corners[vertices - 1];
  for (int i = 0; i < vertices; ++i) {
    const float2 from = corners[i];
#if use_slopes
    const float slope = slopes[i];
#else
    const float slope = (to.x - from.x) / (to.y - from.y);
#endif
    for (int j = 0; j < tile; ++j) {
      const bool spans = (from.y > p[j].y) != (to.y > p[j].y);
      if (spans && p[j].x < fmaf(slope, p[j].y - from.y, from.x)) ++crossings[j];
    }
    to = from;
  }
  for (int j = 0; j < tile; ++j) {
    const int at = first + j * block_size;
    if (at < points) inside[at] = crossings[j] % 2;
  }
}
