// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Epilogues write what lies inside D and nothing else, and read C only where beta is not zero.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"
#include "tests/support/host_element.hpp"

namespace kiln::testing {
namespace {

constexpr int kResultRows = 16;  // of a tile of results
constexpr int kResultCols = 32;

// Results that no multiplication made: element (row, col) of D is row * 100 + col.
const char* const kEpilogueKernels = R"(
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#include "lib/epilogue_direct.cuh"
#include "lib/epilogue_staged.cuh"
#include "lib/output.cuh"

namespace kiln {

struct StagedResults {
  struct Atom {
    KILN_HD static constexpr int rows() { return 8; }
    KILN_HD static constexpr int cols() { return 16; }
  };
  struct Shape {
    int rows;
    int cols;
  };
  KILN_HD static constexpr Shape shape() { return {2, 2}; }
  int row;
  int col;
  KILN_DEVICE void store_row(int atom, float* slab, int stride) const {
    for (int i = static_cast<int>(threadIdx.x) % 32; i < 8 * 32; i += 32) {
      slab[i / 32 * stride + i % 32] =
          static_cast<float>((row + atom * 8 + i / 32) * 100 + col + i % 32);
    }
  }
};

/// The same where each lane knows its sums: four share a row.
struct LaneResults : StagedResults {
  struct Atom : StagedResults::Atom {
    KILN_DEVICE static int row_of_lane() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  };
  template <class Each>
  KILN_DEVICE void pairs_of_row(int atom, const Each& each) const {
    const int y = Atom::row_of_lane();
    for (int x = static_cast<int>(threadIdx.x) % 4 * 2; x < 32; x += 8) {
      const float first = static_cast<float>((row + atom * 8 + y) * 100 + col + x);
      const float pair[2] = {first, first + 1.0F};
      each(y, x, pair);
    }
  }
};

template <int kVecC, int kVecD, bool kReadsC, class C, class D>
__global__ void lines(const GemmArgs args) {
  __shared__ __align__(16) float slab[8 * 40];
  const int row = static_cast<int>(blockIdx.y) * 16;
  const int col = static_cast<int>(blockIdx.x) * 32;
  store_staged<kVecC, kVecD, 40>(LaneResults{{row, col}}, Output<C, D, float, kReadsC>(args), slab,
                                 row, col);
}

template <int kVecC, int kVecD, bool kReadsC, class C, class D>
__global__ void staged(const GemmArgs args) {
  __shared__ __align__(16) float slab[8 * 40];
  const int row = static_cast<int>(blockIdx.y) * 16;
  const int col = static_cast<int>(blockIdx.x) * 32;
  store_staged<kVecC, kVecD, 40>(StagedResults{row, col}, Output<C, D, float, kReadsC>(args), slab,
                                 row, col);
}

/// 32 threads with 4 x 4 results each, rows of 8 threads.
struct DirectResults {
  using Acc = float;
  struct Shape {
    int m;
    int n;
  };
  KILN_HD static constexpr Shape shape() { return {4, 4}; }
  int first_row;
  int first_col;
  KILN_DEVICE int row(int i) const { return static_cast<int>(threadIdx.x) / 8 + 4 * i; }
  KILN_DEVICE int col(int j) const { return static_cast<int>(threadIdx.x) % 8 + 8 * j; }
  KILN_DEVICE float sum(int i, int j) const {
    return static_cast<float>((first_row + row(i)) * 100 + first_col + col(j));
  }
};

template <int, int, bool kReadsC, class C, class D>
__global__ void direct(const GemmArgs args) {
  const int row = static_cast<int>(blockIdx.y) * 16;
  const int col = static_cast<int>(blockIdx.x) * 32;
  store_direct(DirectResults{row, col}, Output<C, D, float, kReadsC>(args), row, col);
}

}  // namespace kiln
)";

struct EpilogueCase {
  std::string block;
  int vec_c;
  int vec_d;
  bool reads_c;
  DType c;
  DType d;
};

class EpilogueBlocks : public BlockTest {
 protected:
  void check(const std::vector<EpilogueCase>& cases) {
    const auto name = [](DType type) { return type == DType::f16 ? "__half" : "float"; };
    std::vector<std::string> kernels;
    for (const EpilogueCase& one : cases) {
      kernels.push_back(fmt::format("kiln::{}<{}, {}, {}, {}, {}>", one.block, one.vec_c, one.vec_d,
                                    one.reads_c, name(one.c), name(one.d)));
    }
    load(kEpilogueKernels, kernels);
    if (HasFatalFailure()) return;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(kernels[i]);
      for (const double beta : {0.0, -2.0}) {
        if (beta != 0.0 && !cases[i].reads_c) continue;
        check(i, cases[i], kResultRows, kResultCols, beta);           // one whole tile
        check(i, cases[i], kResultRows + 3, kResultCols + 13, beta);  // ends within a vector
        check(i, cases[i], 1, 1, beta);
      }
    }
  }

