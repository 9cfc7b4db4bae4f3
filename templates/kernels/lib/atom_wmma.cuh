// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The matrix atom of the WMMA interface: one warp multiplies a fragment of A by one of B, 32 bytes
/// deep along k.
///
///              +--- n ---+
///            k |    B    |        element     m x n                       products along k
///     +- k -+  +---------+        f16, bf16   16x16, 32x8, 8x32           one of 16
///     |  A  |  |   sum   | m      s8, u8      16x16, 32x8, 8x32           two of 16
///     +-----+  +---------+        tf32        16x16                       one of 8
///                                 f64         8x8                         one of 4
///                                 s4, u4      8x8                         two of 32
///                                 b1          8x8                         two of 128
///
/// What a kernel sees are whole fragments, which come from memory and return to it. Operands keep
/// their orientation in memory: a fragment is row_major or col_major by whether its rows run along
/// k.
///
/// Bits are bits: compilers turn the load of an f16 fragment into ldmatrix, but that of any other
/// into several loads of words, which take longer and, for bf16, a third of a kernel's speed. From
/// sm_80 on WMMA's fragments are those of mma.sync, which PTX describes (a test compares the
/// machine code of both on every architecture), and 32 bytes of a row lie in the same registers of
/// the same lanes whatever the type. So operands are loaded as f16 and the registers taken as the
/// type's: all of 16 bits, and tf32 and 8-bit integers where their rows run along k. An f16
/// fragment has 8 registers; those that a matrix does not fill repeat the first. Two products of
/// 8-bit elements share the registers (0 and 1: the halves of the 32 bytes):
///
///     f16 as A of mma.sync     0 0 1 1 ...    8 rows and the next 8, then the other half
///     f16 as B of mma.sync     0 1 0 1 ...    both halves, then the next 8 columns
///
/// In 8x32 B is what mma.sync calls A.

#include <mma.h>

#include "common/annotations.cuh"
#include "common/element.cuh"
#include "common/meta.cuh"

namespace kiln {

template <bool kRowMajor>
struct WmmaLayout {
  using type = nvcuda::wmma::row_major;
};
template <>
struct WmmaLayout<false> {
  using type = nvcuda::wmma::col_major;
};

/// What WMMA calls an element type, and how deep one product of it is, in elements of memory.
template <class T>
struct WmmaElement {
  using type = T;
  static constexpr int kDepth = 16;
};
template <>
struct WmmaElement<double> {
  using type = double;
  static constexpr int kDepth = 4;
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <>
struct WmmaElement<tf32> {
  using type = nvcuda::wmma::precision::tf32;
  static constexpr int kDepth = 8;
};
#endif

template <>
struct WmmaElement<s4x2> {
  using type = nvcuda::wmma::experimental::precision::s4;
  static constexpr int kDepth = 16;
};
template <>
struct WmmaElement<u4x2> {
  using type = nvcuda::wmma::experimental::precision::u4;
  static constexpr int kDepth = 16;
};
template <>
struct WmmaElement<b1x8> {
  using type = nvcuda::wmma::experimental::precision::b1;
  static constexpr int kDepth = 16;
};
template <>
struct WmmaElement<b1x8_xor> {
  using type = nvcuda::wmma::experimental::precision::b1;
  static constexpr int kDepth = 16;
};

struct WmmaShape {
  int m;
  int n;
};

/// The elements of a fragment as the product wants them: tf32 is rounded, which WMMA leaves to the
/// kernel.
template <class Fragment, class T>
KILN_DEVICE void round_fragment(Fragment&, TypeTag<T>) {}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class Fragment>
KILN_DEVICE void round_fragment(Fragment& fragment, TypeTag<tf32>) {
#pragma unroll
  for (float& x : fragment.x) x = __uint_as_float(tf32_operand(x));
}
#endif

/// 32 bytes along k of some rows of A or columns of B; kUse is matrix_a or matrix_b.
template <class Use, class T, WmmaShape kShape, bool kAlongDepth>
struct WmmaOperand {
  static constexpr bool kIsA = kSameType<Use, nvcuda::wmma::matrix_a>;
  static constexpr int kDepth = WmmaElement<T>::kDepth;
  static constexpr int kPacked = Packed<T>::kValues;
  static constexpr int kParts = 32 / static_cast<int>(sizeof(T)) / kDepth;
  // mutant: wmma_layout
  template <class Element, int kPartDepth>
  using Fragment = nvcuda::wmma::fragment<Use, kShape.m, kShape.n, kPartDepth, Element,
                                          typename WmmaLayout<kIsA == kAlongDepth>::type>;
  using Part = Fragment<typename WmmaElement<T>::type, kDepth * kPacked>;

