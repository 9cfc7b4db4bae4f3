// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a warpgroup's tile to D by tensor copies, which go on while its warps do something else.
/// Each warp has two slabs of shared memory, of 16 rows as wide as a swizzle, and fills one while
/// the other is read:
///
///     sums  --epilogue-->  slab 0  --copy-->  D, 16 rows and up to 128 bytes of them
///                          slab 1  --copy-->  the columns after those
///
/// Chunks of 16 bytes change places in a slab as the copy's swizzle has it, so that the rows of a
/// chunk are in different banks. What lies outside of D is left out in whole chunks: its rows must
/// consist of such.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"
#include "lib/ptx_matrix.cuh"
#include "lib/ptx_tensor_copy.cuh"

namespace kiln {

constexpr int kBoxRows = 16;
constexpr int kSlabsOfWarp = 2;

/// Where chunk `chunk` of row `row` is in a slab whose rows are as long as the swizzle's span.
template <int kSpan>
KILN_DEVICE unsigned char* swizzled_chunk(unsigned char* slab, int row, int chunk) {
  return slab + row * kSpan + (chunk ^ row * kSpan / 128 % (kSpan / 16)) * 16;  // mutant: chunk
}

/// What a lane has of group `group` of eight columns, finished: two neighbours in each of two rows.
/// `row` and `col` are the warp's first row of D in this block, and the group's first column.
/// Outside of D, where kInside says that nothing is, they are anything: copies leave them out.
template <int kVecC, bool kInside, class Tile, class Output, class Scaled>
KILN_DEVICE void finish_group(const Tile& tile, const Output& output, int block, int group, int row,
                              int col, Scaled alpha, Scaled beta,
                              ElementVector<typename Output::Element, 2> (&to)[2]) {
  constexpr int kPieceC = kVecC < 2 ? 1 : 2;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Scaled product[2][2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    typename Tile::Sum sums[2];
    tile.pair(block, group, half, sums);
    product[half][0] = output.scaled(sums[0]);
    product[half][1] = output.scaled(sums[1]);
  }
  output.template finish_patch<kPieceC, kInside>(row + lane / 4, col + lane % 4 * 2, product, alpha,
                                                 beta, to);
}

/// The warp waits until the copies of what was in the slab of piece `piece` have read it. kOdd: the
/// tile before ended with the slab that this one begins with, as its pieces are odd in number.
template <bool kOdd>
KILN_DEVICE void wait_for_slab(int piece) {
  if (elect_one()) {
    if (kOdd && piece == 0) {
      tma_store_wait_read<0>();
    } else {
      tma_store_wait_read<1>();  // mutant: slab_free
    }
  }
  __syncwarp();
}

template <int kVecC, int kSpan, bool kInside, class Tile, class Output>
KILN_DEVICE void store_all_boxes(const Tile& tile, const Output& output, const TensorMap& map,
                                 unsigned char* slabs, int row, int col) {
  using Element = typename Output::Element;
  constexpr int kBytes = static_cast<int>(sizeof(Element));
  static_assert(kBytes == 2 || kBytes == 4, "stmatrix, or pairs of words");
  constexpr int kCols = kSpan / kBytes;
  constexpr int kPieces = Tile::shape().cols / kCols;
  constexpr int kAll = Tile::shape().blocks * kPieces;
  constexpr bool kTogether = kAll == kSlabsOfWarp;  // published and copied together
  constexpr bool kOdd = kAll % 2 != 0;
  static_assert(kPieces * kCols == Tile::shape().cols && kCols % 8 == 0, "Whole slabs");
  // What is read for a piece is on its way at once; without that, few registers count.
  constexpr int kAtOnce = Output::depends_on_place() || kCols < 16 ? kCols : 16;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto alpha = output.alpha();
  const auto beta = output.beta();
#pragma unroll
  for (int piece = 0; piece < kAll; ++piece) {
    const int block = piece / kPieces;
    const int first = piece % kPieces * kCols;
    unsigned char* const slab = slabs + piece % kSlabsOfWarp * (kBoxRows * kSpan);
#pragma unroll
    for (int begin = 0; begin < kCols; begin += kAtOnce) {
      ElementVector<Element, 2> pairs[kAtOnce / 8][2];
#pragma unroll
      for (int i = 0; i < kAtOnce / 8; ++i) {
        const int from = first + begin + i * 8;
        if (begin + i * 8 >= kCols) continue;
        finish_group<kVecC, kInside>(tile, output, block, from / 8, row + block * 64, col + from,
                                     alpha, beta, pairs[i]);
      }
      // mutant: wait_for_slab
      if (begin == 0 && (!kTogether || piece == 0)) wait_for_slab<kOdd || kTogether>(piece);
#pragma unroll
      for (int at = begin; at < begin + kAtOnce && at < kCols; at += 16) {
        const auto& group = pairs[(at - begin) / 8];
        if constexpr (kBytes == 2) {
          unsigned words[4] = {};
          memcpy(words, group, at + 8 < kCols ? sizeof(words) : sizeof(words) / 2);
          stmatrix(swizzled_chunk<kSpan>(slab, lane % 16, at / 8 + lane / 16), words);
        } else {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            if (at + i / 2 * 8 >= kCols) continue;
            const int chunk = (at + i / 2 * 8) / 4 + lane % 4 / 2;
            unsigned char* const to =
                swizzled_chunk<kSpan>(slab, i % 2 * 8 + lane / 4, chunk) + lane % 2 * 8;
            *reinterpret_cast<ElementVector<Element, 2>*>(to) =
                pairs[(at - begin) / 8 + i / 2][i % 2];
          }
        }
      }
    }
    if (kTogether && piece + 1 < kAll) continue;
    fence_proxy_async();  // mutant: slab_fence
    __syncwarp();         // mutant: slab_filled
    if (elect_one()) {
#pragma unroll
      for (int i = kTogether ? 0 : piece; i <= piece; ++i) {
        const BoxPlace place{col + i % kPieces * kCols, row + i / kPieces * 64};  // mutant: box
        if (place.y < output.rows() && place.x < output.cols()) {
          tma_store_2d(map, place, slabs + i % kSlabsOfWarp * (kBoxRows * kSpan));
        }
      }
      tma_store_commit();
    }
  }
}

/// The tile, whose first row of this warp is `row` of D, its first column `col`. `slabs`: the
/// warp's, of 16 kSpan bytes each. The map's box is one of them. Where what is stored depends on
/// the place, most tiles lie in D with all of their elements and need not ask for each.
template <int kVecC, int kSpan, class Tile, class Output>
KILN_DEVICE void store_boxes(const Tile& tile, const Output& output, const TensorMap& map,
                             unsigned char* slabs, int row, int col) {
  if constexpr (Output::depends_on_place()) {
    constexpr int kLastRow = (Tile::shape().blocks - 1) * 64 + kBoxRows;
    const bool inside =
        row + kLastRow <= output.rows() && col + Tile::shape().cols <= output.cols();
    if (!inside || !output.reads_pairs(row, col)) {
      store_all_boxes<kVecC, kSpan, false>(tile, output, map, slabs, row, col);
      return;
    }
  }
  store_all_boxes<kVecC, kSpan, true>(tile, output, map, slabs, row, col);
}

}  // namespace kiln
