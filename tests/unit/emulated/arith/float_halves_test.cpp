// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

struct Half {
  const char* name;
  const FloatFormat* format;

  [[nodiscard]] double value(std::uint64_t bits) const {
    return static_cast<double>(decode(*format, static_cast<std::uint32_t>(bits) & 0xFFFFU));
  }
  [[nodiscard]] std::uint64_t bits(double value) const { return encode(*format, value); }
};
const Half kF16Half{"f16", &kF16};
const Half kBf16Half{"bf16", &kBf16};

/// Pairs of halves, all edges among them.
Rows half_rows() {
  std::vector<std::uint32_t> edges;
  for (const std::uint32_t magnitude :
       {0x0000U, 0x0001U, 0x007FU, 0x0080U, 0x03FFU, 0x0400U, 0x1400U,
        0x3800U, 0x3BFFU, 0x3C00U, 0x3C01U, 0x3F80U, 0x4000U, 0x4248U,
        0x7800U, 0x7BFFU, 0x7C00U, 0x7E00U, 0x7F7FU, 0x7F80U, 0x7FFFU}) {
    edges.push_back(magnitude);
    edges.push_back(magnitude | 0x8000U);
  }
  Rows rows;
  std::mt19937 random(23);
  for (const std::uint32_t a : edges) {
    for (const std::uint32_t b : edges) {
      // The upper halves are others than the lower ones.
      rows.push_back({a | (b << 16U), b | (random() << 16U), random(), 0});
    }
  }
  for (int i = 0; i < 4000; ++i) rows.push_back({random(), random(), random(), 0});
  return rows;
}

using Operation = std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)>;

/// The single form on lower halves and the packed form on both.
void expect_half(const std::string& name, const Half& half, int sources,
                 const Operation& operation) {
  const Rows rows = half_rows();
  const char* const operands[] = {"%{0}d, %{0}a;", "%{0}d, %{0}a, %{0}b;",
                                  "%{0}d, %{0}a, %{0}b, %{0}c;"};
  const auto text = [&](const char* pair, char letter) {
    const auto list = fmt::format(fmt::runtime(operands[sources - 1]), letter);
    return fmt::format("{}.{}{} {}", name, half.name, pair, list);
  };
  const auto singles = lane_test::run(text("", 'h'), 'h', rows);
  const auto pairs = lane_test::run(text("x2", 'r'), 'r', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto part = [&](unsigned shift) {
      const auto at = [&](std::size_t k) { return (rows[i][k] >> shift) & 0xFFFFU; };
      return operation(at(0), at(1), at(2));
    };
    ASSERT_EQ(singles[i], part(0)) << text("", 'h') << std::hex << rows[i][0] << rows[i][1];
    ASSERT_EQ(pairs[i], part(0) | (part(16) << 16U)) << text("x2", 'r');
  }
}

TEST(FloatHalves, SumsAndProductsRoundOnce) {
  for (const Half& half : {kF16Half, kBf16Half}) {
    // In f64, sums and products of two halves are exact but for sums of very unlike bf16, whose
    // smaller part is far below a rounding.
    const auto exact = [&half](double (*operation)(double, double)) {
      return [&half, operation](std::uint64_t a, std::uint64_t b, std::uint64_t) {
        return half.bits(operation(half.value(a), half.value(b)));
      };
    };
    expect_half("add", half, 2, exact([](double a, double b) { return a + b; }));
    expect_half("sub.rn", half, 2, exact([](double a, double b) { return a - b; }));
    expect_half("mul", half, 2, exact([](double a, double b) { return a * b; }));
  }
}

/// a * b + c in f64, when that is exact: then one rounding is left to do.
bool sum_is_exact(double product, double c) {
  const double sum = product + c;
  return std::isfinite(sum) && sum - c == product && sum - product == c;
}

