// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
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

float single(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
std::uint64_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// What rounding `value` into a format of 16 or 8 bits gives, found by search among all its
/// non-negative values. NaN and infinities are the caller's.
std::uint32_t nearest(const FloatFormat& format, float value, Rounding rounding) {
  const double magnitude = std::fabs(static_cast<double>(value));
  // The largest one that is not above.
  std::uint32_t low = 0;
  std::uint32_t high = format.largest + 1;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (static_cast<double>(decode(format, middle)) <= magnitude ? low : high) = middle;
  }
  const double below = static_cast<double>(decode(format, low));
  // One step above the largest counts as a number here, to know which way it rounds.
  const double step = below - static_cast<double>(decode(format, low == 0 ? 1 : low - 1));
  const double above =
      low == format.largest ? below + step : static_cast<double>(decode(format, low + 1));
  const double half = below + (above - below) / 2;
  bool up = magnitude > half || (magnitude == half && low % 2 == 1);
  if (rounding == Rounding::nearest_away) up = magnitude >= half;
  if (rounding == Rounding::toward_zero) up = false;
  if (rounding == Rounding::down) up = magnitude > below && std::signbit(value);
  if (rounding == Rounding::up) up = magnitude > below && !std::signbit(value);
  return (low + (up ? 1 : 0)) | (std::signbit(value) ? format.sign : 0U);
}

/// f32 whose last places lie at the ties of the narrower formats.
Rows tie_rows() {
  Rows rows = lane_test::f32_rows();
  std::mt19937 random(31);
  for (const unsigned kept : {2U, 3U, 7U, 10U}) {
    for (int i = 0; i < 400; ++i) {
      const std::uint32_t unit = 1U << (23 - kept);
      const auto exponent =
          static_cast<std::uint32_t>(random() % 2 == 0 ? 100 + random() % 50 : random() % 255)
          << 23;
      const std::uint32_t mantissa = (random() & 0x7FFFFFU) & ~(unit - 1);
      const auto tie = static_cast<std::uint32_t>(unit / 2 + random() % 3 - 1);
      rows.push_back({exponent | mantissa | tie | (random() & 0x80000000U), random(), 0, 0});
    }
  }
  return rows;
}

struct Form {
  const char* type;
  const FloatFormat* format;
  const char* rounding;
  Rounding mode;
};
constexpr Form kForms[] = {
    {"f16", &kF16, "rn", Rounding::nearest_even},   {"f16", &kF16, "rz", Rounding::toward_zero},
    {"f16", &kF16, "rm", Rounding::down},           {"f16", &kF16, "rp", Rounding::up},
    {"bf16", &kBf16, "rn", Rounding::nearest_even}, {"bf16", &kBf16, "rz", Rounding::toward_zero},
    {"bf16", &kBf16, "rm", Rounding::down},         {"bf16", &kBf16, "rp", Rounding::up}};

/// The whole conversion of one f32.
std::uint32_t expected(const Form& form, float value, bool relu, bool finite) {
  const FloatFormat& format = *form.format;
  if (std::isnan(value)) return format.nan;
  std::uint32_t bits = std::isinf(value)
                           ? format.infinity | (std::signbit(value) ? format.sign : 0U)
                           : nearest(format, value, form.mode);
  const std::uint32_t sign = bits & format.sign;
  const bool beyond = (bits & ~format.sign) > format.largest;
  if (finite && beyond) bits = format.largest | sign;
  return relu && sign != 0 ? 0U : bits;
}

TEST(ConvertPacked, HalvesAreTheNearestOnTheirSide) {
  const Rows rows = tie_rows();
  for (const Form& form : kForms) {
    const auto body = fmt::format("cvt.{}.{}.f32 %hd, %ra;", form.rounding, form.type);
    const auto results = lane_test::run(body, 'h', rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(results[i], expected(form, single(rows[i][0]), false, false))
          << body << std::hex << rows[i][0];
    }
  }
}

TEST(ConvertPacked, TwoFloatsBecomeAPairWithTheFirstOnTop) {
  const Rows rows = tie_rows();
  for (const Form& form : kForms) {
    if (form.mode == Rounding::down || form.mode == Rounding::up) continue;
    for (const bool relu : {false, true}) {
      for (const bool finite : {false, true}) {
        const auto body = fmt::format("cvt.{}{}{}.{}x2.f32 %rd, %ra, %rb;", form.rounding,
                                      relu ? ".relu" : "", finite ? ".satfinite" : "", form.type);
        const auto results = lane_test::run(body, 'r', rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const std::uint32_t upper = expected(form, single(rows[i][0]), relu, finite);
          const std::uint32_t lower = expected(form, single(rows[i][1]), relu, finite);
          ASSERT_EQ(results[i], (upper << 16U) | lower) << body << std::hex << rows[i][0];
        }
      }
    }
  }
}

