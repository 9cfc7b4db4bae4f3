// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "common/verify_check.cuh"
#include "tuner/verify/roundoff.hpp"

namespace kiln {
namespace {

TEST(ErrorBound, GrowsWithTheRootOfK) {
  const ErrorBound small = error_bound(Gemm::of(DType::f16, 8, 8, 16));
  const ErrorBound large = error_bound(Gemm::of(DType::f16, 8, 8, 1600));
  EXPECT_DOUBLE_EQ(small.c_factor, 4.0 * 4.0 * std::ldexp(1.0, -23));
  EXPECT_DOUBLE_EQ(large.c_factor, 10.0 * small.c_factor);
  EXPECT_EQ(small.u_out, std::ldexp(1.0, -11));
}

TEST(ErrorBound, CoversTheScalingOfCWithoutAProduct) {
  EXPECT_EQ(error_bound(Gemm::of(DType::f32, 8, 8, 0)).c_factor,
            error_bound(Gemm::of(DType::f32, 8, 8, 1)).c_factor);
  EXPECT_TRUE(plan_exact(Gemm::of(DType::f32, 8, 8, 0)).possible);
}

TEST(ErrorBound, SeesALostProduct) {
  // A missing product is 1/K of the absolute sum.
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

double rounded_to_f16(double value) {
  return decode(encode(value, ElementKind::f16), ElementKind::f16);
}

// Sums that are rounded to float16 after every `together` products.
TEST(ErrorBound, HoldsForHalfAccumulatorsAndRejectsHalfOfTheProducts) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (const int k : {1, 5, 16, 100, 4000}) {
    Gemm gemm = Gemm::of(DType::f16, 1, 1, k);
    gemm.acc = DType::f16;
    const ErrorBound bound = error_bound(gemm);
    int rejected = 0;
    constexpr int kTrials = 100;
    for (int trial = 0; trial < kTrials; ++trial) {
      double one_by_one = 0.0;
      double together = 0.0;
      double pending = 0.0;
      double first_half = 0.0;
      double exact = 0.0;
      double absolute = 0.0;
      for (int i = 0; i < k; ++i) {
        const double product = rounded_to_f16(normal(random)) * rounded_to_f16(normal(random));
        one_by_one = rounded_to_f16(one_by_one + product);
        pending += product;
        if (i % 16 == 15 || i + 1 == k) {
          together = rounded_to_f16(together + pending);
          pending = 0.0;
        }
        if (i < k / 2) first_half += product;
        exact += product;
        absolute += std::abs(product);
      }
      const double allowed = bound.u_out * std::abs(exact) + bound.c_factor * absolute;
      EXPECT_LE(std::abs(one_by_one - exact), allowed) << k;
      EXPECT_LE(std::abs(together - exact), allowed) << k;
      rejected += std::abs(first_half - exact) > allowed ? 1 : 0;
    }
    EXPECT_GE(rejected, kTrials / 2) << k;
  }
}

// Products that float16 can hardly tell apart, which are rounded before alpha makes them larger.
TEST(ErrorBound, HoldsForSubnormalHalfAccumulators) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  constexpr double kAlpha = 2.0;
  for (const int k : {1, 3, 16, 40}) {
    Gemm gemm = Gemm::of(DType::f16, 1, 1, k);
    gemm.acc = DType::f16;
    const ErrorBound bound = error_bound(gemm);
    bool would_fail = false;
    for (int trial = 0; trial < 200; ++trial) {
      double sum = 0.0;
      double exact = 0.0;
      double absolute = 0.0;
      for (int i = 0; i < k; ++i) {
        const double product =
            rounded_to_f16(normal(random)) * rounded_to_f16(normal(random) * 1e-6);
        sum = rounded_to_f16(sum + product);
        exact += product;
        absolute += std::abs(product);
      }
      const double value = rounded_to_f16(kAlpha * sum);
      const auto ok = [&](double least) {
        return check_bounded(encode(value, ElementKind::f16), kAlpha * exact, kAlpha * absolute,
                             bound.u_out, bound.c_factor, ElementKind::f16, kAlpha * least)
            .ok;
      };
      EXPECT_TRUE(ok(bound.least)) << k << ": " << value << " for " << kAlpha * exact;
      would_fail = would_fail || !ok(0.0);
    }
    EXPECT_TRUE(would_fail || k > 3) << "the bound is needed";
  }
  EXPECT_EQ(error_bound(Gemm::of(DType::f16, 1, 1, 8)).least, 0.0);
}

/// The verdict on `value`, as stored in `kind`, with a unit roundoff and no error of the sum unless
/// `slack` says so.
bool accepts(double value, double reference, ElementKind kind, double slack = 0.0) {
  const double u_out = unit_roundoff(static_cast<DType>(kind));
  return check_bounded(encode(value, kind), reference, slack, u_out, 1.0, kind).ok;
}

TEST(CheckBounded, OverflowMustBeInfinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(accepts(kInfinity, 70000.0, ElementKind::f16));
  EXPECT_TRUE(accepts(-kInfinity, -70000.0, ElementKind::f16));
  EXPECT_FALSE(accepts(-kInfinity, 70000.0, ElementKind::f16));
  EXPECT_FALSE(accepts(65504.0, 70000.0, ElementKind::f16));
  EXPECT_FALSE(accepts(kInfinity, 65000.0, ElementKind::f16));
  EXPECT_FALSE(accepts(std::nan(""), 70000.0, ElementKind::f16));
}

TEST(CheckBounded, WhatNothingBoundsIsRightAndSaysSo) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto check = [](double value, double reference, double slack) {
    return check_bounded(encode(value, ElementKind::f32), reference, slack, 1e-7, 1.0,
                         ElementKind::f32);
  };
  EXPECT_TRUE(check(5.0, 1.0, kInfinity).ok);
  EXPECT_TRUE(check(5.0, 1.0, kInfinity).is_unbounded());
  EXPECT_FALSE(check(1.0, 1.0, 1e30).is_unbounded());
  EXPECT_FALSE(check(kInfinity, kInfinity, kInfinity).is_unbounded()) << "infinity is demanded";
}

