// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

/// \file
/// The number formats of PTX ISA 9.0 that a host has no types for (f16, bf16, tf32, e4m3, e5m2),
/// from and to f32 and f64, as `cvt` defines it. Values travel as bits. Subnormals are kept; where
/// PTX says .ftz, the caller flushes with flush_subnormal().
///
/// All of it assumes that the host rounds to nearest, which every thread does unless told
/// otherwise; RoundingScope in small_floats_arithmetic.hpp restores that.

namespace kiln::emulated {

/// .rn, .rz, .rm, .rp and .rna.
enum class Rounding : std::uint8_t { nearest_even, toward_zero, down, up, nearest_away };

/// What cvt does with a finite or infinite value beyond the largest finite one of its result.
enum class Overflow : std::uint8_t {
  ieee,      ///< infinity or the largest value, by the rounding; NaN where there is no infinity
  saturate,  ///< .satfinite: the largest finite value with the sign of the source
};

/// A binary format of at most 32 bits: sign, exponent, mantissa, from the top.
struct FloatFormat {
  int mantissa_bits;
  int bias;
  std::uint32_t sign;      ///< the sign bit
  std::uint32_t largest;   ///< bits of the largest finite value
  std::uint32_t infinity;  ///< 0: the format has none
  std::uint32_t nan;       ///< the one NaN that results have
};

inline constexpr FloatFormat kF32{23, 127, 0x80000000U, 0x7F7FFFFFU, 0x7F800000U, 0x7FFFFFFFU};
inline constexpr FloatFormat kF16{10, 15, 0x8000U, 0x7BFFU, 0x7C00U, 0x7FFFU};
inline constexpr FloatFormat kBf16{7, 127, 0x8000U, 0x7F7FU, 0x7F80U, 0x7FFFU};
/// The upper 19 bits of an f32 register; tf32_of_f32() puts them there.
inline constexpr FloatFormat kTf32{10, 127, 0x40000U, 0x3FBFFU, 0x3FC00U, 0x3FFFFU};
/// No infinity; the only NaN has all bits set, so that the largest value is 448.
inline constexpr FloatFormat kE4m3{3, 7, 0x80U, 0x7EU, 0U, 0x7FU};
inline constexpr FloatFormat kE5m2{2, 15, 0x80U, 0x7BU, 0x7CU, 0x7FU};

/// The value rounded once into the format. NaN of any sign and payload becomes format.nan.
[[nodiscard]] constexpr std::uint32_t encode(const FloatFormat& format, double value,
                                             Rounding rounding = Rounding::nearest_even,
                                             Overflow overflow = Overflow::ieee) {
  constexpr int kMantissa = 52;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = (bits >> 63U) != 0;
  const std::uint32_t sign = negative ? format.sign : 0U;
  const int field = static_cast<int>(bits >> kMantissa) & 0x7FF;
  std::uint64_t significand = bits & ((std::uint64_t{1} << kMantissa) - 1);
  if (field == 0x7FF) {
    if (significand != 0) return format.nan;
    if (overflow == Overflow::saturate) return sign | format.largest;
    return format.infinity != 0 ? sign | format.infinity : format.nan;
  }
  // value = significand * 2^(exponent - 52)
  int exponent = -1022;
  if (field != 0) {
    significand |= std::uint64_t{1} << kMantissa;
    exponent = field - 1023;
  }
  // Below the smallest normal exponent the last place stays where it is: subnormals. A shift of 63
  // stands for all larger ones: nothing is kept and less than half a unit remains.
  const int smallest = 1 - format.bias;
  const int scale = exponent > smallest ? exponent : smallest;
  int shift = scale - exponent + kMantissa - format.mantissa_bits;
  if (shift > 63) shift = 63;
  const std::uint64_t kept = significand >> static_cast<unsigned>(shift);
  const std::uint64_t rest = significand - (kept << static_cast<unsigned>(shift));
  const std::uint64_t half = std::uint64_t{1} << static_cast<unsigned>(shift - 1);
  bool more = false;
  switch (rounding) {
    case Rounding::nearest_even:
      more = rest > half || (rest == half && (kept & 1U) != 0);
      break;
    case Rounding::nearest_away:
      more = rest >= half;
      break;
    case Rounding::down:
      more = negative && rest != 0;
      break;
    case Rounding::up:
      more = !negative && rest != 0;
      break;
    case Rounding::toward_zero:
      break;
  }
  // The implicit leading bit of `kept` adds the last one to the exponent field, and so does a
  // carry out of the mantissa.
  const std::uint64_t code = (static_cast<std::uint64_t>(scale - smallest)
                              << static_cast<unsigned>(format.mantissa_bits)) +
                             kept + (more ? 1U : 0U);
  if (code <= format.largest) return sign | static_cast<std::uint32_t>(code);
  const bool outward = rounding == Rounding::nearest_even || rounding == Rounding::nearest_away ||
                       (rounding == Rounding::down && negative) ||
                       (rounding == Rounding::up && !negative);
  if (overflow == Overflow::saturate || !outward) return sign | format.largest;
  return format.infinity != 0 ? sign | format.infinity : format.nan;
}

/// cvt's .relu on an encoded value: negative numbers, -0 among them, become +0.
[[nodiscard]] constexpr std::uint32_t relu(const FloatFormat& format, std::uint32_t bits) {
  return (bits & format.sign) != 0 ? 0U : bits;
}

[[nodiscard]] constexpr bool is_nan(const FloatFormat& format, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & (format.sign - 1U);
  return magnitude > (format.infinity != 0 ? format.infinity : format.largest);
}

/// The exact value; NaN comes back as the f32 NaN of PTX.
[[nodiscard]] constexpr float decode(const FloatFormat& format, std::uint32_t bits) {
  if (is_nan(format, bits)) return std::bit_cast<float>(kF32.nan);
  const std::uint32_t magnitude = bits & (format.sign - 1U);
  const std::uint32_t sign = (bits & format.sign) != 0 ? kF32.sign : 0U;
  if (format.infinity != 0 && magnitude == format.infinity) {
    return std::bit_cast<float>(sign | kF32.infinity);
  }
  const auto mantissa_bits = static_cast<unsigned>(format.mantissa_bits);
  const auto drop = static_cast<unsigned>(kF32.mantissa_bits) - mantissa_bits;
  // All formats but those with f32's own exponent reach into f32's normal range entirely.
  if (format.bias == kF32.bias) return std::bit_cast<float>(sign | (magnitude << drop));
  const auto rebias = static_cast<std::uint32_t>(kF32.bias - format.bias) << 23U;
  if ((magnitude >> mantissa_bits) != 0) {
    return std::bit_cast<float>(sign | ((magnitude << drop) + rebias));
  }
  // mantissa * 2^(1 - bias - mantissa_bits), both exact
  const auto unit = static_cast<std::uint32_t>(kF32.bias + 1 - format.bias - format.mantissa_bits);
  const float value = static_cast<float>(magnitude) * std::bit_cast<float>(unit << 23U);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

/// condition ? yes : no with masks: written as a choice, GCC turns it into a branch when a side has
/// floating-point work, and gives up vector code.
[[nodiscard]] constexpr std::uint32_t choose(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

// ---- one value, the common conversions ----

/// Without a branch, so that loops over lanes become vector code. NaN becomes 0x7FFFFFFF.
[[nodiscard]] inline float f32_of_f16(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7FFFU;
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  // A subnormal is its mantissa times 2^-24; converting it avoids subnormal f32 operands, which
  // some hosts are slow at.
  const auto small = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
  const std::uint32_t normal = (magnitude << 13U) + (112U << 23U);
  // An exponent field of 31 gives 2^16 here, and one more 112 makes that infinity.
  const std::uint32_t special = choose(magnitude >= 0x7C00U, 112U << 23U, 0U);
  const std::uint32_t bits = choose(magnitude < 0x0400U, small, normal + special) | sign;
  return std::bit_cast<float>(choose(magnitude > 0x7C00U, kF32.nan, bits));
}

/// cvt.rn.f16.f32, without a branch.
[[nodiscard]] inline std::uint16_t f16_of_f32(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = all & 0x7FFFFFFFU;
  const std::uint32_t sign = (all >> 16U) & 0x8000U;
  // Below 2^-14: adding 0.5 puts f16's last place, 2^-24, at the last place of an f32, so that the
  // host's own addition rounds to nearest even.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(shifted) - (126U << 23U);
  // Else the usual integer form: add just under half a unit, and the last kept bit.
  const std::uint32_t odd = (magnitude >> 13U) & 1U;
  const std::uint32_t normal = (magnitude - (112U << 23U) + 0xFFFU + odd) >> 13U;
  const std::uint32_t finite = choose(magnitude < (113U << 23U), small, normal);
  const std::uint32_t bits = choose(magnitude >= (143U << 23U), kF16.infinity, finite) | sign;
  return static_cast<std::uint16_t>(choose(magnitude > kF32.infinity, kF16.nan, bits));
}

/// The upper half of an f32, NaN payloads included: a move, as compiled code does it.
[[nodiscard]] inline float f32_of_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// cvt.rn.bf16.f32, without a branch.
[[nodiscard]] inline std::uint16_t bf16_of_f32(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (all + 0x7FFFU + ((all >> 16U) & 1U)) >> 16U;
  return static_cast<std::uint16_t>((all & 0x7FFFFFFFU) > kF32.infinity ? kBf16.nan : rounded);
}

/// cvt.rna.tf32.f32 as a register's 32 bits, of which the lower 13 are zero. The compiler makes
/// integer instructions of it, which drop the lower bits of a NaN's payload too; so does this.
[[nodiscard]] constexpr std::uint32_t tf32_of_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool finite = (bits & kF32.infinity) != kF32.infinity;
  return (bits + (finite ? 0x1000U : 0U)) & 0xFFFFE000U;
}

/// The other forms of cvt to tf32. NaN becomes 0x7FFFE000.
[[nodiscard]] constexpr std::uint32_t tf32_of_f32(float value, Rounding rounding,
                                                  Overflow overflow = Overflow::ieee) {
  return encode(kTf32, value, rounding, overflow) << 13U;
}

/// What a tensor core reads of a .tf32 operand: it ignores the lower 13 bits.
[[nodiscard]] constexpr float f32_of_tf32(std::uint32_t bits) {
  return std::bit_cast<float>(bits & 0xFFFFE000U);
}

[[nodiscard]] constexpr std::array<float, 256> decoded_bytes(const FloatFormat& format) {
  std::array<float, 256> values{};
  for (std::uint32_t i = 0; i < 256; ++i) values[i] = decode(format, i);
  return values;
}
inline constexpr std::array<float, 256> kE4m3Values = decoded_bytes(kE4m3);
inline constexpr std::array<float, 256> kE5m2Values = decoded_bytes(kE5m2);

[[nodiscard]] inline float f32_of_e4m3(std::uint8_t bits) {
  return kE4m3Values[bits];
}
[[nodiscard]] inline float f32_of_e5m2(std::uint8_t bits) {
  return kE5m2Values[bits];
}

/// cvt.rn.satfinite, the only form that PTX has for these.
[[nodiscard]] constexpr std::uint8_t e4m3_of_f32(float value) {
  return static_cast<std::uint8_t>(
      encode(kE4m3, value, Rounding::nearest_even, Overflow::saturate));
}
[[nodiscard]] constexpr std::uint8_t e5m2_of_f32(float value) {
  return static_cast<std::uint8_t>(
      encode(kE5m2, value, Rounding::nearest_even, Overflow::saturate));
}

/// .ftz: a subnormal becomes a zero of its sign.
[[nodiscard]] inline float flush_subnormal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits);
}

/// f32 results have one NaN; hosts produce others.
[[nodiscard]] inline float canonical(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7FFFFFFFU) > kF32.infinity ? kF32.nan : bits);
}

/// .sat: into [0, 1]; NaN becomes +0.
template <class T>
[[nodiscard]] inline T saturate_unit(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

}  // namespace kiln::emulated
