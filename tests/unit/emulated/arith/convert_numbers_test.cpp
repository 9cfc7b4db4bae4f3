// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

struct IntegerType {
  const char* name;
  int bits;
  bool with_sign;
  char letter;
};
constexpr IntegerType kIntegers[] = {{"u8", 8, false, 'h'},   {"s8", 8, true, 'h'},
                                     {"u16", 16, false, 'h'}, {"s16", 16, true, 'h'},
                                     {"u32", 32, false, 'r'}, {"s32", 32, true, 'r'},
                                     {"u64", 64, false, 'l'}, {"s64", 64, true, 'l'}};

/// Wide enough for every integer here, exactly.
long double number(std::uint64_t bits, const IntegerType& type) {
  const std::uint64_t mask =
      type.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1;
  bits &= mask;
  const bool negative = type.with_sign && ((bits >> (type.bits - 1)) & 1U) != 0;
  return negative ? -static_cast<long double>(mask - bits) - 1 : static_cast<long double>(bits);
}
long double smallest(const IntegerType& type) {
  return type.with_sign ? -std::ldexp(1.0L, type.bits - 1) : 0.0L;
}
long double largest(const IntegerType& type) {
  return std::ldexp(1.0L, type.with_sign ? type.bits - 1 : type.bits) - 1;
}
int width_of(char letter) {
  return letter == 'h' ? 16 : letter == 'r' ? 32 : 64;
}
/// The bits of a register that holds the integer, extended as its type says.
std::uint64_t in_register(long double value, const IntegerType& type, char letter) {
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(value));
  std::uint64_t bits = value < 0 ? 0 - magnitude : magnitude;
  if (!type.with_sign && type.bits < 64) bits &= (std::uint64_t{1} << type.bits) - 1;
  const int width = width_of(letter);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}
/// What is left of an integer in fewer bits.
long double wrapped(long double value, const IntegerType& type) {
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(value));
  return number(value < 0 ? 0 - magnitude : magnitude, type);
}

TEST(ConvertNumbers, IntegersExtendTruncateAndSaturate) {
  Rows rows;
  for (const std::uint64_t edge : lane_test::integer_edges()) rows.push_back({edge, 0, 0, 0});
  for (const IntegerType& to : kIntegers) {
    for (const IntegerType& from : kIntegers) {
      // The register may be wider than the type on either side.
      for (const char source : {'h', 'r', 'l'}) {
        for (const char result : {'h', 'r', 'l'}) {
          if (width_of(source) < from.bits || width_of(result) < to.bits) continue;
          for (const bool saturate : {false, true}) {
            const auto body = fmt::format("cvt{}.{}.{} %{}d, %{}a;", saturate ? ".sat" : "",
                                          to.name, from.name, result, source);
            const auto results = lane_test::run(body, result, rows);
            for (std::size_t i = 0; i < rows.size(); ++i) {
              const long double value = number(rows[i][0], from);
              const long double want = saturate
                                           ? std::fmin(std::fmax(value, smallest(to)), largest(to))
                                           : wrapped(value, to);
              ASSERT_EQ(results[i], in_register(want, to, result))
                  << body << std::hex << " of " << rows[i][0];
            }
          }
        }
      }
    }
  }
}

struct NamedRounding {
  const char* name;
  int host;
};
const NamedRounding kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// By the host, from a type that holds the value exactly.
template <class T>
T rounded(long double value, int rounding) {
  const int before = std::fegetround();
  std::fesetround(rounding);
  const volatile long double exact = value;
  const volatile T result = static_cast<T>(exact);
  std::fesetround(before);
  return result;
}

