// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/arith/convert_functions.hpp"
#include "runtime/emulated/decode/decoder.hpp"

namespace kiln::emulated::converts {

/// A vectorised executing function for a conversion between registers of these widths, or null if
/// it is none of the common ones.
[[nodiscard]] Execute quick_form(const Conversion& conversion, int to_bytes, int from_bytes);

/// cvt between packed types, or from two f32: what is left are two type names, of which at least
/// one is of a packed type.
void decode_packed(DecodeContext& context, Instr& out, Rounding rounding, bool rounding_given);
[[nodiscard]] bool works_on_packed(const DecodeContext& context);

/// cvt.pack
void decode_pack(DecodeContext& context, Instr& out);

}  // namespace kiln::emulated::converts
