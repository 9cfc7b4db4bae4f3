// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A user's template whose launch has a tensor map, on the emulated GPU: right as it is, and what is
// said when code and front matter disagree.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kBoxed = R"(//@ template   boxed
//@ purpose    Tiles of A come by tensor copies.
//@ operation  gemm
//@ arch       sm >= 90
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ require    align_a >= 16   // what tensor copies take
//@ launch     boxed
//@   grid     ceil_div(n, 16), ceil_div(m, 8)
//@   block    128
//@   map      a: k, m; box depth, 8

#include "common/epilogue.cuh"
#include "lib/ptx_tensor_copy.cuh"

struct BoxedConfig {  //@ config
  int depth;          //@ tune 8*
};

template <BoxedConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void boxed(const kiln::GemmArgs args, const __grid_constant__ kiln::TensorMap map) {
  using namespace kiln;
  __shared__ alignas(128) float tile[8 * C.depth];
  __shared__ Barrier arrived;
  const int y = threadIdx.x / 16;
  const int row = blockIdx.y * 8 + y;
  const int col = blockIdx.x * 16 + threadIdx.x % 16;
  if (threadIdx.x == 0) {
    mbarrier_init(arrived, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  Acc sum = 0;
  for (int k = 0; k < args.k; k += C.depth) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(arrived, sizeof(tile));
      tma_load_2d(tile, map, {k, static_cast<int>(blockIdx.y) * 8}, arrived);
    }
    mbarrier_wait(arrived, k / C.depth % 2);
    for (int i = 0; i < min(C.depth, args.k - k); ++i) {
      if (col >= args.n) continue;
      sum += tile[y * C.depth + i] * static_cast<const B*>(args.b)[(k + i) * args.ldb + col];
    }
    __syncthreads();
  }
  if (row >= args.m || col >= args.n) return;
  store_element(sum, Acc(args.alpha), Acc(args.beta),
                static_cast<const CIn*>(args.c) + row * args.ldc + col,
                static_cast<D*>(args.d) + row * args.ldd + col);
}
)";

Run verify(const Sandbox& sandbox, const std::string& text) {
  sandbox.write("boxed.cu", text);
  return sandbox.run(with(on_gemm("verify", 44, 24, 52),
                          {"--dtype", "f32", "--template", "boxed", "--template-path", "."}));
}

TEST(TensorMapsOfAUser, AreThereForEveryLaunch) {
  const Sandbox sandbox;
  const auto run = verify(sandbox, kBoxed);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("verdict   correct"));
}

TEST(TensorMapsOfAUser, WhatDisagreesWithTheCodeIsFound) {
  const Sandbox sandbox;
  // Half of the bytes never come.
  const auto small = verify(sandbox, replaced(kBoxed, "box depth, 8", "box depth, 4"));
  EXPECT_EQ(small.exit_code, 1) << small.out << small.err;
  EXPECT_THAT(small.out, HasSubstr("deadlock"));
  const auto narrow = verify(sandbox, replaced(kBoxed, "box depth, 8", "box 2, 8"));
  EXPECT_NE(narrow.exit_code, 0) << narrow.out << narrow.err;
  EXPECT_THAT(narrow.out + narrow.err, HasSubstr("has 8 bytes"));
  const auto without =
      verify(sandbox, replaced(kBoxed, "//@   map      a: k, m; box depth, 8\n", ""));
  EXPECT_NE(without.exit_code, 0) << without.out << without.err;
  EXPECT_THAT(without.out + without.err,
              AllOf(HasSubstr("the kernel boxed"), HasSubstr("kiln::GemmArgs")));
}

}  // namespace
}  // namespace kiln::cli
