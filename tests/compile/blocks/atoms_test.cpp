// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The matrix atoms of mma.sync and WMMA: right products of every element type from rows that run
// along k and across it, and no bank conflict when fragments are read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

// One warp, two atoms high and wide, two steps deep; D is the product of A (m x k) and B (k x n).
// The stage is filled once, and multiplied kProducts times.
const char* const kAtomKernel = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#define KILN_USES_BF16 1
#include "common/gemm_args.cuh"
#include "common/meta.cuh"
#include "lib/atom_mma.cuh"
#include "lib/atom_wmma.cuh"
#include "lib/shared_layout.cuh"
#include "lib/slices.cuh"
#include "lib/warp_tile.cuh"

namespace kiln {

template <class Atom, auto kStage, int kProducts, int kDepthBytes = 64, class A, class Acc>
__device__ void product(const GemmArgs& args, A* stage, Acc* d) {
  constexpr int kDepth = kDepthBytes / static_cast<int>(sizeof(A));
  constexpr int kRows = 2 * Atom::rows();
  constexpr int kCols = 2 * Atom::cols();
  const A* a = static_cast<const A*>(args.a);
  const A* b = static_cast<const A*>(args.b);
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kDepth; i += 32) {
    stage[kStage.a.offset(i / kDepth, i % kDepth)] = a[i];
  }
  for (int i = static_cast<int>(threadIdx.x); i < kCols * kDepth; i += 32) {
    stage[kStage.b.first + kStage.b.offset(i % kCols, i / kCols)] = b[i];
  }
  __syncwarp();
  WarpTile<Atom, WarpTileShape{2, 2, kDepth, 2}, kStage> mma(0, 0);
  for (int i = 0; i < kProducts; ++i) mma.multiply_stage(stage);
  for (int row = 0; row < 2; ++row) mma.store_row(row, d + row * Atom::rows() * kCols, kCols);
}

template <class A, class B, class Acc, bool kAlongA, bool kAlongB, int kBytes, int kProducts>
__global__ void mma(const GemmArgs args) {
  constexpr int kDepth = 64 / static_cast<int>(sizeof(A));
  constexpr int kLine = 128 / static_cast<int>(sizeof(A));
  constexpr int kLineA = sizeof(A) == 8 || (sizeof(A) == 4 && !kAlongA) ? 4 : 8;
  constexpr int kLineB = sizeof(A) == 8 || (sizeof(A) == 4 && !kAlongB) ? 4 : 8;
  constexpr SwizzledLayout kRowsA{kAlongA ? kDepth : 32, kLine / kLineA, kLineA};
  constexpr SwizzledLayout kRowsB{kAlongB ? kDepth : 32, kLine / kLineB, kLineB};
  constexpr int kElements = 32 * kDepth;
  constexpr Stage kStage{OperandLayout{kRowsA, kAlongA, 0},
                         OperandLayout{kRowsB, kAlongB, kElements}, 2 * kElements};
  __shared__ __align__(1024) A stage[2 * kElements];
  product<AtomMma<A, B, Acc, kBytes>, kStage, kProducts>(args, stage, static_cast<Acc*>(args.d));
}

/// f64 as tensor copies leave it, 256 bytes deep: two slabs of an operand whose rows run along k.
template <bool kAlongA, bool kAlongB, int kBytes, int kProducts>
__global__ void boxed(const GemmArgs args) {
  constexpr SwizzledLayout kRows{16, 2, 8, 32};
  constexpr int kElements = 32 * 32;
  constexpr Stage kStage{OperandLayout{kRows, kAlongA, 0}, OperandLayout{kRows, kAlongB, kElements},
                         2 * kElements};
  __shared__ __align__(1024) double stage[2 * kElements];
  product<AtomMma<double, double, double, kBytes>, kStage, kProducts, 256>(
      args, stage, static_cast<double*>(args.d));
}

/// As many warps as slices share 128 bytes of depth.
template <class T, class Acc, bool kAlongB, int kSlices>
__global__ void sliced(const GemmArgs args) {
  constexpr int kDepth = 128 / static_cast<int>(sizeof(T));
  constexpr int kLine = sizeof(T) == 8 ? 4 : 8;
  constexpr SwizzledLayout kRowsA{kDepth, kDepth / kLine, kLine};
  constexpr SwizzledLayout kRowsB{kAlongB ? kDepth : 32, kDepth / kLine, kLine};
  constexpr int kElements = 32 * kDepth;
  constexpr Stage kStage{OperandLayout{kRowsA, true, 0}, OperandLayout{kRowsB, kAlongB, kElements},
                         2 * kElements};
  __shared__ __align__(1024) T stage[2 * kElements];
  __shared__ Acc exchange[(kSlices - 1) * 32 * 32];
  const T* a = static_cast<const T*>(args.a);
  const T* b = static_cast<const T*>(args.b);
  for (int i = static_cast<int>(threadIdx.x); i < kElements; i += 32 * kSlices) {
    stage[kStage.a.offset(i / kDepth, i % kDepth)] = a[i];
    stage[kStage.b.first + kStage.b.offset(i % 32, i / 32)] = b[i];
  }
  __syncthreads();
  const int slice = static_cast<int>(threadIdx.x) / 32;
  using Mma = WarpTile<AtomMma<T, T, Acc>, WarpTileShape{2, 2, kDepth / kSlices, 1}, kStage>;
  Mma mma(0, 0, slice * (kDepth / kSlices));
  mma.multiply_stage(stage);
  collect_slices<kSlices, 32 * kSlices>(mma, exchange, slice);
  if (slice > 0) return;
  for (int row = 0; row < 2; ++row) {
    mma.store_row(row, static_cast<Acc*>(args.d) + row * 16 * 32, 32);
  }
}

