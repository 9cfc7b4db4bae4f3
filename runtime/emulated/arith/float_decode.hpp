// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// Decode functions of the floating-point family, by file.

namespace kiln::emulated::floats {

// float_arithmetic.cpp
void decode_add(DecodeContext& context, Instr& out);
void decode_sub(DecodeContext& context, Instr& out);
void decode_mul(DecodeContext& context, Instr& out);
void decode_fma(DecodeContext& context, Instr& out);  ///< and mad, which is the same
void decode_div(DecodeContext& context, Instr& out);

// float_signs.cpp
void decode_abs(DecodeContext& context, Instr& out);
void decode_neg(DecodeContext& context, Instr& out);
void decode_min(DecodeContext& context, Instr& out);
void decode_max(DecodeContext& context, Instr& out);
void decode_copysign(DecodeContext& context, Instr& out);
void decode_testp(DecodeContext& context, Instr& out);

// float_special.cpp
void decode_rcp(DecodeContext& context, Instr& out);
void decode_sqrt(DecodeContext& context, Instr& out);
void decode_rsqrt(DecodeContext& context, Instr& out);
void decode_ex2(DecodeContext& context, Instr& out);
void decode_tanh(DecodeContext& context, Instr& out);

// float_halves.cpp: f16, bf16 and their pairs. Called when the type, which is left to take, is one
// of them.
enum class HalfOperation { add, sub, mul, fma, abs, neg, min, max, ex2, tanh };
void decode_halves(DecodeContext& context, Instr& out, HalfOperation operation);
[[nodiscard]] bool works_on_halves(const DecodeContext& context);

/// Executes `plain`, whose arithmetic then rounds as `rounding` says: "", "rn", "rz", "rm", "rp".
void set_rounded(DecodeContext& context, Instr& out, Execute plain, std::string_view rounding);

}  // namespace kiln::emulated::floats
