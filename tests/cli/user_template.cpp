// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/user_template.hpp"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

constexpr const char* kText = R"(//@ template   $NAME
//@ purpose    The definition of a GEMM.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ require    k <= 64   // leaves out the ragged sizes that take seconds
//@ launch     compute
//@   grid     ceil_div(n, block_x), m
//@   block    block_x, 1
//@ workspace  4 * m

#include "common/gemm_args.cuh"

struct UserConfig {  //@ config
  int block_x;  //@ tune 32
};

template <UserConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void compute(const kiln::GemmArgs args) {
  const int row = blockIdx.y;
  const int col = blockIdx.x * C.block_x + threadIdx.x;
  if (col >= args.n) return;
  const float* a = static_cast<const float*>(args.a) + row * args.lda;
  const float* b = static_cast<const float*>(args.b) + col;
  float* d = static_cast<float*>(args.d) + row * args.ldd + col;
  float* workspace = static_cast<float*>(args.workspace);
  float sum = 0;
  for (int i = 0; i < args.k; ++i) sum += a[i] * b[i * args.ldb];
$FAULT
  *d = static_cast<float>(args.alpha) * sum;
}
)";

}  // namespace

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string user_template(const std::string& name, const std::string& fault) {
  return replaced(replaced(kText, "$NAME", name), "$FAULT", fault);
}

}  // namespace kiln::cli
