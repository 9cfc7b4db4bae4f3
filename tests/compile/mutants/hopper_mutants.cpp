// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A matrix multiplication of the Hopper kind: a warp that copies swizzled tiles with tensor maps,
// a warpgroup that multiplies them with wgmma, and a result that leaves through shared memory.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "tests/compile/mutants/plain_specimen.hpp"

namespace kiln::testing {
namespace {

const char* const kHopperGemm = R"(
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

constexpr int kStages = 2;
constexpr int kTileA = 64 * 128;  // bytes: 64 rows of 64 numbers
constexpr int kTileB = 16 * 128;
constexpr int kStageBytes = kTileA + kTileB;
constexpr int kConsumers = 128;

__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ void init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ void wait(unsigned barrier, int parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"  // waits
                 "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  }
}
__device__ void load(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}
// Rows of 128 bytes with the 128-byte swizzle, eight of which are 1024 bytes.
__device__ unsigned long long descriptor(unsigned address) {
  constexpr unsigned long long kSwizzle128 = 1ULL << 62;
  constexpr unsigned long long kEightRows = 1024 / 16;
  return kSwizzle128 | kEightRows << 32 | 1ULL << 16 | (address & 0x3ffff) >> 4;
}
__device__ void multiply(float (&d)[8], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                 "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b));
}

// D[m x n] = A[m x k] B[n x k]^T, 64 x 16 in each block.
extern "C" __global__ void __launch_bounds__(160)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         const __grid_constant__ TensorMap map_d, int steps) {
  __shared__ __align__(1024) unsigned char ring[kStages * kStageBytes];
  __shared__ __align__(128) float result[64 * 16];
  __shared__ __align__(8) unsigned long long barriers[2 * kStages];
  const unsigned full = shared_address(barriers);
  const unsigned empty = full + 8 * kStages;
  const unsigned tiles = shared_address(ring);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init(full + 8 * i, 1);
      init(empty + 8 * i, kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();  // barriers are there
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x % 32 != 0) return;
    for (int step = 0; step < steps; ++step) {
      const int stage = step % kStages;
      const unsigned to = tiles + stage * kStageBytes;
      wait(empty + 8 * stage, step / kStages % 2 ^ 1);  // is free
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
                   "r"(full + 8 * stage), "r"(kStageBytes) : "memory");
      load(to, map_a, step * 64, blockIdx.y * 64, full + 8 * stage);
      load(to + kTileA, map_b, step * 64, blockIdx.x * 16, full + 8 * stage);
    }
    return;
  }
  float sum[8] = {};
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    const unsigned from = tiles + stage * kStageBytes;
    wait(full + 8 * stage, step / kStages % 2);  // has come
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      multiply(sum, descriptor(from + k * 32), descriptor(from + kTileA + k * 32));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + 8 * stage) : "memory");
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
    const int col = threadIdx.x % 4 * 2 + i % 2 + i / 4 * 8;
    result[row * 16 + col] = sum[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, 128;" ::: "memory");  // the result is there
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&map_d), "r"(blockIdx.x * 16), "r"(blockIdx.y * 64),
                 "r"(shared_address(result)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
)";

constexpr int kM = 100;
constexpr int kN = 32;
constexpr int kK = 320;

int hopper_a_at(int m, int k) {
  return (m * 7 + k * 3) % 13 - 6;
}
int hopper_b_at(int n, int k) {
  return (n * 5 + k * 2) % 11 - 5;
}

template <class At>
std::vector<std::uint16_t> matrix(int rows, const At& at) {
  std::vector<std::uint16_t> values;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < kK; ++k) {
      values.push_back(emulated::bf16_of_f32(static_cast<float>(at(row, k))));
    }
  }
  return values;
}

emulated::TensorMap map_of(emulated::TensorType type, DevicePtr address, int rows, int cols,
                           int box_rows, int box_cols, emulated::Swizzle swizzle) {
  emulated::TensorSpec spec;
  spec.type = type;
  spec.rank = 2;
  spec.address = address;
  spec.dims = {static_cast<std::uint64_t>(cols), static_cast<std::uint64_t>(rows)};
  spec.strides = {static_cast<std::uint64_t>(cols * emulated::bytes_of(type))};
  spec.box = {static_cast<std::uint32_t>(box_cols), static_cast<std::uint32_t>(box_rows)};
  spec.swizzle = swizzle;
  const emulated::EncodedTensorMap encoded = emulated::encode_tensor_map(spec);
  EXPECT_EQ(encoded.fault, "");
  return encoded.map;
}