TEST(ConvertPacked, EightBitFloatsSaturate) {
  const Rows rows = tie_rows();
  const Form forms[] = {{"e4m3x2", &kE4m3, "rn", Rounding::nearest_even},
                        {"e5m2x2", &kE5m2, "rn", Rounding::nearest_even}};
  for (const Form& form : forms) {
    for (const bool relu : {false, true}) {
      const auto expect = [&](float value) {
        const FloatFormat& format = *form.format;
        if (std::isinf(value)) {
          return std::signbit(value) ? (relu ? 0U : format.largest | format.sign) : format.largest;
        }
        return expected(form, value, relu, true);
      };
      const auto body =
          fmt::format("cvt.rn.satfinite{}.{}.f32 %hd, %ra, %rb;", relu ? ".relu" : "", form.type);
      const auto results = lane_test::run(body, 'h', rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(results[i], (expect(single(rows[i][0])) << 8U) | expect(single(rows[i][1])))
            << body << std::hex << rows[i][0];
      }
      const auto from_halves =
          fmt::format("cvt.rn.satfinite{}.{}.f16x2 %hd, %ra;", relu ? ".relu" : "", form.type);
      const auto halves = lane_test::run(from_halves, 'h', rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto upper = static_cast<std::uint32_t>((rows[i][0] >> 16U) & 0xFFFFU);
        const auto lower = static_cast<std::uint32_t>(rows[i][0] & 0xFFFFU);
        ASSERT_EQ(halves[i], (expect(decode(kF16, upper)) << 8U) | expect(decode(kF16, lower)))
            << from_halves << std::hex << rows[i][0];
      }
    }
  }
}

TEST(ConvertPacked, EveryNarrowValueWidensExactly) {
  Rows rows;
  for (std::uint64_t bits = 0; bits < 0x10000; ++bits) rows.push_back({bits, 0, 0, 0});
  const auto f16 = lane_test::run("cvt.f32.f16 %rd, %ha;", 'r', rows);
  const auto bf16 = lane_test::run("cvt.f32.bf16 %rd, %ha;", 'r', rows);
  const auto f64 = lane_test::run("cvt.f64.f16 %ld, %ha;", 'l', rows);
  const auto e4m3 = lane_test::run("cvt.rn.f16x2.e4m3x2 %rd, %ha;", 'r', rows);
  const auto plain = lane_test::run("cvt.rn.f16x2.e5m2x2 %rd, %ha;", 'r', rows);
  const auto e5m2 = lane_test::run("cvt.rn.relu.f16x2.e5m2x2 %rd, %ha;", 'r', rows);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = decode(kF16, bits);
    ASSERT_EQ(f16[bits], bits_of(value));
    ASSERT_EQ(bf16[bits], bits_of(decode(kBf16, bits)));
    if (!std::isnan(value)) {
      ASSERT_EQ(f64[bits], std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    }
    // Each byte is a half whose value is the same.
    for (const unsigned part : {0U, 1U}) {
      const std::uint32_t byte = (bits >> (8 * part)) & 0xFFU;
      const auto half = [&](std::uint64_t word) {
        return decode(kF16, static_cast<std::uint32_t>(word >> (16 * part)) & 0xFFFFU);
      };
      ASSERT_EQ(bits_of(half(e4m3[bits])), bits_of(decode(kE4m3, byte)));
      const float wide = decode(kE5m2, byte);
      ASSERT_EQ(bits_of(half(plain[bits])), bits_of(wide));
      ASSERT_EQ(bits_of(half(e5m2[bits])), bits_of(std::signbit(wide) ? 0.0F : wide));
    }
  }
}

TEST(ConvertPacked, Tf32KeepsTenBitsOfMantissa) {
  const Rows rows = tie_rows();
  const auto away = lane_test::run("cvt.rna.tf32.f32 %rd, %ra;", 'r', rows);
  const auto even = lane_test::run("cvt.rn.tf32.f32 %rd, %ra;", 'r', rows);
  const auto cut = lane_test::run("cvt.rz.relu.tf32.f32 %rd, %ra;", 'r', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(rows[i][0]);
    if (std::isnan(single(bits))) continue;
    ASSERT_EQ(away[i], (bits + 0x1000U) & ~0x1FFFU);
    ASSERT_EQ(even[i], (bits + 0xFFFU + ((bits >> 13U) & 1U)) & ~0x1FFFU);
    ASSERT_EQ(cut[i], (bits >> 31U) != 0 ? 0U : bits & ~0x1FFFU);
  }
}

