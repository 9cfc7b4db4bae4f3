// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a thread's elements of D straight from its registers, element by element, and only those
/// that lie in D:
///
///     t0 t0 t1 t1 | beyond n        each thread: alpha * sum (+ beta * C) -> D

#include "common/annotations.cuh"

namespace kiln {

template <class Mma, class Output>
KILN_DEVICE void store_direct(const typename Mma::Accumulators& sums, const Output& output, int row,
                              int col, int thread_row, int thread_col) {
  const auto alpha = output.alpha();
  const auto beta = output.beta();
  const int rows = output.rows();
  const int cols = output.cols();
#pragma unroll
  for (int i = 0; i < Mma::shape().m; ++i) {
    const int to_row = row + Mma::row(thread_row, i);
    if (to_row >= rows) continue;
#pragma unroll
    for (int j = 0; j < Mma::shape().n; ++j) {
      const int to_col = col + Mma::col(thread_col, j);
      if (to_col >= cols) continue;
      output.store(to_row, to_col, sums.at[i][j], alpha, beta);
    }
  }
}

}  // namespace kiln
