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
#include "lib/epilogue_lines.cuh"
#include "lib/epilogue_shifted.cuh"

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

/// A lane's piece of a row of sums, in loads of kLoad. Where two make up the piece, the 16 bytes
/// that each of eight lanes reads at once lie 32 apart, in half of the banks; so every second four
/// of them begin with the second half.
template <int kLoad, class Acc, class Scaled, int kCount>
KILN_DEVICE void load_piece(const Acc* from, Scaled (&to)[kCount]) {
  if constexpr (kCount == 2 * kLoad && kLoad * sizeof(Acc) == 16) {
    const bool turned = threadIdx.x / 4 % 2 != 0;
    alignas(16) Scaled first[kLoad];
    alignas(16) Scaled second[kLoad];
    load_sums<kLoad>(from + (turned ? kLoad : 0), first);
    load_sums<kLoad>(from + (turned ? 0 : kLoad), second);
#pragma unroll
    for (int i = 0; i < kLoad; ++i) {
      to[i] = turned ? second[i] : first[i];
      to[kLoad + i] = turned ? first[i] : second[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += kLoad) load_sums<kLoad>(from + i, to + i);
  }
}

template <int kVecC, int kVecD, int kSlabStride, class Mma, class Output, class Acc>
KILN_DEVICE void store_aligned(const Mma& mma, const Output& output, Acc* slab, int row, int col) {
  using Atom = typename Mma::Atom;
  constexpr int kPieces = Mma::shape().cols * Atom::cols() / kVecD;  // per row
  static_assert(kPieces * kVecD == Mma::shape().cols * Atom::cols(), "Rows are whole pieces");
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
    __syncwarp();  // mutant: staged
#pragma unroll 2
    for (int piece = lane; piece < Atom::rows() * kPieces; piece += 32) {
      const int y = piece / kPieces;
      const int x = piece % kPieces * kVecD;
      const int to_row = row + i * Atom::rows() + y;  // mutant: staged_row
      const int to_col = col + x;
      if (to_row >= output.rows() || to_col >= output.cols()) continue;  // mutant: staged_edge
      alignas(16) Scaled product[kVecD];
      load_piece<kLoad>(slab + y * kSlabStride + x, product);
      output.template store<kPieceC>(to_row, to_col, product, alpha, beta);
    }
    __syncwarp();
  }
}

/// kVecC and kVecD: elements that every row of C and D is aligned to. If that is next to nothing,
/// vectors of D begin where lines of memory do (lib/epilogue_lines.cuh, lib/epilogue_shifted.cuh).
template <int kVecC, int kVecD, int kSlabStride, class Mma, class Output, class Acc>
KILN_DEVICE void store_staged(const Mma& mma, const Output& output, Acc* slab, int row, int col) {
  constexpr int kBytes = static_cast<int>(sizeof(typename Output::Element));
  constexpr int kLine = kBytes == 1 ? 8 : 16 / kBytes;
  constexpr bool kUnaligned = kVecD * kBytes <= 4 && kLine >= 4;
  constexpr bool kKnown = requires {
    Mma::Atom::row_of_lane();
  };
  if constexpr (kUnaligned && kKnown && kBytes <= static_cast<int>(sizeof(Acc))) {
    store_lines<kLine>(mma, output, slab, row, col);
  } else if constexpr (kUnaligned && sizeof(Acc) == 4) {
    store_shifted<kLine, kSlabStride>(mma, output, slab, row, col);
  } else {
    store_aligned<kVecC, kVecD, kSlabStride>(mma, output, slab, row, col);
  }
}

}  // namespace kiln
