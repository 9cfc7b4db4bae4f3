// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An epilogue's expression for a patch of D: two neighbours in each of two rows 8 apart, which is
/// what a lane has of 16 x 8 results of tensor cores. What belongs to its columns is read once, and
/// four results are computed side by side:
///
///              n    n+1
///     m        acc  acc         bias[n]: one pair       s[m]: two elements
///     m+8      acc  acc         gate[m,n]: two pairs

#include "common/epilogue.cuh"

namespace kiln {

#if defined(KILN_EPILOGUE) && !defined(KILN_EPILOGUE_RECORDS)
#define KILN_PATCHES_FINISH 1

/// The names of an expression for a patch; amax() is not among them. kPairs: whether pairs of
/// elements are aligned as pairs.
template <class T, bool kPairs>
struct PatchNames {
  using Pack = epilogue::Pack<T, 4>;

  const GemmArgs& args;
  int rows[2];
  int col;
  Pack acc;
  Pack alpha;
  Pack beta;
  Pack c;

  KILN_DEVICE static Pack number(double value) { return Pack(static_cast<T>(value)); }
  template <int kOperand, class E>
  KILN_DEVICE const E* element(long long at) const {
    return static_cast<const E*>(args.operand[kOperand]) + at;
  }
  template <int kOperand, class E>
  KILN_DEVICE Pack only() const {
    return Pack(to_accumulator<T>(*element<kOperand, E>(0)));
  }
  template <int kOperand, class E>
  KILN_DEVICE Pack of_row() const {
    const T upper = to_accumulator<T>(*element<kOperand, E>(rows[0]));
    const T lower = to_accumulator<T>(*element<kOperand, E>(rows[1]));
    return of(upper, upper, lower, lower);
  }
  template <int kOperand, class E>
  KILN_DEVICE Pack of_column() const {
    T pair[2];
    load(element<kOperand, E>(col), pair);
    return of(pair[0], pair[1], pair[0], pair[1]);
  }
  template <int kOperand, class E>
  KILN_DEVICE Pack of_both() const {
    return of_rows(element<kOperand, E>(0), args.operand_ld[kOperand], true, true);
  }
  /// The elements of a matrix that are at the patch's places, of both rows, or zeros.
  template <bool kAsPairs = kPairs, class E>
  KILN_DEVICE Pack of_rows(const E* matrix, long long ld, bool has_upper, bool has_lower) const {
    T upper[2] = {};
    T lower[2] = {};
    if (has_upper) load<kAsPairs>(matrix + rows[0] * ld + col, upper);
    if (has_lower) load<kAsPairs>(matrix + rows[1] * ld + col, lower);
    return of(upper[0], upper[1], lower[0], lower[1]);
  }

 private:
  KILN_DEVICE static Pack of(T a, T b, T c, T d) {
    Pack pack;
    pack.value[0] = a;
    pack.value[1] = b;
    pack.value[2] = c;
    pack.value[3] = d;
    return pack;
  }
  template <bool kAsPairs = kPairs, class E>
  KILN_DEVICE static void load(const E* from, T (&to)[2]) {
    if constexpr (kAsPairs) {
      const auto pair = *reinterpret_cast<const ElementVector<E, 2>*>(from);
      to[0] = to_accumulator<T>(pair.element[0]);
      to[1] = to_accumulator<T>(pair.element[1]);
    } else {
      to[0] = to_accumulator<T>(from[0]);
      to[1] = to_accumulator<T>(from[1]);
    }
  }
};

/// The expression's results for the patch at `row`, even `col`, of D. kInside: all of it lies in D,
/// and pairs of operands are aligned as pairs (reads_pairs()); those of C are if kVecC > 1. Else
/// what lies outside is anything, computed from what is at the edge.
template <bool kInside, bool kReadsC, int kVecC, class CIn, class D, class T>
KILN_DEVICE void finish_patch(const GemmArgs& args, int row, int col, const T (&product)[2][2],
                              T alpha, T beta, ElementVector<D, 2> (&to)[2]) {
  using Names = PatchNames<T, kInside>;
  using Pack = typename Names::Pack;
  Names names{args, {row, row + 8}, col, {}, Pack(alpha), Pack(beta), {}};
  if constexpr (!kInside) {
    names.rows[0] = min(row, args.m - 1);
    names.rows[1] = min(row + 8, args.m - 1);
    names.col = min(col, args.n - 2);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) names.acc.value[i] = product[i / 2][i % 2];
  if constexpr (kReadsC) {
    // Only in its own place: where D is C, other threads write the edge.
    const bool exists[2] = {row < args.m && col < args.n, row + 8 < args.m && col < args.n};
    names.c = names.template of_rows < kInside &&
              (kVecC > 1) > (static_cast<const CIn*>(args.c), args.ldc, kInside || exists[0],
                             kInside || exists[1]);
  }
  const Pack results = KILN_EPILOGUE(names);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const T pair[2] = {results.value[2 * i], results.value[2 * i + 1]};
    from_accumulators<2>(pair, to[i].element);
  }
}
#endif

/// Whether all that an expression reads along rows of D is aligned as pairs, from an even column of
/// the tile at `row` and even `col` on.
KILN_DEVICE bool reads_pairs(const GemmArgs& args, int row, int col) {
#if defined(KILN_EPILOGUE)
  Peaks none(args);
  const epilogue::Ahead any;
  const int next = min(row + 1, args.m - 1);
  return finished(any, any, any, any, {args, row, col, none}).pairs &&
         finished(any, any, any, any, {args, next, col, none}).pairs;
#else
  return true;
#endif
}

}  // namespace kiln
