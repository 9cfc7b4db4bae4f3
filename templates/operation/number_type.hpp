// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/scalar.hpp"

namespace kiln {

/// The C++ types of numbers that kernels take by value.
enum class NumberType : std::uint8_t {
  s32,
  u32,
  s64,
  u64,
  f32,
  f64,
  boolean,
  s8,
  u8,
  s16,
  u16,
  f16,
  bf16
};
inline constexpr std::size_t kNumberTypes = 13;

[[nodiscard]] std::size_t size_bytes(NumberType type);
/// "s32" and so on, as front matter names them.
[[nodiscard]] std::string_view to_string(NumberType type);
[[nodiscard]] std::optional<NumberType> parse_number_type(std::string_view name);
/// All names, the usual ones first.
[[nodiscard]] std::vector<std::string> number_type_names();

/// "int" and so on; the type of such a spelling, of which a type may have several.
[[nodiscard]] std::string_view cpp_spelling(NumberType type);
[[nodiscard]] std::optional<NumberType> parse_cpp_number_type(std::string_view spelling);
[[nodiscard]] std::vector<std::string> cpp_number_types();

/// What numbers of a type are, as far as float64 says it: from `least` to `most`, both included.
struct NumberRange {
  double least = 0.0, most = 0.0;
  bool whole = false;
  [[nodiscard]] bool has(Scalar value) const noexcept;
};
[[nodiscard]] NumberRange range_of(NumberType type);

/// The nearest number of the type, ties to even; of integers 0 for NaN.
[[nodiscard]] Scalar rounded_to(NumberType type, Scalar value) noexcept;
/// Writes that number to size_bytes() of memory.
void store_number(NumberType type, Scalar value, void* to) noexcept;

}  // namespace kiln
