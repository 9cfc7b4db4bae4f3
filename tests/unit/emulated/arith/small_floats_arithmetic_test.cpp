// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/small_floats_arithmetic.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {
namespace {

/// Rounds a * b + c to nearest even by a search over the format's values and the points halfway
/// between them. A value t is compared through a * b against t - c; for f16 both sides are exact
/// in long double, whose 64 bits hold the 42 of t - c and the 22 of a * b.
std::uint32_t searched_fma_f16(float a, float b, float c) {
  const long double product = static_cast<long double>(a) * static_cast<long double>(b);
  const auto addend = static_cast<long double>(c);
  const bool negative = product < -addend;
  const long double sign = negative ? -1.0L : 1.0L;
  const auto at_least = [&](long double t) { return sign * product >= t - sign * addend; };
  const auto value = [](std::uint32_t code) {
    // The code after the largest finite one stands for 2^16, as if the range went on.
    return code == kF16.infinity ? 0x1p16L : static_cast<long double>(decode(kF16, code));
  };
  std::uint32_t low = 0;
  std::uint32_t high = kF16.infinity;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (at_least(value(middle)) ? low : high) = middle;
  }
  if (at_least(value(high))) low = high;
  if (low < kF16.infinity) {
    const long double half = (value(low) + value(low + 1)) / 2;
    const bool tie = sign * product == half - sign * addend;
    if (tie ? low % 2 == 1 : at_least(half)) ++low;
  }
  if (low == 0 && product == -addend) {
    return product == 0.0L && std::signbit(product) && std::signbit(addend) ? kF16.sign : 0U;
  }
  return low | (negative ? kF16.sign : 0U);
}

std::uint16_t finite_f16(std::mt19937& random) {
  return static_cast<std::uint16_t>(random() % (kF16.largest + 1U) | (random() & kF16.sign));
}

TEST(SmallFloatArithmetic, F16RoundsOnce) {
  std::mt19937 random(3);
  for (int i = 0; i < 300000; ++i) {
    const std::uint16_t a = finite_f16(random);
    const std::uint16_t b = finite_f16(random);
    const std::uint16_t c = finite_f16(random);
    const auto wide_a = static_cast<double>(f32_of_f16(a));
    const auto wide_b = static_cast<double>(f32_of_f16(b));
    // Exact in f64, so that encoding is the only rounding.
    ASSERT_EQ(add_f16(a, b), encode(kF16, wide_a + wide_b));
    ASSERT_EQ(sub_f16(a, b), encode(kF16, wide_a - wide_b));
    ASSERT_EQ(mul_f16(a, b), encode(kF16, wide_a * wide_b));
    ASSERT_EQ(fma_f16(a, b, c), searched_fma_f16(f32_of_f16(a), f32_of_f16(b), f32_of_f16(c)))
        << a << " " << b << " " << c;
  }
}

TEST(SmallFloatArithmetic, F16FmaSeesATinyProductBesideATie) {
  const auto f16 = [](double value) { return static_cast<std::uint16_t>(encode(kF16, value)); };
  // (1 + 2^-6)(1 - 2^-6) = 1 - 2^-12 is a tie below 1; a last place of f16 decides it, and so does
  // what f32 cannot hold beside it.
  const std::uint16_t a = f16(1.0 + 0x1p-6);
  const std::uint16_t b = f16(1.0 - 0x1p-6);
  EXPECT_EQ(fma_f16(a, b, f16(0.0)), f16(1.0));
  EXPECT_EQ(fma_f16(a, b, f16(-0x1p-24)), f16(1.0 - 0x1p-11));
  // Among subnormals.
  const std::uint16_t place = f16(0x1p-24);
  EXPECT_EQ(fma_f16(place, f16(0.5), place), f16(0x1p-23));        // 1.5 places: to even, 2
  EXPECT_EQ(fma_f16(place, f16(0.5 - 0x1p-12), place), place);     // a hair less
  EXPECT_EQ(fma_f16(place, f16(0.5), f16(0.0)), 0U);               // half a place: to even, 0
  EXPECT_EQ(fma_f16(place, f16(0.5 + 0x1p-11), f16(0.0)), place);  // a hair more
  // The sum needs 2^15 and 2^-48 at once.
  EXPECT_EQ(fma_f16(place, place, f16(32768.0)), f16(32768.0));
  EXPECT_EQ(fma_f16(place, f16(-0x1p-24), f16(32768.0)), f16(32768.0));
  EXPECT_EQ(fma_f16(f16(65504.0), f16(65504.0), f16(1.0)), kF16.infinity);
  EXPECT_EQ(fma_f16(kF16.infinity, f16(2.0), f16(-1.0)), kF16.infinity);
  EXPECT_EQ(fma_f16(kF16.infinity, f16(0.0), f16(-1.0)), kF16.nan);
  EXPECT_EQ(fma_f16(f16(1.0), f16(1.0), kF16.infinity), kF16.infinity);
  EXPECT_EQ(fma_f16(f16(-0.0), f16(1.0), f16(-0.0)), kF16.sign);
  EXPECT_EQ(fma_f16(f16(-1.0), f16(1.0), f16(1.0)), 0U);
}

