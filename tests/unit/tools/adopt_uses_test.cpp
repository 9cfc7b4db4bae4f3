// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What is told from the uses of a name, a size or an array, whatever they are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/tools/adopted.hpp"
#include "tools/adopt/adopt.hpp"

namespace kiln::tools {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A kernel along n, with `index` as what it makes of blockIdx and threadIdx.
std::string line_kernel(const std::string& index, const std::string& before = "") {
  return before + "\n__global__ void k(float* y, const float* x, int n) {\n  int i = " + index +
         ";\n  if (i < n) y[i] = x[i];\n}\n";
}

TEST(AdoptUses, OtherToolsNamesOfTheBlockAreKnown) {
  for (const std::string name : {"WORK_GROUP_SIZE_X", "LOCAL_SIZE_X", "BLOCK_SIZE", "BLOCK_SIZE_X",
                                 "block_size_x", "WGSIZE", "kThreads"}) {
    const std::string text =
        adopted(line_kernel("blockIdx.x * " + name + " + threadIdx.x")).adopted.text;
    EXPECT_THAT(text, AllOf(HasSubstr("tune       " + name + " = 32 64 128* 256 512 1024\n"),
                            HasSubstr("//@   grid     ceil_div(n, " + name + ") "),
                            HasSubstr("//@   block    " + name + "\n")))
        << name;
  }
  const std::string grown = adopted(line_kernel("blockIdx.x * LOCAL_SIZE * TILE_SIZE_X + "
                                                "threadIdx.x"))
                                .adopted.text;
  EXPECT_THAT(grown, AllOf(HasSubstr("//@   grid     ceil_div(n, LOCAL_SIZE * TILE_SIZE_X) "),
                           HasSubstr("tune       TILE_SIZE_X = 1* 2 4 8\n"),
                           HasSubstr("//@   block    LOCAL_SIZE\n")));
}

TEST(AdoptUses, ANameThatSaysNothingIsReadByItsUses) {
  const std::string text = adopted(R"(
__global__ void k(float* y, const float* x, int n) {
  __shared__ float part[CACHE];
  int i = blockIdx.x * WIDE + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int c = 0; c < ROUNDS; ++c) {
#pragma unroll DEEP
    for (int d = 0; d < 16; ++d) sum += x[i];
#if SWITCHED
    sum += part[c];
#endif
#if KIND == 3
    sum *= 2;
#elif KIND == 5
    sum *= 3;
#else
    sum *= 4;
#endif
  }
  y[i] = sum;
}
)")
                               .adopted.text;
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("tune       WIDE = 32 64 128* 256 512 1024\n"),
            HasSubstr("tune       CACHE = 8 16* 32\n"), HasSubstr("tune       ROUNDS = 1* 2 4 8\n"),
            HasSubstr("tune       DEEP = 1* 2 4 8\n"), HasSubstr("tune       SWITCHED = 0* 1\n")));
  EXPECT_THAT(text, AllOf(HasSubstr("tune       KIND = 3* 5 6 "),
                          HasSubstr("// CHECK: 6 selects the #else branch\n"),
                          HasSubstr("//@   block    WIDE\n"), Not(HasSubstr("FILL_IN"))));
}

TEST(AdoptUses, AFactorThatMayBeZeroHasThisValue) {
  EXPECT_THAT(adopted(R"(
__global__ void k(float* y, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
#if unroll_factor > 0
#pragma unroll unroll_factor
#endif
  for (; i < n; i += gridDim.x * block_size_x) y[i] = 0;
}
)")
                  .adopted.text,
              HasSubstr("tune       unroll_factor = 0 1* 2 4 8\n"));
}

TEST(AdoptUses, BlocksOfTwoDimensionsMayHaveOneName) {
  const std::string text = adopted(R"(
__global__ void blur(float* out, const float* in, int width, int height) {
  int x = blockIdx.x * BLOCK_SIZE + threadIdx.x, y = blockIdx.y * BLOCK_SIZE + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x];
}
)")
                               .adopted.text;
  EXPECT_THAT(text, AllOf(HasSubstr("tune       BLOCK_SIZE = 4 8 16* 32\n"),
                          HasSubstr("//@   block    BLOCK_SIZE, BLOCK_SIZE\n"),
                          HasSubstr("ceil_div(height, BLOCK_SIZE)")));
  const std::string fixed = adopted(R"(
#define TILE 16
__global__ void turn(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < rows && y < cols) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
)")
                                .adopted.text;
  EXPECT_THAT(fixed, AllOf(HasSubstr("//@   grid     ceil_div(cols, 16), ceil_div(rows, 16) "),
                           HasSubstr("//@   block    16, 16 ")));
}

