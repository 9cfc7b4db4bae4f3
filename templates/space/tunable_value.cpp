// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/tunable_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <system_error>

namespace kiln {
namespace {

/// The digits of short names, to a base one higher: no name has a zero in it.
constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::int64_t kBase = static_cast<std::int64_t>(kDigits.size()) + 1;
constexpr std::size_t kMostSpelled = 12;
/// What is added to the spelled number, so that it is no 32-bit integer.
constexpr std::int64_t kFirst = std::int64_t{1} << 32;

constexpr std::int64_t largest_spelling() {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < kMostSpelled; ++i) value = value * kBase + kBase - 1;
  return value;
}
static_assert((std::numeric_limits<std::int64_t>::max() - kFirst) > largest_spelling());

constexpr std::optional<std::int64_t> spelled_value(std::string_view name) {
  if (name.empty() || name.size() > kMostSpelled) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : name) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * kBase + static_cast<std::int64_t>(digit) + 1;
  }
  return kFirst + value;
}

constexpr std::int64_t kFalse = *spelled_value("false");
constexpr std::int64_t kTrue = *spelled_value("true");

// Decimal numbers: below -kReals, the mantissa's magnitude, its sign, the exponent and the suffix.
constexpr std::int64_t kReals = std::int64_t{1} << 33;
constexpr int kExponentBits = 10;
constexpr int kLeastExponent = -512;
constexpr int kLowBits = kExponentBits + 2;
constexpr std::int64_t kMostMantissa = 999'999'999'999'999;  // kMostDecimalDigits
static_assert(kMostMantissa < std::int64_t{1} << 50);
constexpr std::int64_t kLastReal = -kReals - ((std::int64_t{1} << (50 + kLowBits)) - 1);

// Long names: the lowest quarter of the negative numbers.
constexpr int kDigestBits = 61;
constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLastLong = kLong + ((std::int64_t{1} << kDigestBits) - 1);
static_assert(kLastLong < kLastReal);

struct LongName {
  std::int64_t value;
  std::string text;
  const LongName* next;
};

/// The long names that the process has seen. Lists that only grow, without locks: a child of
/// fork() can go on with them.
std::array<std::atomic<const LongName*>, 256> long_names{};

std::atomic<const LongName*>& list_of(std::int64_t value) {
  return long_names[static_cast<std::size_t>(value) % long_names.size()];
}

const LongName* find_long(const LongName* from, std::int64_t value) {
  while (from != nullptr && from->value != value) from = from->next;
  return from;
}

std::int64_t name_digest(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  hash ^= hash >> 29;
  hash *= 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32;
  return kLong + static_cast<std::int64_t>(hash >> (64 - kDigestBits));
}

std::optional<std::int64_t> keep_long(std::string_view name) {
  const std::int64_t value = name_digest(name);
  std::atomic<const LongName*>& list = list_of(value);
  auto own = std::unique_ptr<LongName>();
  const LongName* first = list.load(std::memory_order_acquire);
  for (;;) {
    if (const LongName* const known = find_long(first, value)) {
      // Two names of one digest: the second can't be used.
      return known->text == name ? std::optional(value) : std::nullopt;
    }
    if (!own) own = std::make_unique<LongName>(LongName{value, std::string(name), nullptr});
    own->next = first;
    if (list.compare_exchange_weak(first, own.get(), std::memory_order_acq_rel)) {
      (void)own.release();  // the list's now
      return value;
    }
  }
}

bool is_value_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= kMostValueCharacters && !digit(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || digit(c); });
}

bool is_long(std::int64_t value) {
  return value <= kLastLong;
}

/// Takes digits off the text. False if they are too many for any value.
bool take_digits(std::string_view& text, Decimal& into, bool behind_point, int& count) {
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    if (into.mantissa > kMostMantissa) return false;
    into.mantissa = into.mantissa * 10 + (text[0] - '0');
    if (behind_point) --into.exponent;
    text.remove_prefix(1);
    ++count;
  }
  return true;
}

/// "0.25", ".5", "5.", "1e-3", "-2.5f"; not an integer.
std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal decimal;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  int digits = 0;
  if (!take_digits(text, decimal, false, digits)) return std::nullopt;
  const bool has_point = text.starts_with('.');
  if (has_point) text.remove_prefix(1);
  if (!take_digits(text, decimal, true, digits) || digits == 0) return std::nullopt;
  const bool has_exponent = text.starts_with('e') || text.starts_with('E');
  if (has_exponent) {
    text.remove_prefix(1);
    if (text.starts_with('+')) {
      text.remove_prefix(1);
      if (text.starts_with('-')) return std::nullopt;
    }
    int exponent = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (status != std::errc{} || std::abs(exponent) > 1000) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    decimal.exponent += exponent;
  }
  if (!has_point && !has_exponent) return std::nullopt;
  decimal.is_float = text == "f" || text == "F";
  if (!text.empty() && !decimal.is_float) return std::nullopt;
  if (is_negative) decimal.mantissa = -decimal.mantissa;
  return decimal;
}

