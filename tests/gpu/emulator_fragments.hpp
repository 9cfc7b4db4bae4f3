// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/emulator_pair.hpp"

namespace kiln::testing {

/// Elements of matrices; `ties` are those of f32 that lie halfway between two numbers of tf32.
enum class Element : std::uint8_t { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, bits, s32, ties };

/// Floating-point values of elements. `real` ones are of like size with all their digits, `whole`
/// ones integers from -3 to 4, whose sums of products every order and rounding gives exactly,
/// `zeros` of both signs.
enum class Values : std::uint8_t { real, whole, zeros };

inline int bytes_of_element(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::tf32:
    case Element::f32:
    case Element::s32:
    case Element::ties:
      return 4;
    case Element::f64:
      return 8;
    default:
      return 1;
  }
}

/// Bits of one element.
inline std::uint64_t element_bits(Element element, Values values, std::mt19937_64& random) {
  static constexpr std::uint64_t kWhole[5][5] = {
      {0, 0x3c00, 0x4000, 0x4200, 0x4400},
      {0, 0x3f80, 0x4000, 0x4040, 0x4080},
      {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000},
      {0, 0x38, 0x40, 0x44, 0x48},
      {0, 0x3c, 0x40, 0x42, 0x44}};
  const std::uint64_t bits = random();
  const bool whole = values == Values::whole;
  if (values == Values::zeros) {
    return bits % 4 == 0 ? 0 : std::uint64_t{1} << (8 * bytes_of_element(element) - 1);
  }
  const auto pick = [&](int row, std::uint64_t sign) {
    return kWhole[row][bits % 5] | ((bits >> 32U & 1U) != 0 && bits % 5 != 4 ? sign : 0);
  };
  const auto wide = [&](std::uint64_t mask, std::uint64_t one) { return (bits & mask) | one; };
  switch (element) {
    case Element::f16:
      return whole ? pick(0, 0x8000) : wide(0x8fff, 0x3000);
    case Element::bf16:
      return whole ? pick(1, 0x8000) : wide(0x81ff, 0x3e00);
    case Element::tf32:
    case Element::f32:
      return whole ? pick(2, 0x80000000) : wide(0x81ffffff, 0x3e000000);
    case Element::e4m3:
      return whole ? pick(3, 0x80) : wide(0x9f, 0x20);
    case Element::e5m2:
      return whole ? pick(4, 0x80) : wide(0x8f, 0x30);
    case Element::f64:
      return whole ? (bits % 5 == 0 ? 0 : 0x3ff0000000000000 + (bits % 5 == 1 ? 0 : 1ULL << 52U))
                   : wide(0x801fffffffffffff, 0x3fe0000000000000);
    case Element::ties:
      return wide(0xffffe000, 0x1000);
    case Element::s32:
      return bits & 0xfffU;
    default:
      return bits;
  }
}

/// `bytes` bytes of elements side by side.
inline Bytes elements(Element element, std::size_t bytes, Values values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes result(bytes);
  const auto size = static_cast<std::size_t>(bytes_of_element(element));
  for (std::size_t at = 0; at + size <= bytes; at += size) {
    const std::uint64_t value = element_bits(element, values, random);
    std::memcpy(result.data() + at, &value, size);
  }
  return result;
}

/// Expects what `number` makes of the values of both results, of type T, to differ by `bound` at
/// most. Returns the largest difference.
template <class T, class Number>
double expect_close(const PairResult& result, double bound, const Number& number) {
  const auto gpu = values_of<T>(result.gpu);
  const auto emulated = values_of<T>(result.emulated);
  double worst = 0.0;
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    const double difference =
        std::abs(static_cast<double>(number(gpu[i])) - static_cast<double>(number(emulated[i])));
    worst = std::isnan(difference) ? HUGE_VAL : std::max(worst, difference);
  }
  EXPECT_LE(worst, bound);
  return worst;
}
template <class T>
double expect_close(const PairResult& result, double bound) {
  return expect_close<T>(result, bound, [](T value) { return value; });
}

inline void expect_identical(const PairResult& result) {
  ASSERT_EQ(result.gpu.size(), result.emulated.size());
  std::size_t wrong = 0;
  std::string examples;
  for (std::size_t at = 0; at + 4 <= result.gpu.size(); at += 4) {
    std::uint32_t gpu = 0;
    std::uint32_t emulated = 0;
    std::memcpy(&gpu, result.gpu.data() + at, 4);
    std::memcpy(&emulated, result.emulated.data() + at, 4);
    if (gpu == emulated || ++wrong > 6) continue;
    char text[80];
    std::snprintf(text, sizeof text, "\n  byte %zu: GPU %08x, emulated %08x", at, gpu, emulated);
    examples += text;
  }
  EXPECT_EQ(wrong, 0U) << "of " << result.gpu.size() / 4 << examples;
  EXPECT_TRUE(wrong != 0 || result.gpu == result.emulated) << "the last bytes differ";
}

}  // namespace kiln::testing
