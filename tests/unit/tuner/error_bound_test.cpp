// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kiln {
namespace {

TEST(ErrorBound, GrowsWithTheRootOfK) {
  const ErrorBound small = error_bound(Gemm::of(DType::f16, 8, 8, 16));
  const ErrorBound large = error_bound(Gemm::of(DType::f16, 8, 8, 1600));
  EXPECT_DOUBLE_EQ(small.c_factor, 4.0 * 4.0 * std::ldexp(1.0, -23));
  EXPECT_DOUBLE_EQ(large.c_factor, 10.0 * small.c_factor);
  EXPECT_EQ(small.u_out, std::ldexp(1.0, -11));
}

TEST(ErrorBound, SeesALostProduct) {
  // A product that is missing weighs 1/K of the absolute sum.
  for (const std::int64_t k : {64, 4096, 16000}) {
    const Gemm gemm = Gemm::of(DType::bf16, 8, 8, k);
    EXPECT_LT(error_bound(gemm).c_factor, 1.0 / static_cast<double>(k));
  }
}

// What the constant is derived from: for few terms, the worst that float32 arithmetic can do.
TEST(ErrorBound, HoldsForFloatSummationInAnyOrder) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  for (const int k : {1, 2, 3, 9, 100, 3000}) {
    const Gemm gemm = Gemm::of(DType::f32, 1, 1, k);
    const ErrorBound bound = error_bound(gemm);
    for (int trial = 0; trial < 200; ++trial) {
      float sum = 0.0F;
      double exact = 0.0;
      double absolute = 0.0;
      for (int i = 0; i < k; ++i) {
        const float a = normal(random);
        const float b = normal(random);
        sum += a * b;
        exact += static_cast<double>(a) * b;
        absolute += std::abs(static_cast<double>(a) * b);
      }
      EXPECT_LE(std::abs(sum - exact), bound.u_out * std::abs(exact) + bound.c_factor * absolute);
    }
  }
}

TEST(ExactPlan, UsesTheStrongestDataThatStaysExact) {
  Gemm gemm = Gemm::of(DType::f16, 64, 64, 4096);
  gemm.reads_c = true;
  const ExactPlan plan = plan_exact(gemm);
  EXPECT_TRUE(plan.possible);
  EXPECT_EQ(plan.range, 2);
  EXPECT_EQ(plan.alpha, 2.0);
  EXPECT_EQ(plan.beta, -1.0);
  gemm.reads_c = false;
  EXPECT_EQ(plan_exact(gemm).beta, 0.0);
}

TEST(ExactPlan, NarrowsForShortAccumulators) {
  Gemm gemm = Gemm::of(DType::f16, 64, 64, 256);
  gemm.acc = DType::f16;
  EXPECT_EQ(plan_exact(gemm).range, 2);
  gemm.k = 16384;
  EXPECT_EQ(plan_exact(gemm).range, 1);
  gemm.k = 1 << 22;
  EXPECT_FALSE(plan_exact(gemm).possible);
  // Tensor cores keep few bits of an fp8 sum, whatever the accumulator's type.
  EXPECT_EQ(plan_exact(Gemm::of(DType::e4m3, 64, 64, 1 << 20)).range, 1);
}

TEST(ExactPlan, WorstCaseCountsForUnsignedOperands) {
  Gemm gemm = Gemm::of(DType::u8, 8, 8, 1 << 20);
  EXPECT_EQ(plan_exact(gemm).range, 2);
  gemm.acc = DType::f32;
  gemm.k = 1 << 23;
  EXPECT_EQ(plan_exact(gemm).range, 1);
}

}  // namespace
}  // namespace kiln
