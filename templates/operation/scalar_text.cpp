// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/scalar_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace kiln {
namespace {

/// An integer as somebody wrote it.
struct IntegerText {
  bool negative = false;
  int base = 10;
  std::string_view digits;
};

IntegerText split_integer(std::string_view text) {
  IntegerText parts;
  parts.negative = text.starts_with('-');
  if (parts.negative) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    parts.base = 16;
    text.remove_prefix(2);
  }
  parts.digits = text;
  return parts;
}

/// How much of an integer's text 64 bits hold: none if it is no integer.
enum class Held : std::uint8_t { none, too_large, whole };

Held read_magnitude(const IntegerText& parts, std::uint64_t& magnitude) {
  const char* const last = parts.digits.data() + parts.digits.size();
  const auto [end, status] = std::from_chars(parts.digits.data(), last, magnitude, parts.base);
  if (status == std::errc::invalid_argument || end != last) return Held::none;
  constexpr auto kMostBelowZero = std::uint64_t{1} << 63;
  const bool fits = status == std::errc{} && !(parts.negative && magnitude > kMostBelowZero);
  return fits ? Held::whole : Held::too_large;
}

bool is_beyond_64_bits(std::string_view text) {
  std::uint64_t magnitude = 0;
  return read_magnitude(split_integer(text), magnitude) == Held::too_large;
}

std::optional<Scalar> read_double(std::string_view text, std::chars_format format) {
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value, format);
  if (status != std::errc{} || end != last) return std::nullopt;
  return value;
}

/// "0 to 255"; of 64 bits in powers of two.
std::string range_text(NumberType type) {
  if (type == NumberType::s64) return "-2^63 to 2^63 - 1";
  if (type == NumberType::u64) return "0 to 2^64 - 1";
  const NumberRange range = range_of(type);
  return fmt::format("{} to {}", range.least, range.most);
}

}  // namespace

std::string scalar_text(Scalar value) {
  return value.visit([](auto number) { return fmt::format("{}", number); });
}

std::optional<Scalar> read_scalar(NumberType type, std::string_view text) {
  if (type == NumberType::boolean && text == "true") return true;
  if (type == NumberType::boolean && text == "false") return false;
  const IntegerText parts = split_integer(text);
  std::uint64_t magnitude = 0;
  const Held held = read_magnitude(parts, magnitude);
  if (held == Held::whole) {
    // As a double, since zero has a sign there.
    if (parts.negative && magnitude == 0) return -0.0;
    if (parts.negative) return static_cast<std::int64_t>(0 - magnitude);
    return magnitude;
  }
  if (parts.base == 10) return read_double(text, std::chars_format::general);
  if (held == Held::none) return std::nullopt;
  const auto value = read_double(parts.digits, std::chars_format::hex);
  if (!value) return std::nullopt;
  return parts.negative ? -value->as_double() : value->as_double();
}

std::string why_not_of_type(NumberType type, Scalar value, std::string_view text) {
  const NumberRange range = range_of(type);
  // An integer just below -2^63 is that as a double.
  const bool is_cut = range.whole && is_beyond_64_bits(text);
  if (range.has(value) && !is_cut) return "";
  const std::string shown = text.empty() ? scalar_text(value) : std::string(text);
  const double nearest = value.as_double();
  if (!std::isfinite(nearest)) return shown + " is not finite, but a scalar must be finite";
  if (!is_cut && nearest >= range.least && nearest <= range.most) {
    return fmt::format("{} is not an integer, but {} is an integer type", shown, to_string(type));
  }
  return fmt::format("{} is outside the range of {} ({})", shown, to_string(type),
                     range_text(type));
}

}  // namespace kiln
