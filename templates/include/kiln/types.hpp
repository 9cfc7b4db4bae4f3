// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln {

namespace detail {
/// The entry of an enumerator, or `otherwise` for an invalid value, such as from a cast.
template <class Table, class Enum>
[[nodiscard]] constexpr typename Table::value_type entry_of(const Table& table, Enum value,
                                                            typename Table::value_type otherwise) {
  const auto index = static_cast<std::size_t>(value);
  return index < table.size() ? table[index] : otherwise;
}
/// What to_string() returns for such a value.
inline constexpr std::string_view kNoEnumerator = "invalid";
}  // namespace detail

/// Element types. Templates, command line and database spell them like the enumerators.
///
/// `tf32` is stored as 32-bit float. An operation rounds it to TF32 on use: to the nearest value,
/// and in a tie to either neighbour.
///
/// Four types are packed. `s4` and `u4` have two values in a byte, the first in the low half. `b1`
/// and `b1_xor` have eight, the first in the lowest bit. They are packed along the rows that lie in
/// memory. Every row begins with a new byte, and bits of the last byte beyond the row are ignored.
/// The product of two `b1` is 1 where both are 1, and of two `b1_xor` where they differ.
///
/// Matrix products (Gemm) take the types up to `b1_xor`. The later ones are for operations that
/// files declare. `cf32` and `cf64` are complex: the real part, then the imaginary part.
enum class DType : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s32,
  s4,
  u4,
  b1,
  b1_xor,
  s16,
  u16,
  u32,
  s64,
  u64,
  cf32,
  cf64
};

inline constexpr std::array<std::string_view, 21> kDTypeNames{
    "f16", "bf16", "tf32",   "f32", "f64", "e4m3", "e5m2", "s8",  "u8",   "s32", "s4",
    "u4",  "b1",   "b1_xor", "s16", "u16", "u32",  "s64",  "u64", "cf32", "cf64"};
inline constexpr std::array<std::uint8_t, 21> kDTypeBytes{2, 2, 4, 4, 8, 1, 1, 1, 1, 4, 1,
                                                          1, 1, 1, 2, 2, 4, 8, 8, 8, 16};
inline constexpr std::array<std::uint8_t, 21> kDTypeValues{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2,
                                                           2, 8, 8, 1, 1, 1, 1, 1, 1, 1};

/// The name of the type; "invalid" for any other value.
[[nodiscard]] constexpr std::string_view to_string(DType type) {
  return detail::entry_of(kDTypeNames, type, detail::kNoEnumerator);
}
/// Bytes of one element in memory: one value, or a byte of values for a packed type. 0 for a value
/// that is not a type.
[[nodiscard]] constexpr int size_bytes(DType type) {
  return detail::entry_of(kDTypeBytes, type, 0);
}
/// The number of values in an element: a power of two for packed types, otherwise 1.
[[nodiscard]] constexpr int packed_values(DType type) {
  return detail::entry_of(kDTypeValues, type, 1);
}
/// The number of elements in memory that `values` neighbouring values take. The last may be
/// partly filled.
[[nodiscard]] constexpr std::int64_t elements_of(std::int64_t values, DType type) {
  const std::int64_t packed = packed_values(type);
  return (values + packed - 1) / packed;
}
/// Whether matrix products (Gemm) take the type.
[[nodiscard]] constexpr bool is_product_type(DType type) {
  return type <= DType::b1_xor;
}
[[nodiscard]] constexpr bool is_complex(DType type) {
  return type == DType::cf32 || type == DType::cf64;
}
/// The type of that name, or nothing.
[[nodiscard]] constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// How an operand's matrix is stored: `n` as written (row-major), `t` transposed.
enum class Storage : std::uint8_t { n, t };

/// How well the answer of a look-up fits the problem, best first.
enum class Match : std::uint8_t {
  exact,              ///< this problem, this device class, this driver and toolkit
  same_device_class,  ///< this problem and device class, under another driver or toolkit, or on the
                      ///< emulated device of that class
  nearest_problem,    ///< a near size of the same kind of problem on this device class, or the
                      ///< product without the problem's epilogue
  related_problem,    ///< another kind of problem, or a far size, on this device class
  related_device,     ///< a problem tuned on another device class of the same architecture
  default_config,     ///< nothing tuned fits: a template's usual or default configuration
  none,               ///< no template can compute this problem
};
inline constexpr std::array<std::string_view, 7> kMatchNames{"exact",
                                                             "same_device_class",
                                                             "nearest_problem",
                                                             "related_problem",
                                                             "related_device",
                                                             "default_config",
                                                             "none"};
/// The enumerator's name; "invalid" for any other value.
[[nodiscard]] constexpr std::string_view to_string(Match match) {
  return detail::entry_of(kMatchNames, match, detail::kNoEnumerator);
}

/// What the library does if the database has no kernel tuned for the problem.
enum class Mode : std::uint8_t {
  use,           ///< take the best known kernel or fall back to defaults; never tune (the default)
  tune_on_miss,  ///< run `kiln` to tune the problem, unless the match is exact or
                 ///< same_device_class; a prediction counts only on an emulated device
  require,       ///< throw Error(not_found), unless the match is exact or same_device_class; a
                 ///< prediction counts only on an emulated device
  default_only,  ///< ignore the database; always take the template's default configuration
};
inline constexpr std::array<std::string_view, 4> kModeNames{"use", "tune_on_miss", "require",
                                                            "default_only"};
/// The enumerator's name; "invalid" for any other value.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) {
  return detail::entry_of(kModeNames, mode, detail::kNoEnumerator);
}
/// The mode of that name, or nothing.
[[nodiscard]] constexpr std::optional<Mode> parse_mode(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

}  // namespace kiln
