// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Fragments of f64 from tiles that tensor copies brought, whose swizzle exchanges chunks of 16
/// bytes: two words. Sixteen lanes read 128 bytes at a time, four words of four rows, which would
/// meet in the banks if the rows were neighbours. But it does not matter which row of the tile a
/// product takes for which of its own, as long as its results go where they belong. So lane 4 g + t
/// reads word t along k, of:
///
///     g                        0   1   2   3   4   5   6   7
///     rows along k: row        0   2   4   6   1   3   5   7   (+ 8: its other half)
///     rows across k: column    0   1   8   9   2   3  10  11   (+ 4)

#include "common/annotations.cuh"
#include "common/epilogue.cuh"

namespace kiln {

template <auto kOperand>
struct BoxedF64 {
  static constexpr auto kRows = kOperand.layout;

  /// Whether the operand lies so.
  KILN_HD static constexpr bool is() { return kRows.line == 8; }
  /// Which of sixteen rows (or columns) of D number g of the product's half `half` is.
  KILN_HD static constexpr int across(int g, int half) {
    return kOperand.k_major ? g % 4 * 2 + g / 4 + half * 8
                            : g % 2 + g / 2 % 2 * 8 + g / 4 * 2 + half * 4;
  }
  /// The lane's place in the tile for the atom at `first`.
  KILN_DEVICE static int origin(int first) {
    static_assert(kRows.stride >= 16, "Rows are lines of 128 bytes");
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return kOperand.offset(first + across(lane / 4, 0), lane % 4);
  }
  /// From there to a word of that atom, in half `half` and 4 `word` deeper.
  KILN_DEVICE static int at(int origin, int atom, int half, int word) {
    if constexpr (kOperand.k_major) {
      return kRows.along(origin, word * 4) + (atom * 16 + half * 8) * kRows.stride;
    } else {
      // Rows that are four apart differ by four chunks, the halves by two.
      // mutant: boxed_word
      const int turned = kRows.along(origin, atom * 16) ^ (word % 2 * 8 + half * 4);
      return turned + word * 4 * kRows.stride;
    }
  }
};

/// The sums of a lane, of the two halves of its products' columns, to their rows of D. Lanes whose
/// rows meet in the banks begin with different columns.
template <auto kOperandA, auto kOperandB>
KILN_DEVICE void store_sums_of_boxed(const double (&sums)[2][4], double* to, int stride) {
  using A = BoxedF64<kOperandA>;
  using B = BoxedF64<kOperandB>;
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int lower = 0; lower < 2; ++lower) {
    double* const row = to + A::across(g, lower) * stride;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int half = i ^ (kOperandB.k_major ? g / 2 : g) % 2;
      const double first = half == 0 ? sums[0][2 * lower] : sums[1][2 * lower];
      const double second = half == 0 ? sums[0][2 * lower + 1] : sums[1][2 * lower + 1];
      if constexpr (kOperandB.k_major) {
        const bool turned = g % 2 != 0;
        row[B::across(2 * t + (turned ? 1 : 0), half)] = turned ? second : first;
        row[B::across(2 * t + (turned ? 0 : 1), half)] = turned ? first : second;
      } else {
        using Pair = ElementVector<double, 2>;
        // mutant: boxed_pair
        *reinterpret_cast<Pair*>(row + B::across(2 * t, half)) = Pair{{first, second}};
      }
    }
  }
}

}  // namespace kiln
