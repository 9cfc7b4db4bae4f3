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
/// What the first and the last line hold only in part is written element by element. A whole piece
/// begins at any column of the slab, whose rows are read in aligned quads: those that cover it, and
/// the piece is selected from them.

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

/// As store_staged, with vectors of kVecD elements, 16 bytes.
template <int kVecD, int kSlabStride, class Mma, class Output, class Acc>
KILN_DEVICE void store_shifted(const Mma& mma, const Output& output, Acc* slab, int row, int col) {
  using Atom = typename Mma::Atom;
  constexpr int kCols = Mma::shape().cols * Atom::cols();
  constexpr int kPieces = kCols / kVecD;  // per row, whole ones
  const int lane = static_cast<int>(threadIdx.x) % 32;
  using Scaled = typename Output::Scaled;
  const Scaled alpha = output.alpha();
  const Scaled beta = output.beta();
  const int end = min(kCols, output.cols() - col);
  // Elements outside of whole pieces: as many as one has, or at the edge of D up to two.
  constexpr int kShift = kVecD == 16 ? 4 : kVecD == 8 ? 3 : 2;
  static_assert(1 << kShift == kVecD, "A piece has 4, 8 or 16 elements");
  const int shift = end == kCols ? kShift : kShift + 1;
  const auto head_of = [&](int to_row) {
    return (kVecD - output.template past_a_line<kVecD>(to_row, col)) % kVecD;
  };
#pragma unroll
  for (int i = 0; i < Mma::shape().rows; ++i) {
    mma.store_row(i, slab, kSlabStride);
    __syncwarp();
#pragma unroll 2
    for (int piece = lane; piece < Atom::rows() * kPieces; piece += 32) {
      const int y = piece / kPieces;
      const int to_row = row + i * Atom::rows() + y;
      const int first = head_of(to_row) + piece % kPieces * kVecD;
      if (to_row >= output.rows() || first + kVecD > end) continue;
      Acc sums[kVecD];
      load_unaligned(slab + y * kSlabStride, first, sums);
      Scaled product[kVecD];
#pragma unroll
      for (int e = 0; e < kVecD; ++e) product[e] = output.scaled(sums[e]);
      output.template store<1>(to_row, col + first, product, alpha, beta);
    }
#pragma unroll 2
    for (int single = lane; single < Atom::rows() << shift; single += 32) {
      const int y = single >> shift;
      const int to_row = row + i * Atom::rows() + y;
      const int head = head_of(to_row);
      const int after = head + max(end - head, 0) / kVecD * kVecD;  // the last whole piece
      const int at = single & ((1 << shift) - 1);
      const int x = at < head ? at : after + at - head;
      if (to_row >= output.rows() || x >= end) continue;
      output.store(to_row, col + x, output.scaled(slab[y * kSlabStride + x]), alpha, beta);
    }
    __syncwarp();
  }
}

}  // namespace kiln
