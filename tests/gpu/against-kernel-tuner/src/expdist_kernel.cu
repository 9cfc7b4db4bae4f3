// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   expdist_kernel
//@ purpose    Blocks sum tiles of pairs; a second launch adds their sums.
//@ operation  expdist
//@ tune       block_size_x = 32 64 128 256 512 1024   // threads along the points of a
//@ tune       block_size_y = 1 2 4 8 16 32            // and along those of b
//@ tune       tile_size_x = 1 2 3 4 5 6 7 8           // points of a that a thread takes
//@ tune       tile_size_y = 1 2 3 4 5 6 7 8           // points of b that it takes at a time
//@ tune       unroll_x = 1 2 3 4 5 6 7 8
//@ tune       unroll_y = 1 2 3 4 5 6 7 8
//@ tune       use_shared_mem = 0 1 2                  // nothing, points of b, those of a and b
//@ tune       use_separate_acc = 0 1                  // a sum for each point of a
//@ tune       n_y_blocks = 1 2 4 8 16 32 64 128 256 512 1024   // blocks that share points of a
//@ require    block_size_x * block_size_y <= device.max_threads
//@ require    tile_size_x % unroll_x == 0
//@ require    tile_size_y % unroll_y == 0
//@ require    24 * ((use_shared_mem == 2 ? block_size_x * tile_size_x : 0) +
//@                  (use_shared_mem > 0 ? block_size_y * tile_size_y : 0)) + 256 <=
//@              device.smem_static
//@ require    ceil_div(n, block_size_x * tile_size_x) * n_y_blocks <= 65536   // few sums to add
//@ workspace  8 * 65536
//@ launch     expdist
//@   grid     ceil_div(n, block_size_x * tile_size_x), n_y_blocks
//@   block    block_size_x, block_size_y
//@   args     workspace, a, b, scale_a, scale_b, n
//@ launch     expdist_sum
//@   grid     1
//@   block    1024
//@   args     distance, workspace, ceil_div(n, block_size_x * tile_size_x) * n_y_blocks

// A pragma takes a constant, not a macro.
constexpr int unrolled_x = unroll_x;
constexpr int unrolled_y = unroll_y;

struct Point {
  double x, y, scale;
};

/// The sum over the threads of a block, in its first thread.
__device__ __forceinline__ double join_threads(double sum, int thread, int threads) {
  __shared__ double parts[32];
  for (int i = 16; i > 0; i /= 2) sum += __shfl_down_sync(0xffffffffU, sum, i);
  if (thread % 32 == 0) parts[thread / 32] = sum;
  __syncthreads();
  if (thread >= 32) return 0.0;
  sum = thread < threads / 32 ? parts[thread] : 0.0;
  for (int i = 16; i > 0; i /= 2) sum += __shfl_down_sync(0xffffffffU, sum, i);
  return sum;
}

__device__ __forceinline__ Point point_at(const double2* points, const double* scales, int at,
                                          int n) {
  const double2 point = points[min(at, n - 1)];
  return {point.x, point.y, scales[min(at, n - 1)]};
}

/// Sums exp(-distance^2 / (scale_a + scale_b)) over pairs of a point of a and one of b.
extern "C" __global__ void __launch_bounds__(block_size_x* block_size_y)
    expdist(double* sums, const double2* __restrict__ a, const double2* __restrict__ b,
            const double* __restrict__ scale_a, const double* __restrict__ scale_b, int n) {
  const int thread = threadIdx.y * block_size_x + threadIdx.x;
  const int first_a = blockIdx.x * (block_size_x * tile_size_x);
#if use_shared_mem == 2
  __shared__ Point staged_a[block_size_x * tile_size_x];
  for (int i = thread; i < block_size_x * tile_size_x; i += block_size_x * block_size_y) {
    staged_a[i] = point_at(a, scale_a, first_a + i, n);
  }
  __syncthreads();
#else
  Point own[tile_size_x];
#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) {
    own[i] = point_at(a, scale_a, first_a + threadIdx.x + i * block_size_x, n);
  }
#endif
#if use_shared_mem > 0
  __shared__ Point staged_b[block_size_y * tile_size_y];
#endif
#if use_separate_acc == 1
  double sum[tile_size_x];
#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) sum[i] = 0.0;
#else
  double sum = 0.0;
#endif

  for (int first_b = blockIdx.y * (block_size_y * tile_size_y); first_b < n;
       first_b += n_y_blocks * block_size_y * tile_size_y) {
#if use_shared_mem > 0
    __syncthreads();  // nobody reads the points before any more
    for (int i = thread; i < block_size_y * tile_size_y; i += block_size_x * block_size_y) {
      staged_b[i] = point_at(b, scale_b, first_b + i, n);
    }
    __syncthreads();
#endif
#pragma unroll unrolled_y
    for (int j = 0; j < tile_size_y; ++j) {
      const int in_tile = threadIdx.y + j * block_size_y;
#if use_shared_mem > 0
      const Point other = staged_b[in_tile];
#else
      const Point other = point_at(b, scale_b, first_b + in_tile, n);
#endif
#pragma unroll unrolled_x
      for (int i = 0; i < tile_size_x; ++i) {
        const int at = threadIdx.x + i * block_size_x;
#if use_shared_mem == 2
        const Point mine = staged_a[at];
#else
        const Point mine = own[i];
#endif
        if (first_a + at < n && first_b + in_tile < n) {
          const double dx = mine.x - other.x;
          const double dy = mine.y - other.y;
          const double term = exp(-(dx * dx + dy * dy) / (mine.scale + other.scale));
#if use_separate_acc == 1
          sum[i] += term;
#else
          sum += term;
#endif
        }
      }
    }
  }

#if use_separate_acc == 1
  double total = 0.0;
#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) total += sum[i];
#else
  double total = sum;
#endif
  total = join_threads(total, thread, block_size_x * block_size_y);
  if (thread == 0) sums[blockIdx.y * gridDim.x + blockIdx.x] = total;
}

/// One block of 1024 threads adds the sums of all blocks.
extern "C" __global__ void __launch_bounds__(1024)
    expdist_sum(double* distance, const double* sums, int count) {
  double sum = 0.0;
#pragma unroll 8
  for (int i = threadIdx.x; i < count; i += 1024) sum += sums[i];
  sum = join_threads(sum, threadIdx.x, 1024);
  if (threadIdx.x == 0) *distance = sum;
}
