// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/host_element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::testing {
namespace {

template <class T>
T read(const void* data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <class T>
void write(void* data, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), &value,
              sizeof(T));
}

/// Ties away from zero, as the tf32 conversion of the hardware does.
float round_tf32(float value) {
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & 0xffffe000U);
}

}  // namespace

double decode(SmallFloat format, std::uint32_t bits) {
  const int fraction_bits = format.fraction_bits;
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1U);
  const std::uint32_t top = (1U << format.exponent_bits) - 1U;
  const std::uint32_t exponent = (bits >> fraction_bits) & top;
  const bool negative = ((bits >> (fraction_bits + format.exponent_bits)) & 1U) != 0;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  double magnitude = 0.0;
  if (exponent == top && format.has_infinity) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  } else if (exponent == top && fraction == (1U << fraction_bits) - 1U) {
    magnitude = std::nan("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<double>(fraction), 1 - bias - fraction_bits);
  } else {
    magnitude = std::ldexp(static_cast<double>(fraction + (1U << fraction_bits)),
                           static_cast<int>(exponent) - bias - fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

std::uint32_t encode(SmallFloat format, double value, bool saturate) {
  const int fraction_bits = format.fraction_bits;
  const std::uint32_t top = (1U << format.exponent_bits) - 1U;
  const std::uint32_t all_fraction = (1U << fraction_bits) - 1U;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint32_t sign =
      std::signbit(value) ? 1U << (fraction_bits + format.exponent_bits) : 0U;
  const std::uint32_t quiet_nan =
      (top << fraction_bits) | (format.has_infinity ? 1U << (fraction_bits - 1) : all_fraction);
  if (std::isnan(value)) return sign | quiet_nan;
  const std::uint32_t largest = format.has_infinity ? ((top - 1U) << fraction_bits) | all_fraction
                                                    : (top << fraction_bits) | (all_fraction - 1U);
  const std::uint32_t overflow = saturate ? largest : top << fraction_bits;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | overflow;
  if (magnitude == 0.0) return sign;
  // One rounding, at the place of the last fraction bit; below the normal range that place is
  // fixed.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double scaled = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  // Adding the scaled number to the biased exponent carries into it exactly when rounding does.
  const auto bits = static_cast<std::uint64_t>(scaled) +
                    (static_cast<std::uint64_t>(exponent + bias - 1) << fraction_bits);
  return sign | (bits > largest ? overflow : static_cast<std::uint32_t>(bits));
}

double load_element(DType type, const void* data, std::int64_t index) {
  switch (type) {
    case DType::f16:
      return decode(kF16, read<std::uint16_t>(data, index));
    case DType::bf16:
      return decode(kBf16, read<std::uint16_t>(data, index));
    case DType::tf32:
      return static_cast<double>(round_tf32(read<float>(data, index)));
    case DType::f32:
      return static_cast<double>(read<float>(data, index));
    case DType::f64:
      return read<double>(data, index);
    case DType::e4m3:
      return decode(kE4m3, read<std::uint8_t>(data, index));
    case DType::e5m2:
      return decode(kE5m2, read<std::uint8_t>(data, index));
    case DType::s8:
      return read<std::int8_t>(data, index);
    case DType::u8:
      return read<std::uint8_t>(data, index);
    case DType::s32:
      return read<std::int32_t>(data, index);
  }
  return 0.0;
}

void store_element(DType type, void* data, std::int64_t index, double value) {
  switch (type) {
    case DType::f16:
      return write(data, index, static_cast<std::uint16_t>(encode(kF16, value, false)));
    case DType::bf16:
      return write(data, index, static_cast<std::uint16_t>(encode(kBf16, value, false)));
    case DType::tf32:
    case DType::f32:
      return write(data, index, static_cast<float>(value));
    case DType::f64:
      return write(data, index, value);
    case DType::e4m3:
      return write(data, index, static_cast<std::uint8_t>(encode(kE4m3, value, true)));
    case DType::e5m2:
      return write(data, index, static_cast<std::uint8_t>(encode(kE5m2, value, true)));
    case DType::s8:
      return write(data, index, static_cast<std::int8_t>(static_cast<std::int64_t>(value)));
    case DType::u8:
      return write(data, index, static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
    case DType::s32:
      return write(data, index, static_cast<std::int32_t>(static_cast<std::int64_t>(value)));
  }
}

}  // namespace kiln::testing
