// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "kiln/epilogue.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// One general matrix multiplication: D[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C[m,n].
/// With an epilogue, each element of D is the value of the epilogue's expression.
///
/// C and D are row-major. op(A) is an m x k matrix, and op(B) is a k x n matrix. `storage_a` says
/// how A is stored. With Storage::n, A is row-major: m rows of lda values. With Storage::t, A is
/// stored transposed: k rows of lda values. `storage_b` says how B is stored. With Storage::n, B
/// has k rows of ldb values. With Storage::t, B has n rows of ldb values. All leading
/// dimensions count values, not bytes. A leading dimension of 0 means rows without padding. A
/// packed type stores several values in one byte, and every row begins with a new byte. Therefore
/// the leading dimension must be a multiple of 2 for s4 and u4, and a multiple of 8 for b1 and
/// b1_xor.
///
/// `alignment_a` promises that the address of A is a multiple of `alignment_a` bytes. The other
/// three alignments promise the same for B, C and D. Each alignment must be a power of two. Kiln
/// chooses vector widths from an operand's alignment and leading dimension. A launch throws
/// Error(usage) if an address is not aligned as promised.
///
/// Sizes may be 0, as in BLAS. If m or n is 0, D has no elements and a launch does nothing. If k is
/// 0, A and B have no elements and may be null. The product is zero. Without an epilogue, the
/// launch then writes D = beta * C. If beta is also 0, it writes zeros. A negative size is an
/// error.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  DType a = DType::f16, b = DType::f16, c = DType::f16, d = DType::f16, acc = DType::f32;
  Storage storage_a = Storage::n, storage_b = Storage::n;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  int alignment_a = 16, alignment_b = 16, alignment_c = 16, alignment_d = 16;
  /// Whether a launch may pass a beta other than 0. If reads_c is false, C may be null, and a
  /// launch with beta != 0 throws Error(usage). For such a problem, the library prefers kernels
  /// that were tuned with reads_c = false.
  bool reads_c = false;
  /// The expression that replaces alpha * product + beta * C. With an epilogue, Kiln ignores
  /// reads_c: a kernel reads C if and only if the expression contains `c`.
  Epilogue epilogue;

  /// Makes a problem in which A and B have the type `type`. The other types follow from `type`:
  ///
  ///     type of A and B         accumulator   C and D
  ///     f16, bf16               f32           same as A
  ///     tf32, f32               f32           f32
  ///     f64                     f64           f64
  ///     e4m3, e5m2              f32           bf16
  ///     integers, b1, b1_xor    s32           s32
  [[nodiscard]] static constexpr Gemm of(DType type, std::int64_t m, std::int64_t n, std::int64_t k,
                                         Storage storage_a = Storage::n,
                                         Storage storage_b = Storage::n) {
    Gemm gemm;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.a = gemm.b = gemm.c = gemm.d = type;
    gemm.storage_a = storage_a;
    gemm.storage_b = storage_b;
    switch (type) {
      case DType::f16:
      case DType::bf16:
        gemm.acc = DType::f32;
        break;
      case DType::tf32:
      case DType::f32:
        gemm.acc = gemm.c = gemm.d = DType::f32;
        break;
      case DType::f64:
        gemm.acc = DType::f64;
        break;
      case DType::e4m3:
      case DType::e5m2:
        gemm.acc = DType::f32;
        gemm.c = gemm.d = DType::bf16;
        break;
      case DType::s8:
      case DType::u8:
      case DType::s32:
      case DType::s4:
      case DType::u4:
      case DType::b1:
      case DType::b1_xor:
        gemm.acc = gemm.c = gemm.d = DType::s32;
        break;
      case DType::s16:
      case DType::u16:
      case DType::u32:
      case DType::s64:
      case DType::u64:
      case DType::cf32:
      case DType::cf64:
        break;  // not types of products: the library refuses the problem
    }
    return gemm;
  }

  friend constexpr bool operator==(const Gemm& left, const Gemm& right) {
    const auto members = [](const Gemm& g) {
      return std::tie(g.m, g.n, g.k, g.a, g.b, g.c, g.d, g.acc, g.storage_a, g.storage_b, g.lda,
                      g.ldb, g.ldc, g.ldd, g.alignment_a, g.alignment_b, g.alignment_c,
                      g.alignment_d, g.reads_c, g.epilogue);
    };
    return members(left) == members(right);
  }
  friend constexpr bool operator!=(const Gemm& left, const Gemm& right) { return !(left == right); }
};

}  // namespace kiln
