// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Stream-K: tiles that several clusters compute, each the pieces of its share of stages
/// (lib/work_units.cuh). What is less than a tile is left in the workspace, in the accumulator's
/// type: for each cluster the first piece of its share, then for each the last. Another launch adds
/// up those of each tile. For the three tiles and four clusters that are drawn there:
///
///     workspace   | 0.0 | 1.0 | 2.0 | 3.0 |     | 1.1 | 2.1 |     |
///     tile 0      0.0 + 1.0
///     tile 1      1.1 + 2.0           in the order of k
///     tile 2      2.1 + 3.0
///
/// The order of the sum is fixed, so the result is the same bit for bit in every run.

#include "common/epilogue.cuh"
#include "common/gemm_args.cuh"
#include "common/overlap.cuh"
#include "lib/output.cuh"
#include "lib/split_k.cuh"
#include "lib/work_units.cuh"

namespace kiln {

/// The pieces as one matrix of tiles below each other (piece_row()). They lie behind so many chunks
/// of 16 bytes of repacked operands.
template <UnitShape kShape, class Acc>
KILN_DEVICE GemmArgs matrix_of_pieces(GemmArgs args, int chunks) {
  args.d = static_cast<unsigned char*>(args.workspace) + 16LL * chunks;
  args.m = 1 << 30;  // more than there are
  args.n = kShape.tile_n;
  args.ldd = kShape.tile_n;
  return args;
}

/// The matrix of the workspace that the sums of a unit go to if it is only a part of a tile.
template <UnitShape kShape, class Acc, class Launch>
KILN_DEVICE GemmArgs matrix_of_unit(const GemmArgs& args, const Unit& unit, const Launch& launch) {
  if constexpr (kShape.stream > 0) {
    return matrix_of_pieces<kShape, Acc>(args, launch.packed_chunks);
  }
  return matrix_of_part<Acc>(args, unit.part);
}

/// The launch that adds up pieces, in blocks of kSumThreads, of which each tile of each block of a
/// cluster that is cut has
///
///     ceil_div(tile_m * tile_n, kVecD * kSumThreads)
///
/// A thread takes kVecD neighbours of a row.
template <UnitShape kShape, int kVecC, int kVecD, bool kReadsC, class CIn, class D, class Acc,
          class Launch>
KILN_DEVICE void sum_pieces(const GemmArgs& args, const Launch& launch) {
  using Vector = ElementVector<Acc, kVecD>;
  constexpr int kPlaces = kShape.cluster_m * kShape.cluster_n;
  constexpr int kPieceC = kVecC < kVecD ? kVecC : kVecD;
  constexpr int kVectors = kShape.tile_m * kShape.tile_n / kVecD;
  constexpr int kBlocks = (kVectors + kSumThreads - 1) / kSumThreads;
  wait_for_previous_launch();
  const auto block = static_cast<int>(blockIdx.x);
  const int vector = block % kBlocks * kSumThreads + static_cast<int>(threadIdx.x);
  const int rank = block / kBlocks % kPlaces;
  const int tile = block / kBlocks / kPlaces;
  const int row = vector / (kShape.tile_n / kVecD);
  const int col = vector % (kShape.tile_n / kVecD) * kVecD;
  const Shares shares = shares_of<kShape>(launch);
  const TileCorner corner =
      tile_at<kShape>(static_cast<unsigned>(shares.whole + tile), rank, launch);
  if (vector >= kVectors || corner.row + row >= args.m || corner.col + col >= args.n) return;
  const long long begin = static_cast<long long>(tile) * shares.steps;
  const int first = shares.with(begin);
  const int last = shares.with(begin + shares.steps - 1);
  if (first == last) return;  // a cluster stored it whole
  const GemmArgs pieces = matrix_of_pieces<kShape, Acc>(args, launch.packed_chunks);
  const Acc* const from = static_cast<const Acc*>(pieces.d) + col;
  const bool begins_first = shares.first(first) == begin;
  Vector sum = {};
#pragma unroll 4
  for (int share = first; share <= last; ++share) {
    const bool is_first = share > first || begins_first;
    const long long at = row + piece_row<kShape>(shares, share, is_first, rank);
    const Vector next = *reinterpret_cast<const Vector*>(from + at * kShape.tile_n);
#pragma unroll
    for (int i = 0; i < kVecD; ++i) sum.element[i] += next.element[i];
  }
  const Output<CIn, D, Acc, kReadsC> output(args);
  typename Output<CIn, D, Acc, kReadsC>::Scaled product[kVecD];
#pragma unroll
  for (int i = 0; i < kVecD; ++i) product[i] = output.scaled(sum.element[i]);
  output.template store<kPieceC>(corner.row + row, corner.col + col, product, output.alpha(),
                                 output.beta());
}

/// The second launch, whatever the first left in matrix_of_unit().
template <UnitShape kShape, int kVecC, int kVecD, bool kReadsC, class CIn, class D, class Acc,
          class Launch>
KILN_DEVICE void sum_units(const GemmArgs& args, const Launch& launch) {
  if constexpr (kShape.stream > 0) {
    sum_pieces<kShape, kVecC, kVecD, kReadsC, CIn, D, Acc>(args, launch);
  } else {
    sum_parts<kVecC, kVecD, kReadsC, CIn, D, Acc>(args, launch.parts);
  }
}

}  // namespace kiln
