// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a warp's atoms through its own slab of shared memory, one row of atoms at a time, because
/// only the hardware knows which lane has which element of a fragment:
///
///     fragments  --store-->  slab (atom rows x warp columns)  --whole vectors-->  D
///
/// Rows of D come out in whole aligned vectors where they can, and element by element at the right
/// edge. alpha and beta are applied on the way (to sums of f16 as f32), and C is read only where
/// beta may not be zero.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"
#include "common/meta.cuh"

namespace kiln {

/// Sums as numbers to scale. Those that need no conversion are moved at once: element by element
/// the compiler would order other instructions differently.
template <int kCount, class Acc, class Scaled>
KILN_DEVICE void load_sums(const Acc* from, Scaled* to) {
  using Sums = ElementVector<Acc, kCount>;
  if constexpr (kSameType<Acc, Scaled>) {
    *reinterpret_cast<Sums*>(to) = *reinterpret_cast<const Sums*>(from);
  } else {
    const Sums sums = *reinterpret_cast<const Sums*>(from);
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i] = to_accumulator<Scaled>(sums.element[i]);
  }
}

template <int kVecC, int kVecD, int kSlabStride, class Mma, class Output, class Acc>
KILN_DEVICE void store_staged(const Mma& mma, const Output& output, Acc* slab, int row, int col) {
  using Atom = typename Mma::Atom;
  constexpr int kPieces = Mma::shape().cols * Atom::cols() / kVecD;  // per row
  constexpr int kPieceC = kVecC < kVecD ? kVecC : kVecD;
  // Sums that one shared-memory load moves.
  constexpr int kMost = 16 / static_cast<int>(sizeof(Acc));
  constexpr int kLoad = kVecD < kMost ? kVecD : kMost;
  using Scaled = typename Output::Scaled;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Scaled alpha = output.alpha();
  const Scaled beta = output.beta();
#pragma unroll
  for (int i = 0; i < Mma::shape().rows; ++i) {
    mma.store_row(i, slab, kSlabStride);
    __syncwarp();
#pragma unroll 2
    for (int piece = lane; piece < Atom::rows() * kPieces; piece += 32) {
      const int y = piece / kPieces;
      const int x = piece % kPieces * kVecD;
      const int to_row = row + i * Atom::rows() + y;
      const int to_col = col + x;
      if (to_row >= output.rows() || to_col >= output.cols()) continue;
      alignas(16) Scaled product[kVecD];
#pragma unroll
      for (int e = 0; e < kVecD; e += kLoad) {
        load_sums<kLoad>(slab + y * kSlabStride + x + e, product + e);
      }
      output.template store<kPieceC>(to_row, to_col, product, alpha, beta);
    }
    __syncwarp();
  }
}

}  // namespace kiln
