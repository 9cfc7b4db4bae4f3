// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A warpgroup's share of a tile of D: kTile.blocks blocks of 64 rows, as wide as the tile, whose
/// sums stay in registers. Rows lie on the axis of wgmma that counts 64, columns on the other. Of
/// each block warp w has rows 16 w to 16 w + 15, in groups of eight columns:
///
///            columns 0 to 7              8 to 15
///          +------------------------+-----------------
///     row  | lane 0  lane 1 ...  3  |  lane 0 ...          two neighbouring sums each,
///      0   |  0  1    2  3      6 7 |                      registers 0 and 1 of the group
///      1   | lane 4 ...             |
///     ...  |                        |
///      8   | lane 0 ...             |                      registers 2 and 3
///
/// A stage holds both operands as tensor copies leave them: rows along k (one span wide), or rows
/// across k in slabs of one span, which follow one another.

#include "common/annotations.cuh"
#include "lib/ptx_wgmma.cuh"

namespace kiln {

/// An operand's tile in a stage.
struct StageOperand {
  bool k_major;  ///< whether its rows run along k
  int span;      ///< bytes of the swizzle
  int across;    ///< rows of D (or columns) of the whole tile
  int depth;     ///< of k, in elements
  int bytes;     ///< of an element

  /// Descriptor's layout.
  KILN_HD constexpr SwizzledRows rows() const { return {span, k_major ? 16 : depth * span}; }
  /// Bytes from the tile's start to what begins at row `at` (a multiple of 64), and `step` elements
  /// deeper.
  KILN_HD constexpr int offset(int at, int step) const {
    // mutant: operand_offset
    return k_major ? at * span + step * bytes : at * bytes / span * depth * span + step * span;
  }
};

struct WarpgroupTileShape {
  int blocks;  ///< of 64 rows
  int cols;
  int depth;  ///< of a stage, in elements
  StageOperand rows_operand;
  StageOperand cols_operand;
};

template <class A, class B, class Acc, WarpgroupTileShape kTile>
class WarpgroupTile {
 public:
  using Types = WgmmaTypes<A, B, Acc>;
  using Register = typename Types::Register;
  using Sum = Acc;
  KILN_HD static constexpr WarpgroupTileShape shape() { return kTile; }
  KILN_HD static constexpr int registers() { return kTile.cols / 2 / Types::kSums; }

  KILN_DEVICE void clear() {
#pragma unroll
    for (int i = 0; i < kTile.blocks; ++i) {
#pragma unroll
      for (int j = 0; j < registers(); ++j) sums_[i][j] = Register(0);
    }
  }

  /// Starts the products of a stage as a group; with `adds` 0 the first of them replaces the sums.
  /// The addresses are those of the operands' tiles in shared memory, that of the rows at the
  /// warpgroup's first.
  KILN_DEVICE void multiply(unsigned rows_at, unsigned cols_at, int adds) {
    constexpr StageOperand kRows = kTile.rows_operand;
    constexpr StageOperand kCols = kTile.cols_operand;
    constexpr int kSteps = kTile.depth / Types::kDepth;
    const u64 rows = wgmma_descriptor<kRows.rows()>(rows_at);
    const u64 cols = wgmma_descriptor<kCols.rows()>(cols_at);
    wgmma_fence();  // mutant: products_fence
#pragma unroll
    for (int i = 0; i < kTile.blocks; ++i) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        WgmmaOf<registers()>::template multiply<Types::kKind, kRows.k_major ? 0 : 1,
                                                kCols.k_major ? 0 : 1>(
            sums_[i], rows + kRows.offset(64 * i, step * Types::kDepth) / 16,
            cols + kCols.offset(0, step * Types::kDepth) / 16, step > 0 ? 1 : adds);
      }
    }
    wgmma_commit();  // mutant: products_commit
  }

  /// After the last wait, before the sums are read.
  KILN_DEVICE void finish() {
#pragma unroll
    for (int i = 0; i < kTile.blocks; ++i) {
#pragma unroll
      for (int j = 0; j < registers(); ++j) pin(sums_[i][j]);
    }
  }

  /// Two neighbouring sums of a group of eight columns, `half` 0 or 1: rows 0 to 7, or 8 to 15.
  KILN_DEVICE void pair(int block, int group, int half, Acc (&to)[2]) const {
    if constexpr (Types::kSums == 1) {
      to[0] = sums_[block][group * 4 + half * 2];
      to[1] = sums_[block][group * 4 + half * 2 + 1];
    } else {
      const Register both = sums_[block][group * 2 + half];
      memcpy(to, &both, sizeof(to));
    }
  }

  /// All four sums of a group, of a type of four bytes; one by one, because compilers would keep
  /// what is copied together as one value, and take it apart around every product.
  KILN_DEVICE uint4 four(int block, int group) const {
    const Register* const sums = sums_[block] + group * 4;
    return {word_of(sums[0]), word_of(sums[1]), word_of(sums[2]), word_of(sums[3])};
  }
  KILN_DEVICE void set_four(int block, int group, const uint4& words) {
    const unsigned four[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) sums_[block][group * 4 + i] = sum_of(four[i]);
  }
  KILN_DEVICE void add_four(int block, int group, const uint4& words) {
    const unsigned four[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) sums_[block][group * 4 + i] += sum_of(four[i]);
  }

 private:
  KILN_DEVICE static unsigned word_of(Register sum) {
    unsigned word;
    memcpy(&word, &sum, sizeof(word));
    return word;
  }
  KILN_DEVICE static Register sum_of(unsigned word) {
    Register sum;
    memcpy(&sum, &word, sizeof(sum));
    return sum;
  }
  Register sums_[kTile.blocks][registers()];
};

