// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/emulated/arith/small_floats_arithmetic.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

float single_of(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
std::uint64_t raw_bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t raw_bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// f64 operands with as many edges: the f32 ones, the last bits filled.
Rows f64_rows() {
  Rows rows;
  std::mt19937_64 random(11);
  for (const Row& row : lane_test::f32_rows()) {
    const auto widen = [&](std::uint64_t a) {
      const std::uint64_t bits = raw_bits_of(static_cast<double>(single_of(a)));
      return random() % 2 == 0 ? bits : bits ^ (random() & 0x1FFFFFFFU);
    };
    rows.push_back({widen(row[0]), widen(row[1]), widen(row[2]), 0});
  }
  return rows;
}

struct HostRounding {
  const char* name;
  int host;
};
const HostRounding kHostRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// The host's own operation.
template <class T>
using Reference = std::function<T(T, T, T)>;

/// Volatile values keep the compiler from computing before or after the rounding is set.
template <class T>
T rounded(const Reference<T>& operation, int rounding, T a, T b, T c) {
  const volatile T operands[] = {a, b, c};
  const int before = std::fegetround();
  std::fesetround(rounding);
  const volatile T result = operation(operands[0], operands[1], operands[2]);
  std::fesetround(before);
  return result;
}

void expect_single(const std::string& body, const Rows& rows,
                   const std::function<float(float, float, float)>& expected) {
  const auto results = lane_test::run(body, 'r', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float want =
        expected(single_of(rows[i][0]), single_of(rows[i][1]), single_of(rows[i][2]));
    ASSERT_EQ(results[i], raw_bits_of(want))
        << body << fmt::format(" of {:#x}, {:#x}, {:#x}", rows[i][0], rows[i][1], rows[i][2]);
  }
}

/// All roundings, with and without .ftz and .sat.
void expect_forms(const std::string& name, const std::string& operands,
                  const Reference<float>& reference, bool saturates, bool products = false) {
  const Rows rows = lane_test::f32_rows();
  for (const HostRounding& r : kHostRoundings) {
    for (const bool flush : {false, true}) {
      for (const bool saturate : {false, true}) {
        if (saturate && !saturates) continue;
        const auto body = fmt::format("{}.{}{}{}.f32 {};", name, r.name, flush ? ".ftz" : "",
                                      saturate ? ".sat" : "", operands);
        expect_single(body, rows, [&](float a, float b, float c) {
          const auto flushed = [&](float x) {
            return flush && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
          };
          a = flushed(a);
          b = flushed(b);
          c = flushed(c);
          float result = flushed(rounded(reference, r.host, a, b, c));
          // .ftz judges products by what they are without an end of exponents, here 2^32 higher.
          if (flush && products && std::fabs(result) == 0x1p-126F) {
            float& smaller = std::fabs(a) < std::fabs(b) ? a : b;
            smaller *= 0x1p32F;
            const float higher = rounded(reference, r.host, a, b, c * 0x1p32F);
            if (std::fabs(higher) < 0x1p-94F) result = std::copysign(0.0F, result);
          }
          if (saturate) result = !(result > 0) ? 0.0F : std::fmin(result, 1.0F);
          return std::isnan(result) ? single_of(0x7FFFFFFFU) : result;
        });
      }
    }
  }
}

void expect_double(const std::string& name, const std::string& operands,
                   const Reference<double>& reference) {
  const Rows rows = f64_rows();
  for (const HostRounding& r : kHostRoundings) {
    const auto body = fmt::format("{}.{}.f64 {};", name, r.name, operands);
    const auto results = lane_test::run(body, 'l', rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = [&](std::size_t k) { return std::bit_cast<double>(rows[i][k]); };
      const double want = rounded(reference, r.host, at(0), at(1), at(2));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(std::bit_cast<double>(results[i]))) << body;
      } else {
        ASSERT_EQ(results[i], raw_bits_of(want)) << body << fmt::format(" of {}, {}", at(0), at(1));
      }
    }
  }
}