TEST(ConvertPacked, Tf32KeepsTheUpperBitsOfNan) {
  EXPECT_EQ(run_one("cvt.rna.tf32.f32 %rd, %ra;", 'r', {0x7F812345U, 0, 0, 0}), 0x7F812000U);
  EXPECT_EQ(run_one("cvt.rna.tf32.f32 %rd, %ra;", 'r', {0x7F7FFFFFU, 0, 0, 0}), 0x7F800000U);
  EXPECT_EQ(run_one("cvt.rna.satfinite.tf32.f32 %rd, %ra;", 'r', {0x7F7FFFFFU, 0, 0, 0}),
            0x7F7FE000U);
  lane_test::expect_refused("cvt.rna.relu.tf32.f32 %rd, %ra;");
}

TEST(ConvertPacked, IntegersAndHalvesConvertBothWays) {
  const auto one = [](const char* body, char result, std::uint64_t a) {
    return run_one(body, result, {a, 0, 0, 0});
  };
  EXPECT_EQ(one("cvt.rn.f16.s32 %hd, %ra;", 'h', 2049), 0x6800U);  // a tie, to even
  EXPECT_EQ(one("cvt.rp.f16.s32 %hd, %ra;", 'h', 2049), 0x6801U);
  EXPECT_EQ(one("cvt.rz.f16.u32 %hd, %ra;", 'h', 70000), 0x7BFFU);
  EXPECT_EQ(one("cvt.rn.f16.u32 %hd, %ra;", 'h', 70000), 0x7C00U);
  // Just above a tie of bf16, by a bit that an f64 cannot hold.
  EXPECT_EQ(one("cvt.rn.bf16.u64 %hd, %la;", 'h', 0x8080000000000001U), 0x5F01U);
  EXPECT_EQ(one("cvt.rn.bf16.u64 %hd, %la;", 'h', 0x8080000000000000U), 0x5F00U);
  EXPECT_EQ(one("cvt.rzi.s8.f16 %hd, %ha;", 'h', 0xD960U), 0xFF80U);  // -172, sign extended
  EXPECT_EQ(one("cvt.rzi.u8.f16 %hd, %ha;", 'h', 0x5C00U), 0xFFU);    // 256
  EXPECT_EQ(one("cvt.rni.s32.bf16 %rd, %ha;", 'r', 0x4020U), 2U);     // 2.5
  EXPECT_EQ(one("cvt.rpi.f16.f16 %hd, %ha;", 'h', 0x3C01U), 0x4000U);
  EXPECT_EQ(one("cvt.rn.f16.f64 %hd, %la;", 'h', std::bit_cast<std::uint64_t>(65519.99)), 0x7BFFU);
  EXPECT_EQ(one("cvt.rn.bf16.f16 %hd, %ha;", 'h', 0x3C01U), 0x3F80U);
  EXPECT_EQ(one("cvt.sat.f16.f16 %hd, %ha;", 'h', 0x4000U), 0x3C00U);
  // A half in a wider register: the rest is ignored, and filled with zeros.
  EXPECT_EQ(one("cvt.f32.f16 %rd, %ra;", 'r', 0xABCD3C00U), 0x3F800000U);
  EXPECT_EQ(one("cvt.rn.f16.f32 %rd, %ra;", 'r', 0xBF800000U), 0x0000BC00U);
}

TEST(ConvertPacked, PackSaturatesAndShiftsIn) {
  const Row row{static_cast<std::uint32_t>(-5), 300, 0x12345678U, 0};
  EXPECT_EQ(run_one("cvt.pack.sat.u8.s32.b32 %rd, %ra, %rb, %rc;", 'r', row), 0x567800FFU);
  EXPECT_EQ(run_one("cvt.pack.sat.s8.s32.b32 %rd, %ra, %rb, %rc;", 'r', row), 0x5678FB7FU);
  EXPECT_EQ(run_one("cvt.pack.sat.s4.s32.b32 %rd, %ra, %rb, %rc;", 'r', row), 0x345678B7U);
  EXPECT_EQ(run_one("cvt.pack.sat.u2.s32.b32 %rd, %ra, %rb, %rc;", 'r', row), 0x23456783U);
  EXPECT_EQ(run_one("cvt.pack.sat.s16.s32 %rd, %ra, %rb;", 'r', {0xFFFF0000U, 70000, 0, 0}),
            0x80007FFFU);
  EXPECT_EQ(run_one("cvt.pack.sat.u16.s32 %rd, %ra, %rb;", 'r', {0xFFFF0000U, 70000, 0, 0}),
            0x0000FFFFU);
  lane_test::expect_refused("cvt.pack.u8.s32.b32 %rd, %ra, %rb, %rc;");
  lane_test::expect_refused("cvt.rn.e4m3x2.f32 %hd, %ra, %rb;", "satfinite");
}

}  // namespace
}  // namespace kiln::emulated