 private:
  void check(std::size_t kernel, const EpilogueCase& one, int m, int n, double beta) {
    GemmArgs args{};
    args.m = m;
    args.n = n;
    args.alpha = 0.5;
    args.beta = beta;
    args.ldc = (n + 7) / 8 * 8;
    args.ldd = args.ldc + (one.vec_d == 1 ? 9 : 8);  // 9: each row starts elsewhere in a line
    // Without beta there is no C to read.
    args.c = beta == 0.0 ? nullptr : matrix(one.c, m, n, static_cast<int>(args.ldc));
    const auto bytes = static_cast<std::size_t>(size_bytes(one.d));
    const auto count = static_cast<std::size_t>(m) * static_cast<std::size_t>(args.ldd);
    args.d = poisoned(count * bytes);
    const std::vector<std::byte> poison(bytes, std::byte{0xcd});
    const double untouched = load_element(one.d, poison.data(), 0);
    const auto blocks = [](int size, int tile) {
      return static_cast<unsigned>((size + tile - 1) / tile);
    };
    run(kernel, {{blocks(n, kResultCols), blocks(m, kResultRows), 1}, {32, 1, 1}, {1, 1, 1}, 0},
        args);
    const auto got = values(one.d, args.d, count);
    for (std::size_t i = 0; i < count; ++i) {
      const int row = static_cast<int>(i) / static_cast<int>(args.ldd);
      const int col = static_cast<int>(i) % static_cast<int>(args.ldd);
      const double product = 0.5 * (row * 100 + col);
      const double wanted = col >= n ? untouched : product + beta * number_at(row, col);
      // f16 rounds what is above 2048.
      const double slack = one.d == DType::f16 && col < n ? wanted / 1024 : 0.0;
      ASSERT_NEAR(got[i], wanted, std::abs(slack)) << "row " << row << " column " << col;
    }
  }
};

TEST_F(EpilogueBlocks, Staged) {
  check({{"staged", 4, 4, true, DType::f32, DType::f32},
         {"staged", 8, 8, true, DType::f16, DType::f16},
         {"staged", 2, 8, true, DType::f16, DType::f16},
         {"staged", 4, 2, true, DType::f32, DType::f32},
         {"staged", 1, 1, true, DType::f16, DType::f16},
         {"staged", 1, 2, false, DType::f16, DType::f16},
         {"staged", 4, 1, true, DType::f32, DType::f32},
         {"staged", 4, 4, false, DType::f32, DType::f32}});
}

TEST_F(EpilogueBlocks, LinesThatTheSlabAlignsAsMemoryDoes) {
  check({{"lines", 1, 1, true, DType::f16, DType::f16},
         {"lines", 1, 2, false, DType::f16, DType::f16},
         {"lines", 4, 1, true, DType::f32, DType::f32},
         {"lines", 8, 8, true, DType::f16, DType::f16}});
}

TEST_F(EpilogueBlocks, StagedWithoutBankConflicts) {
  load(kEpilogueKernels,
       {"kiln::staged<1, 4, false, float, float>", "kiln::staged<1, 8, false, __half, __half>"});
  for (const std::size_t kernel : {0U, 1U}) {
    GemmArgs args{};
    args.m = kResultRows;
    args.n = kResultCols;
    args.ldd = kResultCols;
    args.d = fresh(std::size_t{kResultRows * kResultCols * 4});
    EXPECT_EQ(bench().conflicts({{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, {}}, args, kernel), 0U);
  }
}

TEST_F(EpilogueBlocks, Direct) {
  check({{"direct", 1, 1, true, DType::f32, DType::f32},
         {"direct", 1, 1, true, DType::f16, DType::f16}});
}

}  // namespace
}  // namespace kiln::testing
