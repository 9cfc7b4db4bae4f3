// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The last step of every gemm, for one element or a short row piece of D:
///
///     D[row, col] = alpha * product + beta * C[row, col]
///
/// or, where the problem has an epilogue of its own, what its expression says: a rendered kernel
/// then begins with the macro KILN_EPILOGUE and common/epilogue_ahead.cuh, which has its functions.
///
/// Without an expression C is not read when beta is 0, so that it may be absent or hold NaNs. Each
/// element of C is read by the thread that then writes that element of D, so D may be C.

#include "common/element.cuh"
#include "common/gemm_args.cuh"
#include "common/meta.cuh"

namespace kiln {

#if defined(KILN_EPILOGUE)
inline constexpr bool kHasEpilogue = true;
#else
inline constexpr bool kHasEpilogue = false;
#endif

/// What D is computed in from the sum of products: the accumulator's type, but f32 for f16, which
/// holds sums and little else, and for whole numbers that become something else.
template <class Acc, class D>
struct ScaledSum {
  using type = Acc;
};
template <class D>
struct ScaledSum<int, D> {
  using type = Conditional<kHasEpilogue || !kSameType<D, int>, float, int>;
};
#if defined(KILN_USES_F16)
template <class D>
struct ScaledSum<__half, D> {
  using type = float;
};
#endif

/// `kCount` neighbouring elements that are moved as one machine word.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) ElementVector {
  T element[kCount];
};

/// What a thread keeps of the largest values that an expression's amax() records: usually nothing.
#if defined(KILN_EPILOGUE_PEAKS)
using Peaks = epilogue::PeakKeeper<KILN_EPILOGUE_PEAKS>;
#else
struct Peaks {
  KILN_DEVICE explicit Peaks(const GemmArgs&) {}
  KILN_DEVICE void enter_row(int) {}
};
#endif

/// Starts to bring the line of that element of device memory to L2.
KILN_DEVICE void bring_to_l2(const void* element) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(element));
}

/// Where an element of D is, for what an expression reads besides C, and records.
struct ElementPlace {
  const GemmArgs& args;
  int row;
  int col;
  Peaks& peaks;
};

#if defined(KILN_EPILOGUE)
/// How operands are read: an element for one of D.
template <class T>
struct OperandReader {
  KILN_DEVICE static T number(double value) { return static_cast<T>(value); }
  template <class E>
  KILN_DEVICE static T same(const E* from) {
    return to_accumulator<T>(*from);
  }
  template <class E>
  KILN_DEVICE static T along(const E* from) {
    return to_accumulator<T>(*from);
  }
};
/// For neighbours in a row of D: as many elements, at once where the address allows that.
template <class T, int kCount>
struct OperandReader<epilogue::Pack<T, kCount>> {
  using Pack = epilogue::Pack<T, kCount>;
  KILN_DEVICE static Pack number(double value) { return Pack(static_cast<T>(value)); }
  template <class E>
  KILN_DEVICE static Pack same(const E* from) {
    return Pack(to_accumulator<T>(*from));
  }
  template <class E>
  KILN_DEVICE static Pack along(const E* from) {
    constexpr int kBytes = kCount * static_cast<int>(sizeof(E));
    constexpr int kMost = 16 / static_cast<int>(sizeof(E));
    constexpr int kLoad = kCount < kMost ? kCount : kMost;
    constexpr bool kShort = kBytes <= 4;  // one by one they cost less than the question
    Pack to;
    if (!kShort && reinterpret_cast<unsigned long long>(from) % (kBytes < 16 ? kBytes : 16) == 0) {
#pragma unroll
      for (int i = 0; i < kCount; i += kLoad) {
        const auto loaded = *reinterpret_cast<const ElementVector<E, kLoad>*>(from + i);
#pragma unroll
        for (int j = 0; j < kLoad; ++j) to.value[i + j] = to_accumulator<T>(loaded.element[j]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) to.value[i] = to_accumulator<T>(from[i]);
    }
    return to;
  }
};

/// For what will be read: its way to L2.
template <>
struct OperandReader<epilogue::Ahead> {
  KILN_DEVICE static epilogue::Ahead number(double) { return {}; }
  KILN_DEVICE static epilogue::Ahead same(const void* from) {
    bring_to_l2(from);
    return {};
  }
  template <class E>
  KILN_DEVICE static epilogue::Ahead along(const E* from) {
    bring_to_l2(from);
    return epilogue::Ahead(reinterpret_cast<unsigned long long>(from) % (2 * sizeof(E)) == 0);
  }
};

/// The names of an expression, for one element of D. T: float or double, a pack of them for as many
/// neighbours, a number with the bound of its error, or one that has no value.
template <class T>
struct EpilogueNames {
  ElementPlace place;
  T acc;
  T alpha;
  T beta;
  T c;

  using Reader = OperandReader<T>;

