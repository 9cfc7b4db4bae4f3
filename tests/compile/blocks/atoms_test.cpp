// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The matrix atoms of mma.sync: right products of every element type from rows that run along k and
// across it, and no bank conflict when fragments are read.
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
#include "lib/shared_layout.cuh"
#include "lib/warp_tile.cuh"

namespace kiln {

template <class A, class B, class Acc, bool kAlongA, bool kAlongB, int kProducts, int kBytes>
__global__ void product(const GemmArgs args) {
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
  const A* a = static_cast<const A*>(args.a);
  const A* b = static_cast<const A*>(args.b);
  for (int i = static_cast<int>(threadIdx.x); i < 32 * kDepth; i += 32) {
    stage[kStage.a.offset(i / kDepth, i % kDepth)] = a[i];
    stage[kStage.b.first + kStage.b.offset(i % 32, i / 32)] = b[i];
  }
  __syncwarp();
  WarpTile<AtomMma<A, B, Acc, kBytes>, WarpTileShape{2, 2, kDepth, 2}, kStage> mma(0, 0);
  for (int i = 0; i < kProducts; ++i) mma.multiply_stage(stage);
  Acc* d = static_cast<Acc*>(args.d);
  for (int row = 0; row < 2; ++row) mma.store_row(row, d + row * 16 * 32, 32);
}

}  // namespace kiln
)";

struct AtomCase {
  std::string a;
  std::string b;
  std::string acc;
  DType type_a;
  DType type_b;
  bool along_a = true;
  bool along_b = true;
  int bytes = 32;  ///< of k in the atom
};

std::vector<AtomCase> atom_cases() {
  std::vector<AtomCase> all;
  for (const bool along_a : {true, false}) {
    for (const bool along_b : {true, false}) {
      all.push_back({"__half", "__half", "float", DType::f16, DType::f16, along_a, along_b});
      all.push_back(
          {"kiln::tf32", "kiln::tf32", "float", DType::tf32, DType::tf32, along_a, along_b});
      for (const int bytes : {32, 64}) {
        all.push_back(
            {"double", "double", "double", DType::f64, DType::f64, along_a, along_b, bytes});
      }
    }
  }
  all.push_back({"__nv_bfloat16", "__nv_bfloat16", "float", DType::bf16, DType::bf16, false, true});
  all.push_back({"signed char", "signed char", "int", DType::s8, DType::s8});
  all.push_back({"signed char", "unsigned char", "int", DType::s8, DType::u8});
  all.push_back({"unsigned char", "signed char", "int", DType::u8, DType::s8});
  all.push_back({"unsigned char", "unsigned char", "int", DType::u8, DType::u8});
  return all;
}

class AtomBlocks : public BlockTest {};

TEST_F(AtomBlocks, ProductsOfMmaSyncAreRightAndReadWithoutConflicts) {
  std::vector<std::string> kernels;
  for (const AtomCase& one : atom_cases()) {
    for (const int products : {1, 2}) {
      kernels.push_back(fmt::format("kiln::product<{}, {}, {}, {}, {}, {}, {}>", one.a, one.b,
                                    one.acc, one.along_a, one.along_b, products, one.bytes));
    }
  }
  load(kAtomKernel, kernels);
  const LaunchGeometry geometry{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  for (std::size_t i = 0; i < kernels.size(); i += 2) {
    SCOPED_TRACE(kernels[i]);
    const AtomCase& one = atom_cases()[i / 2];
    const int depth = 64 / size_bytes(one.type_a);
    GemmArgs args{};
    args.a = matrix(one.type_a, 32, depth, depth);
    args.b = matrix(one.type_b, depth, 32, 32);
    const DType type_d = one.acc == "int"      ? DType::s32
                         : one.acc == "double" ? DType::f64
                                               : DType::f32;
    args.d = fresh(static_cast<std::size_t>(32 * 32 * size_bytes(type_d)));
    run(i, geometry, args);
    const auto got = values(type_d, args.d, 32 * 32);
    for (int at = 0; at < 32 * 32; ++at) {
      double wanted = 0.0;
      for (int z = 0; z < depth; ++z) wanted += number_at(at / 32, z) * number_at(z, at % 32);
      ASSERT_EQ(got[static_cast<std::size_t>(at)], wanted)
          << "row " << at / 32 << " column " << at % 32;
    }
    // Filling the stage conflicts in both; one more product adds nothing to that.
    EXPECT_EQ(bench().conflicts(geometry, args, i + 1), bench().conflicts(geometry, args, i));
  }
}

}  // namespace
}  // namespace kiln::testing
