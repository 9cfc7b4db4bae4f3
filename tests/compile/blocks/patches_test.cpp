// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// An epilogue's expression for patches of D: what is read for whole ones in pairs, for those at the
// edge and for operands that are not aligned element by element, with the same results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

constexpr int kPatchedRows = 20;  // one whole patch of 16 rows, and a part of one
constexpr int kPatchedCols = 24;

const char* const kPatchKernel = R"(
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#define KILN_EPILOGUE(x)                                                         \
  ((x).acc * (x).alpha + (x).c * (x).beta +                                      \
   (x).template of_column<0, __half>() * (x).template of_row<1, float>() +       \
   (x).template of_both<2, __half>() - (x).template only<3, float>())
#include "common/epilogue_ahead.cuh"

#include "lib/output.cuh"

namespace kiln {

/// A warp finishes 16 x 8 elements, whose products are row * 100 + column, and says in the
/// workspace whether it read pairs.
__global__ void patch(const GemmArgs args) {
  const Output<__half, float, float, true> output(args);
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.y) * 16;
  const int col = static_cast<int>(blockIdx.x) * 8;
  const int own_row = row + lane / 4;
  const int own_col = col + lane % 4 * 2;
  float product[2][2];
  for (int i = 0; i < 4; ++i) {
    product[i / 2][i % 2] = static_cast<float>((own_row + i / 2 * 8) * 100 + own_col + i % 2);
  }
  const bool inside =
      row + 16 <= args.m && col + 8 <= args.n && output.reads_pairs(row, col);
  const float alpha = output.alpha();
  const float beta = output.beta();
  ElementVector<float, 2> to[2];
  if (inside) {
    output.template finish_patch<1, true>(own_row, own_col, product, alpha, beta, to);
  } else {
    output.template finish_patch<1, false>(own_row, own_col, product, alpha, beta, to);
  }
  for (int i = 0; i < 2; ++i) {
    if (own_row + 8 * i < args.m && own_col < args.n) output.put(own_row + 8 * i, own_col, to[i]);
  }
  if (lane == 0) {
    static_cast<float*>(args.workspace)[blockIdx.y * gridDim.x + blockIdx.x] = inside ? 1.0F : 0.0F;
  }
}

}  // namespace kiln
)";

class EpiloguePatches : public BlockTest {
 protected:
  /// `skipped`: elements of the operands along rows that lie before the first, 1 of which leaves
  /// them aligned to single elements. Returns which warps read pairs.
  std::vector<double> check(int skipped_of_column, int skipped_of_both) {
    GemmArgs args{};
    args.m = kPatchedRows;
    args.n = kPatchedCols;
    args.alpha = 0.5;
    args.beta = 2.0;
    args.ldc = args.ldd = kPatchedCols;
    args.c = matrix(DType::f16, kPatchedRows, kPatchedCols, kPatchedCols);
    args.d = poisoned(std::size_t{kPatchedRows * kPatchedCols * 4});
    args.workspace = fresh(std::size_t{6 * 4});
    const auto after = [](const void* first, int elements) {
      return static_cast<const void*>(static_cast<const std::byte*>(first) + elements * 2);
    };
    args.operand[0] =
        after(matrix(DType::f16, 1, kPatchedCols + 1, kPatchedCols + 1), skipped_of_column);
    args.operand[1] = matrix(DType::f32, kPatchedRows, 1, 1);
    args.operand[2] = after(matrix(DType::f16, kPatchedRows, kPatchedCols + 2, kPatchedCols + 2),
                            skipped_of_both);
    args.operand_ld[2] = kPatchedCols + 2;
    args.operand[3] = matrix(DType::f32, 1, 1, 1);
    run(0, {{3, 2, 1}, {32, 1, 1}, {1, 1, 1}, 0}, args);
    const auto got = values(DType::f32, args.d, std::size_t{kPatchedRows * kPatchedCols});
    for (int row = 0; row < kPatchedRows; ++row) {
      for (int col = 0; col < kPatchedCols; ++col) {
        const double wanted = 0.5 * (row * 100 + col) + 2.0 * number_at(row, col) +
                              number_at(0, col + skipped_of_column) * number_at(row, 0) +
                              number_at(row, col + skipped_of_both) - number_at(0, 0);
        EXPECT_EQ(got[static_cast<std::size_t>(row * kPatchedCols + col)], wanted)
            << "row " << row << " column " << col;
      }
    }
    return values(DType::f32, args.workspace, 6);
  }
};

TEST_F(EpiloguePatches, AreTheSameInPairsAndAtTheEdge) {
  load(kPatchKernel, {"kiln::patch"});
  EXPECT_EQ(check(0, 0), (std::vector<double>{1, 1, 1, 0, 0, 0})) << "the lower patches are cut";
}

TEST_F(EpiloguePatches, ReadNoPairsWhereOneOperandIsNotAligned) {
  load(kPatchKernel, {"kiln::patch"});
  const std::vector<double> none(6, 0.0);
  EXPECT_EQ(check(1, 0), none);
  EXPECT_EQ(check(0, 1), none);
}

}  // namespace
}  // namespace kiln::testing