  KILN_DEVICE static T number(double value) { return Reader::number(value); }
  /// Where element `at` of operand `kOperand` is.
  template <int kOperand, class E>
  KILN_DEVICE const E* element(long long at) const {
    return static_cast<const E*>(place.args.operand[kOperand]) + at;
  }
  template <int kOperand, class E>
  KILN_DEVICE T only() const {
    return Reader::same(element<kOperand, E>(0));
  }
  template <int kOperand, class E>
  KILN_DEVICE T of_row() const {
    return Reader::same(element<kOperand, E>(place.row));
  }
  template <int kOperand, class E>
  KILN_DEVICE T of_column() const {
    return Reader::along(element<kOperand, E>(place.col));
  }
  template <int kOperand, class E>
  KILN_DEVICE T of_both() const {
    return Reader::along(
        element<kOperand, E>(place.row * place.args.operand_ld[kOperand] + place.col));
  }

  using Recorder = epilogue::PeakRecorder<T>;

  template <int kOperand>
  KILN_DEVICE T amax_only(const T& x) const {
    Recorder::template only<kOperand>(place, x);
    return x;
  }
  template <int kOperand>
  KILN_DEVICE T amax_of_row(const T& x) const {
    Recorder::template of_row<kOperand>(place, x);
    return x;
  }
  template <int kOperand>
  KILN_DEVICE T amax_of_column(const T& x) const {
    Recorder::template of_column<kOperand>(place, x);
    return x;
  }
};

/// What the expression makes of an element, or of as many neighbours as T has.
template <class T>
KILN_DEVICE T finished(T product, T alpha, T beta, T c, const ElementPlace& place) {
  const EpilogueNames<T> names{place, product, alpha, beta, c};
  return KILN_EPILOGUE(names);
}
#endif

template <bool kReadsC, class CIn, class D, class T>
KILN_DEVICE void store_element(T product, T alpha, T beta, const CIn* c, D* d,
                               const ElementPlace& place) {
#if defined(KILN_EPILOGUE)
  place.peaks.enter_row(place.row);
  const T from_c = kReadsC ? to_accumulator<T>(*c) : T(0);
  const T value = finished(product, alpha, beta, from_c, place);
#else
  T value = alpha * product;
  if (kReadsC && beta != T(0)) value += beta * to_accumulator<T>(*c);  // mutant: add_c
#endif
  *d = from_accumulator<D>(value);
}

/// For templates that take no expression: the place says what one reads.
template <class CIn, class D, class Acc>
KILN_DEVICE void store_element(Acc product, Acc alpha, Acc beta, const CIn* c, D* d) {
  static_assert(!kHasEpilogue || sizeof(D) == 0,
                "A template that takes epilogues stores with the element's place");
  const GemmArgs none{};
  Peaks peaks(none);
  store_element<true>(product, alpha, beta, c, d, {none, 0, 0, peaks});
}

/// A row piece of `kCount` elements, of which the first `valid` exist. D must be aligned to the
/// whole piece; C to kVecC elements, a divisor of kCount. `place` is that of the first.
template <int kCount, int kVecC, bool kReadsC, class CIn, class D, class T>
KILN_DEVICE void store_piece(const T (&product)[kCount], int valid, T alpha, T beta, const CIn* c,
                             D* d, const ElementPlace& place) {
  place.peaks.enter_row(place.row);
  if (valid < kCount) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) {
        store_element<kReadsC>(product[i], alpha, beta, c + i, d + i,
                               {place.args, place.row, place.col + i, place.peaks});
      }
    }
    return;
  }
  T value[kCount];
#if defined(KILN_EPILOGUE)
  using Pack = epilogue::Pack<T, kCount>;
  Pack products;
  Pack from_c;
#pragma unroll
  for (int i = 0; i < kCount; ++i) products.value[i] = product[i];
  if (kReadsC) {
#pragma unroll
    for (int i = 0; i < kCount; i += kVecC) {
      const auto from = *reinterpret_cast<const ElementVector<CIn, kVecC>*>(c + i);
#pragma unroll
      for (int j = 0; j < kVecC; ++j) from_c.value[i + j] = to_accumulator<T>(from.element[j]);
    }
  }
  const Pack results = finished(products, Pack(alpha), Pack(beta), from_c, place);
#pragma unroll
  for (int i = 0; i < kCount; ++i) value[i] = results.value[i];
#else
#pragma unroll
  for (int i = 0; i < kCount; ++i) value[i] = alpha * product[i];
  if (kReadsC && beta != T(0)) {
#pragma unroll
    for (int i = 0; i < kCount; i += kVecC) {
      const auto from = *reinterpret_cast<const ElementVector<CIn, kVecC>*>(c + i);
#pragma unroll
      for (int j = 0; j < kVecC; ++j) value[i + j] += beta * to_accumulator<T>(from.element[j]);
    }
  }
#endif
  ElementVector<D, kCount> to;
  from_accumulators<kCount>(value, to.element);
  *reinterpret_cast<ElementVector<D, kCount>*>(d) = to;
}

}  // namespace kiln
