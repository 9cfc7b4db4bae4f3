// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The parts of a split-K.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

const char* const kSplitKKernels = R"(
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#include "common/meta.cuh"
#include "lib/split_k.cuh"

namespace kiln {

/// What is left of a gemm for each part: first element of A and of B as bytes from their
/// beginnings, k, and the place of the part in the workspace.
template <bool kTransposedA, bool kTransposedB>
__global__ void parts(const GemmArgs args) {
  const int split = static_cast<int>(threadIdx.x);
  const GemmArgs part =
      part_of_gemm<kTransposedA, kTransposedB, __half, __half, float>(args, split, args.reserved);
  const auto from = [](const void* to, const void* begin) {
    return static_cast<int>(static_cast<const char*>(to) - static_cast<const char*>(begin));
  };
  int* to = static_cast<int*>(args.d) + split * 5;
  to[0] = from(part.a, args.a);
  to[1] = from(part.b, args.b);
  to[2] = part.k;
  to[3] = from(part.d, args.workspace);
  to[4] = static_cast<int>(part.ldd);
}

template <int kVecC, int kVecD, class D>
__global__ void sum(const GemmArgs args) {
  sum_parts<kVecC, kVecD, true, D, D, float>(args, args.reserved);
}

}  // namespace kiln
)";

class SplitKBlocks : public BlockTest {};

TEST_F(SplitKBlocks, PartsOfAGemmCoverK) {
  load(kSplitKKernels, {"kiln::parts<false, false>", "kiln::parts<true, true>"});
  for (const bool transposed : {false, true}) {
    GemmArgs args{};
    args.m = 5;
    args.n = 6;
    args.k = 70;
    args.lda = 100;
    args.ldb = 200;
    args.reserved = 32;  // k of a part; the fourth and fifth part have none
    args.a = matrix(DType::f16, 1, 1, 1);
    args.b = matrix(DType::f16, 1, 1, 1);
    args.workspace = fresh(16);
    args.d = fresh(std::size_t{5 * 5 * 4});
    run(transposed ? 1 : 0, {{1, 1, 1}, {5, 1, 1}, {1, 1, 1}, 0}, args);
    const auto got = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), 25);
    const std::array<int, 5> depth{32, 32, 6, 0, 0};
    for (int split = 0; split < 5; ++split) {
      const int* part = got.data() + split * 5;
      EXPECT_EQ(part[0], split * 32 * 2 * (transposed ? 100 : 1));
      EXPECT_EQ(part[1], split * 32 * 2 * (transposed ? 1 : 200));
      EXPECT_EQ(part[2], depth.at(static_cast<std::size_t>(split)));
      EXPECT_EQ(part[3], split * 5 * 8 * 4);
      EXPECT_EQ(part[4], 8) << "rows of parts start on 16 bytes";
    }
  }
}

TEST_F(SplitKBlocks, TheSumOfThePartsIsFinishedAsAnyOther) {
  load(kSplitKKernels,
       {"kiln::sum<1, 1, float>", "kiln::sum<2, 4, float>", "kiln::sum<4, 4, __half>"});
  const std::array<int, 3> vectors{1, 4, 4};
  for (std::size_t kernel = 0; kernel < vectors.size(); ++kernel) {
    for (const auto& [cols, parts] : {std::pair{1, 3}, {6, 11}, {8, 4}, {11, 43}}) {
      SCOPED_TRACE(fmt::format("kernel {}, {} columns, {} parts", kernel, cols, parts));
      constexpr int kRows = 19;
      const int stride = (cols + 3) / 4 * 4;
      const DType type = kernel == 2 ? DType::f16 : DType::f32;
      GemmArgs args{};
      args.m = kRows;
      args.n = cols;
      args.ldc = args.ldd = 12;
      args.alpha = 2.0;
      args.beta = 3.0;
      args.reserved = parts;
      // Of the parts' rows only what lies in D is written.
      args.workspace = const_cast<void*>(matrix(DType::f32, parts * kRows, cols, stride));
      args.c = matrix(type, kRows, cols, 12);
      args.d = poisoned(static_cast<std::size_t>(kRows * 12 * size_bytes(type)));
      const int pieces = kRows * ((cols - 1) / vectors.at(kernel) + 1);
      run(kernel,
          {{static_cast<std::uint32_t>((pieces - 1) / (parts > 4 ? 32 : 128) + 1), 1, 1},
           {128, 1, 1},
           {1, 1, 1},
           0},
          args);
      const auto got = values(type, args.d, static_cast<std::size_t>(kRows * 12));
      const auto untouched = values(type, poisoned(8), 1).front();
      for (int row = 0; row < kRows; ++row) {
        for (int col = 0; col < 12; ++col) {
          double wanted = untouched;
          if (col < cols) {
            wanted = 3.0 * number_at(row, col);
            for (int part = 0; part < parts; ++part) {
              wanted += 2.0 * number_at(part * kRows + row, col);
            }
          }
          EXPECT_NEAR(got[static_cast<std::size_t>(row * 12 + col)], wanted,
                      type == DType::f16 ? 4.0 : 0.0)
              << row << ", " << col;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kiln::testing
