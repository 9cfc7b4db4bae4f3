// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/operations/launch_kernels.hpp"

#include <string>

namespace kiln::testing {

const char* const kGridSum = R"(//@ operation  grid_sum
//@ purpose    Sum of all numbers
//@ size       n
//@ type       out f32
//@ type       in f32
//@ operand    out out: 1
//@ operand    in in: n
//@ right      out bound 64 of f32
//@ integers   1
//@ ragged     n=1
//@ flops      n
//@ reference  grid_sum_reference
//@   grid     1
//@   block    1
//@   args     out.f64, out.magnitude, in.f64, n
__global__ void grid_sum_reference(double* out, double* m, const double* in, int n) {
  for (int i = 0; i < n; ++i) { out[0] += in[i]; m[0] += fabs(in[i]); }
}
)";

std::string grid_sum_kernel(const std::string& cooperative, const std::string& wait,
                            const std::string& blocks) {
  return "//@ template   grid_sum_kernel\n//@ purpose    Two phases\n//@ operation  grid_sum\n"
         "//@ workspace  4 * " +
         blocks + "\n//@ launch     two_phase\n//@   grid     " + blocks + "\n//@   block    64\n" +
         cooperative + R"(//@   args     out, workspace, in, n
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void two_phase(float* out, float* partial, const float* in, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  __shared__ float sums[2];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0] + sums[1];
  )" + wait +
         R"(
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    out[0] = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) out[0] += partial[b];
  }
}
)";
}

const char* const kBatchedScale = R"(//@ operation  batched_scale
//@ purpose    Twice each array of a batch, and a sum in place
//@ size       batch
//@ size       n
//@ type       out f32
//@ type       in f32
//@ type       sum f32
//@ operand    out out: batch, n; pointers
//@ operand    in in: batch, n; pointers
//@ operand    sum inout: batch, n; pointers
//@ right      out exact
//@ right      sum exact
//@ integers   100
//@ ragged     batch=1 n=1
//@ ragged     batch=3 n=33
//@ flops      batch * n
//@ reference  batched_reference
//@   grid     batch
//@   block    32
//@   args     out, in.f64, sum, n
__global__ void batched_reference(float** out, const double* in, float** sum, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    out[blockIdx.x][i] = 2.0 * in[blockIdx.x * n + i];
    sum[blockIdx.x][i] += (float)in[blockIdx.x * n + i];
  }
}
)";
std::string batched_scale_kernel(const std::string& change) {
  return R"(//@ template   batched_kernel
//@ purpose    A block an array
//@ operation  batched_scale
//@ launch     batched
//@   grid     batch
//@   block    32
//@   args     out, in, sum, n
extern "C" __global__ void batched(float** out, const float* const* in, float** sum, int n) {
  const int b = blockIdx.x;
  for (int i = threadIdx.x; i < n; i += 32) {
    out[b][i] = 2.0f * in[b][i];
    sum[b][i] += in[b][i];
  }
  )" + change +
         "\n}\n";
}

}  // namespace kiln::testing
