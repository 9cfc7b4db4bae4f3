// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes rows of results to a D whose rows start anywhere, in vectors of 16 bytes all the same.
/// Where an aligned vector begins differs from row to row, so each row is cut there:
///
///     a warp's part of a row     0 1 2 | 3 4 5 6 7 8 9 10 | 11 ...            | ... 63
///     16-byte lines of D       . . . . |                  |                   |      . . .
///                               singles     piece 0            piece 1          singles
///
/// What the first and the last line hold only in part is written element by element. A piece begins
/// at any column of the slab, whose rows are read in aligned quads: those that cover it, and the
/// piece is selected from them. For WMMA, where no lane knows which sums it has; where it does,
/// they need not be selected (lib/epilogue_lines.cuh).

#include "common/annotations.cuh"
#include "common/epilogue.cuh"

namespace kiln {

/// Numbers `at`, `at` + 1, ... of a row of sums that starts on 16 bytes and is read in quads: of
/// all that cover them, none more.
template <class Acc, int kCount>
KILN_DEVICE void load_unaligned(const Acc* row, int at, Acc (&to)[kCount]) {
  static_assert(kCount % 4 == 0 && sizeof(Acc) == 4, "Pieces are whole quads of words");
  using Quad = ElementVector<Acc, 4>;
  const int rest = at % 4;
  const Quad* quads = reinterpret_cast<const Quad*>(row + at - rest);
  Acc from[kCount + 4];
#pragma unroll
  for (int i = 0; i < kCount + 4; i += 4) {
    Quad quad{};
    if (i < kCount || rest != 0) quad = quads[i / 4];
#pragma unroll
    for (int j = 0; j < 4; ++j) from[i + j] = quad.element[j];
  }
#pragma unroll
  for (int i = 0; i < kCount + 2; ++i) from[i] = (rest & 2) != 0 ? from[i + 2] : from[i];
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = (rest & 1) != 0 ? from[i + 1] : from[i];
}

/// As store_staged, with vectors of kVecD elements: 16 bytes, or 8 elements of a byte. Four lanes
/// share a row, and rows 8 apart begin at the same place of a line: a lane finds out once where its
/// pieces are.
template <int kVecD, int kSlabStride, class Mma, class Output, class Acc>
KILN_DEVICE void store_shifted(const Mma& mma, const Output& output, Acc* slab, int row, int col) {
  using Atom = typename Mma::Atom;
  constexpr int kCols = Mma::shape().cols * Atom::cols();
  constexpr int kPieces = kCols / kVecD;  // per row, whole ones
  static_assert(8 % kVecD == 0 && Atom::rows() % 8 == 0, "Rows 8 apart must agree");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int member = lane % 4;
  using Scaled = typename Output::Scaled;
  const Scaled alpha = output.alpha();
  const Scaled beta = output.beta();
  const int end = min(kCols, output.cols() - col);
  const int past = output.template past_a_line<kVecD>(row + lane / 4, col);
  const int head = -past & (kVecD - 1);
  const int after = head + max(end - head, 0) / kVecD * kVecD;  // the last whole piece
  // The lane's share of the elements outside of whole pieces, of which there are as many as one has
  // or, at the edge of D, up to twice as many.
  constexpr int kSingles = 2 * kVecD / 4;
  int singles[kSingles];
#pragma unroll
  for (int s = 0; s < kSingles; ++s) {
    const int single = member + 4 * s;
    singles[s] = single < head ? single : after + single - head;
  }
#pragma unroll
  for (int i = 0; i < Mma::shape().rows; ++i) {
    mma.store_row(i, slab, kSlabStride);
    __syncwarp();
#pragma unroll
    for (int y = lane / 4; y < Atom::rows(); y += 8) {
      const int to_row = row + i * Atom::rows() + y;
      if (to_row >= output.rows()) continue;
      const Acc* from = slab + y * kSlabStride;
#pragma unroll
      for (int piece = member; piece < kPieces; piece += 4) {
        const int first = head + piece * kVecD;
        if (first + kVecD > end) continue;
        Acc sums[kVecD];
        load_unaligned(from, first, sums);
        Scaled product[kVecD];
#pragma unroll
        for (int e = 0; e < kVecD; ++e) product[e] = output.scaled(sums[e]);
        output.template store<1>(to_row, col + first, product, alpha, beta);
      }
#pragma unroll
      for (const int x : singles) {
        if (x < end) output.store(to_row, col + x, output.scaled(from[x]), alpha, beta);
      }
    }
    __syncwarp();
  }
}

}  // namespace kiln
