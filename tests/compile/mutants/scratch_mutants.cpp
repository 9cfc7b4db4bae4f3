// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Threads of one block that hand something over: through global scratch, through a copy that one
// lane of each warp waits for, and through two shared arrays next to each other.
#include <gtest/gtest.h>

#include <vector>

#include "tests/compile/mutants/plain_specimen.hpp"

namespace kiln::testing {
namespace {

using ScratchMutants = NvrtcTest;

constexpr int kThreads = 96;

std::vector<int> numbers(int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back(i * 31 % 97);
  return values;
}

// ---- sums of prefixes, each step through global memory ----

const char* const kPrefixes = R"(
extern "C" __global__ void prefixes(const int* values, int* scratch, int* sums) {
  int* own = scratch + blockIdx.x * 2 * blockDim.x;
  int* next = own + blockDim.x;
  const int t = threadIdx.x;
  int sum = values[blockIdx.x * blockDim.x + t];
  for (int step = 1; step < blockDim.x; step *= 2) {
    own[t] = sum;                          // for those behind
    __syncthreads();                       // is written
    if (t >= step) sum += own[t - step];   // of those before
    int* const other = own;
    own = next;
    next = other;
  }
  sums[blockIdx.x * blockDim.x + t] = sum;
}
)";

void run_prefixes(Bench& bench, Observed& observed) {
  constexpr int kBlocks = 2;
  const auto values = numbers(kBlocks * kThreads);
  const struct {
    DevicePtr values, scratch, sums;
  } arguments{bench.upload(values), bench.fresh(kBlocks * 2 * kThreads * 4),
              bench.fresh(kBlocks * kThreads * 4)};
  if (!bench.launch({kBlocks, 1, 1}, kThreads, arguments)) return;
  compare(
      bench.download<int>(arguments.sums, kBlocks * kThreads), kThreads,
      [&](int block, int thread) {
        int sum = 0;
        for (int i = 0; i <= thread; ++i) sum += values[block * kThreads + i];
        return sum;
      },
      observed);
}

TEST_F(ScratchMutants, Prefixes) {
  PlainSpecimen specimen(kPrefixes, "prefixes", run_prefixes);
  examine(specimen,
          {
              reported("no_barrier", "__syncthreads();", "", Finding::race, "// of those before"),
              reported("barrier_of_the_warp", "__syncthreads();", "__syncwarp();", Finding::race,
                       "// of those before"),
              reported("only_a_fence", "__syncthreads();", "__threadfence();", Finding::race,
                       "// of those before"),
              reported("one_buffer", "    own = next;\n", "", Finding::race, "// for those behind"),
              reported("all_to_one_place", "own[t] = sum;", "own[t & ~1] = sum;", Finding::race,
                       "// for those behind"),
          });
}

// ---- pieces that a bulk copy brings, for which one lane of each warp waits ----

const char* const kPieces = R"(
constexpr int kPiece = 96;

__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ void wait(unsigned barrier, int parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  }
}
__device__ void load(int* to, const int* from, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
               "r"(barrier), "r"(kPiece * 4) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];"
               ::"r"(shared_address(to)), "l"(from), "r"(kPiece * 4), "r"(barrier) : "memory");
}

extern "C" __global__ void columns(const int* values, int* sums, int pieces) {
  __shared__ __align__(16) int piece[kPiece];
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned full = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < pieces; ++i) {
    if (threadIdx.x == 0) load(piece, values + i * kPiece, full);
    if (threadIdx.x % 32 == 0) {
      wait(full, i % 2);
    }
    __syncwarp();  // all lanes know
    sum += piece[threadIdx.x];
    __syncthreads();  // is free
  }
  sums[threadIdx.x] = sum;
}
)";

void run_pieces(Bench& bench, Observed& observed) {
  constexpr int kCount = 5;
  const auto values = numbers(kCount * kThreads);
  const struct {
    DevicePtr values, sums;
    int pieces;
  } arguments{bench.upload(values), bench.fresh(kThreads * 4), kCount};
  if (!bench.launch({1, 1, 1}, kThreads, arguments)) return;
  compare(
      bench.download<int>(arguments.sums, kThreads), kThreads,
      [&](int, int thread) {
        int sum = 0;
        for (int i = 0; i < kCount; ++i) sum += values[i * kThreads + thread];
        return sum;
      },
      observed);
}

TEST_F(ScratchMutants, Pieces) {
  PlainSpecimen specimen(kPieces, "columns", run_pieces);
  const char* const read = "sum += piece[threadIdx.x];";
  examine(specimen,
          {
              reported("no_warp_barrier", "__syncwarp();", "", Finding::race, read),
              reported("shuffle_for_a_barrier", "__syncwarp();",
                       "sum += 0 * __shfl_sync(0xffffffffU, sum, 0);", Finding::race, read),
              reported("barrier_of_half_a_warp", "__syncwarp();",
                       "if (threadIdx.x % 32 < 16) __syncwarp(0xffff);", Finding::race, read),
              reported("waits_of_one_warp", "if (threadIdx.x % 32 == 0) {",
                       "if (threadIdx.x == 0) {", Finding::missing_wait, read),
              reported("no_wait", "      wait(full, i % 2);\n", "", Finding::missing_wait, read),
              reported("not_free", "__syncthreads();  // is free", "", Finding::race,
                       "\"r\"(shared_address(to))"),
          });
}

// ---- two arrays ----

const char* const kArrays = R"(
constexpr int kSide = 96;

extern "C" __global__ void turned(const int* values, int* sums) {
  __shared__ int first[kSide];
  __shared__ int second[kSide];
  const int t = threadIdx.x;
  first[t] = values[t];
  second[t] = 2 * values[t];
  __syncthreads();  // both are there
  int sum = 0;
#pragma unroll 1
  for (int i = t; i < kSide; ++i) {
    sum += first[i];
    sum -= second[kSide - 1 - i];
  }
  sums[t] = sum;
}
)";

void run_arrays(Bench& bench, Observed& observed) {
  const auto values = numbers(kThreads);
  const struct {
    DevicePtr values, sums;
  } arguments{bench.upload(values), bench.fresh(kThreads * 4)};
  if (!bench.launch({1, 1, 1}, kThreads, arguments)) return;
  compare(
      bench.download<int>(arguments.sums, kThreads), kThreads,
      [&](int, int thread) {
        int sum = 0;
        for (int i = thread; i < kThreads; ++i) {
          sum += values[i] - 2 * values[kThreads - 1 - i];
        }
        return sum;
      },
      observed);
}

TEST_F(ScratchMutants, Arrays) {
  PlainSpecimen specimen(kArrays, "turned", run_arrays);
  examine(specimen, {
                        reported("one_past", "i < kSide; ++i) {", "i <= kSide; ++i) {",
                                 Finding::out_of_bounds, "sum += first[i];"),
                        reported("one_before", "second[kSide - 1 - i]", "second[kSide - 2 - i]",
                                 Finding::out_of_bounds, "second[kSide - 2 - i]"),
                        reported("written_past", "  first[t] =", "  first[t + 1] =",
                                 Finding::out_of_bounds, "first[t + 1] ="),
                        reported("a_row_too_far", "second[t] =", "second[t + kSide] =",
                                 Finding::out_of_bounds, "second[t + kSide] ="),
                        reported("no_barrier", "  __syncthreads();  // both are there\n", "",
                                 Finding::race, "sum += first[i];"),
                    });
}

}  // namespace
}  // namespace kiln::testing
