// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/emulated/decode/decoder.hpp"
#include "runtime/emulated/matrix/matrix_elements.hpp"

/// \file
/// What the matrix instructions share.

namespace kiln::emulated {

/// A fragment among an instruction's operands.
struct MatrixOperand {
  const FragmentLayout* layout = nullptr;
  MatrixType type = MatrixType::f32;
  std::uint32_t first = 0;  ///< of its registers in Instr::rows
};

/// Warp::gather_all() for instructions that need the registers of 32 lanes: ends the launch if some
/// of them have exited or never were.
[[nodiscard]] bool whole_warp(Warp& warp, const Instr& instr, LaneMask active);

/// Takes "m16n8k16"; fails if there is none.
[[nodiscard]] MatrixShape take_shape(DecodeContext& context);
/// Takes the next part that is an element type.
[[nodiscard]] std::optional<MatrixType> take_matrix_type(DecodeContext& context);
/// Rows of an operand that must have as many registers as its layout.
[[nodiscard]] std::vector<std::uint32_t> matrix_rows(DecodeContext& context,
                                                     const ptx::Operand& operand,
                                                     const MatrixOperand& matrix, bool writes);
/// The fragment of wmma instructions.
[[nodiscard]] const FragmentLayout* wmma_layout(const MatrixShape& shape, MatrixRole role,
                                                MatrixType type);

/// Says what a product of this shape costs, by the type of A.
void state_product(DecodeContext& context, const MatrixShape& shape, MatrixType type);

}  // namespace kiln::emulated
