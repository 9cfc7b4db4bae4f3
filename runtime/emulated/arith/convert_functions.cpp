// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/convert_functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/emulated/arith/data_types.hpp"

namespace kiln::emulated::converts {
namespace {

using ptx::Type;
using std::uint64_t;

/// Any integer of up to 64 bits.
struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};

/// The lower bits of a value, extended again.
uint64_t extend(uint64_t value, Type type) {
  const auto above = static_cast<unsigned>(64 - ptx::bits_of(type));
  const uint64_t top = value << above;
  return is_signed(type) ? static_cast<uint64_t>(static_cast<std::int64_t>(top) >> above)
                         : top >> above;
}

Integer load_integer(uint64_t source, Type type) {
  const uint64_t value = extend(source, type);
  const bool negative = is_signed(type) && (value >> 63U) != 0;
  return {negative, negative ? 0 - value : value};
}

/// The largest magnitude that the type has on this side of zero.
uint64_t largest_magnitude(Type type, bool negative) {
  const auto unused = static_cast<unsigned>(64 - ptx::bits_of(type));
  const uint64_t all = ~uint64_t{0} >> unused;
  if (is_unsigned(type)) return negative ? 0 : all;
  return (all >> 1U) + (negative ? 1 : 0);
}

uint64_t store_integer(Integer value, Type type) {
  return extend(value.negative ? 0 - value.magnitude : value.magnitude, type);
}

/// A NaN is the one of results, whose payload an f64 would keep.
double load_float(uint64_t source, Type type, bool flush) {
  switch (type) {
    case Type::f64:
      return std::bit_cast<double>(source);
    case Type::f32: {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(source));
      return static_cast<double>(canonical(flush ? flush_subnormal(value) : value));
    }
    case Type::f16:
      return static_cast<double>(f32_of_f16(static_cast<std::uint16_t>(source)));
    default:
      return static_cast<double>(canonical(f32_of_bf16(static_cast<std::uint16_t>(source))));
  }
}

const FloatFormat& format_of(Type type) {
  switch (type) {
    case Type::f16:
      return kF16;
    case Type::bf16:
      return kBf16;
    case Type::tf32:
      return kTf32;
    default:
      return kF32;
  }
}

uint64_t store_float(const Conversion& conversion, double value) {
  if (conversion.saturate) value = saturate_unit(value);
  if (conversion.to == Type::f64) return std::bit_cast<uint64_t>(value);
  const FloatFormat& format = format_of(conversion.to);
  std::uint32_t bits = encode(format, value, conversion.rounding,
                              conversion.saturate_finite ? Overflow::saturate : Overflow::ieee);
  if (conversion.relu) bits = relu(format, bits);
  if (conversion.to == Type::tf32) return bits << 13U;
  if (conversion.to == Type::f32 && conversion.flush && (bits & kF32.infinity) == 0) {
    bits &= kF32.sign;
  }
  return bits;
}

/// Whether a magnitude that lies between two representable ones goes to the larger one.
bool rounds_away(Rounding rounding, bool negative, bool odd, int rest_against_half) {
  switch (rounding) {
    case Rounding::nearest_even:
      return rest_against_half > 0 || (rest_against_half == 0 && odd);
    case Rounding::nearest_away:
      return rest_against_half >= 0;
    case Rounding::down:
      return negative;
    case Rounding::up:
      return !negative;
    case Rounding::toward_zero:
      break;
  }
  return false;
}

/// Integers of more than 53 bits are rounded.
double f64_of(Integer value, Rounding rounding) {
  const int extra = static_cast<int>(std::bit_width(value.magnitude)) - 53;
  uint64_t kept = value.magnitude;
  if (extra > 0) {
    const auto shift = static_cast<unsigned>(extra);
    kept = value.magnitude >> shift;
    const uint64_t rest = value.magnitude - (kept << shift);
    const uint64_t half = uint64_t{1} << (shift - 1);
    const int against = rest > half ? 1 : rest == half ? 0 : -1;
    if (rest != 0 && rounds_away(rounding, value.negative, (kept & 1U) != 0, against)) ++kept;
  }
  const double magnitude = std::ldexp(static_cast<double>(kept), std::max(extra, 0));
  return value.negative ? -magnitude : magnitude;
}

/// An f64 that rounds to any narrower format as the integer does: if bits are lost, its last bit
/// says so (rounding to odd).
double f64_to_odd(Integer value) {
  uint64_t magnitude = value.magnitude;
  if ((magnitude >> 53U) != 0) {
    const bool lost = (magnitude & 0x7FFU) != 0;
    magnitude = (magnitude & ~uint64_t{0x7FF}) | (lost ? 0x800U : 0U);
  }
  const auto result = static_cast<double>(magnitude);
  return value.negative ? -result : result;
}

double whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    case Rounding::nearest_even:
    case Rounding::nearest_away:
      break;
  }
  return std::nearbyint(value);
}

uint64_t integer_of_float(const Conversion& conversion, double value) {
  const int bits = ptx::bits_of(conversion.to);
  if (std::isnan(value)) {
    if (conversion.from != Type::f64 && bits != 64) return 0;
    return extend(uint64_t{1} << static_cast<unsigned>(bits - 1), conversion.to);
  }
  const double rounded = whole(value, conversion.rounding);
  const bool negative = rounded < 0;
  const double magnitude = std::fabs(rounded);
  const uint64_t limit = largest_magnitude(conversion.to, negative);
  // 2^64 and more do not fit a host integer.
  const uint64_t fitting = magnitude < 0x1p64 ? static_cast<uint64_t>(magnitude) : limit;
  return store_integer({negative, std::min(fitting, limit)}, conversion.to);
}

}  // namespace

uint64_t convert(const Conversion& conversion, uint64_t source) {
  if (is_integer(conversion.from)) {
    Integer value = load_integer(source, conversion.from);
    if (is_integer(conversion.to)) {
      if (conversion.saturate) {
        const uint64_t limit = largest_magnitude(conversion.to, value.negative);
        value.magnitude = std::min(value.magnitude, limit);
      }
      return store_integer(value, conversion.to);
    }
    return store_float(conversion, conversion.to == Type::f64 ? f64_of(value, conversion.rounding)
                                                              : f64_to_odd(value));
  }
  const double value = load_float(source, conversion.from, conversion.flush);
  if (is_integer(conversion.to)) return integer_of_float(conversion, value);
  return store_float(conversion, conversion.integral ? whole(value, conversion.rounding) : value);
}

std::uint32_t narrow(const PackedFormat& to, float value, Rounding rounding, bool saturate_finite,
                     bool relu_wanted) {
  const std::uint32_t bits = encode(*to.format, static_cast<double>(value), rounding,
                                    saturate_finite ? Overflow::saturate : Overflow::ieee);
  return relu_wanted ? relu(*to.format, bits) : bits;
}

std::uint32_t pack_saturated(std::int32_t a, std::int32_t b, std::uint32_t c, int bits,
                             bool is_signed_result) {
  const std::int32_t high = (1 << (is_signed_result ? bits - 1 : bits)) - 1;
  const std::int32_t low = is_signed_result ? -high - 1 : 0;
  const std::uint32_t mask = (1U << static_cast<unsigned>(bits)) - 1U;
  const auto width = static_cast<unsigned>(bits);
  const auto upper = static_cast<std::uint32_t>(std::clamp(a, low, high)) & mask;
  const auto lower = static_cast<std::uint32_t>(std::clamp(b, low, high)) & mask;
  const std::uint32_t above = bits == 16 ? 0U : c << (2 * width);
  return above | (upper << width) | lower;
}

}  // namespace kiln::emulated::converts