// Rows are 16 bytes longer than they need be, or 32 where words of rows across k are read.
template <class T, class Acc, int kM, int kN, bool kAlongA, bool kAlongB, int kProducts>
__global__ void wmma(const GemmArgs args) {
  constexpr int kDepth = 64 / static_cast<int>(sizeof(T));
  constexpr int kPad = (sizeof(T) < 4 ? 16 : 32) / static_cast<int>(sizeof(T));
  constexpr int kPadAlong = (sizeof(T) < 8 ? 16 : 32) / static_cast<int>(sizeof(T));
  constexpr PaddedLayout kRowsA{kAlongA ? kDepth + kPadAlong : 2 * kM + kPad};
  constexpr PaddedLayout kRowsB{kAlongB ? kDepth + kPadAlong : 2 * kN + kPad};
  constexpr int kElements = 64 * (64 + 32);
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {kRowsA, kAlongA, 0}, {kRowsB, kAlongB, kElements}, 2 * kElements};
  __shared__ __align__(128) T stage[2 * kElements];
  product<AtomWmma<T, Acc, WmmaShape{kM, kN}, kAlongA, kAlongB>, kStage, kProducts>(
      args, stage, static_cast<Acc*>(args.d));
}

}  // namespace kiln
)";

struct AtomCase {
  std::string kernel;  ///< without the number of products
  DType type_a;
  DType type_b;
  DType acc;
  int m = 16;
  int n = 16;
  int depth_bytes = 64;
  /// Whether fragments are read without conflicts.
  bool swift = true;
};

const char* name_of(DType type) {
  switch (type) {
    case DType::f16:
      return "__half";
    case DType::bf16:
      return "__nv_bfloat16";
    case DType::tf32:
      return "kiln::tf32";
    case DType::f64:
      return "double";
    case DType::s8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    case DType::s32:
      return "int";
    default:
      return "float";
  }
}

AtomCase mma_case(DType a, DType b, DType acc, bool k_major_a = true, bool k_major_b = true,
                  int bytes = 32) {
  return {fmt::format("kiln::mma<{}, {}, {}, {}, {}, {}", name_of(a), name_of(b), name_of(acc),
                      k_major_a, k_major_b, bytes),
          a, b, acc};
}

AtomCase wmma_case(DType type, DType acc, int m, int n, bool k_major_a, bool k_major_b) {
  // 8-bit elements across k come one by one.
  return {fmt::format("kiln::wmma<{}, {}, {}, {}, {}, {}", name_of(type), name_of(acc), m, n,
                      k_major_a, k_major_b),
          type,
          type,
          acc,
          m,
          n,
          64,
          size_bytes(type) > 1 || (k_major_a && k_major_b)};
}

std::vector<AtomCase> mma_cases() {
  std::vector<AtomCase> all;
  for (const bool k_major_a : {true, false}) {
    for (const bool k_major_b : {true, false}) {
      all.push_back(mma_case(DType::f16, DType::f16, DType::f32, k_major_a, k_major_b));
      all.push_back(mma_case(DType::f16, DType::f16, DType::f16, k_major_a, k_major_b));
      all.push_back(mma_case(DType::tf32, DType::tf32, DType::f32, k_major_a, k_major_b));
      for (const int bytes : {32, 64}) {
        all.push_back(mma_case(DType::f64, DType::f64, DType::f64, k_major_a, k_major_b, bytes));
      }
      for (const int bytes : {64, 128}) {
        all.push_back({fmt::format("kiln::boxed<{}, {}, {}", k_major_a, k_major_b, bytes),
                       DType::f64, DType::f64, DType::f64, 16, 16, 256});
      }
    }
  }
  all.push_back(mma_case(DType::bf16, DType::bf16, DType::f32, false, true));
  for (const DType a : {DType::s8, DType::u8}) {
    for (const DType b : {DType::s8, DType::u8}) all.push_back(mma_case(a, b, DType::s32));
  }
  return all;
}

