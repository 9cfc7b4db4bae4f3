// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "runtime/emulated/decode/opcode.hpp"

/// \file
/// What the decode functions of arithmetic, conversion and data movement share.

namespace kiln::emulated {

[[nodiscard]] bool is_signed(ptx::Type type);    ///< s8 to s64
[[nodiscard]] bool is_unsigned(ptx::Type type);  ///< u8 to u64
[[nodiscard]] bool is_integer(ptx::Type type);   ///< s8 to s64 and u8 to u64
[[nodiscard]] bool is_float(ptx::Type type);     ///< f16, bf16, their pairs, f32 and f64

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

// For rows of the table of instructions.
inline constexpr TypeSet kShortIntegers{ptx::Type::u16, ptx::Type::u32, ptx::Type::s16,
                                        ptx::Type::s32};
inline constexpr TypeSet kLongIntegers{ptx::Type::u64, ptx::Type::s64};
inline constexpr TypeSet kShortBits{ptx::Type::b16, ptx::Type::b32};
inline constexpr TypeSet kLongBits{ptx::Type::b64};
inline constexpr TypeSet kWords{ptx::Type::u32, ptx::Type::s32};
inline constexpr TypeSet kSingle{ptx::Type::f32};
inline constexpr TypeSet kDouble{ptx::Type::f64};
inline constexpr TypeSet kHalves{ptx::Type::f16, ptx::Type::f16x2, ptx::Type::bf16,
                                 ptx::Type::bf16x2};
inline constexpr Traits kLong{.slots = kLongSlots};

}  // namespace kiln::emulated