void run_hopper_gemm(Bench& bench, Observed& observed) {
  using emulated::Swizzle;
  using emulated::TensorType;
  const DevicePtr a = bench.upload(matrix(kM, hopper_a_at));
  const DevicePtr b = bench.upload(matrix(kN, hopper_b_at));
  const DevicePtr d = bench.fresh(kM * kN * 4);
  const struct {
    emulated::TensorMap a, b, d;
    int steps;
  } arguments{map_of(TensorType::bf16, a, kM, kK, 64, 64, Swizzle::bytes128),
              map_of(TensorType::bf16, b, kN, kK, 16, 64, Swizzle::bytes128),
              map_of(TensorType::f32, d, kM, kN, 64, 16, Swizzle::none), kK / 64};
  if (!bench.launch({kN / 16, 2, 1}, 160, arguments)) return;
  compare(
      bench.download<float>(d, kM * kN), kN,
      [](int m, int n) {
        int sum = 0;
        for (int k = 0; k < kK; ++k) sum += hopper_a_at(m, k) * hopper_b_at(n, k);
        return sum;
      },
      observed);
}

using HopperMutants = NvrtcTest;

// The compiler gives an asm statement the line of its last operand.
const char* const kWgmma = "\"l\"(a), \"l\"(b)";
const char* const kLoad = "\"r\"(x), \"r\"(y), \"r\"(barrier)";
const char* const kStore = "\"r\"(shared_address(result))";
const char* const kHopperWait = "\"=r\"(done) : \"r\"(barrier), \"r\"(parity)";
const char* const kExpect = "\"r\"(full + 8 * stage), \"r\"(kStageBytes)";
const char* const kResult = "result[row * 16 + col] = sum[i];";

TEST_F(HopperMutants, Barriers) {
  PlainSpecimen specimen(kHopperGemm, "gemm", run_hopper_gemm);
  examine(
      specimen,
      {
          reported("no_wait_for_copies",
                   "    wait(full + 8 * stage, step / kStages % 2);  // has come\n", "",
                   Finding::missing_wait, kWgmma),
          reported("wrong_parity", "wait(full + 8 * stage, step / kStages % 2);",
                   "wait(full + 8 * stage, step / kStages % 2 ^ 1);", Finding::missing_wait,
                   kWgmma),
          reported("parity_never_flips", "wait(full + 8 * stage, step / kStages % 2);",
                   "wait(full + 8 * stage, 0);", Finding::missing_wait, kWgmma),
          reported("other_stage", "wait(full + 8 * stage, step / kStages % 2);",
                   "wait(full + 8 * (stage ^ 1), step / kStages % 2);", Finding::race, kWgmma),
          reported("no_wait_for_readers",
                   "      wait(empty + 8 * stage, step / kStages % 2 ^ 1);  // is free\n", "",
                   Finding::invalid_operand, kExpect),
          reported("waits_for_ever", "step / kStages % 2 ^ 1);", "step / kStages % 2);",
                   Finding::deadlock, kHopperWait),
          reported("nothing_expected", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;",
                   "mbarrier.arrive.shared::cta.b64 _, [%0];", Finding::missing_wait, kWgmma),
          reported("too_many_bytes", "\"r\"(kStageBytes)", "\"r\"(kStageBytes + 128)",
                   Finding::deadlock, kHopperWait),
          reported("bytes_of_a_alone", "\"r\"(kStageBytes)", "\"r\"(kTileA)", Finding::missing_wait,
                   kWgmma),
          reported("too_few_arrivals", "kConsumers);\n    }", "kConsumers + 1);\n    }",
                   Finding::deadlock, kHopperWait),
          reported("no_arrivals",
                   "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(empty + "
                   "8 * stage) : \"memory\");\n",
                   "", Finding::deadlock, kHopperWait),
          reported("no_initialisation", "      init(empty + 8 * i, kConsumers);\n", "",
                   Finding::invalid_operand, kHopperWait),
          reported("no_barrier_after_initialisation", "  __syncthreads();  // barriers are there\n",
                   "", Finding::race, kHopperWait),
          reported("no_fence_of_barriers",
                   "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n",
                   "", Finding::missing_fence, kLoad),
      });
}