constexpr const char* kTiledProduct = R"(
#define WORK_M (TM / DM)
__global__ void __launch_bounds__(DM * DN)
product(int M, int N, int K, const float* a, const float* b, float* c) {
  __shared__ float as[TK * TM];
  float sum[WORK_M];
  for (int k0 = 0; k0 < K; k0 += TK) {
    const int t = threadIdx.y * DM + threadIdx.x;
    for (int k = 0; k < TK; ++k) {
      for (int m = 0; m < WORK_M; ++m) {
        sum[m] += a[(k0 + k) * M + blockIdx.x * TM + threadIdx.x + m * DM] *
                  b[(k0 + k) * N + blockIdx.y * DN + threadIdx.y];
      }
    }
  }
  for (int m = 0; m < WORK_M; ++m) {
    const int row = blockIdx.y * DN + threadIdx.y;
    c[row * M + blockIdx.x * TM + threadIdx.x + m * DM] = sum[m];
  }
}
)";

TEST(AdoptUses, AKernelThatComputesWholeTilesAsksForWholeTiles) {
  const Adoption adoption = adopted(kTiledProduct);
  const std::string& text = adoption.adopted.text;
  EXPECT_THAT(text, AllOf(HasSubstr("tune       DM = 8 16* 32\n"), HasSubstr("tune       TK = "),
                          HasSubstr("tune       TM = 16 32 64* 128\n"),
                          HasSubstr("//@   grid     ceil_div(M, TM), ceil_div(N, DN) "),
                          HasSubstr("//@   block    DM, DN\n"), Not(HasSubstr("FILL_IN"))));
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("//@ require    M % TM == 0 "), HasSubstr("//@ require    N % DN == 0 "),
            HasSubstr("//@ require    K % TK == 0 "), HasSubstr("//@ require    TM % DM == 0 ")));
  EXPECT_THAT(
      adoption.operation.text,
      AllOf(HasSubstr("operand    a in: K, M "), HasSubstr("operand    b in: K, N "),
            HasSubstr("operand    c out: N, M "), HasSubstr("//@ ragged     M=128 N=64 K=32\n")));
}

TEST(AdoptUses, ASizeThatIsAMacroIsTunedToBeTheSize) {
  const auto source = [](const std::string& defines) {
    return defines + R"(
__global__ void heat(float* out, const float* in) {
  int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;
  if (x < GRID_W && y < GRID_H) out[y * GRID_W + x] = in[y * GRID_W + x];
}
)";
  };
  const Adoption given =
      adopted(source("#ifndef GRID_W\n#define GRID_W 4096\n#define GRID_H 512\n#endif\n"));
  EXPECT_THAT(given.operation.text,
              AllOf(HasSubstr("//@ size       w 1..2147483647\n"),
                    HasSubstr("//@ operand    out out: h, w "),
                    HasSubstr("operand    in in: h, w "), HasSubstr("//@ ragged     w=64 h=64\n")));
  EXPECT_THAT(
      given.adopted.text,
      AllOf(HasSubstr("//@ tune       GRID_W = 64 4096* "),
            HasSubstr("//@ tune       GRID_H = 64 512* "), HasSubstr("//@ require    GRID_W == w "),
            HasSubstr("ceil_div(h, block_size_y)"), HasSubstr("//@   args     out, in\n")));
  const Adoption missing = adopted(source(""));
  EXPECT_THAT(missing.adopted.text, HasSubstr("//@ tune       GRID_W = 64* FILL_IN "));
  const Adoption fixed = adopted(source("#define GRID_W 128\n#define GRID_H 32"));
  EXPECT_THAT(fixed.operation.text, AllOf(HasSubstr("//@ size       GRID_W 128..128 = 128 "),
                                          HasSubstr("//@ ragged     GRID_W=128 GRID_H=32\n")));
  EXPECT_THAT(fixed.adopted.text, AllOf(HasSubstr("ceil_div(GRID_W, block_size_x), "),
                                        Not(HasSubstr("tune       GRID"))));
}

