// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// Decode functions of moves, selections, comparisons and predicate logic, by file.

namespace kiln::emulated::data {

// data_moves.cpp
void decode_mov(DecodeContext& context, Instr& out);

// data_permute.cpp
void decode_prmt(DecodeContext& context, Instr& out);

// data_compare.cpp
void decode_setp(DecodeContext& context, Instr& out);
void decode_set(DecodeContext& context, Instr& out);

// data_select.cpp
void decode_selp(DecodeContext& context, Instr& out);
void decode_slct(DecodeContext& context, Instr& out);
void decode_and_predicates(DecodeContext& context, Instr& out);
void decode_or_predicates(DecodeContext& context, Instr& out);
void decode_xor_predicates(DecodeContext& context, Instr& out);
void decode_not_predicate(DecodeContext& context, Instr& out);

}  // namespace kiln::emulated::data
