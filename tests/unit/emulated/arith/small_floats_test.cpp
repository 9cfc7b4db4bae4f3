// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/small_floats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kiln::emulated {
namespace {

using Limits = std::numeric_limits<float>;

struct NamedFormat {
  std::string name;
  FloatFormat format;
  int exponent_bits;
  double largest;
  double smallest;
};

const NamedFormat kFormats[] = {
    {"f16", kF16, 5, 65504.0, 0x1p-24},        {"bf16", kBf16, 8, 0x1.FEp127, 0x1p-133},
    {"tf32", kTf32, 8, 0x1.FFCp127, 0x1p-136}, {"e4m3", kE4m3, 4, 448.0, 0x1p-9},
    {"e5m2", kE5m2, 5, 57344.0, 0x1p-16},
};

constexpr Rounding kRoundings[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::down,
                                   Rounding::up, Rounding::nearest_away};

/// The value of non-negative bits by the definition of a format, written anew.
double value_of(const FloatFormat& format, std::uint32_t bits) {
  const std::uint32_t ones = (1U << static_cast<unsigned>(format.mantissa_bits)) - 1U;
  const auto field = static_cast<int>(bits >> static_cast<unsigned>(format.mantissa_bits));
  const auto mantissa = static_cast<double>(bits & ones);
  const double whole = std::ldexp(1.0, format.mantissa_bits);
  return field == 0 ? std::ldexp(mantissa / whole, 1 - format.bias)
                    : std::ldexp(1.0 + mantissa / whole, field - format.bias);
}

/// All finite values, by bits; and the value that would follow the largest.
class Reference {
 public:
  explicit Reference(const FloatFormat& format) : format_(format) {
    for (std::uint32_t bits = 0; bits <= format.largest + 1; ++bits) {
      values_.push_back(value_of(format, bits));
    }
  }

  /// Picks the neighbour that the rounding asks for: a search, and nothing of bits.
  [[nodiscard]] std::uint32_t encode(double value, Rounding rounding, Overflow overflow) const {
    if (std::isnan(value)) return format_.nan;
    const bool negative = std::signbit(value);
    const double size = std::fabs(value);
    const std::uint32_t sign = negative ? format_.sign : 0U;
    const std::uint32_t beyond = overflow == Overflow::saturate ? sign | format_.largest
                                 : format_.infinity != 0        ? sign | format_.infinity
                                                                : format_.nan;
    if (std::isinf(value)) return beyond;
    const bool away =
        (rounding == Rounding::down && negative) || (rounding == Rounding::up && !negative);
    const bool nearest = rounding == Rounding::nearest_even || rounding == Rounding::nearest_away;
    if (size >= values_.back()) return away || nearest ? beyond : sign | format_.largest;
    const auto above = std::upper_bound(values_.begin(), values_.end(), size);
    const auto low = static_cast<std::uint32_t>(above - values_.begin()) - 1U;
    const double below_by = size - values_[low];
    const double above_by = *above - size;
    bool up = away && below_by > 0.0;
    if (rounding == Rounding::nearest_even) {
      up = below_by > above_by || (below_by == above_by && low % 2 == 1);
    }
    if (rounding == Rounding::nearest_away) up = below_by >= above_by;
    const std::uint32_t code = low + (up ? 1U : 0U);
    return code > format_.largest ? beyond : sign | code;
  }