TEST_F(HopperMutants, Tiles) {
  PlainSpecimen specimen(kHopperGemm, "gemm", run_hopper_gemm);
  const std::string commit =
      "    asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n";
  const std::string wait =
      "    asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n";
  const std::string arrive =
      "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(empty + 8 * stage) : "
      "\"memory\");\n";
  examine(
      specimen,
      {
          reported("no_wgmma_fence",
                   "    asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n", "",
                   Finding::missing_fence, kWgmma),
          reported("no_wgmma_wait", wait, "", Finding::missing_wait, kLoad),
          reported("wgmma_wait_for_one_less", "wgmma.wait_group.sync.aligned 0",
                   "wgmma.wait_group.sync.aligned 1", Finding::missing_wait, kLoad),
          reported("no_commit", commit, "", Finding::missing_wait, kLoad),
          reported("released_too_early", wait + arrive, arrive + wait, Finding::race, kLoad),
          reported(
              "sums_read_too_early",
              "    asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n",
              "    if (step + 1 < steps) asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: "
              "\"memory\");\n",
              Finding::missing_wait, kResult),
          reported("divergent_wgmma", "      multiply(sum,",
                   "      if (threadIdx.x % 32 < 16) multiply(sum,", Finding::divergent, kWgmma),
          reported("wgmma_of_three_warps", "      multiply(sum,",
                   "      if (threadIdx.x < 96) multiply(sum,", Finding::divergent, kWgmma),
          reported("one_wgmma_of_three_warps", "      multiply(sum,",
                   "      if (threadIdx.x < 96 || step != 3 || k != 2) multiply(sum,",
                   Finding::divergent, kWgmma),
          reported("a_warp_that_ends_early", "    wait(full + 8 * stage, step / kStages % 2);",
                   "    if (threadIdx.x >= 96 && step == 2) return;\n"
                   "    wait(full + 8 * stage, step / kStages % 2);",
                   Finding::divergent, "wgmma.fence.sync"),
          reported("odd_stage", "const unsigned to = tiles + stage * kStageBytes;",
                   "const unsigned to = tiles + 64 + stage * kStageBytes;", Finding::misaligned,
                   kLoad),
          reported("ring_too_short", "ring[kStages * kStageBytes]",
                   "ring[kStages * kStageBytes - 8192]", Finding::out_of_bounds, kLoad),
          reported(
              "tile_left_out",
              "      load(to + kTileA, map_b, step * 64, blockIdx.x * 16, full + 8 * stage);\n", "",
              Finding::deadlock, kHopperWait),
          reported("tile_to_the_wrong_place", "load(to + kTileA, map_b", "load(to, map_b",
                   Finding::missing_wait, kLoad),
          reported("no_proxy_fence",
                   "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n", "",
                   Finding::missing_fence, kStore),
          reported("no_barrier_before_the_store",
                   "  asm volatile(\"bar.sync 1, 128;\" ::: \"memory\");  // the result is there\n",
                   "", Finding::race, kResult),
          reported("store_not_waited_for",
                   "    asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n", "",
                   Finding::missing_wait, kStore),
          reported("block_barrier_that_others_left", "bar.sync 1, 128;", "bar.sync 1, 160;",
                   Finding::deadlock, "bar.sync 1, 160;"),
      });
}

TEST_F(HopperMutants, Arithmetic) {
  PlainSpecimen specimen(kHopperGemm, "gemm", run_hopper_gemm);
  examine(specimen,
          {
              miscounts("wrong_swizzle", "kSwizzle128 = 1ULL << 62", "kSwizzle128 = 2ULL << 62",
                        {0, 1}),
              miscounts("wrong_stride", "kEightRows = 1024 / 16", "kEightRows = 512 / 16",
                        {0, 1, 8, 9}),
              miscounts("wrong_step", "descriptor(from + kTileA + k * 32)",
                        "descriptor(from + kTileA + (k ^ 1) * 32)", {0, 1}),
              miscounts("tile_of_another_block", "map_a, step * 64, blockIdx.y * 64",
                        "map_a, step * 64, blockIdx.y * 64 + 1", {0, 1}),
              miscounts("sums_of_other_rows", "i / 2 % 2 * 8;", "(i / 2 + 1) % 2 * 8;", {0, 1}),
          });
}

}  // namespace
}  // namespace kiln::testing