TEST(ConvertNumbers, IntegersRoundToFloats) {
  const Rows rows = lane_test::integer_rows();
  for (const IntegerType& from : kIntegers) {
    for (const NamedRounding& rounding : kRoundings) {
      const auto to32 =
          fmt::format("cvt.{}.f32.{} %rd, %{}a;", rounding.name, from.name, from.letter);
      const auto to64 =
          fmt::format("cvt.{}.f64.{} %ld, %{}a;", rounding.name, from.name, from.letter);
      const auto singles = lane_test::run(to32, 'r', rows);
      const auto doubles = lane_test::run(to64, 'l', rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const long double value = number(rows[i][0], from);
        ASSERT_EQ(singles[i], std::bit_cast<std::uint32_t>(rounded<float>(value, rounding.host)))
            << to32 << std::hex << rows[i][0];
        ASSERT_EQ(doubles[i], std::bit_cast<std::uint64_t>(rounded<double>(value, rounding.host)))
            << to64 << std::hex << rows[i][0];
      }
    }
    // An f64 holds shorter integers exactly, so that there is one rounding.
    if (from.bits == 64) continue;
    for (const bool brain : {false, true}) {
      const auto body =
          fmt::format("cvt.rn.{}.{} %hd, %{}a;", brain ? "bf16" : "f16", from.name, from.letter);
      const auto halves = lane_test::run(body, 'h', rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto value = static_cast<double>(number(rows[i][0], from));
        ASSERT_EQ(halves[i], encode(brain ? kBf16 : kF16, value)) << body;
      }
    }
  }
}

long double whole(long double value, const std::string& rounding) {
  if (rounding == "rzi") return std::trunc(value);
  if (rounding == "rmi") return std::floor(value);
  if (rounding == "rpi") return std::ceil(value);
  // To even, by hand.
  const long double down = std::floor(value);
  const long double rest = value - down;
  if (rest != 0.5L) return rest < 0.5L ? down : down + 1;
  return std::fmod(down, 2.0L) == 0 ? down : down + 1;
}

Rows numbers_near_integers() {
  Rows rows;
  for (const Row& row : lane_test::f32_rows()) rows.push_back(row);
  for (int i = -600; i <= 600; ++i) {
    rows.push_back({std::bit_cast<std::uint32_t>(static_cast<float>(i) / 4), 0, 0, 0});
  }
  return rows;
}

TEST(ConvertNumbers, FloatsSaturateToIntegers) {
  const Rows singles = numbers_near_integers();
  Rows doubles;
  for (const Row& row : singles) {
    const double value = std::bit_cast<float>(static_cast<std::uint32_t>(row[0]));
    doubles.push_back({std::bit_cast<std::uint64_t>(value), 0, 0, 0});
    doubles.push_back({std::bit_cast<std::uint64_t>(value * 3.7), 0, 0, 0});
  }
  for (const IntegerType& to : kIntegers) {
    for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
      for (const bool wide : {false, true}) {
        const auto body = fmt::format("cvt.{}.{}.{} %{}d, %{}a;", rounding, to.name,
                                      wide ? "f64" : "f32", to.letter, wide ? 'l' : 'r');
        const Rows& rows = wide ? doubles : singles;
        const auto results = lane_test::run(body, to.letter, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const long double value =
              wide ? static_cast<long double>(std::bit_cast<double>(rows[i][0]))
                   : static_cast<long double>(
                         std::bit_cast<float>(static_cast<std::uint32_t>(rows[i][0])));
          if (std::isnan(value)) {
            const bool zero = !wide && to.bits < 64;
            const long double high = to.with_sign ? smallest(to) : std::ldexp(1.0L, to.bits - 1);
            ASSERT_EQ(results[i], in_register(zero ? 0.0L : high, to, to.letter)) << body;
            continue;
          }
          const long double want =
              std::fmin(std::fmax(whole(value, rounding), smallest(to)), largest(to));
          ASSERT_EQ(results[i], in_register(want, to, to.letter)) << body << " of " << value;
        }
      }
    }
  }
}

