// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/number_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace kiln {
namespace {

/// A floating-point format of 16 bits.
struct ShortFloat {
  int exponent_bits;
  int fraction_bits;
};
constexpr ShortFloat kHalf{5, 10};
constexpr ShortFloat kBfloat16{8, 7};

struct NumberTypeRow {
  std::string_view name;
  std::string_view spelling;
  std::size_t bytes;
};
/// In the order of NumberType.
constexpr std::array<NumberTypeRow, kNumberTypes> kRows{{{"s32", "int", 4},
                                                         {"u32", "unsigned", 4},
                                                         {"s64", "long long", 8},
                                                         {"u64", "unsigned long long", 8},
                                                         {"f32", "float", 4},
                                                         {"f64", "double", 8},
                                                         {"bool", "bool", 1},
                                                         {"s8", "char", 1},
                                                         {"u8", "unsigned char", 1},
                                                         {"s16", "short", 2},
                                                         {"u16", "unsigned short", 2},
                                                         {"f16", "half", 2},
                                                         {"bf16", "nv_bfloat16", 2}}};

struct OtherSpelling {
  std::string_view spelling;
  NumberType type;
};
constexpr std::array<OtherSpelling, 20> kOtherSpellings{
    {{"unsigned int", NumberType::u32},   {"uint", NumberType::u32},
     {"ushort", NumberType::u16},         {"size_t", NumberType::u64},
     {"ulong", NumberType::u64},          {"ptrdiff_t", NumberType::s64},
     {"long", NumberType::s64},           {"unsigned long", NumberType::u64},
     {"signed char", NumberType::s8},     {"__half", NumberType::f16},
     {"__nv_bfloat16", NumberType::bf16}, {"bfloat16", NumberType::bf16},
     {"int8_t", NumberType::s8},          {"uint8_t", NumberType::u8},
     {"int16_t", NumberType::s16},        {"uint16_t", NumberType::u16},
     {"int32_t", NumberType::s32},        {"uint32_t", NumberType::u32},
     {"int64_t", NumberType::s64},        {"uint64_t", NumberType::u64}}};

const NumberTypeRow& row_of(NumberType type) {
  return kRows[static_cast<std::size_t>(type)];
}

template <class Number>
NumberRange range_of_type() {
  using Limits = std::numeric_limits<Number>;
  NumberRange range{static_cast<double>(Limits::lowest()), static_cast<double>(Limits::max()),
                    Limits::is_integer};
  // As a double the greatest number of 64 bits is rounded up to one that is too large.
  if constexpr (Limits::is_integer && Limits::digits > std::numeric_limits<double>::digits) {
    range.most = std::nextafter(range.most, 0.0);
  }
  return range;
}

int greatest_exponent(ShortFloat format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}

NumberRange range_of(ShortFloat format) {
  const double most =
      std::ldexp(2.0 - std::ldexp(1.0, -format.fraction_bits), greatest_exponent(format));
  return {-most, most, false};
}

/// The nearest integer, ties to even, whatever the rounding mode of the thread is.
double nearest_even(double value) noexcept {
  const double whole = std::floor(value);
  const double rest = value - whole;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0.0);
  return up ? whole + 1.0 : whole;
}

double rounded_to(ShortFloat format, double value) noexcept {
  if (!std::isfinite(value) || value == 0.0) return value;
  const int least = 1 - greatest_exponent(format);
  const int exponent = std::max(std::ilogb(value), least);
  const int unit = exponent - format.fraction_bits;
  const double rounded = std::ldexp(nearest_even(std::ldexp(std::fabs(value), -unit)), unit);
  const bool overflows = rounded > range_of(format).most;
  return std::copysign(overflows ? std::numeric_limits<double>::infinity() : rounded, value);
}

