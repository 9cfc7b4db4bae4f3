// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/types.hpp"

namespace kiln::testing {

/// Element `index` of an array of `type`, as a number to multiply with (tf32 is rounded).
[[nodiscard]] double load_element(DType type, const void* data, std::int64_t index);
/// Stores `value`, rounded to nearest even; 8-bit floats saturate, integers wrap.
void store_element(DType type, void* data, std::int64_t index, double value);

/// A binary float with `exponent_bits` and `fraction_bits`, and how it treats its top exponent.
struct SmallFloat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;  ///< false: e4m3, whose top exponent holds numbers and one NaN
};
inline constexpr SmallFloat kF16{5, 10, true};
inline constexpr SmallFloat kBf16{8, 7, true};
inline constexpr SmallFloat kE4m3{4, 3, false};
inline constexpr SmallFloat kE5m2{5, 2, true};

[[nodiscard]] double decode(SmallFloat format, std::uint32_t bits);
[[nodiscard]] std::uint32_t encode(SmallFloat format, double value, bool saturate);

}  // namespace kiln::testing