std::vector<AtomCase> wmma_cases() {
  std::vector<AtomCase> all;
  for (const bool k_major_a : {true, false}) {
    for (const bool k_major_b : {true, false}) {
      all.push_back(wmma_case(DType::tf32, DType::f32, 16, 16, k_major_a, k_major_b));
      all.push_back(wmma_case(DType::f64, DType::f64, 8, 8, k_major_a, k_major_b));
      for (const DType type : {DType::bf16, DType::s8}) {
        const DType acc = type == DType::s8 ? DType::s32 : DType::f32;
        all.push_back(wmma_case(type, acc, 16, 16, k_major_a, k_major_b));
        // Fragments start on 16 bytes at least.
        if (k_major_b) all.push_back(wmma_case(type, acc, 32, 8, k_major_a, k_major_b));
        if (k_major_a) all.push_back(wmma_case(type, acc, 8, 32, k_major_a, k_major_b));
      }
    }
  }
  all.push_back(wmma_case(DType::f16, DType::f32, 16, 16, true, false));
  all.push_back(wmma_case(DType::f16, DType::f16, 16, 16, false, true));
  all.push_back(wmma_case(DType::u8, DType::s32, 16, 16, true, true));
  return all;
}

class AtomBlocks : public BlockTest {
 protected:
  void expect_right(const std::vector<AtomCase>& cases) {
    std::vector<std::string> kernels;
    for (const AtomCase& one : cases) {
      for (const int products : {1, 2}) {
        kernels.push_back(fmt::format("{}, {}>", one.kernel, products));
      }
    }
    load(kAtomKernel, kernels);
    const LaunchGeometry geometry{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
    for (std::size_t i = 0; i < kernels.size(); i += 2) {
      SCOPED_TRACE(kernels[i]);
      const AtomCase& one = cases[i / 2];
      const int depth = one.depth_bytes / size_bytes(one.type_a);
      const int rows = 2 * one.m;
      const int cols = 2 * one.n;
      GemmArgs args{};
      // So that sums of f16 do not overflow; each of its two steps rounds them.
      const bool halves = one.acc == DType::f16;
      const double scale = halves ? 1.0 / 64 : 1.0;
      args.a = matrix(one.type_a, rows, depth, depth, false, scale);
      args.b = matrix(one.type_b, depth, cols, cols);
      const auto count = static_cast<std::size_t>(rows * cols);
      args.d = fresh(count * static_cast<std::size_t>(size_bytes(one.acc)));
      run(i, geometry, args);
      const auto got = values(one.acc, args.d, count);
      for (int at = 0; at < rows * cols; ++at) {
        double wanted = 0.0;
        for (int z = 0; z < depth; ++z) {
          wanted += scale * number_at(at / cols, z) * number_at(z, at % cols);
        }
        ASSERT_NEAR(got[static_cast<std::size_t>(at)], wanted, halves ? wanted / 1024 : 0.0)
            << "row " << at / cols << " column " << at % cols;
      }
      if (!one.swift) continue;
      // Filling the stage conflicts in both; one more product adds nothing to that.
      EXPECT_EQ(bench().conflicts(geometry, args, i + 1), bench().conflicts(geometry, args, i));
    }
  }
};

TEST_F(AtomBlocks, ProductsOfMmaSyncAreRightAndReadWithoutConflicts) {
  expect_right(mma_cases());
}

TEST_F(AtomBlocks, SlicesOfAWarpTileAddUp) {
  struct SliceCase {
    std::string kernel;
    DType type;
    DType acc;
    unsigned slices;
  };
  const std::vector<SliceCase> cases{
      {"kiln::sliced<__half, float, true, 2>", DType::f16, DType::f32, 2},
      {"kiln::sliced<__half, float, false, 4>", DType::f16, DType::f32, 4},
      {"kiln::sliced<double, double, true, 4>", DType::f64, DType::f64, 4},
      {"kiln::sliced<double, double, false, 2>", DType::f64, DType::f64, 2}};
  std::vector<std::string> kernels;
  for (const SliceCase& one : cases) kernels.push_back(one.kernel);
  load(kAtomKernel, kernels);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(kernels[i]);
    const SliceCase& one = cases[i];
    const int depth = 128 / size_bytes(one.type);
    GemmArgs args{};
    args.a = matrix(one.type, 32, depth, depth);
    args.b = matrix(one.type, depth, 32, 32);
    args.d = fresh(std::size_t{32 * 32} * static_cast<std::size_t>(size_bytes(one.acc)));
    run(i, {{1, 1, 1}, {32 * one.slices, 1, 1}, {1, 1, 1}, 0}, args);
    const auto got = values(one.acc, args.d, std::size_t{32 * 32});
    for (int at = 0; at < 32 * 32; ++at) {
      double wanted = 0.0;
      for (int z = 0; z < depth; ++z) wanted += number_at(at / 32, z) * number_at(z, at % 32);
      ASSERT_EQ(got[static_cast<std::size_t>(at)], wanted)
          << "row " << at / 32 << " column " << at % 32;
    }
  }
}

TEST_F(AtomBlocks, ProductsOfWmmaAreRightAndReadWithoutConflicts) {
  expect_right(wmma_cases());
}

}  // namespace
}  // namespace kiln::testing
