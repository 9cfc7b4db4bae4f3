// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulated/decoder.hpp"
#include "runtime/emulated/matrix_elements.hpp"

/// \file
/// What the matrix instructions share while they are decoded.

namespace kiln::emulated {

/// A fragment among an instruction's operands.
struct MatrixOperand {
  const FragmentLayout* layout = nullptr;
  MatrixType type = MatrixType::f32;
  std::uint32_t first = 0;  ///< of its registers in Instr::rows
};

/// Takes "m16n8k16"; fails if there is none.
[[nodiscard]] MatrixShape take_shape(DecodeContext& context);
/// Rows of an operand that must have as many registers as its layout.
[[nodiscard]] std::vector<std::uint32_t> matrix_rows(DecodeContext& context,
                                                     const ptx::Operand& operand,
                                                     const MatrixOperand& matrix, bool writes);
/// The fragment of wmma instructions.
[[nodiscard]] const FragmentLayout* wmma_layout(const MatrixShape& shape, MatrixRole role,
                                                MatrixType type);

void decode_wmma(DecodeContext& context, Instr& out);
void decode_wmma_multiply(DecodeContext& context, Instr& out);
void decode_ldmatrix(DecodeContext& context, Instr& out);
void decode_stmatrix(DecodeContext& context, Instr& out);
void decode_movmatrix(DecodeContext& context, Instr& out);

}  // namespace kiln::emulated