TEST(AdoptUses, OutputsAreFoundThroughOtherNames) {
  const Adoption adoption = adopted(R"(
#define STORE(p, i, v) p[i] = v
template <typename T> __device__ __forceinline__ void put(T* to, int i, T v) { to[i] = v; }
__device__ void step(float*& p, float v) { *p++ = v; }
__device__ void plus(float* p, float v) { atomicAdd(p, v); }
__device__ void through(float* p, int i, float v) { put<float>(p, i, v); }
__device__ void to_block(float* p, float v) { p[blockIdx.x] = v; }
__global__ void k(float* macro, float* alias, float* moved, float* stepped, float* summed,
                  float* passed, float* cast, float* cell, float* address, float* referred,
                  float* blocks, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  STORE(macro, i, x[i]);
  float* o = alias + i;
  *o = 1;
  float* row = moved + blockIdx.x * 4;
  float* at = row + threadIdx.x;
  at[0] = 2;
  step(stepped, 1.0f);
  plus(&summed[i], 1.0f);
  through(passed, i, 3.0f);
  reinterpret_cast<float4*>(cast)[i] = make_float4(0, 0, 0, 0);
  *reinterpret_cast<float2*>(&cell[2 * i]) = make_float2(0, 0);
  auto* p = &address[i];
  p[0] = 1;
  float& r = referred[i];
  r = 2.0f;
  to_block(blocks, 1.0f);
}
)");
  for (const char* const name :
       {"macro", "alias", "moved", "stepped", "passed", "cast", "cell", "address", "referred"}) {
    EXPECT_THAT(adoption.operation.text, HasSubstr(std::string(name) + " out: n ")) << name;
  }
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("operand    summed inout: n "), HasSubstr("operand    x in: n "),
                    HasSubstr("operand    blocks out: FILL_IN "), Not(HasSubstr("is a guess"))));
}

TEST(AdoptUses, IndicesSayExtents) {
  const std::string text = adopted(R"(
__global__ void k(float* out, const float* volume, const float* plane, const float* line,
                  const float* weights, int nx, int ny, int nz, int taps) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 4 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  for (int z = 0; z < nz; ++z) {
    const size_t at = ((size_t)z * ny + y) * nx + x;
    float sum = volume[at] + plane[y * nx + x] + line[z];
    for (int t = 0; t < taps; ++t) sum += weights[t];
    out[z * nx * ny + y * nx + x] = sum;
  }
}
)")
                               .operation.text;
  EXPECT_THAT(text,
              AllOf(HasSubstr("operand    out out: nz, ny, nx "),
                    HasSubstr("operand    volume in: nz, ny, nx "),
                    HasSubstr("operand    plane in: ny, nx "), HasSubstr("operand    line in: nz "),
                    HasSubstr("operand    weights in: taps ")));
}

TEST(AdoptUses, AScanInThreeLaunchesLeavesItsSumsInTheWorkspace) {
  const Adoption adoption = adopted(R"(
__global__ void scan_blocks(float* out, float* sums, const float* in, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) out[i] = in[i];
  if (threadIdx.x == 0) sums[blockIdx.x] = 1.0f;
}
__global__ void scan_sums(float* sums, int count) {
  for (int i = threadIdx.x; i < count; i += block_size_x) sums[i] += sums[0];
}
__global__ void add_sums(float* out, const float* sums, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("operand    out out: n "), Not(HasSubstr("operand    sums")),
                    Not(HasSubstr("size       count"))));
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ workspace  4 * (ceil_div(n, block_size_x)) "),
                    HasSubstr("//@   args     out, workspace, in, n\n"),
                    HasSubstr("//@   args     workspace, ceil_div(n, block_size_x) "),
                    HasSubstr("//@   args     out, workspace, n ")));
}

TEST(AdoptUses, WhatTheHostPassesConnectsLaunches) {
  const std::string kernels = R"(
__global__ void square(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
__global__ void smooth(float* result, const float* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = values[i];
}
)";
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)adopted(kernels); }),
              HasSubstr("defines 2 kernels"));
  const Adoption adoption = adopted(kernels + R"(
void run(float* d_x, float* d_middle, float* d_result, int n) {
  square<<<n / 128, 128>>>(d_middle, d_x, n);
  smooth<<<n / 128, 128>>>(d_result, d_middle, n);
}
)");
  EXPECT_THAT(adoption.adopted.text, AllOf(HasSubstr("//@ workspace  4 * n "),
                                           HasSubstr("//@   args     workspace, x, n\n"),
                                           HasSubstr("//@   args     result, workspace, n ")));
  const std::string apart = kernels + R"(
void run(float* d_x, float* d_y, float* d_result, int n) {
  square<<<n / 128, 128>>>(d_y, d_x, n);
  smooth<<<n / 128, 128>>>(d_result, d_x, n);
}
)";
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)adopted(apart); }),
              HasSubstr("defines 2 kernels"));
}

}  // namespace
}  // namespace kiln::tools
