// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/number_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

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

/// Whether it is an integer that float64 has not.
bool is_rounded(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, number);
  if (status != std::errc{} || end != last || number == 0) return false;
  return number >> std::countr_zero(number) >> std::numeric_limits<double>::digits != 0;
}

/// "0 to 255"; of 64 bits in powers of two, which float64 has not exactly.
std::string range_text(NumberType type) {
  if (type == NumberType::s64) return "-2^63 to 2^63 - 1";
  if (type == NumberType::u64) return "0 to 2^64 - 1";
  const NumberRange range = range_of(type);
  return fmt::format("{} to {}", range.least, range.most);
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

bool NumberRange::has(double value) const {
  return value >= least && value <= most && (!whole || value == std::trunc(value));
}

std::string why_not_of_type(NumberType type, double value, std::string_view text) {
  const std::string shown = text.empty() ? fmt::format("{}", value) : std::string(text);
  const NumberRange range = range_of(type);
  if (range.whole && is_rounded(text)) {
    return fmt::format(
        "{} is no value that a double has, and scalars are doubles: up to 2^53 (9007199254740992) "
        "they have every whole number",
        shown);
  }
  if (range.has(value)) return "";
  if (!std::isfinite(value)) return shown + " is not finite, and a scalar has to be";
  if (value >= range.least && value <= range.most) {
    return fmt::format("{} is not a whole number, and {} has no others", shown, to_string(type));
  }
  return fmt::format("{} is outside of {}, what {} may be", shown, range_text(type),
                     to_string(type));
}

NumberRange range_of(NumberType type) {
  if (const ShortFloat* const format = short_float(type)) return range_of(*format);
  return with_type(type, [](auto number) { return range_of_type<decltype(number)>(); });
}

double rounded_to(NumberType type, double value) noexcept {
  if (const ShortFloat* const format = short_float(type)) return rounded_to(*format, value);
  return with_type(type, [&](auto number) {
    using Number = decltype(number);
    if constexpr (std::numeric_limits<Number>::is_integer) {
      return static_cast<double>(nearest_integer<Number>(value));
    } else {
      return static_cast<double>(static_cast<Number>(value));
    }
  });
}

void store_number(NumberType type, double value, void* to) noexcept {
  if (const ShortFloat* const format = short_float(type)) {
    return store(bits_of(*format, rounded_to(*format, value)), to);
  }
  with_type(type, [&](auto number) {
    using Number = decltype(number);
    if constexpr (std::numeric_limits<Number>::is_integer) {
      store(nearest_integer<Number>(value), to);
    } else {
      store(static_cast<Number>(value), to);
    }
  });
}

}  // namespace kiln
