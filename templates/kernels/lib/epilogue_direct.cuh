// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a thread's sums from its registers to D, element by element:
///
///     sums[i][j]  -- epilogue -->  D[row(i), col(j)]     what lies inside D
///
/// The epilogue is applied on the way (common/epilogue.cuh).
///
/// store_vectors() writes neighbouring sums as vectors, as far as D is aligned.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"

namespace kiln {

template <class Mma, class Output>
KILN_DEVICE void store_direct(const Mma& mma, const Output& output, int row, int col) {
  const auto alpha = output.alpha();
  const auto beta = output.beta();
#pragma unroll
  for (int i = 0; i < Mma::shape().m; ++i) {
    const int to_row = row + mma.row(i);
    if (to_row >= output.rows()) continue;  // mutant: direct_edge
#pragma unroll
    for (int j = 0; j < Mma::shape().n; ++j) {
      const int to_col = col + mma.col(j);
      if (to_col >= output.cols()) continue;
      output.store(to_row, to_col, output.scaled(mma.sum(i, j)), alpha, beta);
    }
  }
}

/// Of the thread's rows part `part` of kParts, in pieces of up to kVecD sums, of which neighbouring
/// columns come in kVec.
template <int kVec, int kVecC, int kVecD, int kParts, class Mma, class Output>
KILN_DEVICE void store_vectors(const Mma& mma, const Output& output, int row, int col, int part) {
  using Scaled = typename Output::Scaled;
  constexpr int kPiece = kVec < kVecD ? kVec : kVecD;
  constexpr int kPieceC = kPiece < kVecC ? kPiece : kVecC;
  constexpr int kRows = Mma::shape().m;
  constexpr int kCols = Mma::shape().n;
  const Scaled alpha = output.alpha();
  const Scaled beta = output.beta();
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (kParts > 1 && i / (kRows / kParts) != part) continue;
    const int to_row = row + mma.row(i);
    if (to_row >= output.rows()) continue;
#pragma unroll
    for (int j = 0; j < kCols; j += kPiece) {
      const int to_col = col + mma.col(j);
      if (to_col >= output.cols()) continue;
      Scaled product[kPiece];
#pragma unroll
      for (int e = 0; e < kPiece; ++e) product[e] = output.scaled(mma.sum(i, j + e));
      output.template store<kPieceC>(to_row, to_col, product, alpha, beta);
    }
  }
}

}  // namespace kiln
