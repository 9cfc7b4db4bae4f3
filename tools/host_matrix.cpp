// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/host_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace kiln::tools {
namespace {

/// A binary floating-point format narrower than float: sign, exponent, mantissa.
struct NarrowFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< e4m3 gives all but one of the topmost patterns to numbers

  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

constexpr NarrowFormat kF16{5, 10, true};
constexpr NarrowFormat kBf16{8, 7, true};
constexpr NarrowFormat kE4m3{4, 3, false};
constexpr NarrowFormat kE5m2{5, 2, true};

std::uint32_t encode_exact(const NarrowFormat& format, double value) {
  if (value == 0.0) return 0;
  int exponent = 0;
  // frexp gives [0.5, 1); formats count from [1, 2).
  const double significand = std::frexp(std::fabs(value), &exponent) * 2.0 - 1.0;
  const auto mantissa = static_cast<std::uint32_t>(std::ldexp(significand, format.mantissa_bits));
  const auto biased = static_cast<std::uint32_t>(exponent - 1 + format.bias());
  const std::uint32_t sign = value < 0.0 ? 1 : 0;
  return (((sign << format.exponent_bits) | biased) << format.mantissa_bits) | mantissa;
}

double decode(const NarrowFormat& format, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1U);
  const std::uint32_t topmost = (1U << format.exponent_bits) - 1U;
  const std::uint32_t biased = (bits >> format.mantissa_bits) & topmost;
  const bool negative = ((bits >> (format.mantissa_bits + format.exponent_bits)) & 1U) != 0;
  const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
  double magnitude = 0.0;
  if (format.has_infinity && biased == topmost) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (!format.has_infinity && biased == topmost &&
             mantissa == (1U << format.mantissa_bits) - 1U) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (biased == 0) {
    magnitude = std::ldexp(fraction, 1 - format.bias());
  } else {
    magnitude = std::ldexp(1.0 + fraction, static_cast<int>(biased) - format.bias());
  }
  return negative ? -magnitude : magnitude;
}

/// All values of f16: checking a product decodes each element thousands of times.
const std::vector<double>& f16_values() {
  static const std::vector<double> values = [] {
    std::vector<double> all(std::size_t{1} << 16U);
    for (std::size_t bits = 0; bits < all.size(); ++bits) {
      all[bits] = decode(kF16, static_cast<std::uint32_t>(bits));
    }
    return all;
  }();
  return values;
}

template <class T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(value));
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

void store_exact(DType type, double value, std::byte* to) {
  switch (type) {
    case DType::f16:
      return put(static_cast<std::uint16_t>(encode_exact(kF16, value)), to);
    case DType::bf16:
      return put(static_cast<std::uint16_t>(encode_exact(kBf16, value)), to);
    case DType::e4m3:
      return put(static_cast<std::uint8_t>(encode_exact(kE4m3, value)), to);
    case DType::e5m2:
      return put(static_cast<std::uint8_t>(encode_exact(kE5m2, value)), to);
    case DType::tf32:
    case DType::f32:
      return put(static_cast<float>(value), to);
    case DType::f64:
      return put(value, to);
    case DType::s8:
      return put(static_cast<std::int8_t>(value), to);
    case DType::u8:
      return put(static_cast<std::uint8_t>(value), to);
    case DType::s32:
      return put(static_cast<std::int32_t>(value), to);
  }
}

double load_element(DType type, const std::byte* from) {
  switch (type) {
    case DType::f16:
      return f16_values()[get<std::uint16_t>(from)];
    case DType::bf16:
      // The upper half of a float.
      return static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(get<std::uint16_t>(from)) << 16U));
    case DType::e4m3:
      return decode(kE4m3, get<std::uint8_t>(from));
    case DType::e5m2:
      return decode(kE5m2, get<std::uint8_t>(from));
    case DType::tf32:
    case DType::f32:
      return static_cast<double>(get<float>(from));
    case DType::f64:
      return get<double>(from);
    case DType::s8:
      return get<std::int8_t>(from);
    case DType::u8:
      return get<std::uint8_t>(from);
    case DType::s32:
      return get<std::int32_t>(from);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double random_element(DType type, std::mt19937_64& random) {
  const auto draw = [&](int span, int lowest) {
    return static_cast<double>(static_cast<int>(random() % static_cast<unsigned>(span)) + lowest);
  };
  switch (type) {
    case DType::u8:
      return draw(8, 0);
    case DType::s8:
    case DType::s32:
      return draw(15, -7);
    case DType::e5m2:
      return draw(15, -7) / 4.0;
    case DType::e4m3:
      return draw(31, -15) / 8.0;
    default:
      return draw(255, -127) / 64.0;
  }
}

HostMatrix::HostMatrix(DType type, std::int64_t rows, std::int64_t columns, Storage storage,
                       std::int64_t ld)
    : type_(type),
      stored_rows_(storage == Storage::n ? rows : columns),
      ld_(ld),
      storage_(storage),
      bytes_(static_cast<std::size_t>(stored_rows_ * ld * size_bytes(type))) {}

void HostMatrix::fill_random(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto element = static_cast<std::size_t>(size_bytes(type_));
  // Encoding is slow and matrices are large: one random byte picks from elements made once.
  constexpr std::size_t kChoices = 256;
  std::vector<std::byte> choices(kChoices * element);
  for (std::size_t i = 0; i < kChoices; ++i) {
    store_exact(type_, random_element(type_, random), choices.data() + i * element);
  }
  std::uint64_t bits = 0;
  int bytes_left = 0;
  for (std::size_t at = 0; at < bytes_.size(); at += element) {
    if (bytes_left == 0) {
      bits = random();
      bytes_left = sizeof(bits);
    }
    std::memcpy(bytes_.data() + at, choices.data() + bits % kChoices * element, element);
    bits /= kChoices;
    --bytes_left;
  }
}

void HostMatrix::poison() {
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0xff});
}

double HostMatrix::at(std::int64_t row, std::int64_t column) const {
  if (storage_ == Storage::t) std::swap(row, column);
  const auto index = (row * ld_ + column) * size_bytes(type_);
  return load_element(type_, bytes_.data() + index);
}

}  // namespace kiln::tools