 private:
  FloatFormat format_;
  std::vector<double> values_;
};

TEST(SmallFloats, EveryValueDecodesByItsDefinitionAndEncodesBack) {
  for (const NamedFormat& each : kFormats) {
    const FloatFormat& format = each.format;
    EXPECT_EQ(value_of(format, format.largest), each.largest) << each.name;
    EXPECT_EQ(value_of(format, 1), each.smallest) << each.name;
    EXPECT_EQ(format.sign >> static_cast<unsigned>(format.mantissa_bits),
              1U << static_cast<unsigned>(each.exponent_bits))
        << each.name;
    for (std::uint32_t bits = 0; bits < format.sign; ++bits) {
      const std::uint32_t negative = bits | format.sign;
      if (is_nan(format, bits)) {
        EXPECT_TRUE(std::isnan(decode(format, bits)));
        EXPECT_EQ(encode(format, decode(format, negative)), format.nan);
        continue;
      }
      const bool infinite = format.infinity != 0 && bits == format.infinity;
      const double value =
          infinite ? std::numeric_limits<double>::infinity() : value_of(format, bits);
      ASSERT_EQ(decode(format, bits), value) << each.name << " " << bits;
      ASSERT_EQ(decode(format, negative), -value) << each.name << " " << bits;
      ASSERT_TRUE(std::signbit(decode(format, negative)));
      for (const Rounding rounding : kRoundings) {
        ASSERT_EQ(encode(format, value, rounding), bits) << each.name;
        ASSERT_EQ(encode(format, -value, rounding), negative) << each.name;
      }
    }
  }
}

TEST(SmallFloats, EncodingAgreesWithASearchForTheNeighbours) {
  std::mt19937_64 random(11);
  for (const NamedFormat& each : kFormats) {
    const FloatFormat& format = each.format;
    const Reference reference(format);
    std::vector<double> values{0.0,         1e-320, 1e308,  3e-46,
                               7e-46,       1.7e38, 3.4e38, std::numeric_limits<double>::infinity(),
                               std::nan("")};
    std::uniform_int_distribution<std::uint32_t> code(0, format.largest);
    for (int i = 0; i < 4000; ++i) {
      // Boundaries: halfway points and what lies a hair beside them and beside values.
      const std::uint32_t bits = i < 40   ? format.largest - static_cast<std::uint32_t>(i) % 20
                                 : i < 80 ? static_cast<std::uint32_t>(i) % 20
                                          : code(random);
      const double low = value_of(format, bits);
      const double half = (low + value_of(format, bits + 1)) / 2;
      for (const double at : {low, half}) {
        values.insert(values.end(), {at, std::nextafter(at, 0.0), std::nextafter(at, 1e300)});
      }
      values.push_back(std::ldexp(1.0 + static_cast<double>(random() % 1000003) / 1000003.0,
                                  static_cast<int>(random() % 290) - 150));
    }
    for (const double value : values) {
      for (const Rounding rounding : kRoundings) {
        for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
          for (const double each_sign : {value, -value}) {
            ASSERT_EQ(encode(format, each_sign, rounding, overflow),
                      reference.encode(each_sign, rounding, overflow))
                << each.name << " " << std::hexfloat << each_sign << " rounding "
                << static_cast<int>(rounding) << " overflow " << static_cast<int>(overflow);
          }
        }
      }
    }
  }
}

TEST(SmallFloats, ToF32RoundsAsTheHostDoes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<double>((random() & 0xBFFFFFFFFFFFFFFFU) + (0x30ULL << 56U));
    if (std::isnan(value)) continue;
    ASSERT_EQ(encode(kF32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
}

TEST(SmallFloats, QuickConversionsAgreeWithTheGeneralOnes) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(f32_of_f16(half)),
              std::bit_cast<std::uint32_t>(decode(kF16, bits)));
    if (!is_nan(kBf16, bits)) {
      ASSERT_EQ(f32_of_bf16(half), decode(kBf16, bits));
    }
  }
  // All upper halves of an f32, with lower halves at and beside what decides a rounding.
  for (std::uint32_t high = 0; high < 0x10000U; ++high) {
    for (const std::uint32_t low : {0x0U, 0x1U, 0xFFFU, 0x1000U, 0x1001U, 0x2000U, 0x2FFFU, 0x3000U,
                                    0x3001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const auto value = std::bit_cast<float>((high << 16U) | low);
      const auto wide = static_cast<double>(value);
      ASSERT_EQ(f16_of_f32(value), encode(kF16, wide)) << std::hexfloat << value;
      ASSERT_EQ(bf16_of_f32(value), encode(kBf16, wide)) << std::hexfloat << value;
    }
  }
}

