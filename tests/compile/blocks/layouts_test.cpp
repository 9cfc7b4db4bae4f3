// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Layouts of tiles in shared memory: every element has a place of its own, and what the layout
// promises to be free of bank conflicts is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

const char* const kLayoutKernels = R"(
#include "common/gemm_args.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

template <auto kLayout>
__global__ void places(const GemmArgs args) {
  constexpr auto kPlace = kLayout;
  const int row = static_cast<int>(threadIdx.x);
  for (int col = 0; col < args.n; ++col) {
    static_cast<int*>(args.d)[row * args.n + col] = kPlace.offset(row, col);
  }
}

/// A warp writes rows of 16-byte chunks, neighbours along the row, and reads columns of them, as
/// ldmatrix and a transposing store do.
template <auto kLayout, int kCols>
__global__ void turn(const GemmArgs args) {
  constexpr auto kPlace = kLayout;
  constexpr int kChunks = kCols / 4;
  constexpr int kRows = 32;
  __shared__ __align__(1024) float tile[kRows * kPlace.stride];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < kRows * kChunks; i += 32) {
    const float value = static_cast<float>(i);
    *reinterpret_cast<float4*>(tile + kPlace.offset(i / kChunks, i % kChunks * 4)) =
        float4{value, value, value, value};
  }
  __syncwarp();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const float* from = tile + kPlace.offset(lane, chunk * 4);
    // As assembly: of several plain loads the compiler makes now this, now that number of vectors.
    float4 read;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(read.x), "=f"(read.y), "=f"(read.z), "=f"(read.w)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from)))
                 : "memory");
    static_cast<float*>(args.d)[lane * kChunks + chunk] = read.x + read.w;
  }
}

}  // namespace kiln
)";

class LayoutBlocks : public BlockTest {};

TEST_F(LayoutBlocks, EveryElementHasAPlaceOfItsOwn) {
  struct Case {
    std::string layout;
    int cols;
    int row_elements;  ///< from one row to the next; 0: they lie in slabs
  };
  const std::vector<Case> cases{
      {"PaddedLayout{40}", 32, 40},
      {"SwizzledLayout{64, 8}", 64, 64},
      {"SwizzledLayout{32, 8}", 32, 32},
      {"SwizzledLayout{16, 8}", 16, 16},
      {"SwizzledLayout{32, 4}", 32, 32},
      {"SwizzledLayout{128, 4}", 128, 128},
      {"SwizzledLayout{16, 2}", 16, 16},
      {"SwizzledLayout{16, 4, 4}", 16, 16},
      {"SwizzledLayout{8, 4, 4}", 8, 8},
      {"SwizzledLayout{64, 8, 4}", 64, 64},
      {"SwizzledLayout{16, 2, 8, 32}", 64, 0},
  };
  std::vector<std::string> kernels;
  for (const Case& one : cases)
    kernels.push_back(fmt::format("kiln::places<kiln::{}>", one.layout));
  load(kLayoutKernels, kernels);
  constexpr int kRows = 32;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].layout);
    const int cols = cases[i].cols;
    GemmArgs args{};
    args.n = cols;
    const auto count = static_cast<std::size_t>(kRows * cols);
    args.d = fresh(count * sizeof(int));
    run(i, {{1, 1, 1}, {kRows, 1, 1}, {1, 1, 1}, 0}, args);
    const auto places = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), count);
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), count);
    if (cases[i].row_elements == 0) {
      EXPECT_EQ(*std::max_element(places.begin(), places.end()), static_cast<int>(count) - 1);
      continue;
    }
    for (std::size_t at = 0; at < count; ++at) {
      const int row = static_cast<int>(at) / cols;
      EXPECT_GE(places[at], row * cases[i].row_elements);
      EXPECT_LT(places[at], (row + 1) * cases[i].row_elements) << "in another row";
    }
  }
}

TEST_F(LayoutBlocks, ASwizzleIsWhatTensorMapsDo) {
  // CUDA's 128-, 64- and 32-byte swizzles: bits 4 and up of the address in a tile, by those from 7.
  load(kLayoutKernels,
       {"kiln::places<kiln::SwizzledLayout{64, 8}>", "kiln::places<kiln::SwizzledLayout{32, 8}>",
        "kiln::places<kiln::SwizzledLayout{16, 8}>"});
  for (const int span : {8, 4, 2}) {
    const int cols = span * 8;
    GemmArgs args{};
    args.n = cols;
    const auto count = static_cast<std::size_t>(32 * cols);
    args.d = fresh(count * sizeof(int));
    run(span == 8 ? 0 : span == 4 ? 1 : 2, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, args);
    const auto places = bench().download<int>(reinterpret_cast<DevicePtr>(args.d), count);
    for (std::size_t at = 0; at < count; ++at) {
      const int byte = static_cast<int>(at) * 2;
      EXPECT_EQ(places[at] * 2, byte ^ (byte >> 7 & (span - 1)) << 4) << span * 16 << " bytes";
    }
  }
}

TEST_F(LayoutBlocks, SwizzledRowsAndColumnsDoNotConflict) {
  load(kLayoutKernels, {"kiln::turn<kiln::SwizzledLayout{32, 4}, 32>",  // rows of 128 bytes
                        "kiln::turn<kiln::SwizzledLayout{16, 4}, 16>",  // of 64
                        "kiln::turn<kiln::SwizzledLayout{8, 4}, 8>",    // of 32
                        "kiln::turn<kiln::SwizzledLayout{64, 4}, 64>",  // of 256
                        "kiln::turn<kiln::PaddedLayout{36}, 32>",       // padded by a chunk
                        "kiln::turn<kiln::PaddedLayout{32}, 32>"});     // neither
  const std::vector<int> cols{32, 16, 8, 64, 32, 32};
  for (std::size_t kernel = 0; kernel < cols.size(); ++kernel) {
    SCOPED_TRACE(kernel);
    const int chunks = cols[kernel] / 4;
    GemmArgs args{};
    const auto count = static_cast<std::size_t>(32 * chunks);
    args.d = fresh(count * sizeof(float));
    const LaunchGeometry geometry{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
    run(kernel, geometry, args);
    const auto read = values(DType::f32, args.d, count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(read[i], 2.0 * static_cast<double>(i));
    const std::uint64_t conflicts = bench().conflicts(geometry, args, kernel);
    if (kernel + 1 < cols.size()) {
      EXPECT_EQ(conflicts, 0U);
    } else {
      // 32 rows in the same banks: 32 wavefronts instead of 4, for each of the 8 chunks.
      EXPECT_EQ(conflicts, 8U * (32U - 4U));
    }
  }
}

}  // namespace
}  // namespace kiln::testing
