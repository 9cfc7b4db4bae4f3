// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What templates and operations of users include.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

/// The smallest magnitude of each row, as people write it.
constexpr const char* kRowMinimum = R"(//@ operation  row_minimum
//@ purpose    Smallest magnitude of a row and where it is
//@ size       rows 1..1000000
//@ size       cols 1..1000000
//@ type       out f32
//@ type       where s32
//@ type       in f32
//@ operand    out out: rows
//@ operand    where out: rows
//@ operand    in in: rows, cols
//@ right      out exact
//@ right      where exact
//@ ragged     rows=1 cols=1
//@ flops      rows * cols
//@ include    judge
//@ reference  row_minimum_reference
//@   grid     ceil_div(rows, 256)
//@   block    256
//@   args     out.f64, where.f64, in.f64, rows, cols
#include <limits>
#include <start.hpp>
__global__ void row_minimum_reference(double* out, double* where, const double* in, int rows,
                                      int cols) {
  const long long r = blockIdx.x * 256LL + threadIdx.x;
  if (r >= rows) return;
  double best = std::numeric_limits<double>::max();
  int at = kStart;
  for (int c = 0; c < cols; ++c) {
    if (fabs(in[r * cols + c]) < best) { best = fabs(in[r * cols + c]); at = c; }
  }
  out[r] = best;
  where[r] = at;
}
)";
constexpr const char* kRowMinimumKernel = R"(//@ template   row_minimum_kernel
//@ purpose    A thread takes a row.
//@ operation  row_minimum
//@ tune       block_size_x = 64 128*
//@ launch     row_minimum
//@   grid     ceil_div(rows, block_size_x)
//@   block    block_size_x
#include "sizes.h"
#include <cuda.h>
#include <limits>
#include <climits>
#include <cstdio>
#include <cmath>
#include <cassert>
#include <algorithm>
#include "cuda_runtime.h"
#include <mylib/core.inl>
__global__ void row_minimum(float* out, int* where, const float* in, int rows, int cols) {
  int r = blockIdx.x * block_size_x + threadIdx.x;
  if (r >= rows) return;
  assert(cols > 0);
  float best = std::numeric_limits<float>::max();
  int at = INT_MAX;
  for (int c = 0; c < cols; ++c) {
    float v = std::fabs(in[(size_t)r * cols + c]);
    if (closer(v, best)) { best = v; at = c; }
  }
  if (at == INT_MAX) printf("no minimum in row %d\n", r);
  out[r] = best;
  where[r] = std::min(at, cols - 1);
}
)";

TEST(Headers, AreFoundAsPeopleIncludeThem) {
  const Sandbox sandbox;
  for (const char* const folder : {"t", "t/judge", "other", "inc", "inc/mylib"}) {
    std::filesystem::create_directory(sandbox.folder() / folder);
  }
  sandbox.write("t/op.cu", std::string("\xEF\xBB\xBF") + kRowMinimum);
  sandbox.write("t/judge/start.hpp", "#pragma once\nconstexpr int kStart = -1;\n");
  sandbox.write("t/kernel.cu", kRowMinimumKernel);
  sandbox.write("other/sizes.h",
                "#ifndef SIZES_H\n#define SIZES_H\n#ifdef __CUDACC__\n"
                "#include \"deeper.h\"\n#endif\n#endif\n");
  sandbox.write("other/deeper.h",
                "#ifndef DEEPER_H\n#define DEEPER_H\n#include \"sizes.h\"\n"
                "#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n#endif\n"
                "#define CLOSER <\n#endif\n");
  sandbox.write("inc/mylib/core.inl",
                "__device__ inline bool closer(float a, float b) { return a CLOSER b; }\n");
  const Words words{"verify", "row_minimum",     "--rows",  "40",        "--cols",
                    "50",     "--template-path", "t:other", "--include", "inc"};
  const auto run = sandbox.run(words);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  sandbox.write("inc/mylib/core.inl",
                "__device__ inline bool closer(float a, float b) { return b CLOSER a; }\n");
  const auto wrong = sandbox.run(words);
  EXPECT_EQ(wrong.exit_code, 1) << "not the kernel of the old header: " << wrong.out << wrong.err;
}

}  // namespace
}  // namespace kiln::cli
