// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The argument of support/epilogue.cu, shared by host and device.

#include "common/gemm_args.cuh"

namespace kiln {

/// `rows` rows of D from `first_row` on. `value` and `bound` are matrices of gemm.n columns: first
/// the product and the sum of its absolute terms, then the result and the bound of its error.
struct ApplyEpilogueArgs {
  GemmArgs gemm;
  double* value;
  double* bound;
  double c_factor;  ///< times `bound`: the error of a product; 0: none, and `bound` is not read
  double least;     ///< its error whatever its size
  int first_row;
  int rows;
};

}  // namespace kiln
