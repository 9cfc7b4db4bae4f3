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
/// The table's entry for an enumerator, or `otherwise` if `value` is invalid, for example after a
/// cast.
template <class Table, class Enum>
[[nodiscard]] constexpr typename Table::value_type entry_of(const Table& table, Enum value,
                                                            typename Table::value_type otherwise) {
  const auto index = static_cast<std::size_t>(value);
  return index < table.size() ? table[index] : otherwise;
}
/// What to_string() returns for an invalid value.
inline constexpr std::string_view kNoEnumerator = "invalid";
}  // namespace detail

/// Element types. Templates, the command line and the database use the same names for the types.
///
/// `tf32` elements are stored as 32-bit floats. An operation rounds each element that it reads to
/// the nearest TF32 value. If two TF32 values are equally near, the operation may take either
/// value.
///
/// Four types are packed. A byte holds two values of `s4` or `u4`, the first in the low half. A
/// byte holds eight values of `b1` or `b1_xor`, the first in the lowest bit. Consecutive values of
/// a row in memory share a byte. Every row begins with a new byte, and kernels ignore the unused
/// bits of a row's last byte. The product of two `b1` values is 1 if both values are 1. The product
/// of two `b1_xor` values is 1 if the values differ.
///
/// Matrix products (Gemm) support the types from `f16` to `b1_xor` in the list below. All other
/// types are only for operations that files declare. A `cf32` or `cf64` element is complex: the
/// real part, then the imaginary part.
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

/// The name of the type, or "invalid" for any other value.
[[nodiscard]] constexpr std::string_view to_string(DType type) {
  return detail::entry_of(kDTypeNames, type, detail::kNoEnumerator);
}
/// The number of bytes of one element in memory. For a packed type, the result is 1, because a byte
/// holds several values. The result is 0 for an invalid value.
[[nodiscard]] constexpr int size_bytes(DType type) {
  return detail::entry_of(kDTypeBytes, type, 0);
}
/// The number of values in one element: a power of two for packed types, otherwise 1.
[[nodiscard]] constexpr int packed_values(DType type) {
  return detail::entry_of(kDTypeValues, type, 1);
}
/// The number of elements that hold `values` consecutive values. The last element may be partly
/// filled.
[[nodiscard]] constexpr std::int64_t elements_of(std::int64_t values, DType type) {
  const std::int64_t packed = packed_values(type);
  return (values + packed - 1) / packed;
}
/// Whether matrix products (Gemm) support the type.
[[nodiscard]] constexpr bool is_product_type(DType type) {
  return type <= DType::b1_xor;
}
[[nodiscard]] constexpr bool is_complex(DType type) {
  return type == DType::cf32 || type == DType::cf64;
}
/// The type with this name, or nothing.
[[nodiscard]] constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// How the matrix of an operand is stored: `n` row-major, `t` transposed.
enum class Storage : std::uint8_t { n, t };

/// How well the kernel from a look-up fits the problem, from the best match to the worst.
enum class Match : std::uint8_t {
  exact,              ///< tuned for this problem, device class, driver and toolkit
  same_device_class,  ///< tuned for this problem and device class, but under another driver or
                      ///< toolkit, or on the emulated device of that class
  nearest_problem,    ///< tuned on this device class for similar sizes of the same kind of problem,
                      ///< or for the same product without the epilogue
  related_problem,    ///< tuned on this device class for another kind of problem, or for very
                      ///< different sizes
  related_device,     ///< tuned on another device class of the same architecture
  default_config,     ///< no tuned kernel fits: a template's usual or default configuration
  none,               ///< no template can compute this problem
};
inline constexpr std::array<std::string_view, 7> kMatchNames{"exact",
                                                             "same_device_class",
                                                             "nearest_problem",
                                                             "related_problem",
                                                             "related_device",
                                                             "default_config",
                                                             "none"};
/// The name of the enumerator, or "invalid" for any other value.
[[nodiscard]] constexpr std::string_view to_string(Match match) {
  return detail::entry_of(kMatchNames, match, detail::kNoEnumerator);
}

/// How the library chooses a kernel, and what the library does for an untuned problem.
enum class Mode : std::uint8_t {
  use,           ///< use the best known kernel or a default, and never tune (default mode)
  tune_on_miss,  ///< run `kiln` to tune the problem, unless the match is exact or
                 ///< same_device_class; predicted results count only on an emulated device
  require,       ///< throw Error(not_found), unless the match is exact or same_device_class;
                 ///< predicted results count only on an emulated device
  default_only,  ///< ignore the database and use the default configuration of a template
};
inline constexpr std::array<std::string_view, 4> kModeNames{"use", "tune_on_miss", "require",
                                                            "default_only"};
/// The name of the enumerator, or "invalid" for any other value.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) {
  return detail::entry_of(kModeNames, mode, detail::kNoEnumerator);
}
/// The mode with this name, or nothing.
[[nodiscard]] constexpr std::optional<Mode> parse_mode(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

}  // namespace kiln
