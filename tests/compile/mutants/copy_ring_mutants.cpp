// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A matrix multiplication of the Ampere kind: a ring of tiles that cp.async fills, ldmatrix and
// mma.sync.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/compile/mutants/plain_specimen.hpp"

namespace kiln::testing {
namespace {

const char* const kGemm = R"(
using half = unsigned short;

constexpr int kRows = 64;   // of a block's tile, 16 for each warp
constexpr int kCols = 32;
constexpr int kDepth = 16;
constexpr int kStages = 3;
constexpr int kPitch = 24;  // 16 halves of a row and 8 against bank conflicts

struct Stage {
  half a[kRows * kPitch];
  half b[kCols * kPitch];
};

__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ void copy_async(half* to, const half* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes) : "memory");
}

// D[m x 32] = A[m x k] B[32 x k]^T.
extern "C" __global__ void gemm(const half* a, const half* b, float* d, int m, int k) {
  __shared__ __align__(16) Stage ring[kStages];
  const int first = blockIdx.x * kRows;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int tiles = k / kDepth;

  const auto slot = [&](int tile) -> Stage& {
    return ring[tile % kStages];
  };
  const auto start = [&](int tile) {
    const int row = threadIdx.x / 2;
    const int part = threadIdx.x % 2 * 8;
    const bool inside = first + row < m;
    const half* from = a + (first + row) * k + tile * kDepth + part;
    copy_async(slot(tile).a + row * kPitch + part, from, inside ? 16 : 0);
    if (threadIdx.x < 64) {
      const half* from_b = b + row * k + tile * kDepth + part;
      copy_async(slot(tile).b + row * kPitch + part, from_b, 16);
    }
  };
  const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

  float sum[4][4] = {};
  for (int tile = 0; tile < kStages - 1; ++tile) {
    if (tile < tiles) start(tile);
    commit();
  }
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();  // the tile is there, and the one before has been read
    if (tile + kStages - 1 < tiles) start(tile + kStages - 1);
    commit();  // one group for each tile
    unsigned x[4];
    const half* row = slot(tile).a + (warp * 16 + lane % 16) * kPitch + lane / 16 * 8;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(row)) : "memory");
#pragma unroll
    for (int j = 0; j < kCols / 8; ++j) {
      unsigned y[2];
      const half* col = slot(tile).b + (j * 8 + lane % 8) * kPitch + lane / 8 % 2 * 8;
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(y[0]), "=r"(y[1]) : "r"(shared_address(col)) : "memory");
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
  }
#pragma unroll
  for (int j = 0; j < kCols / 8; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int to_row = first + warp * 16 + i / 2 * 8 + lane / 4;
      const int to_col = j * 8 + lane % 4 * 2 + i % 2;
      if (to_row < m) d[to_row * kCols + to_col] = sum[j][i];
    }
  }
}
)";

// The compiler gives an asm statement the line of its last operand.
const char* const kRingCopy = "\"l\"(from), \"r\"(bytes)";
const char* const kLoadA = ": \"r\"(shared_address(row))";
const char* const kLoadB = "\"=r\"(y[1]) : \"r\"(shared_address(col))";
const char* const kMma = "\"r\"(x[3]), \"r\"(y[0])";

void run_gemm(Bench& bench, Observed& observed) {
  constexpr int kM = 100;
  constexpr int kN = 32;
  constexpr int kK = 96;
  const auto a_at = [](int row, int k) { return (row * 5 + k * 3) % 7 - 3; };
  const auto b_at = [](int col, int k) { return (col * 3 + k * 5) % 9 - 4; };
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  for (int i = 0; i < kM * kK; ++i) {
    a.push_back(emulated::f16_of_f32(static_cast<float>(a_at(i / kK, i % kK))));
  }
  for (int i = 0; i < kN * kK; ++i) {
    b.push_back(emulated::f16_of_f32(static_cast<float>(b_at(i / kK, i % kK))));
  }
  const struct {
    DevicePtr a, b, d;
    int m, k;
  } arguments{bench.upload(a), bench.upload(b), bench.fresh(kM * kN * 4), kM, kK};
  if (!bench.launch({2, 1, 1}, 128, arguments)) return;
  compare(
      bench.download<float>(arguments.d, kM * kN), kN,
      [&](int row, int col) {
        int sum = 0;
        for (int k = 0; k < kK; ++k) sum += a_at(row, k) * b_at(col, k);
        return sum;
      },
      observed);
}