TEST(FloatHalves, FusedProductsRoundOnce) {
  for (const Half& half : {kF16Half, kBf16Half}) {
    const Rows rows = half_rows();
    const auto text = fmt::format("fma.rn.{}x2 %rd, %ra, %rb, %rc;", half.name);
    const auto relu = fmt::format("fma.rn.relu.{}x2 %rd, %ra, %rb, %rc;", half.name);
    const auto results = lane_test::run(text, 'r', rows);
    const auto positive = lane_test::run(relu, 'r', rows);
    int compared = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const unsigned shift : {0U, 16U}) {
        const auto at = [&](std::size_t k) { return half.value(rows[i][k] >> shift); };
        const std::uint64_t result = (results[i] >> shift) & 0xFFFFU;
        const std::uint64_t without_sign = (result & 0x8000U) != 0 ? 0U : result;
        EXPECT_EQ((positive[i] >> shift) & 0xFFFFU, without_sign);
        const double product = at(0) * at(1);
        if (!sum_is_exact(product, at(2))) continue;
        ASSERT_EQ(result, half.bits(product + at(2))) << text;
        ++compared;
      }
    }
    EXPECT_GT(compared, 1000);
  }
}

TEST(FloatHalves, FactorsOutsideOfTheirTensorMakeNothing) {
  Rows rows = half_rows();
  for (const std::uint64_t fill : {fill_nan(TensorType::f16), fill_nan(TensorType::bf16)}) {
    EXPECT_EQ(fill, 0x7FF7U);
    for (const std::uint64_t outside : {fill, fill | 0x8000U}) {
      rows.push_back({outside | 0x3C000000U, 0x3C003C00U, 0x3C003C00U, 0});  // a of the lower half
      rows.push_back({0x7FFF3C00U, 0x3C00U | (outside << 16U), 0x7FFF7FFFU, 0});  // b of the upper
      rows.push_back({0x3C003C00U, 0x3C003C00U, outside, 0});  // c: a NaN like any other
    }
  }
  for (const Half& half : {kF16Half, kBf16Half}) {
    for (const char* relu : {"", ".relu"}) {
      const auto run = [&](const char* oob) {
        return lane_test::run(
            fmt::format("fma.rn{}{}.{}x2 %rd, %ra, %rb, %rc;", oob, relu, half.name), 'r', rows);
      };
      const auto plain = run("");
      const auto inside = run(".oob");
      int outside = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const unsigned shift : {0U, 16U}) {
          const auto is_outside = [&](std::size_t k) {
            return (rows[i][k] >> shift & 0x7FFFU) == 0x7FF7U;
          };
          const bool zero = is_outside(0) || is_outside(1);
          outside += zero ? 1 : 0;
          EXPECT_EQ(inside[i] >> shift & 0xFFFFU, zero ? 0U : plain[i] >> shift & 0xFFFFU);
        }
      }
      EXPECT_GE(outside, 8);
    }
    // The single form.
    const auto text = fmt::format("fma.rn.oob.{} %hd, %ha, %hb, %hc;", half.name);
    EXPECT_EQ(run_one(text, 'h', {0x7FF7U, 0x7FFFU, 0x7FFFU, 0}) & 0xFFFFU, 0U);
    EXPECT_EQ(run_one(text, 'h', {half.bits(2), half.bits(3), half.bits(1), 0}) & 0xFFFFU,
              half.bits(7));
  }
}

TEST(FloatHalves, FlushingAndSaturationOfF16) {
  const auto flushed = [](std::uint64_t a) { return (a & 0x7C00U) == 0 ? a & 0x8000U : a; };
  const auto sum = [&](std::uint64_t a, std::uint64_t b) {
    return kF16Half.value(a) + kF16Half.value(b);
  };
  expect_half("add.ftz", kF16Half, 2, [&](std::uint64_t a, std::uint64_t b, std::uint64_t) {
    return flushed(kF16Half.bits(sum(flushed(a), flushed(b))));
  });
  expect_half("add.sat", kF16Half, 2, [&](std::uint64_t a, std::uint64_t b, std::uint64_t) {
    const double value = sum(a, b);
    return kF16Half.bits(value > 0 ? std::fmin(value, 1.0) : 0.0);
  });
}

