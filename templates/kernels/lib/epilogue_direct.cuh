// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a thread's sums from its registers to D, element by element:
///
///     sums[i][j]  -- alpha * sum + beta * C -->  D[row(i), col(j)]     what lies inside D
///
/// alpha and beta are applied on the way, and C is read only where beta is not zero.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"

namespace kiln {

template <class Mma, class Output>
KILN_DEVICE void store_direct(const Mma& mma, const Output& output, int row, int col) {
  using Acc = typename Mma::Acc;
  const Acc alpha = output.alpha();
  const Acc beta = output.beta();
#pragma unroll
  for (int i = 0; i < Mma::shape().m; ++i) {
    const int to_row = row + mma.row(i);
    if (to_row >= output.rows()) continue;
#pragma unroll
    for (int j = 0; j < Mma::shape().n; ++j) {
      const int to_col = col + mma.col(j);
      if (to_col >= output.cols()) continue;
      output.store(to_row, to_col, mma.sum(i, j), alpha, beta);
    }
  }
}

}  // namespace kiln
