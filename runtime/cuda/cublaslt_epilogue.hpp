// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kiln/gemm.hpp"

namespace kiln {

/// How cuBLASLt finishes D = activation(alpha * product + beta * C + bias).
struct CublasLtEpilogue {
  int code = 1;           ///< cublasLtEpilogue_t
  int bias_operand = -1;  ///< of the expression; -1: no bias
  bool with_alpha = true;
  bool with_c = true;
  bool with_beta = true;  ///< false: C is added as it is
};

/// The epilogue of cuBLASLt that computes the problem's expression: a sum of `acc` or `alpha * acc`
/// and, where wanted, `c` or `beta * c` and a bias like x[n] of D's type, within relu, gelu_tanh
/// (cuBLASLt's GELU) or nothing. Nothing for any other. Without an expression the default.
[[nodiscard]] std::optional<CublasLtEpilogue> cublaslt_epilogue(const Gemm& gemm);

}  // namespace kiln
