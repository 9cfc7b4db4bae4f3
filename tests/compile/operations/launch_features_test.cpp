// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How kernels as people write them are launched and given their data: cooperative launches,
// constants of namespaces, batches of pointers, and what their authors accept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/compile/operations/launch_kernels.hpp"
#include "tests/compile/operations/operation_bench.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class LaunchFeatures : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      bench_ = std::make_unique<OperationBench>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Judges the template `kernel` of an operation, with its default configuration.
  Judged judge(const std::string& operation, const std::string& kernel, const Sizes& sizes) {
    return judge_texts(*bench_, operation, kernel, sizes);
  }

  std::unique_ptr<OperationBench> bench_;
};

TEST_F(LaunchFeatures, BlocksOfACooperativeLaunchMeetAtTheirGrid) {
  const std::string cooperative = "//@   cooperative\n";
  const std::string sync = "cg::this_grid().sync();";
  EXPECT_EQ(judge(kGridSum, grid_sum_kernel(cooperative, sync), {{"n", 5000}}).complaint(), "");

  const Judged plain = judge(kGridSum, grid_sum_kernel("", sync), {{"n", 5000}});
  EXPECT_THAT(plain.message, AllOf(HasSubstr("trap"), HasSubstr("\"//@   cooperative\"")));

  const Judged unsynced = judge(kGridSum, grid_sum_kernel(cooperative, ""), {{"n", 5000}});
  EXPECT_THAT(unsynced.complaint(), HasSubstr("race"));

  const Judged large = judge(kGridSum, grid_sum_kernel(cooperative, sync, "5000"), {{"n", 5000}});
  EXPECT_EQ(large.outcome, Outcome::out_of_resources);
  EXPECT_THAT(large.message, AllOf(HasSubstr(": launch of "), HasSubstr("5000 blocks")));
}

TEST_F(LaunchFeatures, ConstantsOfANamespaceAreFilled) {
  const std::string operation = R"(//@ operation  in_units
//@ purpose    Scaled and shifted
//@ size       n
//@ type       out f32
//@ type       in f32
//@ type       unit f32
//@ operand    out out: n
//@ operand    in in: n
//@ operand    unit in: 2
//@ right      out bound 4 of f32
//@ ragged     n=1
//@ flops      2 * n
//@ reference  in_units_reference
//@   grid     ceil_div(n, 64)
//@   block    64
//@   args     out.f64, out.magnitude, in.f64, unit.f64, n
__global__ void in_units_reference(double* out, double* m, const double* in, const double* unit,
                                   int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  out[i] = unit[0] * in[i] + unit[1];
  m[i] = fabs(unit[0] * in[i]) + fabs(unit[1]);
}
)";
  const std::string kernel = R"(//@ template   in_units_kernel
//@ purpose    As it is
//@ operation  in_units
//@ launch     phys::in_units
//@   grid     ceil_div(n, 64)
//@   block    64
//@   args     out, in, n
//@ constant   phys::si::unit = unit
namespace phys {
namespace si { __constant__ float unit[2]; }
__global__ void in_units(float* out, const float* in, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) out[i] = si::unit[0] * in[i] + si::unit[1];
}
}
)";
  EXPECT_EQ(judge(operation, kernel, {{"n", 1000}}).complaint(), "");
}

TEST_F(LaunchFeatures, ArraysBehindPointersAreOperands) {
  const Sizes sizes{{"batch", 5}, {"n", 40}};
  EXPECT_EQ(judge(kBatchedScale, batched_scale_kernel(""), sizes).complaint(), "");
}

TEST_F(LaunchFeatures, EachArrayBehindPointersHasItsRedZone) {
  const Sizes sizes{{"batch", 5}, {"n", 40}};
  const auto found = [&](const std::string& change) {
    return judge(kBatchedScale, batched_scale_kernel(change), sizes).complaint();
  };
  EXPECT_THAT(found("if (n > 1) out[b][n] = 1.0f;"),
              AllOf(HasSubstr("out_of_bounds"), HasSubstr("kernel.cu:14"),
                    ContainsRegex("bytes past the end of array [0-4] of operand out .*; the arrays "
                                  "are numbered from 0")))
      << "of whichever block was executed first";
  EXPECT_THAT(found("if (n > 1 && in[b][n] == 3.0f) out[b][0] = 0.0f;"),
              HasSubstr("of operand in"));
  EXPECT_THAT(found("__syncthreads(); if (threadIdx.x == 0) out[b] = nullptr;"),
              HasSubstr("overwrote the pointers to the arrays of out"));
}

TEST_F(LaunchFeatures, AcceptedFindingsAreInTheVerdict) {
  const std::string operation = R"(//@ operation  any_negative
//@ purpose    Whether any number is negative
//@ size       n
//@ type       out s32
//@ type       in f32
//@ operand    out inout: 1; fill integers 0 0
//@ operand    in in: n
//@ right      out exact
//@ ragged     n=1
//@ flops      n
//@ reference  any_negative_reference
//@   grid     1
//@   block    1
//@   args     out, in.f64, n
__global__ void any_negative_reference(int* out, const double* in, int n) {
  for (int i = 0; i < n; ++i) out[0] |= in[i] < 0;
}
)";
  const auto kernel = [](const std::string& allow) {
    return "//@ template   any_negative_kernel\n//@ purpose    As it is\n"
           "//@ operation  any_negative\n//@ launch     any_negative\n"
           "//@   grid     ceil_div(n, 64)\n//@   block    64\n" +
           allow +
           R"(//@   args     out, in, n
__global__ void any_negative(int* out, const float* in, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n && in[i] < 0) out[0] = 1;
}
)";
  };
  const Sizes sizes{{"n", 300}};
  EXPECT_THAT(judge(operation, kernel(""), sizes).complaint(), HasSubstr("race"));
  const Judged allowed =
      judge(operation, kernel("//@   allow    race same_value  // all store 1\n"), sizes);
  EXPECT_EQ(allowed.complaint(), "");
  EXPECT_EQ(allowed.evidence, "accepted in any_negative: race same_value (all store 1)");
}

TEST_F(LaunchFeatures, WhatIsAcceptedAsUnusedMustNotReachResults) {
  const std::string operation = R"(//@ operation  shifted
//@ purpose    Each number from shared memory
//@ size       n 1..64
//@ type       out f32
//@ type       in f32
//@ operand    out out: n
//@ operand    in in: n
//@ right      out within 1e30 1e30
//@ ragged     n=33
//@ flops      n
//@ reference  shifted_reference
//@   grid     1
//@   block    64
//@   args     out.f64, in.f64, n
__global__ void shifted_reference(double* out, const double* in, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];
}
)";
  const auto found = [&](const std::string& use) {
    return judge(operation,
                 "//@ template   shifted_kernel\n//@ purpose    As it is\n"
                 "//@ operation  shifted\n//@ launch     shifted\n//@   grid     1\n"
                 "//@   block    64\n//@   allow    uninitialised unused  // masked\n"
                 R"(//@   args     out, in, n
__global__ void shifted(float* out, const float* in, int n) {
  __shared__ float s[64];
  if (threadIdx.x < n) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const float next = s[threadIdx.x ^ 1];
  if (threadIdx.x < n) out[threadIdx.x] = )" +
                     use + ";\n}\n",
                 {{"n", 40}})
        .complaint();
  };
  EXPECT_EQ(found("s[threadIdx.x] + ((threadIdx.x ^ 1) < n ? next : 0.0f)"), "");
  EXPECT_THAT(found("s[threadIdx.x] + next"), HasSubstr("two runs"));
}

}  // namespace
}  // namespace kiln::testing
