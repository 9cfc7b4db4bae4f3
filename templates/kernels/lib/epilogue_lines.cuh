// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes rows of results to a D whose rows start anywhere, in whole lines of 16 bytes all the
/// same, where lanes know which sums they have (mma.sync, wgmma). Results are finished in
/// registers, and lie in the slab as elements of D, each row as far from a line's start as in
/// memory, so that lines are aligned in both:
///
///     slab      | . . . 0 1 2 3 4 | 5 ...        12 | 13 ... | ... 63 . . . |
///     memory    | . . . 0 1 2 3 4 | 5 ...        12 | 13 ... | ... 63 . . . |
///                       singles       line 0          line 1     singles
///
/// Of a row whose elements fill whole lines, but not from a line's start, the first and the last
/// line together hold one line's worth of elements, which are written one by one.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"

namespace kiln {

/// Puts a row of atoms into the slab, finished: `row`, `col` is the place of its first element in
/// D, `past` how far the lane's rows begin behind a line's start, `end` the columns that exist.
template <int kStride, class Sum, class Mma, class Output, class Element>
KILN_DEVICE void finish_into_slab(const Mma& mma, int atom, const Output& output, Element* slab,
                                  int row, int col, int past, int end) {
  using Scaled = typename Output::Scaled;
  const Scaled alpha = output.alpha();
  const Scaled beta = output.beta();
  mma.pairs_of_row(atom, [&](int y, int x, const Sum(&sums)[2]) {
    Element* const to = slab + y * kStride + past + x;
    const Scaled product[2] = {output.scaled(sums[0]), output.scaled(sums[1])};
    // What depends on the place must not be asked of a place outside.
    const bool exists = !Output::depends_on_place() || row + y < output.rows();
    if (exists && (!Output::depends_on_place() || x + 2 <= end)) {
      const auto pair = output.template finished<1>(row + y, col + x, product, alpha, beta);
      to[0] = pair.element[0];
      to[1] = pair.element[1];
    } else if (exists && x < end) {
      const Scaled one[1] = {product[0]};
      to[0] = output.template finished<1>(row + y, col + x, one, alpha, beta).element[0];
    }
  });
}

/// A lane's share of kPerRow items in each row of a slab: the same item of every step()-th row.
template <int kPerRow>
struct RowShare {
  static_assert(kPerRow <= 32 && (kPerRow & (kPerRow - 1)) == 0, "Lanes share whole rows");
  KILN_HD static constexpr int step() { return 32 / kPerRow; }
  KILN_DEVICE static int row() { return static_cast<int>(threadIdx.x) % 32 / kPerRow; }
  KILN_DEVICE static int item() { return static_cast<int>(threadIdx.x) % kPerRow; }
};

KILN_HD constexpr int power_of_two_from(int count) {
  int power = 1;
  while (power < count) power *= 2;
  return power;
}

/// As store_staged, for lines of kLine elements. `slab`: for a row of atoms, each of its rows with
/// a line more than the warp has columns.
template <int kLine, class Mma, class Output, class Sum>
KILN_DEVICE void store_lines(const Mma& mma, const Output& output, Sum* slab, int row, int col) {
  using Element = typename Output::Element;
  using Line = ElementVector<Element, kLine>;
  constexpr int kRows = Mma::Atom::rows();
  constexpr int kCols = Mma::shape().cols * Mma::Atom::cols();
  constexpr int kStride = kCols + kLine;
  static_assert(8 % kLine == 0 && kCols % kLine == 0,
                "Rows 8 apart agree, and all have whole lines");
  using Lines = RowShare<power_of_two_from(kCols / kLine)>;  // whole ones
  using Singles = RowShare<kLine>;
  Element* const elements = reinterpret_cast<Element*>(slab);
  const int end = min(kCols, output.cols() - col);
  // How far a row begins behind a line's start goes by its number, since rows are equally long.
  const int first_past = output.template past_a_line<kLine>(row, col);
  const int more_past = output.template past_a_line<kLine>(row + 1, col) - first_past;
  const auto past_of = [&](int y) { return (first_past + y * more_past) & (kLine - 1); };
  const int own_past = past_of(Mma::Atom::row_of_lane());
#pragma unroll
  for (int i = 0; i < Mma::shape().rows; ++i) {
    const int first_row = row + i * kRows;
    const int rows = min(kRows, output.rows() - first_row);
    finish_into_slab<kStride, Sum>(mma, i, output, elements, first_row, col, own_past, end);
    __syncwarp();
#pragma unroll
    for (int pass = 0; pass < kRows; pass += Lines::step()) {
      const int y = Lines::row() + pass;
      const int past = past_of(y);
      const int line = (Lines::item() + (past != 0 ? 1 : 0)) * kLine;
      if (y >= rows || line - past + kLine > end) continue;
      output.put(first_row + y, col + line - past,
                 *reinterpret_cast<const Line*>(elements + y * kStride + line));
    }
    // Where D ends within the warp's columns, the last line may be cut as well as the first.
    const int rounds = end == kCols ? 1 : 2;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
      for (int pass = 0; pass < kRows; pass += Singles::step()) {
        const int y = Singles::row() + pass;
        const int past = past_of(y);
        const int head = -past & (kLine - 1);
        const int single = Singles::item() + round * kLine;
        const int whole = end < head ? 0 : (end - head) & -kLine;
        const int x = single < head ? single : whole + single;
        if (y >= rows || x >= end) continue;
        output.put(first_row + y, col + x,
                   ElementVector<Element, 1>{{elements[y * kStride + past + x]}});
      }
    }
    __syncwarp();
  }
}

}  // namespace kiln