TEST(FloatArithmetic, SinglesRoundAsTold) {
  using F = float;
  expect_forms(
      "add", "%rd, %ra, %rb", [](F a, F b, F) { return a + b; }, true);
  expect_forms(
      "sub", "%rd, %ra, %rb", [](F a, F b, F) { return a - b; }, true);
  expect_forms(
      "mul", "%rd, %ra, %rb", [](F a, F b, F) { return a * b; }, true, true);
  expect_forms(
      "fma", "%rd, %ra, %rb, %rc", [](F a, F b, F c) { return std::fma(a, b, c); }, true, true);
  expect_forms(
      "div", "%rd, %ra, %rb", [](F a, F b, F) { return a / b; }, false);
  expect_forms(
      "rcp", "%rd, %ra", [](F a, F, F) { return 1 / a; }, false);
  expect_forms(
      "sqrt", "%rd, %ra", [](F a, F, F) { return std::sqrt(a); }, false);
}

TEST(FloatArithmetic, DoublesRoundAsTold) {
  using D = double;
  expect_double("add", "%ld, %la, %lb", [](D a, D b, D) { return a + b; });
  expect_double("sub", "%ld, %la, %lb", [](D a, D b, D) { return a - b; });
  expect_double("mul", "%ld, %la, %lb", [](D a, D b, D) { return a * b; });
  expect_double("fma", "%ld, %la, %lb, %lc", [](D a, D b, D c) { return std::fma(a, b, c); });
  expect_double("mad", "%ld, %la, %lb, %lc", [](D a, D b, D c) { return std::fma(a, b, c); });
  expect_double("div", "%ld, %la, %lb", [](D a, D b, D) { return a / b; });
  expect_double("rcp", "%ld, %la", [](D a, D, D) { return 1 / a; });
  expect_double("sqrt", "%ld, %la", [](D a, D, D) { return std::sqrt(a); });
}

TEST(FloatArithmetic, RoundingOfOneInstructionLeavesTheNextAlone) {
  // 1 + 2^-24 is halfway: up with .rp, to even with .rn.
  const Row row{0x3F800000U, 0x33800000U, 0, 0};
  EXPECT_EQ(run_one("add.rp.f32 %r1, %ra, %rb; add.f32 %rd, %ra, %rb;", 'r', row), 0x3F800000U);
  EXPECT_EQ(run_one("add.f32 %r1, %ra, %rb; add.rp.f32 %rd, %ra, %rb;", 'r', row), 0x3F800001U);
}

TEST(FloatArithmetic, ProductsAndSumsAreNotFused) {
  // (1 + 2^-12)^2 is 1 + 2^-11 once it is rounded; a fused sum would leave 2^-24.
  const float factor = 1.0F + 0x1p-12F;
  const Row row{raw_bits_of(factor), raw_bits_of(-(1.0F + 0x1p-11F)), 0, 0};
  EXPECT_EQ(single_of(run_one("mul.f32 %r1, %ra, %ra; add.f32 %rd, %r1, %rb;", 'r', row)), 0.0F);
  EXPECT_EQ(single_of(run_one("fma.rn.f32 %rd, %ra, %ra, %rb;", 'r', row)), 0x1p-24F);
}

TEST(FloatArithmetic, ApproximateDivisionHasItsSpecialCases) {
  const auto div = [](const char* form, std::uint32_t a, std::uint32_t b) {
    return run_one(fmt::format("div.{}.f32 %rd, %ra, %rb;", form), 'r', {a, b, 0, 0});
  };
  EXPECT_EQ(div("approx", 0x40C00000U, 0x40000000U), 0x40400000U);  // 6 / 2
  EXPECT_EQ(div("full.ftz", 0x40C00000U, 0x40000000U), 0x40400000U);
  // A divisor above 2^126 has a reciprocal of zero; .full scales before.
  EXPECT_EQ(div("approx", 0x7F000000U, 0x7F000000U), 0U);
  EXPECT_EQ(div("full", 0x7F000000U, 0x7F000000U), 0x3F800000U);
  EXPECT_EQ(div("approx", 0x7F800000U, 0x7F000000U), 0x7FFFFFFFU);
  EXPECT_EQ(div("approx", 0x3F800000U, 0U), 0x7F800000U);
}