/// Of a number that rounded_to() has given.
std::uint16_t bits_of(ShortFloat format, double value) noexcept {
  const auto sign = static_cast<unsigned>(std::signbit(value)) << 15;
  const unsigned infinity = ((1U << format.exponent_bits) - 1) << format.fraction_bits;
  unsigned bits = 0;
  if (std::isnan(value)) {
    bits = infinity | 1U << (format.fraction_bits - 1);
  } else if (std::isinf(value)) {
    bits = infinity;
  } else if (value != 0.0) {
    const int least = 1 - greatest_exponent(format);
    const int exponent = std::max(std::ilogb(value), least);
    const auto units =
        static_cast<unsigned>(std::ldexp(std::fabs(value), format.fraction_bits - exponent));
    // A normal number has its hidden bit in the units, which counts as one exponent.
    bits = (static_cast<unsigned>(exponent - least) << format.fraction_bits) + units;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

/// The nearest number of the type, since C++ leaves open what a conversion of others gives.
template <class Integer>
Integer nearest_integer(double value) noexcept {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  // The largest number of 64 bits is rounded up to the first that is too large.
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Integer>(value);
}

template <class Integer>
Integer nearest_integer(Scalar value) noexcept {
  return value.visit([](auto number) -> Integer {
    using Limits = std::numeric_limits<Integer>;
    if constexpr (std::is_same_v<decltype(number), double>) {
      return nearest_integer<Integer>(number);
    } else {
      // Beyond 2^53, so that no shorter type has it.
      if constexpr (sizeof(Integer) == sizeof(number)) {
        if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
      }
      return std::cmp_less(number, 0) ? Limits::min() : Limits::max();
    }
  });
}

/// The number as a double; of an integer that no double equals the neighbour toward zero, with
/// its last bit set. Unlike the nearest double, it lies on the same side as the number of every
/// double and of every tie between shorter floats.
double odd_double(Scalar value) noexcept {
  return value.visit([](auto number) {
    if constexpr (std::is_same_v<decltype(number), double>) {
      return number;
    } else {
      const bool negative = std::cmp_less(number, 0);
      const auto bits = static_cast<std::uint64_t>(number);
      const std::uint64_t magnitude = negative ? 0 - bits : bits;
      constexpr int kSpare =
          std::numeric_limits<std::uint64_t>::digits - std::numeric_limits<double>::digits;
      const int dropped = kSpare - std::countl_zero(magnitude);
      const double odd = std::ldexp(static_cast<double>(magnitude >> dropped | 1), dropped);
      return negative ? -odd : odd;
    }
  });
}

/// The nearest number of any type but the short floats.
template <class Number>
Number nearest(Scalar value) noexcept {
  if constexpr (std::is_same_v<Number, double>) {
    return value.as_double();
  } else if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<Number>(odd_double(value));
  } else {
    return nearest_integer<Number>(value);
  }
}

template <class Number>
void store(Number number, void* to) noexcept {
  std::memcpy(to, &number, sizeof(number));
}

/// Calls `use` with a value of the type's C++ type; short floats are left to the caller.
template <class Use>
auto with_type(NumberType type, Use use) {
  switch (type) {
    case NumberType::s32:
      return use(std::int32_t{});
    case NumberType::u32:
      return use(std::uint32_t{});
    case NumberType::s64:
      return use(std::int64_t{});
    case NumberType::u64:
      return use(std::uint64_t{});
    case NumberType::f32:
      return use(float{});
    case NumberType::boolean:
      return use(bool{});
    case NumberType::s8:
      return use(std::int8_t{});
    case NumberType::u8:
      return use(std::uint8_t{});
    case NumberType::s16:
      return use(std::int16_t{});
    case NumberType::u16:
      return use(std::uint16_t{});
    case NumberType::f64:
    case NumberType::f16:
    case NumberType::bf16:
      break;
  }
  return use(double{});
}

const ShortFloat* short_float(NumberType type) noexcept {
  if (type == NumberType::f16) return &kHalf;
  return type == NumberType::bf16 ? &kBfloat16 : nullptr;
}

}  // namespace

std::size_t size_bytes(NumberType type) {
  return row_of(type).bytes;
}

std::string_view to_string(NumberType type) {
  return row_of(type).name;
}

std::optional<NumberType> parse_number_type(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &NumberTypeRow::name);
  if (found == kRows.end()) return std::nullopt;
  return static_cast<NumberType>(found - kRows.begin());
}

std::vector<std::string> number_type_names() {
  std::vector<std::string> names;
  for (const NumberTypeRow& row : kRows) names.emplace_back(row.name);
  return names;
}

std::string_view cpp_spelling(NumberType type) {
  return row_of(type).spelling;
}

std::optional<NumberType> parse_cpp_number_type(std::string_view spelling) {
  const auto found = std::ranges::find(kRows, spelling, &NumberTypeRow::spelling);
  if (found != kRows.end()) return static_cast<NumberType>(found - kRows.begin());
  const auto other = std::ranges::find(kOtherSpellings, spelling, &OtherSpelling::spelling);
  return other == kOtherSpellings.end() ? std::nullopt : std::optional(other->type);
}

std::vector<std::string> cpp_number_types() {
  std::vector<std::string> spellings;
  for (const NumberTypeRow& row : kRows) spellings.emplace_back(row.spelling);
  for (const OtherSpelling& other : kOtherSpellings) spellings.emplace_back(other.spelling);
  return spellings;
}

bool NumberRange::has(Scalar value) const noexcept {
  const double number = odd_double(value);
  return number >= least && number <= most && (!whole || number == std::trunc(number));
}

NumberRange range_of(NumberType type) {
  if (const ShortFloat* const format = short_float(type)) return range_of(*format);
  return with_type(type, [](auto number) { return range_of_type<decltype(number)>(); });
}

Scalar rounded_to(NumberType type, Scalar value) noexcept {
  if (const ShortFloat* const format = short_float(type)) {
    return rounded_to(*format, odd_double(value));
  }
  return with_type(type, [&](auto number) -> Scalar { return nearest<decltype(number)>(value); });
}

void store_number(NumberType type, Scalar value, void* to) noexcept {
  if (const ShortFloat* const format = short_float(type)) {
    return store(bits_of(*format, rounded_to(*format, odd_double(value))), to);
  }
  with_type(type, [&](auto number) { store(nearest<decltype(number)>(value), to); });
}

}  // namespace kiln
