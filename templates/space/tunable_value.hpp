// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// \file
/// Values of tunables: 32-bit integers, names such as `cp_async`, the booleans `false` and `true`
/// (two of the names), and decimal numbers such as 0.25. Configurations hold all of them as
/// std::int64_t, and equal texts are equal numbers in every process:
///   - An integer is itself.
///   - A name of at most 12 lower-case letters, digits and underscores is a number above all 32-bit
///     integers that spells the name. Any other name is a digest of its text. The process keeps the
///     texts of these names until it ends.
///   - A decimal number is a number below all 32-bit integers that holds its digits and exponent.
/// All functions are thread-safe.

namespace kiln {

inline constexpr std::size_t kMostValueCharacters = 64;  ///< of a name
/// Significant digits of a decimal number: as many as a double always keeps.
inline constexpr int kMostDecimalDigits = 15;

/// A number as written: mantissa * 10^exponent.
struct Decimal {
  std::int64_t mantissa = 0;
  int exponent = 0;
  bool is_float = false;  ///< has the suffix f
};

/// Nothing if the text is no identifier, or is too long.
[[nodiscard]] std::optional<std::int64_t> value_of_name(std::string_view name);
[[nodiscard]] std::int64_t value_of_bool(bool value);
/// Nothing if there are more than kMostDecimalDigits digits, or a double cannot hold the number.
[[nodiscard]] std::optional<std::int64_t> value_of_decimal(Decimal decimal);
/// That of the shortest text that reads as `number`. Nothing as for value_of_decimal().
[[nodiscard]] std::optional<std::int64_t> value_of_double(double number);

/// Booleans are names, too.
[[nodiscard]] bool is_named_value(std::int64_t value);
[[nodiscard]] bool is_boolean_value(std::int64_t value);
/// A decimal number, not an integer.
[[nodiscard]] bool is_real_value(std::int64_t value);
/// An integer or a decimal number as written.
[[nodiscard]] Decimal decimal_of(std::int64_t value);
/// The number that an integer or a decimal number stands for.
[[nodiscard]] double number_of(std::int64_t value);

/// "64", "cp_async", "true", "0.25", "1.0", "2.5e-7", "0.5f".
[[nodiscard]] std::string value_text(std::int64_t value);
/// "registers cp_async tma".
[[nodiscard]] std::string values_text(std::span<const std::int64_t> values,
                                      std::string_view between = " ");
/// Reads what value_text() writes, and other spellings of decimal numbers (".5", "1e3", "5.");
/// nothing for other texts.
[[nodiscard]] std::optional<std::int64_t> parse_value(std::string_view text);

}  // namespace kiln
