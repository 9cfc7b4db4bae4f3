// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What streams without tiles: chunks of rows, rings of single lanes, and the parts of a split-K.
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

const char* const kStreamKernels = R"(
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#include "common/meta.cuh"
#include "lib/lane_ring.cuh"
#include "lib/row_chunks.cuh"
#include "lib/split_k.cuh"

namespace kiln {

/// Each thread loads a chunk of its own row, block by block, to D: 8 elements of 16 bits.
template <Reuse kReuse>
__global__ void chunks(const GemmArgs args) {
  const __half* row = static_cast<const __half*>(args.a) + threadIdx.x * args.lda;
  const int first = static_cast<int>(blockIdx.x) * 8;
  uint4* to = static_cast<uint4*>(args.d) + (threadIdx.x * gridDim.x + blockIdx.x);
  *to = load_chunk<kReuse>(row, first, args.k);
}

/// 64 threads pass args.k rounds of two chunks each through their rings: D is a copy of A, whose
/// last chunk has args.n bytes.
template <int kSlots>
__global__ void ring(const GemmArgs args) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  LaneRing<kSlots, 2, 64> ring(reinterpret_cast<uint4*>(shared_memory));
  const uint4* a = static_cast<const uint4*>(args.a);
  uint4* d = static_cast<uint4*>(args.d);
  const auto start = [&](int round) {
    if (round < args.k) {
      const int at = round * 128 + static_cast<int>(threadIdx.x);
      ring.start(0, a + at);
      if (round == args.k - 1 && args.n < 16) {
        ring.start(1, a + at + 64, args.n);
      } else {
        ring.start(1, a + at + 64);
      }
    }
    ring.close_slot();
  };
  for (int round = 0; round < kSlots - 1; ++round) start(round);
  for (int round = 0; round < args.k; ++round) {
    ring.wait();
    const int at = round * 128 + static_cast<int>(threadIdx.x);
    d[at] = ring.chunk(0);
    d[at + 64] = ring.chunk(1);
    ring.release();
    start(round + kSlots - 1);
  }
}

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

class StreamBlocks : public BlockTest {};

TEST_F(StreamBlocks, ChunksOfARowEndWithIt) {
  load(kStreamKernels, {"kiln::chunks<kiln::Reuse::none>", "kiln::chunks<kiln::Reuse::likely>"});
  constexpr int kRows = 32;
  for (const int length : {1, 7, 8, 9, 20}) {
    const int chunks = (length + 7) / 8;
    for (const std::size_t kernel : {0U, 1U}) {
      GemmArgs args{};
      args.k = length;
      args.lda = 24;  // what lies beyond `length` is unwritten
      args.a = matrix(DType::f16, kRows, length, 24);
      args.d = fresh(static_cast<std::size_t>(kRows * chunks * 16));
      run(kernel, {{static_cast<std::uint32_t>(chunks), 1, 1}, {kRows, 1, 1}, {1, 1, 1}, 0}, args);
      const auto got = values(DType::f16, args.d, static_cast<std::size_t>(kRows * chunks * 8));
      for (int row = 0; row < kRows; ++row) {
        for (int i = 0; i < chunks * 8; ++i) {
          EXPECT_EQ(got[static_cast<std::size_t>(row * chunks * 8 + i)],
                    i < length ? number_at(row, i) : 0.0)
              << "row " << row << " element " << i << " of " << length;
        }
      }
    }
  }
}

TEST_F(StreamBlocks, ARingOfALaneCopiesWithoutBarriersAndConflicts) {
  load(kStreamKernels, {"kiln::ring<2>", "kiln::ring<3>", "kiln::ring<6>"});
  const std::array<std::uint32_t, 3> slots{2, 3, 6};
  for (std::size_t kernel = 0; kernel < slots.size(); ++kernel) {
    for (const int rounds : {1, 2, 7}) {
      SCOPED_TRACE(fmt::format("{} slots, {} rounds", slots[kernel], rounds));
      GemmArgs args{};
      args.k = rounds;
      args.n = 8;
      const int floats = rounds * 128 * 4;
      args.a = matrix(DType::f32, 1, floats, floats);
      args.d = fresh(static_cast<std::size_t>(floats) * 4);
      const LaunchGeometry geometry{
          {1, 1, 1}, {64, 1, 1}, {1, 1, 1}, slots[kernel] * 2 * 64 * 16, {}};
      run(kernel, geometry, args);
      const auto got = values(DType::f32, args.d, static_cast<std::size_t>(floats));
      for (int i = 0; i < floats; ++i) {
        const bool cut = i >= floats - 64 * 4 && i % 4 >= 2;
        EXPECT_EQ(got[static_cast<std::size_t>(i)], cut ? 0.0 : number_at(0, i)) << i;
      }
      // But for a copy with a size, which the hardware makes in another way.
      args.n = 16;
      EXPECT_EQ(bench().conflicts(geometry, args, kernel), 0U);
    }
  }
}

TEST_F(StreamBlocks, PartsOfAGemmCoverK) {
  load(kStreamKernels, {"kiln::parts<false, false>", "kiln::parts<true, true>"});
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

TEST_F(StreamBlocks, TheSumOfThePartsIsFinishedAsAnyOther) {
  load(kStreamKernels,
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
