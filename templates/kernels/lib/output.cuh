// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// D and C of a gemm as an epilogue sees them: extents, alpha and beta, and how a vector of a
/// row is finished (common/epilogue.cuh). What an expression's amax() records is complete when the
/// Output's life ends.

#include "common/epilogue.cuh"
#include "common/epilogue_patch.cuh"
#include "common/gemm_args.cuh"

struct OutputConfig {  //@ config
  int vec_c;           //@ let max(1, min(16, align_c) / c_bytes)   // elements of one access
  int vec_d;           //@ let max(1, min(16, align_d) / d_bytes)
  int reads_matrix_c;  //@ let reads_c
};

namespace kiln {

template <class CIn, class D, class Acc, bool kReadsC>
class Output {
 public:
  using Scaled = typename ScaledSum<Acc, D>::type;

  KILN_DEVICE explicit Output(const GemmArgs& args) : args_(args), peaks_(args) {}

  KILN_DEVICE Scaled alpha() const { return static_cast<Scaled>(args_.alpha); }
  KILN_DEVICE Scaled beta() const { return static_cast<Scaled>(args_.beta); }
  /// A sum as what alpha multiplies.
  KILN_DEVICE static Scaled scaled(Acc sum) { return to_accumulator<Scaled>(sum); }
  KILN_DEVICE int rows() const { return args_.m; }
  KILN_DEVICE int cols() const { return args_.n; }
  /// Whether all that is read for D along its rows, from the tile at that place on, is aligned as
  /// pairs.
  KILN_DEVICE bool reads_pairs(int row, int col) const {
    return kiln::reads_pairs(args_, row, col);
  }
  using Element = D;
  /// Whether what is written depends on anything but the sum.
  KILN_HD static constexpr bool depends_on_place() { return kReadsC || kHasEpilogue; }
  /// How many elements of D lie between that one and the start of its line of kLine elements, a
  /// power of two.
  template <int kLine>
  KILN_DEVICE int past_a_line(int row, int col) const {
    const auto address = reinterpret_cast<unsigned long long>(d(row, col));
    return static_cast<int>(address / sizeof(D)) & (kLine - 1);
  }
  KILN_DEVICE void store(int row, int col, Scaled product, Scaled alpha_, Scaled beta_) const {
    store_element<kReadsC>(product, alpha_, beta_, c(row, col), d(row, col),
                           {args_, row, col, peaks_});
  }
  /// What store() would write, of neighbours that all exist.
  template <int kVecC, int kCount>
  KILN_DEVICE ElementVector<D, kCount> finished(int row, int col, const Scaled (&product)[kCount],
                                                Scaled alpha_, Scaled beta_) const {
    ElementVector<D, kCount> to;
    store_piece<kCount, kVecC, kReadsC>(product, kCount, alpha_, beta_, c(row, col), to.element,
                                        {args_, row, col, peaks_});
    return to;
  }
  /// Of two neighbours in each of two rows 8 apart, D being aligned to pairs. kInside: all of them
  /// exist and reads_pairs() holds for the tile; else those outside become anything.
  template <int kVecC, bool kInside>
  KILN_DEVICE void finish_patch(int row, int col, const Scaled (&product)[2][2], Scaled alpha_,
                                Scaled beta_, ElementVector<D, 2> (&to)[2]) const {
#if defined(KILN_PATCHES_FINISH)
    kiln::finish_patch<kInside, kReadsC, kVecC, CIn>(args_, row, col, product, alpha_, beta_, to);
#else
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool asks = depends_on_place() && !kInside;
      if (asks && (row + 8 * i >= args_.m || col >= args_.n)) continue;
      to[i] = finished<kVecC>(row + 8 * i, col, product[i], alpha_, beta_);
    }
#endif
  }
  /// Writes what is finished; D is aligned to all of it.
  template <int kCount>
  KILN_DEVICE void put(int row, int col, const ElementVector<D, kCount>& elements) const {
    *reinterpret_cast<ElementVector<D, kCount>*>(d(row, col)) = elements;
  }
  template <int kVecC, int kCount>
  KILN_DEVICE void store(int row, int col, const Scaled (&product)[kCount], Scaled alpha_,
                         Scaled beta_) const {
    store_piece<kCount, kVecC, kReadsC>(product, args_.n - col, alpha_, beta_, c(row, col),
                                        d(row, col), {args_, row, col, peaks_});
  }

 private:
  KILN_DEVICE const CIn* c(int row, int col) const {
    return static_cast<const CIn*>(args_.c) + row * args_.ldc + col;
  }
  KILN_DEVICE D* d(int row, int col) const {
    return static_cast<D*>(args_.d) + row * args_.ldd + col;
  }
  const GemmArgs& args_;
  mutable Peaks peaks_;  // what is stored says how large, in any order
};

/// Starts to bring what kRows x kCols elements of D will be finished with to L2: C, or what the
/// expression reads. `threads` threads share that, of which this one is number `thread`.
template <bool kReadsC, int kRows, int kCols, class CIn>
KILN_DEVICE void look_ahead(const GemmArgs& args, int row, int col, int thread, int threads) {
  if constexpr (kReadsC || kHasEpilogue) {
    constexpr int kLine = 128 / static_cast<int>(sizeof(float));  // of the widest usual elements
    constexpr int kLines = (kCols + kLine - 1) / kLine;
    for (int i = thread; i < kRows * kLines; i += threads) {
      const int y = row + i / kLines;
      const int x = col + i % kLines * kLine;
      if (y >= args.m || x >= args.n) continue;
      if (kReadsC && args.beta != 0.0) {
        bring_to_l2(static_cast<const CIn*>(args.c) + y * args.ldc + x);
      }
#if defined(KILN_EPILOGUE)
      Peaks none(args);
      const epilogue::Ahead any;
      finished(any, any, any, any, {args, y, x, none});
#endif
    }
  }
}

}  // namespace kiln
