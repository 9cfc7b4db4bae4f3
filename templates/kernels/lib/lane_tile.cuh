// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A warp's share of the block's tile, dealt to its lanes, and multiplied with plain arithmetic:
/// m x n sums in each lane's registers. lanes_m x lanes_n lanes form a grid, so that lanes of one
/// row of it want the same numbers of A, and lanes of one column the same of B, which shared memory
/// reads once for all of them:
///
///             B, one row of the stage
///             n0   n1   n2   n3   n0   n1   n2   n3
///            +----+----+----+----+----+----+----+----+     lanes 2 x 4 (of a warp: 8 x 4 or 4 x 8)
///     A   m0 |l0  |l1  |l2  |l3  |l0  |l1  |l2  |l3  |
///         m1 |l4  |l5  |l6  |l7  |l4  |    |    |    |     each square is a piece of
///            +----+----+----+----+----+----+----+----+     vec_m x vec_n sums, which takes one
///            load
///         m0 |l0  |l1  |    |    |    |    |    |    |     of a vector from either operand
///         m1 |l4  |    |    |    |    |    |    |    |
///            +----+----+----+----+----+----+----+----+
///
/// A lane's pieces are spread over the warp's share, so that neighbours read neighbouring vectors:
/// without a bank conflict. Which lane is where in the grid is a matter of how loads of 16 bytes
/// are served, eight lanes at a time: those eight are 4 x 2 of the grid, bits n m m (m) n (n) of
/// the lane's number, lowest first.
///
/// Both tiles lie in shared memory as rows across k. There are two sets of fragments: those of the
/// next step are on their way while the current ones are multiplied.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

struct LaneTileShape {
  int m;  ///< rows of D that a lane computes
  int n;
  int depth;
  int lanes_m;
  int vec_m;  ///< neighbouring rows of one piece
  int vec_n;
  int buffers;         ///< sets of fragments
  bool columns_first;  ///< the order of multiplications
  bool loads_first;    ///< whether fragments are loaded before the multiplications they overlap
  KILN_HD constexpr int lanes_n() const { return 32 / lanes_m; }
};

template <class AccType, LaneTileShape kShape, auto kStage>
class LaneTile {
  static_assert(kShape.m % kShape.vec_m == 0 && kShape.n % kShape.vec_n == 0,
                "A lane's share must be whole vectors");
  static_assert(kStage.a.layout.stride % kShape.vec_m == 0 &&
                    kStage.b.layout.stride % kShape.vec_n == 0,
                "Shared rows must start on a vector");

 public:
  using Acc = AccType;
  KILN_HD static constexpr LaneTileShape shape() { return kShape; }
  KILN_HD static constexpr int steps() { return kShape.depth; }

  /// Row and column of the warp's share in the block's tile, and the rows of the stage that it
  /// begins with.
  KILN_DEVICE LaneTile(int row, int col, int depth) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int kLanesM = kShape.lanes_m;
    constexpr int kVecM = kShape.vec_m;
    constexpr int kVecN = kShape.vec_n;
    row_ = row + lane / 2 % kLanesM * kVecM;
    col_ = col + (lane % 2 + lane / (2 * kLanesM) * 2) * kVecN;
    a_origin_ = row_ + depth * kStage.a.layout.stride;
    b_origin_ = kStage.b.first + col_ + depth * kStage.b.layout.stride;
  }

  KILN_DEVICE void load_fragments(const Acc* stage, int step, int slot) {
    constexpr int kStepM = kShape.lanes_m * kShape.vec_m;
    constexpr int kStepN = kShape.lanes_n() * kShape.vec_n;
    load_share<kShape.vec_m, kStepM>(stage + a_origin_ + step * kStage.a.layout.stride, a_[slot]);
    load_share<kShape.vec_n, kStepN>(stage + b_origin_ + step * kStage.b.layout.stride, b_[slot]);
    // Left to itself, ptxas moves the loads behind the multiplications that would hide them.
    if constexpr (kShape.loads_first) __syncwarp();
  }

  KILN_DEVICE void multiply(int slot) {
    // Back and forth: a line keeps one number at the multiplier, and a turn the other, which spares
    // reads of the register file, whose banks conflict. How well the registers are then dealt out
    // is for the compiler to say, and differs between the two ways.
    constexpr bool kColumns = kShape.columns_first;
    constexpr int kLines = kColumns ? kShape.n : kShape.m;
    constexpr int kLength = kColumns ? kShape.m : kShape.n;
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
#pragma unroll
      for (int along = 0; along < kLength; ++along) {
        const int turned = line % 2 == 0 ? along : kLength - 1 - along;
        const int i = kColumns ? turned : line;
        const int j = kColumns ? line : turned;
        sums_[i][j] += a_[slot][i] * b_[slot][j];
      }
    }
  }

  /// Where the lane's i-th row lies in the block's tile.
  KILN_DEVICE int row(int i) const {
    constexpr int kVec = kShape.vec_m;
    constexpr int kStep = kShape.lanes_m * kVec;
    return row_ + i / kVec * kStep + i % kVec;
  }
  KILN_DEVICE int col(int j) const {
    constexpr int kVec = kShape.vec_n;
    constexpr int kStep = kShape.lanes_n() * kVec;
    return col_ + j / kVec * kStep + j % kVec;
  }
  KILN_DEVICE Acc sum(int i, int j) const {
    return sums_[i][j];
  }
  KILN_DEVICE void add(int i, int j, Acc value) {
    sums_[i][j] += value;
  }

 private:
  template <int kVec, int kStep, int kCount>
  KILN_DEVICE static void load_share(const Acc* from, Acc (&share)[kCount]) {
    using Vector = ElementVector<Acc, kVec>;
#pragma unroll
    for (int i = 0; i < kCount; i += kVec) {
      const Vector vector = *reinterpret_cast<const Vector*>(from + i / kVec * kStep);
#pragma unroll
      for (int j = 0; j < kVec; ++j) share[i + j] = vector.element[j];
    }
  }

  int row_;
  int col_;
  int a_origin_;  ///< of the lane's numbers in a stage
  int b_origin_;
  Acc a_[kShape.buffers][kShape.m];
  Acc b_[kShape.buffers][kShape.n];
  Acc sums_[kShape.m][kShape.n] = {};
};

}  // namespace kiln