/// Sixteen rows of a warpgroup's tile that a warp has, from a group of eight columns on, as
/// lib/epilogue_staged.cuh stores them.
template <class Tile, class Acc, int kGroups>
class WarpRows {
 public:
  struct Atom {
    KILN_HD static constexpr int rows() { return 16; }
    KILN_HD static constexpr int cols() { return 8; }
    /// The lane's first row; the other is 8 below.
    KILN_DEVICE static int row_of_lane() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  };
  struct Shape {
    int rows;
    int cols;
  };
  KILN_HD static constexpr Shape shape() { return {1, kGroups}; }

  KILN_DEVICE WarpRows(const Tile& tile, int block, int group)
      : tile_(tile), block_(block), group_(group) {}

  KILN_DEVICE void store_row(int, Acc* slab, int stride) const {
    pairs_of_row(0, [&](int y, int x, const Acc(&sums)[2]) {
      slab[y * stride + x] = sums[0];
      slab[y * stride + x + 1] = sums[1];
    });
  }
  /// The lane's sums with their places, two neighbours at a time: each(y, x, sums).
  template <class Each>
  KILN_DEVICE void pairs_of_row(int, const Each& each) const {
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Acc sums[2];
        tile_.pair(block_, group_ + j, half, sums);
        each(Atom::row_of_lane() + half * 8, j * 8 + static_cast<int>(threadIdx.x) % 4 * 2, sums);
      }
    }
  }

 private:
  const Tile& tile_;
  int block_;
  int group_;
};

/// The same of a tile whose rows are columns of D: eight rows of D, sixteen columns.
template <class Tile, class Acc>
class WarpColumns {
 public:
  struct Atom {
    KILN_HD static constexpr int rows() { return 8; }
    KILN_HD static constexpr int cols() { return 16; }
  };
  struct Shape {
    int rows;
    int cols;
  };
  KILN_HD static constexpr Shape shape() { return {1, 1}; }

  KILN_DEVICE WarpColumns(const Tile& tile, int block, int group)
      : tile_(tile), block_(block), group_(group) {}

  KILN_DEVICE void store_row(int, Acc* slab, int stride) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Acc sums[2];
      tile_.pair(block_, group_, half, sums);
      Acc* at = slab + lane % 4 * 2 * stride + half * 8 + lane / 4;
      at[0] = sums[0];
      at[stride] = sums[1];
    }
  }

 private:
  const Tile& tile_;
  int block_;
  int group_;
};

/// The same, of a block and a group that are known when the kernel runs: registers have no index,
/// so that all sums are looked at.
template <class Tile, class Acc>
class ChosenColumns {
 public:
  using Atom = typename WarpColumns<Tile, Acc>::Atom;
  KILN_HD static constexpr auto shape() { return WarpColumns<Tile, Acc>::shape(); }

  KILN_DEVICE ChosenColumns(const Tile& tile, int block, int group)
      : tile_(tile), block_(block), group_(group) {}

  KILN_DEVICE void store_row(int row, Acc* slab, int stride) const {
#pragma unroll
    for (int block = 0; block < Tile::shape().blocks; ++block) {
#pragma unroll
      for (int group = 0; group < Tile::shape().cols / 8; ++group) {
        if (block != block_ || group != group_) continue;
        WarpColumns<Tile, Acc>(tile_, block, group).store_row(row, slab, stride);
      }
    }
  }

 private:
  const Tile& tile_;
  int block_;
  int group_;
};

}  // namespace kiln