using CopyRingMutants = NvrtcTest;

TEST_F(CopyRingMutants, Gemm) {
  PlainSpecimen specimen(kGemm, "gemm", run_gemm);
  const std::string wait =
      "    asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(kStages - 2) : \"memory\");\n";
  const std::string barrier =
      "    __syncthreads();  // the tile is there, and the one before has been read\n";
  const std::string next = "    if (tile + kStages - 1 < tiles) start(tile + kStages - 1);\n";
  examine(
      specimen,
      {
          reported("no_wait", wait, "", Finding::missing_wait, kLoadA),
          reported("waits_for_one_less", "\"n\"(kStages - 2)", "\"n\"(kStages - 1)",
                   Finding::missing_wait, kLoadA),
          reported("barrier_before_the_wait", wait + barrier, barrier + wait, Finding::race,
                   kLoadB),
          reported("no_barrier", barrier, "", Finding::race, kLoadB),
          reported("stage_taken_too_early", wait + barrier + next, next + wait + barrier,
                   Finding::race, kRingCopy),
          reported("no_groups", "    commit();  // one group for each tile\n", "",
                   Finding::missing_wait, kLoadA),
          reported("one_stage_too_few", "ring[tile % kStages]", "ring[tile % (kStages - 1)]",
                   Finding::missing_wait, kLoadA),
          reported("one_stage_too_many", "ring[tile % kStages]", "ring[tile % (kStages + 1)]",
                   Finding::out_of_bounds, kRingCopy),
          reported("no_edge", "inside ? 16 : 0", "16", Finding::out_of_bounds, kRingCopy),
          reported("odd_pitch", "kPitch = 24;", "kPitch = 20;", Finding::misaligned, kRingCopy),
          reported("rows_overlap", "slot(tile).a + row * kPitch + part",
                   "slot(tile).a + row * (kPitch - 16) + part", Finding::race, kRingCopy),
          reported("odd_source", "tile * kDepth + part;\n    copy_async",
                   "tile * kDepth + part + 4;\n    copy_async", Finding::misaligned, kRingCopy),
          reported("columns_left_out", "if (threadIdx.x < 64) {", "if (threadIdx.x < 56) {",
                   Finding::uninitialised, kLoadB),
          reported("odd_row_of_ldmatrix", "lane / 16 * 8;", "lane / 16 * 4;", Finding::misaligned,
                   kLoadA),
          reported("divergent_mma", "      asm volatile(\"mma.sync",
                   "      if (lane < 31) asm volatile(\"mma.sync", Finding::divergent, kMma),
          reported("divergent_ldmatrix",
                   "      asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.shared.b16",
                   "      if (lane < 16) asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.shared.b16",
                   Finding::divergent, kLoadB),
          reported("one_row_too_far", "if (to_row < m)", "if (to_row <= m)", Finding::out_of_bounds,
                   "if (to_row <= m)"),
          miscounts("fragments_swapped", "\"r\"(y[0]), \"r\"(y[1]));", "\"r\"(y[1]), \"r\"(y[0]));",
                    {0, 1}),
          miscounts("one_row_down", "(warp * 16 + lane % 16) * kPitch",
                    "(warp * 16 + (lane + 1) % 16) * kPitch", {0, 1}),
          miscounts("transposed_fragment", "m8n8.x2.shared.b16", "m8n8.x2.trans.shared.b16",
                    {0, 1}),
          miscounts("row_of_the_result", "i / 2 * 8 + lane / 4;", "i / 2 * 8 + (lane / 4 ^ 1);",
                    {0, 1}),
          miscounts("sums_overwritten", "{%8, %9}, {%0, %1, %2, %3};",
                    "{%8, %9}, {%1, %0, %2, %3};", {0, 1}),
      });
}

}  // namespace
}  // namespace kiln::testing
