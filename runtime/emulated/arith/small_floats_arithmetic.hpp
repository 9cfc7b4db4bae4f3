// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/emulated/arith/small_floats.hpp"

/// \file
/// Arithmetic as PTX rounds it: f16 and bf16 with one rounding, fma of f32 for a whole warp, what
/// other roundings of the host take, and the .approx functions. Results that are NaN are the
/// format's one NaN (f64 keeps payloads).

namespace kiln::emulated {

// ---- exact sums ----

/// a + b rounded to odd: if the sum is not a T, the neighbour of it whose last bit is set. Rounded
/// again to a format with at least two bits fewer, this gives what one rounding would (Boldo and
/// Melquiond, 2008). Finite a and b whose sum does not overflow.
template <class T, class Bits>
[[nodiscard]] inline T add_to_odd(T a, T b) {
  const T sum = a + b;
  const T b_part = sum - a;  // Knuth's TwoSum: sum + error == a + b exactly
  const T error = (a - (sum - b_part)) + (b - b_part);
  const auto bits = std::bit_cast<Bits>(sum);
  // Away from zero when error and sum have one sign; an even value has an odd neighbour there.
  const auto toward_zero = static_cast<Bits>((error > T{0}) != (sum > T{0}));
  const auto move = static_cast<Bits>(error != T{0}) & ~bits & Bits{1};
  return std::bit_cast<T>(bits + move - 2 * (move & toward_zero));
}

/// To f32, rounded to odd. Beyond the largest f32 this is that one, whose last bit is set.
[[nodiscard]] inline float f32_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const auto back = static_cast<double>(nearest);
  const bool inexact = back != value && (bits & 1U) == 0 && !std::isnan(value);
  const std::uint32_t step = (std::fabs(back) < std::fabs(value)) ? 1U : ~0U;
  // A value that vanished has the sign of its zero, whose next neighbour is the smallest f32.
  return std::bit_cast<float>(inexact ? bits + step : bits);
}

// ---- f16 and bf16, rounded to nearest even ----

// Sums, differences and products of p-bit numbers, rounded to at least 2p + 2 bits and then to p,
// are what one rounding gives (Figueroa, 1995). f32 has 24 = 2 * 11 + 2 for f16, more for bf16.
// Where results are subnormal: sums are then exact, f16's products are exact in f32, and bf16's
// products of 2^-134 or more are; smaller ones round to zero either way.

[[nodiscard]] inline std::uint16_t add_f16(std::uint16_t a, std::uint16_t b) {
  return f16_of_f32(f32_of_f16(a) + f32_of_f16(b));
}
[[nodiscard]] inline std::uint16_t sub_f16(std::uint16_t a, std::uint16_t b) {
  return f16_of_f32(f32_of_f16(a) - f32_of_f16(b));
}
[[nodiscard]] inline std::uint16_t mul_f16(std::uint16_t a, std::uint16_t b) {
  return f16_of_f32(f32_of_f16(a) * f32_of_f16(b));
}
/// The product has 22 bits and is exact in f32, between 2^-48 and 2^32; the sum is rounded to odd.
/// Infinities pass: their error is NaN, which is not odd's business.
[[nodiscard]] inline std::uint16_t fma_f16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  const float product = f32_of_f16(a) * f32_of_f16(b);
  const float addend = f32_of_f16(c);
  const float sum = product + addend;
  const auto odd = add_to_odd<float, std::uint32_t>(product, addend);
  const std::uint32_t bits = choose(std::fabs(sum) <= 0x1p34F, std::bit_cast<std::uint32_t>(odd),
                                    std::bit_cast<std::uint32_t>(sum));
  return f16_of_f32(std::bit_cast<float>(bits));
}

[[nodiscard]] inline std::uint16_t add_bf16(std::uint16_t a, std::uint16_t b) {
  return bf16_of_f32(f32_of_bf16(a) + f32_of_bf16(b));
}
[[nodiscard]] inline std::uint16_t sub_bf16(std::uint16_t a, std::uint16_t b) {
  return bf16_of_f32(f32_of_bf16(a) - f32_of_bf16(b));
}
[[nodiscard]] inline std::uint16_t mul_bf16(std::uint16_t a, std::uint16_t b) {
  return bf16_of_f32(f32_of_bf16(a) * f32_of_bf16(b));
}
/// In f64, whose range holds every product exactly; to odd twice, then to nearest.
[[nodiscard]] inline std::uint16_t fma_bf16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  const double product = static_cast<double>(f32_of_bf16(a)) * static_cast<double>(f32_of_bf16(b));
  const auto addend = static_cast<double>(f32_of_bf16(c));
  const double sum = product + addend;
  if (!std::isfinite(sum)) return bf16_of_f32(static_cast<float>(sum));
  return bf16_of_f32(f32_to_odd(add_to_odd<double, std::uint64_t>(product, addend)));
}

// ---- minimum and maximum: any format of FloatFormat ----

/// Bits as integers in the order of the values, -0 just below +0. NaN lies outside.
[[nodiscard]] constexpr std::int64_t order_of(const FloatFormat& format, std::uint32_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & (format.sign - 1U));
  return (bits & format.sign) != 0 ? -1 - magnitude : magnitude;
}

/// min and max of PTX: -0 is less than +0; of a number and a NaN, the number, or NaN with
/// `nan_wins` (.NaN).
[[nodiscard]] constexpr std::uint32_t minimum(const FloatFormat& format, std::uint32_t a,
                                              std::uint32_t b, bool nan_wins = false) {
  const bool a_nan = is_nan(format, a);
  const bool b_nan = is_nan(format, b);
  if ((a_nan && b_nan) || (nan_wins && (a_nan || b_nan))) return format.nan;
  if (a_nan || b_nan) return a_nan ? b : a;
  return order_of(format, a) <= order_of(format, b) ? a : b;
}
[[nodiscard]] constexpr std::uint32_t maximum(const FloatFormat& format, std::uint32_t a,
                                              std::uint32_t b, bool nan_wins = false) {
  const bool a_nan = is_nan(format, a);
  const bool b_nan = is_nan(format, b);
  if ((a_nan && b_nan) || (nan_wins && (a_nan || b_nan))) return format.nan;
  if (a_nan || b_nan) return a_nan ? b : a;
  return order_of(format, a) >= order_of(format, b) ? a : b;
}

// ---- f32 and f64 ----

/// d = a * b + c with one rounding to nearest, for kLanes lanes. `d` may be one of the others.
void fma_f32(const float* a, const float* b, const float* c, float* d);

/// Sets how this thread's host arithmetic rounds, and sets it back. Costs tens of cycles, so that
/// loops belong inside. nearest_away is no host rounding and counts as nearest_even.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

// The .approx functions. PTX bounds their error and defines their special values, but not their
// bits: these are the function itself, computed in f64 and rounded to f32, within every bound. A
// GPU's result differs in the last places.
[[nodiscard]] float approx_ex2(float x);
[[nodiscard]] float approx_lg2(float x);
[[nodiscard]] float approx_sin(float x);
[[nodiscard]] float approx_cos(float x);
[[nodiscard]] float approx_tanh(float x);
[[nodiscard]] float approx_rsqrt(float x);
/// rsqrt.approx.f64; rcp.approx.ftz.f64 is rcp with the lower 32 bits of the result zero.
[[nodiscard]] double approx_rsqrt(double x);
[[nodiscard]] double approx_rcp(double x);

}  // namespace kiln::emulated
