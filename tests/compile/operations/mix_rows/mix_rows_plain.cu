// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   mix_rows_plain
//@ purpose    Macros, two launches that share a workspace, and arguments of every kind.
//@ operation  mix_rows
//@ tune       block_size_x = 32 64*
//@ tune       parts = 1 2* 3              // of a row, which a second launch adds
//@ let        space = -16 * parts         // negative macros are in parentheses where they must be
//@ workspace  256 + 8 * rows * parts
//@ launch     mix_rows_of_parts<y, u, (block_size_x)>
//@   grid     parts, rows
//@   block    block_size_x
//@   args     y, u, weight, bias, list, workspace + 256, {cols, (size_t) elements}, factor, offset,
//@            step, (float) cols, {most, down, up}
//@ launch     mix_rows_total<total>
//@   grid     ceil_div(rows, 32)
//@   block    32
//@   args     total, workspace + 128 + 128, (unsigned) rows, (long long) space, (double) -space

struct Extents {
  int cols;
  size_t elements;
};

struct Numbers {
  unsigned most;
  long long down;
  unsigned long long up;
};

template <class Y, class U, int kThreads>
__global__ void mix_rows_of_parts(Y* y, const U* u, const float* weight, const float* bias,
                                  const int* list, double* sums, Extents extents, float factor,
                                  double offset, int step, float width, Numbers numbers) {
  __shared__ double of_threads[kThreads];
  const int row = blockIdx.y;
  const int first = blockIdx.x * kThreads + threadIdx.x;
  double sum = 0.0;
  for (int col = first; col < extents.cols; col += kThreads * parts) {
    const size_t at = row * static_cast<size_t>(extents.cols) + col;
    const float other = u[list[row] * static_cast<size_t>(extents.cols) + col];
    double mixed = factor * weight[col] * y[at] + other + (offset + step);
    if (bias != nullptr) mixed += bias[col];
    y[at] = static_cast<Y>(mixed);
    sum += mixed;
  }
  of_threads[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads; ++i) sum += of_threads[i];
  const bool whole =
      numbers.most == 4000000000U && numbers.down == -5000000000LL && numbers.up == 5000000000ULL;
  const bool all = extents.elements / extents.cols == gridDim.y && width == extents.cols;
  if (whole && all) sums[row * parts + blockIdx.x] = sum;
}

template <class Total>
__global__ void mix_rows_total(Total* total, const double* sums, unsigned rows, long long low,
                               double high) {
  const unsigned row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || low != space || high != -(space)) return;
  double sum = 0.0;
  for (int i = 0; i < parts; ++i) sum += sums[row * parts + i];
  total[row] = static_cast<Total>(sum);
}