TEST(SmallFloats, Tf32LiesInTheUpperBitsOfARegister) {
  EXPECT_EQ(tf32_of_f32(1.0F), 0x3F800000U);
  EXPECT_EQ(tf32_of_f32(std::bit_cast<float>(0x3F801000U)), 0x3F802000U);  // tie: away
  EXPECT_EQ(tf32_of_f32(std::bit_cast<float>(0x3F801000U), Rounding::nearest_even), 0x3F800000U);
  EXPECT_EQ(tf32_of_f32(std::bit_cast<float>(0xBF801000U)), 0xBF802000U);
  EXPECT_EQ(tf32_of_f32(-Limits::infinity()), 0xFF800000U);
  EXPECT_EQ(tf32_of_f32(Limits::max()), 0x7F800000U);
  EXPECT_EQ(tf32_of_f32(Limits::max(), Rounding::toward_zero), 0x7F7FE000U);
  EXPECT_EQ(tf32_of_f32(Limits::max(), Rounding::nearest_away, Overflow::saturate), 0x7F7FE000U);
  EXPECT_EQ(tf32_of_f32(std::bit_cast<float>(0xFFFFFFFFU)), 0xFFFFE000U);
  EXPECT_EQ(tf32_of_f32(Limits::quiet_NaN(), Rounding::nearest_even), 0x7FFFE000U);
  EXPECT_EQ(f32_of_tf32(0x3F801FFFU), 1.0F);
  for (std::uint32_t high = 0; high < 0x10000U; ++high) {
    for (const std::uint32_t low : {0x0000U, 0x0FFFU, 0x1000U, 0x1FFFU, 0xF000U, 0xFFFFU}) {
      const auto value = std::bit_cast<float>((high << 16U) | low);
      if (std::isnan(value)) continue;
      ASSERT_EQ(tf32_of_f32(value), tf32_of_f32(value, Rounding::nearest_away));
    }
  }
}

TEST(SmallFloats, BytesSaturateAndKeepOneNan) {
  EXPECT_EQ(e4m3_of_f32(1e9F), 0x7E);
  EXPECT_EQ(e4m3_of_f32(-Limits::infinity()), 0xFE);
  EXPECT_EQ(e4m3_of_f32(-Limits::quiet_NaN()), 0x7F);
  EXPECT_EQ(e4m3_of_f32(449.0F), 0x7E);
  EXPECT_EQ(e5m2_of_f32(1e9F), 0x7B);
  EXPECT_EQ(e5m2_of_f32(Limits::infinity()), 0x7B);
  EXPECT_EQ(e5m2_of_f32(-Limits::quiet_NaN()), 0x7F);
  EXPECT_EQ(f32_of_e4m3(0x7E), 448.0F);
  EXPECT_EQ(f32_of_e4m3(0x81), -0x1p-9F);
  EXPECT_TRUE(std::isnan(f32_of_e4m3(0xFF)));
  EXPECT_EQ(f32_of_e5m2(0xFC), -Limits::infinity());
  EXPECT_EQ(encode(kE4m3, 1e9), 0x7FU);  // without .satfinite there is no other answer
  EXPECT_EQ(encode(kE5m2, -1e9), 0xFCU);
}

TEST(SmallFloats, ReluFlushAndSaturationTreatZerosAndNanAsPtxSays) {
  EXPECT_EQ(relu(kF16, 0x8000U), 0U);
  EXPECT_EQ(relu(kF16, 0xFC00U), 0U);
  EXPECT_EQ(relu(kF16, 0x3C00U), 0x3C00U);
  EXPECT_EQ(relu(kF16, kF16.nan), kF16.nan);
  EXPECT_EQ(flush_subnormal(0x1p-126F), 0x1p-126F);
  EXPECT_EQ(flush_subnormal(0x1p-127F), 0.0F);
  EXPECT_TRUE(std::signbit(flush_subnormal(-0x1p-127F)));
  EXPECT_TRUE(std::isnan(flush_subnormal(Limits::quiet_NaN())));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(canonical(-Limits::quiet_NaN())), 0x7FFFFFFFU);
  EXPECT_EQ(canonical(-Limits::infinity()), -Limits::infinity());
  EXPECT_EQ(saturate_unit(2.0F), 1.0F);
  EXPECT_EQ(saturate_unit(0.25F), 0.25F);
  EXPECT_FALSE(std::signbit(saturate_unit(-0.0F)));
  EXPECT_EQ(saturate_unit(Limits::quiet_NaN()), 0.0F);
}

}  // namespace
}  // namespace kiln::emulated