TEST(FloatArithmetic, SignsAreBitsAndChoicesKnowNan) {
  const Rows rows = lane_test::f32_rows();
  const auto flushed = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
  };
  // The smaller one with -0 below +0; a number rather than NaN.
  const auto smaller = [](float a, float b) {
    if (std::isnan(a) && std::isnan(b)) return single_of(0x7FFFFFFFU);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  const auto larger = [&](float a, float b) {
    if (std::isnan(a) && std::isnan(b)) return single_of(0x7FFFFFFFU);
    return -smaller(-a, -b);
  };
  const auto either_nan = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  expect_single("min.f32 %rd, %ra, %rb;", rows,
                [&](float a, float b, float) { return smaller(a, b); });
  expect_single("max.f32 %rd, %ra, %rb;", rows,
                [&](float a, float b, float) { return larger(a, b); });
  expect_single("min.ftz.f32 %rd, %ra, %rb;", rows,
                [&](float a, float b, float) { return smaller(flushed(a), flushed(b)); });
  expect_single("max.NaN.f32 %rd, %ra, %rb;", rows, [&](float a, float b, float) {
    return either_nan(a, b) ? single_of(0x7FFFFFFFU) : larger(a, b);
  });
  expect_single("min.NaN.xorsign.abs.f32 %rd, %ra, %rb;", rows, [&](float a, float b, float) {
    if (either_nan(a, b)) return single_of(0x7FFFFFFFU);
    const float magnitude = smaller(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  });
  expect_single("max.f32 %rd, %ra, %rb, %rc;", rows,
                [&](float a, float b, float c) { return larger(larger(a, b), c); });
  expect_single("copysign.f32 %rd, %ra, %rb;", rows, [&](float a, float b, float) {
    return single_of((raw_bits_of(a) & 0x80000000U) | (raw_bits_of(b) & 0x7FFFFFFFU));
  });
  EXPECT_EQ(run_one("abs.f32 %rd, %ra;", 'r', {0x80000001U, 0, 0, 0}), 0x00000001U);
  EXPECT_EQ(run_one("abs.ftz.f32 %rd, %ra;", 'r', {0x80000001U, 0, 0, 0}), 0U);
  EXPECT_EQ(run_one("neg.ftz.f32 %rd, %ra;", 'r', {0x00000001U, 0, 0, 0}), 0x80000000U);
  EXPECT_EQ(run_one("neg.f64 %ld, %la;", 'l', {raw_bits_of(2.5), 0, 0, 0}), raw_bits_of(-2.5));
  EXPECT_EQ(run_one("abs.f64 %ld, %la;", 'l', {raw_bits_of(-0.0), 0, 0, 0}), 0U);
  EXPECT_EQ(run_one("min.f64 %ld, %la, %lb;", 'l', {raw_bits_of(0.0), raw_bits_of(-0.0), 0, 0}),
            raw_bits_of(-0.0));
  EXPECT_EQ(
      run_one("max.f64 %ld, %la, %lb;", 'l', {raw_bits_of(std::nan("")), raw_bits_of(-3.0), 0, 0}),
      raw_bits_of(-3.0));
}

TEST(FloatArithmetic, PropertiesOfNumbersAreTested) {
  struct Case {
    std::uint32_t bits;
    bool finite, infinite, number, normal, subnormal;
  };
  for (const Case& c : {Case{0x3F800000U, true, false, true, true, false},
                        Case{0x80000000U, true, false, true, true, false},
                        Case{0x00000001U, true, false, true, false, true},
                        Case{0xFF800000U, false, true, true, false, false},
                        Case{0x7FC00000U, false, false, false, false, false}}) {
    const auto test = [&](const char* property) {
      return run_one(fmt::format("testp.{}.f32 %pd, %ra;", property), 'p', {c.bits, 0, 0, 0}) != 0;
    };
    EXPECT_EQ(test("finite"), c.finite);
    EXPECT_EQ(test("infinite"), c.infinite);
    EXPECT_EQ(test("number"), c.number);
    EXPECT_EQ(test("notanumber"), !c.number);
    EXPECT_EQ(test("normal"), c.normal);
    EXPECT_EQ(test("subnormal"), c.subnormal);
  }
  EXPECT_EQ(run_one("testp.subnormal.f64 %pd, %la;", 'p', {1, 0, 0, 0}), 1U);
}

TEST(FloatArithmetic, ApproximationsAreTheFunctions) {
  struct Function {
    const char* name;
    double (*exact)(double);
  };
  const Function functions[] = {{"sin", [](double x) { return std::sin(x); }},
                                {"cos", [](double x) { return std::cos(x); }},
                                {"lg2", [](double x) { return std::log2(x); }},
                                {"ex2", [](double x) { return std::exp2(x); }},
                                {"rcp", [](double x) { return 1.0 / x; }},
                                {"sqrt", [](double x) { return std::sqrt(x); }},
                                {"rsqrt", [](double x) { return 1.0 / std::sqrt(x); }},
                                {"tanh", [](double x) { return std::tanh(x); }}};
  Rows rows;
  std::mt19937 random(17);
  for (int i = 0; i < 512; ++i) {
    rows.push_back(
        {raw_bits_of(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 97), 0, 0, 0});
  }
  for (const std::uint64_t edge : lane_test::f32_edges()) rows.push_back({edge, 0, 0, 0});
  for (const Function& function : functions) {
    for (const bool flush : {false, true}) {
      if (flush && std::string_view(function.name) == "tanh") continue;
      const auto results = lane_test::run(
          fmt::format("{}.approx{}.f32 %rd, %ra;", function.name, flush ? ".ftz" : ""), 'r', rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        float x = single_of(rows[i][0]);
        if (flush && std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0F, x);
        auto want = static_cast<float>(function.exact(static_cast<double>(x)));
        if (flush && std::fpclassify(want) == FP_SUBNORMAL) want = std::copysign(0.0F, want);
        if (std::isnan(want)) want = single_of(0x7FFFFFFFU);
        ASSERT_EQ(results[i], raw_bits_of(want)) << function.name << " of " << x;
      }
    }
  }
}

TEST(FloatArithmetic, ApproximationsOfDoublesDropTheLowerWord) {
  EXPECT_EQ(run_one("rcp.approx.ftz.f64 %ld, %la;", 'l', {raw_bits_of(3.0), 0, 0, 0}),
            raw_bits_of(1.0 / 3.0) & ~std::uint64_t{0xFFFFFFFFU});
  EXPECT_EQ(run_one("rsqrt.approx.f64 %ld, %la;", 'l', {raw_bits_of(4.0), 0, 0, 0}),
            raw_bits_of(0.5));
  EXPECT_EQ(run_one("rsqrt.approx.ftz.f64 %ld, %la;", 'l', {raw_bits_of(5e-324), 0, 0, 0}),
            raw_bits_of(HUGE_VAL));
}

TEST(FloatArithmetic, WhatPtxHasNotIsRefused) {
  for (const char* body :
       {"add.ftz.f64 %ld, %la, %lb;", "div.f32 %rd, %ra, %rb;", "div.approx.f64 %ld, %la, %lb;",
        "rcp.f32 %rd, %ra;", "rcp.approx.f64 %ld, %la;", "tanh.approx.ftz.f32 %rd, %ra;",
        "sin.f32 %rd, %ra;", "min.NaN.f64 %ld, %la, %lb;", "min.xorsign.f32 %rd, %ra, %rb;",
        "add.rna.f32 %rd, %ra, %rb;", "fma.rn.f32 %rd, %ra, %rb;", "testp.odd.f32 %pd, %ra;"}) {
    lane_test::expect_refused(body);
  }
}

}  // namespace
}  // namespace kiln::emulated
