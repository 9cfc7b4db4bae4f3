// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ordinary kernels: sums by shuffles and shared memory, a transposition through a shared tile, a
// sum over all blocks, lists in local memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/compile/mutants/plain_specimen.hpp"

namespace kiln::testing {
namespace {

using BlockMutants = NvrtcTest;

std::vector<float> small_numbers(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i * 7 % 11 - 5));
  return values;
}

// ---- one sum for each block ----

const char* const kSums = R"(
constexpr int kWarps = 4;
constexpr int kPerBlock = 300;

extern "C" __global__ void sums(const float* values, float* sums, int count) {
  __shared__ float parts[kWarps];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int first = blockIdx.x * kPerBlock;
  const int end = min(count, first + kPerBlock);
  float sum = 0;
  for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
    sum += values[i];
  }
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xffffffffU, sum, step);
  }
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < kWarps ? parts[lane] : 0.0F;
    for (int step = 2; step > 0; step /= 2) {
      sum += __shfl_xor_sync(0xffffffffU, sum, step);  // of warps
    }
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}
)";

void run_sums(Bench& bench, Observed& observed) {
  constexpr int kCount = 850;
  const auto values = small_numbers(kCount);
  const struct {
    DevicePtr values, sums;
    int count;
  } arguments{bench.upload(values), bench.fresh(3 * sizeof(float)), kCount};
  if (!bench.launch({3, 1, 1}, 128, arguments)) return;
  compare(
      bench.download<float>(arguments.sums, 3), 3,
      [&](int, int block) {
        const auto first = values.begin() + block * 300;
        return std::accumulate(first, block == 2 ? values.end() : first + 300, 0.0F);
      },
      observed);
}

TEST_F(BlockMutants, Sums) {
  PlainSpecimen specimen(kSums, "sums", run_sums);
  examine(
      specimen,
      {
          reported("no_barrier", "  __syncthreads();\n", "", Finding::race, "parts[warp] = sum;"),
          reported("barrier_of_one_warp", "__syncthreads();\n  if (warp == 0) {",
                   "if (warp == 0) {\n    __syncthreads();", Finding::barrier_mismatch,
                   "__syncthreads();"),
          reported("barrier_of_half_a_warp", "__syncthreads();", "if (lane < 16) __syncthreads();",
                   Finding::divergent, "__syncthreads();"),
          reported("too_small_a_mask", "__shfl_down_sync(0xffffffffU",
                   "__shfl_down_sync(0x0000ffffU", Finding::invalid_operand, "__shfl_down_sync"),
          reported("shuffle_in_a_branch", "      sum += __shfl_xor_sync(",
                   "      if (lane < kWarps) sum += __shfl_xor_sync(", Finding::divergent,
                   "__shfl_xor_sync"),
          miscounts("shuffle_of_absent_lanes", "sum += __shfl_xor_sync(0xffffffffU",
                    "if (lane < 2) sum += __shfl_xor_sync(0x3U", {}),
          reported("one_too_far", "i < end;", "i <= end;", Finding::out_of_bounds, "values[i]"),
          reported("one_warp_too_many", "lane < kWarps ?", "lane <= kWarps ?",
                   Finding::out_of_bounds, "parts[lane]"),
          reported("part_left_out", "if (lane == 0) parts", "if (lane == 0 && warp != 2) parts",
                   Finding::uninitialised, "parts[lane]"),
          reported("a_pair_at_odd_places", "sum += values[i];",
                   "const float2 pair = *reinterpret_cast<const float2*>(values + i);\n"
                   "    sum += pair.x + 0.0F * pair.y;",
                   Finding::misaligned, "const float2 pair"),
          reported("result_beyond", "sums[blockIdx.x] = sum", "sums[blockIdx.x + 1] = sum",
                   Finding::out_of_bounds, "sums[blockIdx.x + 1]"),
          reported("one_result_for_all", "sums[blockIdx.x] = sum", "sums[0] = sum", Finding::race,
                   "sums[0]"),
          miscounts("half_the_steps", "int step = 16;", "int step = 8;", {}),
      });
}

// ---- transposition ----

const char* const kTransposition = R"(
constexpr int kSide = 32;
constexpr int kPitch = kSide + 1;

extern "C" __global__ void transposed(const float* from, float* to, int rows, int cols) {
  __shared__ float tile[kSide * kPitch];
  const int x = threadIdx.x % kSide;
  const int y = threadIdx.x / kSide;
  const int row = blockIdx.y * kSide;
  const int col = blockIdx.x * kSide;
  for (int i = y; i < kSide; i += 4) {
    const bool inside = row + i < rows && col + x < cols;
    tile[i * kPitch + x] = inside ? from[(row + i) * cols + col + x] : 0.0F;
  }
  __syncthreads();
  for (int i = y; i < kSide; i += 4) {
    if (col + i >= cols || row + x >= rows) continue;
    to[(col + i) * rows + row + x] = tile[x * kPitch + i];
  }
}
)";

void run_transposition(Bench& bench, Observed& observed) {
  constexpr int kRows = 45;
  constexpr int kCols = 70;
  const auto values = small_numbers(kRows * kCols);
  const struct {
    DevicePtr from, to;
    int rows, cols;
  } arguments{bench.upload(values), bench.fresh(kRows * kCols * 4), kRows, kCols};
  if (!bench.launch({3, 2, 1}, 128, arguments)) return;
  compare(
      bench.download<float>(arguments.to, kRows * kCols), kRows,
      [&](int col, int row) { return values[static_cast<std::size_t>(row * kCols + col)]; },
      observed);
}

