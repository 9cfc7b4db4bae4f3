// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// Decode functions of the integer family, by file. Each sees an instruction whose first part it
/// serves; integer_opcodes() lists them.

namespace kiln::emulated::integer {

// integer_arithmetic.cpp
void decode_add(DecodeContext& context, Instr& out);
void decode_sub(DecodeContext& context, Instr& out);
void decode_div(DecodeContext& context, Instr& out);
void decode_rem(DecodeContext& context, Instr& out);
void decode_abs(DecodeContext& context, Instr& out);
void decode_neg(DecodeContext& context, Instr& out);
void decode_min(DecodeContext& context, Instr& out);
void decode_max(DecodeContext& context, Instr& out);
void decode_sad(DecodeContext& context, Instr& out);

// integer_multiply.cpp
void decode_mul(DecodeContext& context, Instr& out);
void decode_mad(DecodeContext& context, Instr& out);
void decode_mul24(DecodeContext& context, Instr& out);
void decode_mad24(DecodeContext& context, Instr& out);
void decode_dp4a(DecodeContext& context, Instr& out);
void decode_dp2a(DecodeContext& context, Instr& out);

// integer_video.cpp
void decode_video(DecodeContext& context, Instr& out);

// integer_carry.cpp: with .cc, or the forms that read the carry
void decode_add_carry(DecodeContext& context, Instr& out);
void decode_sub_carry(DecodeContext& context, Instr& out);
void decode_mad_carry(DecodeContext& context, Instr& out);

// integer_fields.cpp
void decode_popc(DecodeContext& context, Instr& out);
void decode_clz(DecodeContext& context, Instr& out);
void decode_bfind(DecodeContext& context, Instr& out);
void decode_fns(DecodeContext& context, Instr& out);
void decode_brev(DecodeContext& context, Instr& out);
void decode_bfe(DecodeContext& context, Instr& out);
void decode_bfi(DecodeContext& context, Instr& out);
void decode_bmsk(DecodeContext& context, Instr& out);
void decode_szext(DecodeContext& context, Instr& out);

// integer_logic.cpp
void decode_shl(DecodeContext& context, Instr& out);
void decode_shr(DecodeContext& context, Instr& out);
void decode_shf(DecodeContext& context, Instr& out);
void decode_and(DecodeContext& context, Instr& out);
void decode_or(DecodeContext& context, Instr& out);
void decode_xor(DecodeContext& context, Instr& out);
void decode_not(DecodeContext& context, Instr& out);
void decode_cnot(DecodeContext& context, Instr& out);
void decode_lop3(DecodeContext& context, Instr& out);

}  // namespace kiln::emulated::integer