  Part parts[kParts];

  KILN_DEVICE void load(const T* from, int stride) {
    if constexpr (loaded_as_f16()) {
      Fragment<__half, 16> halves;
      nvcuda::wmma::load_matrix_sync(halves, reinterpret_cast<const __half*>(from),
                                     stride * static_cast<int>(sizeof(T)) / 2);
      take(halves);
    } else {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        const T* part = from + i * kDepth * (kAlongDepth ? 1 : stride);
        const auto* stored = reinterpret_cast<const typename Part::storage_element_type*>(part);
        nvcuda::wmma::load_matrix_sync(parts[i], stored, stride * kPacked);
      }
    }
#pragma unroll
    for (int i = 0; i < kParts; ++i) round_fragment(parts[i], TypeTag<T>{});
  }

 private:
  KILN_DEVICE static constexpr bool loaded_as_f16() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return !kSameType<T, __half> && kPacked == 1 &&
           (sizeof(T) == 2 || (sizeof(T) < 8 && kAlongDepth));
#else
    return false;
#endif
  }

  KILN_DEVICE void take(const Fragment<__half, 16>& halves) {
    constexpr int kAcross = kIsA ? kShape.m : kShape.n;
    constexpr int kWords = kAcross / 4;                         // that the fragment fills
    constexpr int kTogether = kIsA == (kShape.m != 8) ? 2 : 1;  // mutant: wmma_together
    unsigned from[8];
    unsigned to[kParts][kWords / kParts];
    memcpy(from, halves.x, sizeof(from));
    static_assert(sizeof(to) == sizeof(Part::x) * kParts);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int part = kParts == 1 ? 0 : i / kTogether % 2;
      const int place = kParts == 1 ? i : i / (2 * kTogether) * kTogether + i % kTogether;
      to[part][place] = from[i];
    }
#pragma unroll
    for (int i = 0; i < kParts; ++i) memcpy(parts[i].x, to[i], sizeof(to[i]));
  }
};

/// sum += a b, of operands of T.
template <class Sum, class A, class B, class T>
KILN_DEVICE void multiply_fragments(Sum& sum, const A& a, const B& b, TypeTag<T>) {
  nvcuda::wmma::mma_sync(sum, a, b, sum);  // mutant: wmma
}
template <class Sum, class A, class B>
KILN_DEVICE void multiply_fragments(Sum& sum, const A& a, const B& b, TypeTag<b1x8_xor>) {
  nvcuda::wmma::bmma_sync(sum, a, b, sum, nvcuda::wmma::experimental::bmmaBitOpXOR);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class Sum, class A, class B>
KILN_DEVICE void multiply_fragments(Sum& sum, const A& a, const B& b, TypeTag<b1x8>) {
  nvcuda::wmma::bmma_sync(sum, a, b, sum, nvcuda::wmma::experimental::bmmaBitOpAND);
}
#endif

template <class T, class AccType, WmmaShape kShape, bool kAlongDepthA, bool kAlongDepthB>
struct AtomWmma {
  using Acc = AccType;
  using FragmentA = WmmaOperand<nvcuda::wmma::matrix_a, T, kShape, kAlongDepthA>;
  using FragmentB = WmmaOperand<nvcuda::wmma::matrix_b, T, kShape, kAlongDepthB>;
  using Accumulator = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kShape.m, kShape.n,
                                             FragmentA::kDepth * FragmentA::kPacked, Acc>;
  KILN_HD static constexpr bool addressed_by_lane() { return false; }
  KILN_HD static constexpr int rows() { return kShape.m; }
  KILN_HD static constexpr int cols() { return kShape.n; }
  KILN_HD static constexpr int depth() { return 32 / static_cast<int>(sizeof(T)); }

  KILN_DEVICE static void clear(Accumulator& sum) {
    nvcuda::wmma::fill_fragment(sum, static_cast<Acc>(0.0F));
  }
  KILN_DEVICE static void load_a(FragmentA& a, const T* from, int stride) { a.load(from, stride); }
  KILN_DEVICE static void load_b(FragmentB& b, const T* from, int stride) { b.load(from, stride); }
  KILN_DEVICE static void multiply(Accumulator& sum, const FragmentA& a, const FragmentB& b) {
#pragma unroll
    for (int i = 0; i < FragmentA::kParts; ++i) {  // mutant: wmma_parts
      multiply_fragments(sum, a.parts[i], b.parts[i], TypeTag<T>{});
    }
  }
  KILN_DEVICE static void store(const Accumulator& sum, Acc* to, int stride) {
    nvcuda::wmma::store_matrix_sync(to, sum, stride, nvcuda::wmma::mem_row_major);
  }
};

}  // namespace kiln