TEST(ConvertNumbers, FloatsRoundToWholeNumbersAndNarrowerFloats) {
  const Rows rows = numbers_near_integers();
  const auto single = [](std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  };
  for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
    const auto body = fmt::format("cvt.{}.f32.f32 %rd, %ra;", rounding);
    const auto results = lane_test::run(body, 'r', rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float value = single(rows[i][0]);
      if (std::isnan(value)) continue;
      const auto want = static_cast<float>(whole(static_cast<long double>(value), rounding));
      ASSERT_EQ(single(results[i]), want) << body;
      ASSERT_EQ(std::signbit(single(results[i])), std::signbit(value)) << body << value;
    }
  }
  std::mt19937_64 random(3);
  Rows doubles;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t bits = random();
    // Exponents around f32's ends and in its middle.
    const std::uint64_t exponent = (i % 3 == 0 ? 860 : i % 3 == 1 ? 1140 : 1020) + random() % 40;
    doubles.push_back({(bits & 0x800FFFFFFFFFFFFFU) | (exponent << 52U), 0, 0, 0});
  }
  for (const NamedRounding& rounding : kRoundings) {
    const auto body = fmt::format("cvt.{}.f32.f64 %rd, %la;", rounding.name);
    const auto results = lane_test::run(body, 'r', doubles);
    for (std::size_t i = 0; i < doubles.size(); ++i) {
      const auto want = rounded<float>(std::bit_cast<double>(doubles[i][0]), rounding.host);
      ASSERT_EQ(results[i], std::bit_cast<std::uint32_t>(want)) << body;
    }
  }
  constexpr std::uint64_t kWideNan = 0x7FFFFFFFE0000000U;
  const auto widened = lane_test::run("cvt.f64.f32 %ld, %ra;", 'l', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float value = single(rows[i][0]);
    const std::uint64_t want =
        std::isnan(value) ? kWideNan : std::bit_cast<std::uint64_t>(static_cast<double>(value));
    ASSERT_EQ(widened[i], want);
  }
  // By another path.
  EXPECT_EQ(run_one("cvt.ftz.f64.f32 %ld, %ra;", 'l', {0xFF812345U, 0, 0, 0}), kWideNan);
  EXPECT_EQ(run_one("cvt.f64.bf16 %ld, %ha;", 'l', {0xFF81U, 0, 0, 0}), kWideNan);
}

TEST(ConvertNumbers, SaturationToTheUnitIntervalAndFlushing) {
  const auto convert = [](const char* body, std::uint64_t a) { return run_one(body, 'r', {a}); };
  EXPECT_EQ(convert("cvt.sat.f32.f32 %rd, %ra;", 0x40000000U), 0x3F800000U);
  EXPECT_EQ(convert("cvt.sat.f32.f32 %rd, %ra;", 0xBF800000U), 0U);
  EXPECT_EQ(convert("cvt.sat.f32.f32 %rd, %ra;", 0x7FC00000U), 0U);
  EXPECT_EQ(convert("cvt.rn.sat.f32.s32 %rd, %ra;", 0xFFFFFFFBU), 0U);
  EXPECT_EQ(convert("cvt.ftz.f32.f32 %rd, %ra;", 0x80000001U), 0x80000000U);
  EXPECT_EQ(convert("cvt.rpi.s32.f32 %rd, %ra;", 0x00000001U), 1U);
  EXPECT_EQ(convert("cvt.rpi.ftz.s32.f32 %rd, %ra;", 0x00000001U), 0U);
  // 2^-140 is an f64 of full precision and a subnormal f32.
  EXPECT_EQ(run_one("cvt.rn.ftz.f32.f64 %rd, %la;", 'r',
                    {std::bit_cast<std::uint64_t>(-0x1p-140), 0, 0, 0}),
            0x80000000U);
}

TEST(ConvertNumbers, WhatPtxHasNotIsRefused) {
  for (const char* body : {"cvt.f32.s32 %rd, %ra;",
                           "cvt.s32.f32 %rd, %ra;",
                           "cvt.rn.s32.f32 %rd, %ra;",
                           "cvt.rni.f32.f64 %rd, %la;",
                           "cvt.f32.f64 %rd, %la;",
                           "cvt.rn.s32.s16 %rd, %ha;",
                           "cvt.u32.u64 %hd, %la;",
                           "cvt.u64.u32 %ld, %ha;",
                           "cvt.ftz.f64.f16 %ld, %ha;",
                           "cvt.rn.relu.f32.f64 %rd, %la;",
                           "cvt.rs.f16x2.f32 %rd, %ra, %rb, %rc;",
                           "cvt.rna.f32.f64 %rd, %la;",
                           "cvt.rn.satfinite.e2m1x2.f32 %hd, %ra, %rb;",
                           "cvt.ftz.u32.u16 %rd, %ha;",
                           "cvt.rn.ftz.tf32.f32 %rd, %ra;",
                           "cvt.rn.sat.tf32.f32 %rd, %ra;",
                           "cvt.rm.relu.f16.f32 %hd, %ra;",
                           "cvt.rm.f16x2.f32 %rd, %ra, %rb;",
                           "cvt.rp.bf16x2.f32 %rd, %ra, %rb;",
                           "cvt.rna.bf16x2.f32 %rd, %ra, %rb;",
                           "cvt.rn.satfinite.f16x2.e5m2x2 %rd, %ha;"}) {
    lane_test::expect_refused(body);
  }
}

}  // namespace
}  // namespace kiln::emulated
