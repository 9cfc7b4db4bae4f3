// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The last step of every gemm: D = alpha * product + beta * C for one element or a short row
/// piece. C is not read when beta is 0, so that it may be absent or hold NaNs. Each element of C is
/// read by the thread that then writes that element of D, so D may be C.

#include "common/element.cuh"

namespace kiln {

/// What alpha and beta are applied in: the accumulator's type, but for f16, which holds sums and
/// little else.
template <class Acc>
struct ScaledSum {
  using type = Acc;
};
#if defined(KILN_USES_F16)
template <>
struct ScaledSum<__half> {
  using type = float;
};
#endif

/// `kCount` neighbouring elements that are moved as one machine word.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) ElementVector {
  T element[kCount];
};

template <class CIn, class D, class Acc>
KILN_DEVICE void store_element(Acc product, Acc alpha, Acc beta, const CIn* c, D* d) {
  Acc value = alpha * product;
  if (beta != Acc(0)) value += beta * to_accumulator<Acc>(*c);
  *d = from_accumulator<D>(value);
}

/// A row piece of `kCount` elements, of which the first `valid` exist. D must be aligned to the
/// whole piece; C to kVecC elements, a divisor of kCount.
template <int kCount, int kVecC, bool kReadsC, class CIn, class D, class Acc>
KILN_DEVICE void store_piece(const Acc (&product)[kCount], int valid, Acc alpha, Acc beta,
                             const CIn* c, D* d) {
  const bool with_c = kReadsC && beta != Acc(0);
  if (valid < kCount) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) {
        store_element(product[i], alpha, with_c ? beta : Acc(0), c + i, d + i);
      }
    }
    return;
  }
  Acc value[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) value[i] = alpha * product[i];
  if (with_c) {
#pragma unroll
    for (int i = 0; i < kCount; i += kVecC) {
      const auto from = *reinterpret_cast<const ElementVector<CIn, kVecC>*>(c + i);
#pragma unroll
      for (int j = 0; j < kVecC; ++j) {
        value[i + j] += beta * to_accumulator<Acc>(from.element[j]);
      }
    }
  }
  ElementVector<D, kCount> to;
#pragma unroll
  for (int i = 0; i < kCount; ++i) to.element[i] = from_accumulator<D>(value[i]);
  *reinterpret_cast<ElementVector<D, kCount>*>(d) = to;
}

}  // namespace kiln
