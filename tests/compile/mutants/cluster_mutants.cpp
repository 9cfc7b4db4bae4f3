// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Pairs of blocks: one reads the other's shared memory, or both share what each copies (multicast).
#include <gtest/gtest.h>

#include <vector>

#include "tests/compile/mutants/plain_specimen.hpp"

namespace kiln::testing {
namespace {

using ClusterMutants = NvrtcTest;

std::vector<int> numbers(int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back(i * 29 % 97);
  return values;
}

/// Each thread adds its number and the mirrored one of the pair's other block.
const char* const kExchange = R"(
__device__ unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

extern "C" __global__ void exchanged(const int* values, int* results) {
  __shared__ int own[64];
  const int at = blockIdx.x * 64 + threadIdx.x;
  own[threadIdx.x] = values[at];
  cluster_arrive();
  cluster_wait();  // both have written
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(own + 63 - threadIdx.x));
  unsigned theirs;
  int got;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs)
               : "r"(place), "r"(rank_in_cluster() ^ 1));
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(got) : "r"(theirs) : "memory");
  cluster_arrive();  // has read
  results[at] = got + values[at];
  cluster_wait();  // the other has read
}
)";

void run_exchange(Bench& bench, Observed& observed) {
  constexpr int kBlocks = 4;
  const auto values = numbers(kBlocks * 64);
  const struct {
    DevicePtr values, results;
  } arguments{bench.upload(values), bench.fresh(kBlocks * 64 * 4)};
  if (!bench.launch({kBlocks, 1, 1}, 64, arguments, 2)) return;
  compare(
      bench.download<int>(arguments.results, kBlocks * 64), 64,
      [&](int block, int at) {
        return values[static_cast<std::size_t>(block * 64 + at)] +
               values[static_cast<std::size_t>((block ^ 1) * 64 + 63 - at)];
      },
      observed);
}

TEST_F(ClusterMutants, Exchange) {
  PlainSpecimen specimen(kExchange, "exchanged", run_exchange);
  examine(
      specimen,
      {
          reported("no_barrier", "  cluster_arrive();\n  cluster_wait();  // both have written\n",
                   "", Finding::race, "ld.shared::cluster"),
          reported("block_barrier_only",
                   "  cluster_arrive();\n  cluster_wait();  // both have written\n",
                   "  __syncthreads();\n", Finding::race, "ld.shared::cluster"),
          reported("arrives_but_does_not_wait", "  cluster_wait();  // both have written\n", "",
                   Finding::barrier_mismatch, "barrier.cluster.arrive"),
          reported("leaves_too_early",
                   "  cluster_arrive();  // has read\n  results[at] = got + values[at];\n"
                   "  cluster_wait();  // the other has read\n",
                   "  results[at] = got + values[at];\n", Finding::missing_wait,
                   "ld.shared::cluster"),
          reported("no_such_block", "rank_in_cluster() ^ 1", "rank_in_cluster() + 1",
                   Finding::invalid_operand, "rank_in_cluster() + 1"),
          reported("beyond_the_others_array", "own + 63 - threadIdx.x", "own + 64 - threadIdx.x",
                   Finding::out_of_bounds, "ld.shared::cluster"),
          reported("by_half_a_warp", "  cluster_arrive();  // has read",
                   "  if (threadIdx.x % 32 < 16) cluster_arrive();  // has read",
                   Finding::divergent, "barrier.cluster.arrive"),
          miscounts("its_own_memory", "rank_in_cluster() ^ 1", "rank_in_cluster()", {0, 1, 0, 1}),
      });
}

const char* const kShared = R"(
constexpr unsigned kHalf = 256;  // bytes

__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

extern "C" __global__ void shared_copy(const int* values, int* results) {
  __shared__ __align__(128) int tile[128];
  __shared__ __align__(8) unsigned long long full;
  const unsigned rank = blockIdx.x % 2;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
                 "r"(shared_address(&full)), "r"(2 * kHalf) : "memory");
  }
  cluster_sync();  // both barriers are there
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(tile + rank * 64)),
        "l"(values + blockIdx.x * 64), "r"(kHalf), "r"(shared_address(&full)),
        "h"(static_cast<unsigned short>(3)) : "memory");
  }
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"  // waits
                 "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(shared_address(&full)), "r"(0)
                 : "memory");
  }
  results[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x] + tile[127 - threadIdx.x];
}
)";

// The compiler gives an asm statement the line of its last operand.
const char* const kCopy = "\"h\"(static_cast<unsigned short>(";
const char* const kWait = "\"=r\"(done) : \"r\"(shared_address(&full))";

void run_shared(Bench& bench, Observed& observed) {
  constexpr int kBlocks = 4;
  const auto values = numbers(kBlocks * 64);
  const struct {
    DevicePtr values, results;
  } arguments{bench.upload(values), bench.fresh(kBlocks * 64 * 4)};
  if (!bench.launch({kBlocks, 1, 1}, 64, arguments, 2)) return;
  compare(
      bench.download<int>(arguments.results, kBlocks * 64), 64,
      [&](int block, int at) {
        const auto first = values.begin() + block / 2 * 128;
        return first[at] + first[127 - at];
      },
      observed);
}

TEST_F(ClusterMutants, Multicast) {
  PlainSpecimen specimen(kShared, "shared_copy", run_shared);
  const std::string sync = "  cluster_sync();  // both barriers are there\n";
  examine(
      specimen,
      {
          reported("no_cluster_barrier", sync, "  __syncthreads();\n", Finding::race, kCopy),
          reported("no_fence_of_the_barrier",
                   "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n",
                   "", Finding::missing_fence, kCopy),
          reported("too_few_bytes", "\"r\"(2 * kHalf)", "\"r\"(kHalf)", Finding::missing_wait,
                   "tile[127 - threadIdx.x]"),
          reported("too_many_bytes", "\"r\"(2 * kHalf)", "\"r\"(3 * kHalf)", Finding::deadlock,
                   kWait),
          reported("nothing_expected", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;",
                   "mbarrier.arrive.shared::cta.b64 _, [%0];", Finding::missing_wait,
                   "tile[127 - threadIdx.x]"),
          reported("never_arrives", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;",
                   "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;", Finding::deadlock,
                   kWait),
          reported("one_target_only", "static_cast<unsigned short>(3)",
                   "static_cast<unsigned short>(1)", Finding::deadlock, kWait),
          reported("three_targets", "static_cast<unsigned short>(3)",
                   "static_cast<unsigned short>(7)", Finding::invalid_operand, kCopy),
          reported("odd_target", "tile + rank * 64", "tile + rank * 62", Finding::misaligned,
                   kCopy),
          reported("same_half_twice", "tile + rank * 64", "tile", Finding::missing_wait, kCopy),
          reported("wrong_parity", "\"r\"(shared_address(&full)), \"r\"(0)",
                   "\"r\"(shared_address(&full)), \"r\"(1)", Finding::missing_wait,
                   "tile[127 - threadIdx.x]"),
          reported("no_wait", "while (done == 0) {", "while (done == 1) {", Finding::missing_wait,
                   "tile[127 - threadIdx.x]"),
      });
}

}  // namespace
}  // namespace kiln::testing