double decimal_number(const Decimal& decimal) {
  constexpr int kExactPower = 22;  // 10^22 is a double, and so is every mantissa
  const auto mantissa = static_cast<double>(decimal.mantissa);
  if (decimal.exponent >= 0 && decimal.exponent <= kExactPower) {
    return mantissa * std::pow(10.0, decimal.exponent);
  }
  if (decimal.exponent < 0 && decimal.exponent >= -kExactPower) {
    return mantissa / std::pow(10.0, -decimal.exponent);
  }
  return std::strtod(fmt::format("{}e{}", decimal.mantissa, decimal.exponent).c_str(), nullptr);
}

std::string decimal_text(const Decimal& decimal) {
  constexpr int kLeastPositional = -5;
  std::string digits = fmt::format_int(std::abs(decimal.mantissa)).str();
  const int size = static_cast<int>(digits.size());
  const int leading = decimal.exponent + size - 1;  // the power of ten of the first digit
  std::string text = decimal.mantissa < 0 ? "-" : "";
  if (leading < kLeastPositional || leading >= kMostDecimalDigits) {
    if (size > 1) digits.insert(1, ".");
    text += fmt::format("{}e{}", digits, leading);
  } else if (leading < 0) {
    text += "0." + std::string(static_cast<std::size_t>(-leading - 1), '0') + digits;
  } else if (decimal.exponent >= 0) {
    text += digits + std::string(static_cast<std::size_t>(decimal.exponent), '0') + ".0";
  } else {
    digits.insert(static_cast<std::size_t>(leading + 1), ".");
    text += digits;
  }
  return decimal.is_float ? text + "f" : text;
}

}  // namespace

std::optional<std::int64_t> value_of_name(std::string_view name) {
  if (!is_value_name(name)) return std::nullopt;
  const auto value = spelled_value(name);
  return value ? value : keep_long(name);
}

std::int64_t value_of_bool(bool value) {
  return value ? kTrue : kFalse;
}

std::optional<std::int64_t> value_of_decimal(Decimal decimal) {
  while (decimal.mantissa != 0 && decimal.mantissa % 10 == 0) {
    decimal.mantissa /= 10;
    ++decimal.exponent;
  }
  if (decimal.mantissa == 0) decimal.exponent = 0;
  const std::int64_t magnitude = std::abs(decimal.mantissa);
  if (magnitude > kMostMantissa || decimal.exponent < kLeastExponent ||
      decimal.exponent >= kLeastExponent + (1 << kExponentBits)) {
    return std::nullopt;
  }
  const double number = decimal_number(decimal);
  if (!std::isfinite(number) || (number == 0.0 && magnitude != 0)) return std::nullopt;
  const std::int64_t code = (magnitude << kLowBits) |
                            (static_cast<std::int64_t>(decimal.exponent - kLeastExponent) << 2) |
                            (decimal.mantissa < 0 ? 2 : 0) | (decimal.is_float ? 1 : 0);
  return -kReals - code;
}

std::optional<std::int64_t> value_of_double(double number) {
  if (!std::isfinite(number)) return std::nullopt;
  std::array<char, 32> text{};
  const auto [end, status] =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  if (status != std::errc{}) return std::nullopt;
  const auto decimal = parse_decimal({text.data(), static_cast<std::size_t>(end - text.data())});
  return decimal ? value_of_decimal(*decimal) : std::nullopt;
}

bool is_named_value(std::int64_t value) {
  return value > kFirst || is_long(value);
}

bool is_boolean_value(std::int64_t value) {
  return value == kFalse || value == kTrue;
}

bool is_real_value(std::int64_t value) {
  return value <= -kReals && value >= kLastReal;
}

Decimal decimal_of(std::int64_t value) {
  if (!is_real_value(value)) return {value, 0, false};
  const std::int64_t code = -kReals - value;
  const std::int64_t magnitude = code >> kLowBits;
  const auto exponent = static_cast<int>((code >> 2) & ((1 << kExponentBits) - 1)) + kLeastExponent;
  return {(code & 2) != 0 ? -magnitude : magnitude, exponent, (code & 1) != 0};
}

double number_of(std::int64_t value) {
  return is_real_value(value) ? decimal_number(decimal_of(value)) : static_cast<double>(value);
}

std::string value_text(std::int64_t value) {
  if (is_real_value(value)) return decimal_text(decimal_of(value));
  if (is_long(value)) {
    const LongName* const known = find_long(list_of(value).load(std::memory_order_acquire), value);
    if (known != nullptr) return known->text;
  }
  if (!is_named_value(value) || is_long(value)) return fmt::format_int(value).str();
  std::string name;
  for (std::int64_t rest = value - kFirst; rest > 0; rest /= kBase) {
    name += kDigits[static_cast<std::size_t>(std::max<std::int64_t>(rest % kBase, 1) - 1)];
  }
  std::ranges::reverse(name);
  return name;
}

std::string values_text(std::span<const std::int64_t> values, std::string_view between) {
  std::string text;
  for (const std::int64_t value : values) {
    if (!text.empty()) text += between;
    text += value_text(value);
  }
  return text;
}

std::optional<std::int64_t> parse_value(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc{} && end == text.data() + text.size()) {
    // Numbers beyond are none of a tunable; they must not turn into names.
    return value >= -kFirst && value <= kFirst ? std::optional(value) : std::nullopt;
  }
  if (const auto decimal = parse_decimal(text)) return value_of_decimal(*decimal);
  return value_of_name(text);
}

}  // namespace kiln
