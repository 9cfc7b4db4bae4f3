// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// What the decode functions of arithmetic, conversion and data movement share.

namespace kiln::emulated {

[[nodiscard]] bool is_signed(ptx::Type type);    ///< s8 to s64
[[nodiscard]] bool is_unsigned(ptx::Type type);  ///< u8 to u64
[[nodiscard]] bool is_integer(ptx::Type type);   ///< s8 to s64 and u8 to u64
[[nodiscard]] bool is_float(ptx::Type type);     ///< f16, bf16, their pairs, f32 and f64

/// Whether a part that is left names a floating-point type: tells add.f32 from add.s32.
[[nodiscard]] bool works_on_floats(const DecodeContext& context);

/// Takes the next type, which must be one of these.
[[nodiscard]] ptx::Type take_type_of(DecodeContext& context,
                                     std::initializer_list<ptx::Type> allowed);

/// Fills d, a and, as far as there are operands, b and c; all of one type. Fails if there are not
/// exactly `sources` of them.
void take_operands(DecodeContext& context, Instr& out, int sources, ptx::Type type);

/// The executing function for elements of 16, 32 or 64 bits.
[[nodiscard]] inline Execute by_width(int bits, Execute bits16, Execute bits32, Execute bits64) {
  return bits == 16 ? bits16 : bits == 32 ? bits32 : bits64;
}

/// Unit of a plain integer instruction on this many bits.
[[nodiscard]] inline Unit integer_unit(int bits) {
  return bits == 64 ? Unit::integer64 : Unit::integer;
}

}  // namespace kiln::emulated
