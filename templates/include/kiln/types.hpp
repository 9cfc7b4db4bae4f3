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
/// Returns the entry of `table` for the enumerator `value`. If `value` is not an enumerator (for
/// example after a cast), returns `otherwise`.
template <class Table, class Enum>
[[nodiscard]] constexpr typename Table::value_type entry_of(const Table& table, Enum value,
                                                            typename Table::value_type otherwise) {
  const auto index = static_cast<std::size_t>(value);
  return index < table.size() ? table[index] : otherwise;
}
/// What to_string() returns for an invalid value.
inline constexpr std::string_view kNoEnumerator = "invalid";
}  // namespace detail

/// Element types. A type has the same name in templates, on the command line and in the database.
///
/// `tf32` elements are stored as 32-bit floats. When an operation reads a `tf32` element, it
/// rounds the element to the nearest TF32 value. If two TF32 values are equally near, the operation
/// may choose either.
///
/// Four types are packed: one byte holds several consecutive values of a row. A byte holds two
/// values of `s4` or `u4`. The first value is in the low four bits. A byte holds eight values of
/// `b1` or `b1_xor`. The first value is in the lowest bit. Every row begins with a new byte.
/// Kernels ignore the unused bits of a row's last byte. The product of two `b1` values is 1 if both
/// values are 1. The product of two `b1_xor` values is 1 if the values differ.
///
/// Matrix products (Gemm) support the enumerators from `f16` to `b1_xor`. Only operations that you
/// declare in a file support the enumerators after `b1_xor`. A `cf32` or `cf64` element is a
/// complex number: the real part comes first, then the imaginary part.
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

/// The name of the type, or "invalid" if `type` is not an enumerator.
[[nodiscard]] constexpr std::string_view to_string(DType type) {
  return detail::entry_of(kDTypeNames, type, detail::kNoEnumerator);
}
/// The number of bytes of one element in memory. For a packed type, the result is 1: an element is
/// a byte that holds several values. The result is 0 for an invalid value.
[[nodiscard]] constexpr int size_bytes(DType type) {
  return detail::entry_of(kDTypeBytes, type, 0);
}
/// The number of values in one element: 2 for s4 and u4, 8 for b1 and b1_xor, otherwise 1.
[[nodiscard]] constexpr int packed_values(DType type) {
  return detail::entry_of(kDTypeValues, type, 1);
}
/// The number of elements that hold `values` consecutive values. For a packed type, an element is a
/// byte, and the last byte may be partly filled.
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
/// The type with this name, or std::nullopt if no type has this name.
[[nodiscard]] constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// How a matrix is stored in memory. `n` means row-major. `t` means that the transposed matrix is
/// stored row-major.
enum class Storage : std::uint8_t { n, t };

/// How well the chosen kernel fits the problem. The best match comes first.
enum class Match : std::uint8_t {
  exact,              ///< tuned for this problem, device class, driver and toolkit
  same_device_class,  ///< tuned for this problem and device class, but under another driver or
                      ///< toolkit, or on the emulated device of that class
  other_objective,    ///< the fastest kernel for this problem and device class: no stored result
                      ///< has the figures of the objective, for example its energy
  nearest_problem,    ///< tuned on this device class for the same types and traits, and for similar
                      ///< sizes; a Gemm kernel may have been tuned without the problem's
                      ///< epilogue, but it computes this epilogue
  related_problem,    ///< tuned on this device class for other types or traits, or for very
                      ///< different sizes
  related_device,     ///< tuned on another device class of the same architecture
  default_config,     ///< no tuned kernel fits, so Kiln uses the default configuration of a
                      ///< template, or a configuration from one of its `usual` lines
  none,               ///< no template can compute this problem
};
inline constexpr std::array<std::string_view, 8> kMatchNames{
    "exact",           "same_device_class", "other_objective", "nearest_problem",
    "related_problem", "related_device",    "default_config",  "none"};
/// The name of the match, or "invalid" if `match` is not an enumerator.
[[nodiscard]] constexpr std::string_view to_string(Match match) {
  return detail::entry_of(kMatchNames, match, detail::kNoEnumerator);
}

/// How the library chooses a kernel, and what the library does for an untuned problem. A problem
/// counts as tuned if its match is exact or same_device_class. On a real GPU, the kernel's time
/// must also be measured: a predicted time is not enough.
enum class Mode : std::uint8_t {
  use,           ///< use the best known kernel or a default, and never tune (default mode)
  tune_on_miss,  ///< if the problem is untuned, run `kiln` to tune it
  require,       ///< if the problem is untuned, throw Error(not_found)
  default_only,  ///< ignore the database and use the default configuration of a template
};
inline constexpr std::array<std::string_view, 4> kModeNames{"use", "tune_on_miss", "require",
                                                            "default_only"};
/// The name of the mode, or "invalid" if `mode` is not an enumerator.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) {
  return detail::entry_of(kModeNames, mode, detail::kNoEnumerator);
}
/// The mode with this name, or std::nullopt if no mode has this name.
[[nodiscard]] constexpr std::optional<Mode> parse_mode(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

}  // namespace kiln