TEST(FloatHalves, SignsAndChoices) {
  for (const Half& half : {kF16Half, kBf16Half}) {
    expect_half("abs", half, 1, [](auto a, auto, auto) { return a & 0x7FFFU; });
    expect_half("neg", half, 1, [](auto a, auto, auto) { return a ^ 0x8000U; });
    // As sign and magnitude: -0 is below +0.
    const auto order = [](std::uint64_t a) {
      const auto magnitude = static_cast<int>(a & 0x7FFFU);
      return (a & 0x8000U) != 0 ? -magnitude - 1 : magnitude;
    };
    const auto nan = [&](std::uint64_t a) { return std::isnan(half.value(a)); };
    const auto smaller = [&](std::uint64_t a, std::uint64_t b) -> std::uint64_t {
      if (nan(a)) return nan(b) ? 0x7FFFU : b;
      return nan(b) || order(a) < order(b) ? a : b;
    };
    expect_half("min", half, 2, [&](auto a, auto b, auto) { return smaller(a, b); });
    expect_half("max.NaN", half, 2, [&](auto a, auto b, auto) -> std::uint64_t {
      if (nan(a) || nan(b)) return 0x7FFFU;
      return smaller(a ^ 0x8000U, b ^ 0x8000U) ^ 0x8000U;
    });
    expect_half("min.xorsign.abs", half, 2, [&](auto a, auto b, auto) -> std::uint64_t {
      const std::uint64_t magnitude = smaller(a & 0x7FFFU, b & 0x7FFFU);
      return nan(magnitude) ? magnitude : magnitude | ((a ^ b) & 0x8000U);
    });
  }
}

TEST(FloatHalves, ExponentialAndHyperbolicTangent) {
  for (const Half& half : {kF16Half, kBf16Half}) {
    expect_half("tanh.approx", half, 1,
                [&](auto a, auto, auto) { return half.bits(std::tanh(half.value(a))); });
  }
  expect_half("ex2.approx", kF16Half, 1,
              [](auto a, auto, auto) { return kF16Half.bits(std::exp2(kF16Half.value(a))); });
  expect_half("ex2.approx.ftz", kBf16Half, 1, [](auto a, auto, auto) {
    const double value = std::exp2(kBf16Half.value(a));
    return kBf16Half.bits(value < 0x1p-126 ? 0.0 : value);
  });
}

TEST(FloatHalves, InactiveLanesKeepTheirValues) {
  Rows rows;
  for (std::uint64_t i = 0; i < 32; ++i) rows.push_back({0x3C003C00U | i % 2, 0x3C003C00U, 0, 0});
  const auto results = lane_test::run("@%pa sub.f16x2 %rd, %ra, %rb;", 'r', rows);
  const auto flushed = lane_test::run("@%pa sub.ftz.f16x2 %rd, %ra, %rb;", 'r', rows);
  for (std::uint64_t i = 0; i < 32; ++i) {
    EXPECT_EQ(results[i], i % 2 == 1 ? 0x00001400U : 0xFFFFFFFFU);
    EXPECT_EQ(flushed[i], results[i]);
  }
}

TEST(FloatHalves, WhatPtxHasNotIsRefused) {
  for (const char* body :
       {"add.sat.bf16 %hd, %ha, %hb;", "add.ftz.bf16x2 %rd, %ra, %rb;", "add.rz.f16 %hd, %ha, %hb;",
        "ex2.f16 %hd, %ha;", "tanh.approx.ftz.f16 %hd, %ha;",
        "fma.rn.oob.ftz.f16 %hd, %ha, %hb, %hc;", "add.f16x2 %hd, %ha, %hb;",
        "div.rn.f16 %hd, %ha, %hb;", "min.xorsign.f16 %hd, %ha, %hb;"}) {
    lane_test::expect_refused(body);
  }
}

}  // namespace
}  // namespace kiln::emulated