TEST(SmallFloatArithmetic, Bf16RoundsOnce) {
  std::mt19937 random(4);
  const auto near_one = [&random] {  // 40 exponents, so that long double holds every sum exactly
    const std::uint32_t exponent = 107U + static_cast<std::uint32_t>(random() % 24U);
    return static_cast<std::uint16_t>((random() & 0x807FU) | (exponent << 7U));
  };
  for (int i = 0; i < 300000; ++i) {
    const std::uint16_t a = near_one();
    const std::uint16_t b = near_one();
    const std::uint16_t c = near_one();
    const auto wide_a = static_cast<double>(f32_of_bf16(a));
    const auto wide_b = static_cast<double>(f32_of_bf16(b));
    ASSERT_EQ(add_bf16(a, b), encode(kBf16, wide_a + wide_b));
    ASSERT_EQ(sub_bf16(a, b), encode(kBf16, wide_a - wide_b));
    ASSERT_EQ(mul_bf16(a, b), encode(kBf16, wide_a * wide_b));
    // 64 bits hold the sum. Rounded to odd in f64, it still lies on its side of every tie.
    const auto exact =
        static_cast<long double>(wide_a * wide_b) + static_cast<long double>(f32_of_bf16(c));
    auto to_odd = static_cast<double>(exact);
    if (static_cast<long double>(to_odd) != exact &&
        (std::bit_cast<std::uint64_t>(to_odd) & 1U) == 0) {
      to_odd = std::nextafter(to_odd, static_cast<long double>(to_odd) < exact ? 1e300 : -1e300);
    }
    ASSERT_EQ(fma_bf16(a, b, c), encode(kBf16, to_odd));
  }
  // Products that f32 cannot hold, and their zeros.
  for (int i = 0; i < 100000; ++i) {
    const auto a = static_cast<std::uint16_t>(random());
    const auto b = static_cast<std::uint16_t>(random());
    const auto wide_a = static_cast<double>(f32_of_bf16(a));
    const auto wide_b = static_cast<double>(f32_of_bf16(b));
    ASSERT_EQ(mul_bf16(a, b), encode(kBf16, wide_a * wide_b)) << a << " " << b;
    ASSERT_EQ(fma_bf16(a, b, 0x8000), encode(kBf16, wide_a * wide_b - 0.0)) << a << " " << b;
  }
}

TEST(SmallFloatArithmetic, Bf16FmaSeesATinyAddendBesideATie) {
  const auto bf16 = [](double value) { return static_cast<std::uint16_t>(encode(kBf16, value)); };
  const std::uint16_t root = bf16(1.0 + 0x1p-4);  // 1.0625^2 = 1.12890625, a tie of 1.125
  EXPECT_EQ(fma_bf16(root, root, bf16(0.0)), bf16(1.125));
  EXPECT_EQ(fma_bf16(root, root, bf16(0x1p-130)), bf16(1.1328125));
  EXPECT_EQ(fma_bf16(root, root, bf16(-0x1p-130)), bf16(1.125));
  EXPECT_EQ(fma_bf16(bf16(0x1p100), bf16(0x1p100), bf16(1.0)), kBf16.infinity);
  EXPECT_EQ(fma_bf16(bf16(0x1p100), bf16(0x1p100), kBf16.infinity | kBf16.sign), 0xFF80U);
  EXPECT_EQ(fma_bf16(kBf16.infinity, bf16(0.0), bf16(1.0)), kBf16.nan);
}

TEST(SmallFloatArithmetic, MinimumAndMaximumOrderZerosAndTreatNan) {
  EXPECT_EQ(minimum(kF16, 0x0000U, 0x8000U), 0x8000U);
  EXPECT_EQ(maximum(kF16, 0x8000U, 0x0000U), 0x0000U);
  EXPECT_EQ(minimum(kF16, 0xFE00U, 0x3C00U), 0x3C00U);
  EXPECT_EQ(maximum(kF16, 0x3C00U, 0x7E00U), 0x3C00U);
  EXPECT_EQ(maximum(kF16, 0xFE00U, 0x7E01U), 0x7FFFU);
  EXPECT_EQ(maximum(kF16, 0x3C00U, 0xFE00U, true), 0x7FFFU);
  EXPECT_EQ(minimum(kF32, 0xFF800000U, 0x3F800000U), 0xFF800000U);
  for (std::uint32_t a = 0; a < 256; ++a) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      if (is_nan(kE5m2, a) || is_nan(kE5m2, b)) continue;
      const float x = kE5m2Values[a];
      const float y = kE5m2Values[b];
      ASSERT_EQ(kE5m2Values[minimum(kE5m2, a, b)], std::min(x, y));
      ASSERT_EQ(kE5m2Values[maximum(kE5m2, a, b)], std::max(x, y));
    }
  }
}