TEST_F(BlockMutants, Transposition) {
  PlainSpecimen specimen(kTransposition, "transposed", run_transposition);
  examine(
      specimen,
      {
          reported("no_barrier", "  __syncthreads();\n", "", Finding::race, "tile[x * kPitch + i]"),
          reported("rows_overlap", "kSide + 1;", "kSide - 1;", Finding::race,
                   "tile[i * kPitch + x] ="),
          reported("one_row_too_far", "row + i < rows &&", "row + i <= rows &&",
                   Finding::out_of_bounds, "from[(row + i)"),
          reported("one_column_too_far", "col + i >= cols ||", "col + i > cols ||",
                   Finding::out_of_bounds, "to[(col + i)"),
          reported("pitch_of_the_reader", "tile[x * kPitch + i]", "tile[x * (kPitch + 1) + i]",
                   Finding::out_of_bounds, "tile[x * (kPitch + 1)"),
          reported("rows_left_out", "for (int i = y; i < kSide; i += 4) {\n    const bool",
                   "for (int i = y + 4; i < kSide; i += 4) {\n    const bool",
                   Finding::uninitialised, "tile[x * kPitch + i]"),
          miscounts("neighbours_column", "tile[x * kPitch + i]", "tile[x * kPitch + (i ^ 1)]",
                    {0, 1, 0, 1}),
      });
}

// ---- a sum over all blocks: the last one to arrive adds up ----

const char* const kTotal = R"(
extern "C" __global__ void total(const float* values, float* parts, float* total,
                                 unsigned* arrived) {
  __shared__ bool last;
  float sum = values[blockIdx.x * 32 + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();  // before
    last = atomicAdd(arrived, 1) + 1 == gridDim.x;
    __threadfence();  // after
  }
  __syncwarp();
  if (!last) return;
  sum = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0.0F;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
  if (threadIdx.x == 0) *total = sum;
}
)";

void run_total(Bench& bench, Observed& observed) {
  constexpr int kBlocks = 5;
  const auto values = small_numbers(kBlocks * 32);
  const struct {
    DevicePtr values, parts, total, arrived;
  } arguments{bench.upload(values), bench.fresh(kBlocks * 4), bench.fresh(4),
              bench.upload(std::vector<unsigned>{0})};
  if (!bench.launch({kBlocks, 1, 1}, 32, arguments)) return;
  compare(
      bench.download<float>(arguments.total, 1), 1,
      [&](int, int) { return std::accumulate(values.begin(), values.end(), 0.0F); }, observed);
}

TEST_F(BlockMutants, Total) {
  PlainSpecimen specimen(kTotal, "total", run_total);
  examine(specimen,
          {
              reported("no_fence_before", "__threadfence();  // before\n", "\n", Finding::race,
                       "parts[threadIdx.x]"),
              reported("no_fence_after", "__threadfence();  // after\n", "\n", Finding::race,
                       "parts[threadIdx.x]"),
              reported("no_atomic_counter", "atomicAdd(arrived, 1) + 1", "++*arrived",
                       Finding::race, "++*arrived"),
              reported("no_warp_barrier", "  __syncwarp();\n", "", Finding::race, "if (!last)"),
              reported("everybody_adds_up", "if (!last) return;", "", Finding::uninitialised,
                       "parts[threadIdx.x]"),
          });
}

// ---- a sorted list in each thread's local memory ----

const char* const kLists = R"(
constexpr int kMost = 8;

extern "C" __global__ void sorted(const int* values, int* smallest, int length) {
  int list[kMost];
  const int* own = values + (blockIdx.x * blockDim.x + threadIdx.x) * length;
#pragma unroll 1
  for (int i = 0; i < length; ++i) {
    int at = i;
#pragma unroll 1
    while (at > 0 && list[at - 1] > own[i]) {
      list[at] = list[at - 1];
      --at;
    }
    list[at] = own[i];  // its place
  }
  smallest[blockIdx.x * blockDim.x + threadIdx.x] = list[length / 2];
}
)";

void run_lists(Bench& bench, Observed& observed) {
  constexpr int kThreads = 64;
  constexpr int kLength = 8;
  std::vector<int> values;
  for (int i = 0; i < kThreads * kLength; ++i) values.push_back(i * 37 % 101);
  const struct {
    DevicePtr values, smallest;
    int length;
  } arguments{bench.upload(values), bench.fresh(kThreads * 4), kLength};
  if (!bench.launch({2, 1, 1}, 32, arguments)) return;
  compare(
      bench.download<int>(arguments.smallest, kThreads), kThreads,
      [&](int, int thread) {
        std::vector<int> own(values.begin() + thread * kLength,
                             values.begin() + (thread + 1) * kLength);
        std::sort(own.begin(), own.end());
        return own[kLength / 2];
      },
      observed);
}

TEST_F(BlockMutants, Lists) {
  PlainSpecimen specimen(kLists, "sorted", run_lists);
  examine(specimen,
          {
              reported("list_too_short", "kMost = 8;", "kMost = 4;", Finding::out_of_bounds,
                       "list[at] = list[at - 1];"),
              reported("input_beyond", "* length;", "* length + 1;", Finding::out_of_bounds,
                       "list[at - 1] > own[i]"),
              miscounts("wrong_order", "list[at - 1] > own[i]", "list[at - 1] < own[i] + 5", {}),
          });
}

}  // namespace
}  // namespace kiln::testing