// Float16 rounds to infinity from 65520 on. A sum that is known to 8 may fall on either side of it.
TEST(CheckBounded, AtTheEdgeOfTheRangeBothSidesAreRight) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double reference : {65515.0, 65525.0}) {
    EXPECT_TRUE(accepts(kInfinity, reference, ElementKind::f16, 8.0)) << reference;
    EXPECT_TRUE(accepts(65504.0, reference, ElementKind::f16, 8.0)) << reference;
    EXPECT_FALSE(accepts(-kInfinity, reference, ElementKind::f16, 8.0)) << reference;
  }
  EXPECT_FALSE(accepts(kInfinity, 65500.0, ElementKind::f16, 8.0));
}

TEST(CheckBounded, TypesWithoutInfinitySaturate) {
  EXPECT_TRUE(accepts(448.0, 10000.0, ElementKind::e4m3));
  EXPECT_TRUE(accepts(-448.0, -10000.0, ElementKind::e4m3));
  EXPECT_FALSE(accepts(-448.0, 10000.0, ElementKind::e4m3));
  EXPECT_FALSE(accepts(240.0, 10000.0, ElementKind::e4m3));
  EXPECT_TRUE(accepts(127.0, 300.0, ElementKind::s8));
  EXPECT_FALSE(accepts(100.0, 300.0, ElementKind::s8));
}

TEST(CheckBounded, SubnormalsAreRoundedAbsolutely) {
  const double least = std::ldexp(1.0, -24);  // of float16
  EXPECT_TRUE(accepts(0.0, 0.4 * least, ElementKind::f16));
  EXPECT_TRUE(accepts(3.0 * least, 2.6 * least, ElementKind::f16));
  EXPECT_FALSE(accepts(2.0 * least, 2.6 * least, ElementKind::f16));
}

TEST(CheckBounded, AReferenceThatIsNoNumberDemandsThat) {
  EXPECT_TRUE(accepts(std::nan(""), std::nan(""), ElementKind::f16));
  EXPECT_FALSE(accepts(1.0, std::nan(""), ElementKind::f16));
  EXPECT_FALSE(accepts(1.0, std::numeric_limits<double>::infinity(), ElementKind::f32));
}

// Either neighbour is right for them, and the reference knows one: 2^-13 of all numbers were ties.
TEST(RandomData, HasNoTiesBetweenNumbersOfTf32) {
  FillArgs fill{};
  fill.rows = fill.cols = 400;
  fill.seed = 7;
  fill.dtype = static_cast<int>(DType::tf32);
  fill.distribution = kFillNormal;
  int near_ties = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = random_element(fill, i / 300, i % 300) & 0x1fff;
    ASSERT_NE(bits, 0x1000U) << i;
    if (bits == 0x1001) ++near_ties;
  }
  EXPECT_GT(near_ties, 0) << "the data is too short to have had ties";
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
