// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One warp's share of the block's tile, as a grid of atoms whose accumulators stay in registers:
///
///             B fragments of one step
///              +----+----+----+----+
///              +----+----+----+----+
///     +--+     +----+----+----+----+
///     |  |     |atom|    |    |    |      shape.rows x shape.cols atoms,
///     +--+     +----+----+----+----+      shape.depth / Atom::depth() steps along k a stage
///     |  |     |    |    |    |    |
///     +--+     +----+----+----+----+
///     A
///
/// Atoms whose lanes have addresses of their own (mma.sync) say where they are; those that take a
/// whole fragment from one address (WMMA) get it.
///
/// A share may begin deeper in the stage, where other warps take the rest of its depth
/// (lib/slices.cuh).
///
/// With two fragment buffers the fragments of the next step are read from shared memory while the
/// tensor cores work on the current ones.

#include "common/annotations.cuh"

namespace kiln {

struct WarpTileShape {
  int rows;
  int cols;
  int depth;
  int buffers;
};

template <class AtomType, WarpTileShape kShape, auto kStage>
class WarpTile {
 public:
  using Atom = AtomType;
  KILN_HD static constexpr WarpTileShape shape() { return kShape; }
  KILN_HD static constexpr int steps() { return kShape.depth / Atom::depth(); }

  /// Row and column of the warp's share in the block's tile, and the depth of the stage that it
  /// begins with, a multiple of the share's.
  KILN_DEVICE WarpTile(int row, int col, int depth = 0) {
    constexpr int kRows = kShape.rows;
    constexpr int kCols = kShape.cols;
    constexpr int kAcrossA = kStage.a.offset(1, 0);
    constexpr int kAcrossB = kStage.b.offset(1, 0);
    constexpr int kFirstB = kStage.b.first;
    if constexpr (Atom::addressed_by_lane()) {
      a_origin_ = Atom::template deeper<kStage.a>(Atom::template origin_a<kStage.a>(row), depth);
      b_origin_ = Atom::template deeper<kStage.b>(Atom::template origin_b<kStage.b>(col), depth);
    } else {
      a_origin_ = row * kAcrossA + depth * kStage.a.offset(0, 1);
      b_origin_ = kFirstB + col * kAcrossB + depth * kStage.b.offset(0, 1);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) Atom::clear(sums_[i][j]);
    }
  }

  template <class T>
  KILN_DEVICE void load_fragments(const T* stage, int step, int slot) {
    constexpr int kRows = kShape.rows;
    constexpr int kCols = kShape.cols;
    if constexpr (Atom::addressed_by_lane()) {
      const auto a = Atom::template at_step<kStage.a>(stage, a_origin_, step);
      const auto b = Atom::template at_step<kStage.b>(stage, b_origin_, step);
#pragma unroll
      for (int i = 0; i < kRows; ++i) Atom::template load_a<kStage.a>(a_[slot][i], a, i);
#pragma unroll
      for (int j = 0; j < kCols; ++j) Atom::template load_b<kStage.b>(b_[slot][j], b, j);
    } else {
      constexpr int kAcrossA = kStage.a.offset(1, 0);
      constexpr int kAcrossB = kStage.b.offset(1, 0);
      constexpr int kDepthA = kStage.a.offset(0, 1);
      constexpr int kDepthB = kStage.b.offset(0, 1);
      constexpr int kStrideA = kStage.a.layout.stride;
      constexpr int kStrideB = kStage.b.layout.stride;
      constexpr int kDepth = Atom::depth();
      constexpr int kM = Atom::rows();
      constexpr int kN = Atom::cols();
      const T* a = stage + a_origin_ + step * kDepth * kDepthA;
      const T* b = stage + b_origin_ + step * kDepth * kDepthB;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        Atom::load_a(a_[slot][i], a + i * kM * kAcrossA, kStrideA);
      }
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        Atom::load_b(b_[slot][j], b + j * kN * kAcrossB, kStrideB);
      }
    }
  }

  KILN_DEVICE void multiply(int slot) {
    constexpr int kRows = kShape.rows;
    constexpr int kCols = kShape.cols;
    if constexpr (Atom::addressed_by_lane()) {
      typename Atom::FactorsB b[kCols];
#pragma unroll
      for (int j = 0; j < kCols; ++j) b[j] = Atom::factors_of(b_[slot][j]);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const typename Atom::FactorsA a = Atom::factors_of(a_[slot][i]);
#pragma unroll
        for (int j = 0; j < kCols; ++j) Atom::multiply(sums_[i][j], a, b[j]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        // mutant: multiply_fragments
        for (int j = 0; j < kCols; ++j) Atom::multiply(sums_[i][j], a_[slot][i], b_[slot][j]);
      }
    }
  }

  template <class T>
  KILN_DEVICE void multiply_stage(const T* stage) {
    constexpr int kSteps = steps();
    constexpr int kBuffers = kShape.buffers;
    load_fragments(stage, 0, 0);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (kBuffers == 1) multiply(0);
      if (step + 1 < kSteps) load_fragments(stage, step + 1, (step + 1) % kBuffers);
      if (kBuffers == 2) multiply(step % 2);
    }
  }

  template <class Acc>
  KILN_DEVICE void store_row(int row, Acc* slab, int stride) const {
    constexpr int kCols = kShape.cols;
    constexpr int kN = Atom::cols();
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
      if constexpr (Atom::addressed_by_lane()) {
        Atom::template store<kStage.a, kStage.b>(sums_[row][j], slab + j * kN, stride);
      } else {
        Atom::store(sums_[row][j], slab + j * kN, stride);
      }
    }
  }

  /// The lane's sums of that row of atoms with their places, two neighbours at a time.
  template <class Each>
  KILN_DEVICE void pairs_of_row(int row, const Each& each) const
      requires(AtomType::addressed_by_lane()) {
    constexpr int kCols = kShape.cols;
    constexpr int kN = Atom::cols();
#pragma unroll
    for (int j = 0; j < kCols; ++j) Atom::pairs(sums_[row][j], j * kN, each);
  }

  /// The lane's sums, as many as count(), in any order.
  KILN_HD static constexpr int count() {
    return kShape.rows * kShape.cols * 8;
  }
  KILN_DEVICE typename Atom::Acc& sum(int i) {
    constexpr int kCols = kShape.cols;
    return sums_[i / (8 * kCols)][i / 8 % kCols].halves[i / 4 % 2][i % 4];
  }

 private:
  int a_origin_;
  int b_origin_;
  typename Atom::FragmentA a_[kShape.buffers][kShape.rows];
  typename Atom::FragmentB b_[kShape.buffers][kShape.cols];
  typename Atom::Accumulator sums_[kShape.rows][kShape.cols];
};

}  // namespace kiln