class WarpFma : public ::testing::Test {
 protected:
  void expect_as_the_host() const {
    float d[kLanes];
    fma_f32(a, b, c, d);
    for (int i = 0; i < kLanes; ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(d[i]),
                std::bit_cast<std::uint32_t>(canonical(std::fma(a[i], b[i], c[i]))))
          << std::hexfloat << a[i] << " " << b[i] << " " << c[i];
    }
  }
  float a[kLanes]{};
  float b[kLanes]{};
  float c[kLanes]{};
  std::mt19937 random{9};
};

TEST_F(WarpFma, IsTheHostsFmaOnAnyBits) {
  for (int round = 0; round < 40000; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      // Anything at all, or exponents that let the addend matter.
      const std::uint32_t mask = round % 2 == 0 ? ~0U : 0x83FFFFFFU;
      const std::uint32_t base = round % 2 == 0 ? 0U : 0x3C000000U;
      for (float* operand : {&a[i], &b[i], &c[i]}) {
        *operand = std::bit_cast<float>((static_cast<std::uint32_t>(random()) & mask) | base);
      }
    }
    expect_as_the_host();
  }
}

TEST_F(WarpFma, SeesWhatIsBeyondF64BesideATie) {
  for (int round = 0; round < 2000; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      // (1 + k 2^-12)^2 with odd k ends in 2^-24, half a place; the addend is far below.
      a[i] = 1.0F + static_cast<float>(random() % 800 * 2 + 1) * 0x1p-12F;
      b[i] = a[i];
      c[i] = std::ldexp(random() % 2 == 0 ? 1.0F : -1.0F, -60 - static_cast<int>(random() % 60));
    }
    expect_as_the_host();
  }
}

TEST_F(WarpFma, SeesItAmongSubnormalsToo) {
  for (int i = 0; i < kLanes; ++i) {
    // A hair less or more than half of 2^-149, beside an odd or even number of them.
    a[i] = std::ldexp(1.0F + 0x1p-23F, -75);
    b[i] = std::ldexp(i % 2 == 0 ? 1.0F - 0x1p-23F : 1.0F, -75);
    c[i] = std::bit_cast<float>(0x00400000U + static_cast<std::uint32_t>(i / 2));
  }
  expect_as_the_host();
}

TEST(SmallFloatArithmetic, ARoundingLastsAsLongAsItsScope) {
  const auto third = [] {
    const volatile double one = 1.0;
    const volatile double three = 3.0;
    return one / three;
  };
  const double nearest = third();
  for (const auto& [rounding, host] :
       {std::pair(Rounding::toward_zero, FE_TOWARDZERO), std::pair(Rounding::down, FE_DOWNWARD),
        std::pair(Rounding::up, FE_UPWARD), std::pair(Rounding::nearest_even, FE_TONEAREST)}) {
    const RoundingScope outer(rounding);
    EXPECT_EQ(std::fegetround(), host);
    EXPECT_EQ(third(), rounding == Rounding::up ? std::nextafter(nearest, 1.0) : nearest);
    {
      const RoundingScope inner(Rounding::nearest_away);
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    }
    EXPECT_EQ(std::fegetround(), host);
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(SmallFloatArithmetic, ApproximationsHaveTheSpecialValuesOfPtx) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(approx_ex2(-infinity), 0.0F);
  EXPECT_EQ(approx_ex2(3.0F), 8.0F);
  EXPECT_EQ(approx_lg2(0.0F), -infinity);
  EXPECT_EQ(approx_lg2(0x1p-140F), -140.0F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(approx_lg2(-1.0F)), 0x7FFFFFFFU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(approx_sin(infinity)), 0x7FFFFFFFU);
  EXPECT_EQ(approx_cos(0.0F), 1.0F);
  EXPECT_TRUE(std::signbit(approx_sin(-0.0F)));
  EXPECT_EQ(approx_tanh(-infinity), -1.0F);
  EXPECT_EQ(approx_rsqrt(4.0F), 0.5F);
  EXPECT_EQ(approx_rsqrt(-0.0F), -infinity);
  EXPECT_EQ(approx_rsqrt(4.0), 0.5);
  EXPECT_EQ(approx_rcp(4.0), 0.25);
  EXPECT_EQ(approx_rcp(0x1p-1030), std::numeric_limits<double>::infinity());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(approx_rcp(3.0)) & 0xFFFFFFFFU, 0U);
}

}  // namespace
}  // namespace kiln::emulated
