// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

/// \file
/// Conversions of PTX ISA 9.0, section 9.7.9.21 (cvt) and 9.7.9.22 (cvt.pack), on one element.

namespace kiln::emulated::converts {

/// One form of cvt between single values. Types are u8 to s64, f16, bf16, f32, f64, and tf32 as a
/// result.
struct Conversion {
  ptx::Type to = ptx::Type::none;
  ptx::Type from = ptx::Type::none;
  Rounding rounding = Rounding::nearest_even;
  bool integral = false;  ///< .rni and its like: the result is a whole number
  bool flush = false;     ///< .ftz: of f32 only
  bool saturate = false;  ///< .sat: integers into the range of `to`, others into [0, 1]
  bool saturate_finite = false;
  bool relu = false;
};

/// Converts the lower bits of a source register of any width. The result is extended to 64 bits:
/// with its sign if it is a signed integer, else with zeros. From floating point to integers, too
/// large values become the nearest limit, and NaN becomes 0, or just the highest bit where f64 or
/// integers of 64 bits take part.
[[nodiscard]] std::uint64_t convert(const Conversion& conversion, std::uint64_t source);

/// The format of f16, bf16, tf32, e4m3, e5m2 or f32 in which the parts of packed types are coded.
struct PackedFormat {
  const FloatFormat* format = nullptr;
  int bits = 16;  ///< of a part; 8 for the types of 8 bits
};

/// A value rounded into a part of a packed type.
[[nodiscard]] std::uint32_t narrow(const PackedFormat& to, float value, Rounding rounding,
                                   bool saturate_finite, bool relu);

/// cvt.pack.sat: `a` above `b`, each clamped to a signed or unsigned integer of `bits` bits, above
/// them the lower bits of `c`.
[[nodiscard]] std::uint32_t pack_saturated(std::int32_t a, std::int32_t b, std::uint32_t c,
                                           int bits, bool is_signed_result);

}  // namespace kiln::emulated::converts
