// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Matrix instructions of a warp: ldmatrix, and mma.sync for every element type, as the products of
/// 16 rows of A and 8 columns of B over 32 bytes of k (f64: or 64).
///
/// In registers lane 4 g + t has, of words along k (an f64; or 32 bits: two 16-bit elements, four
/// of 8 bits):
///
///               B   k words t | t + 4        column g
///                   +-----+-----+
///                   | b[0]| b[1]|
///                   +-----+-----+
///     A  words   t  |  t + 4           D  columns 2t, 2t + 1
///     g     +-----+-----+              g     | d[0] d[1] |
///           | a[0]| a[2]|
///     g + 8 | a[1]| a[3]|              g + 8 | d[2] d[3] |
///           +-----+-----+
///
/// PTX ISA, "Matrix Fragments for mma". ldmatrix brings an 8 x 8 matrix of 16-bit elements in just
/// that order from rows of 16 bytes, and transposed from columns.

#include "common/annotations.cuh"
#include "common/element.cuh"

namespace kiln {

/// Four 8 x 8 matrices of 16-bit elements: lane l gives the address of row l % 8 of matrix l / 8,
/// which is a multiple of 16 bytes. With kTransposed a lane gets columns instead of rows.
template <bool kTransposed>
KILN_DEVICE void ldmatrix(unsigned (&to)[4], const void* row) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define KILN_MMA_OF_SM_75 1
#endif

/// Stores four matrices of 8 rows of 16 bytes, of which lane 8 i + j has the address of row j of
/// matrix i; each lane gives as many bytes of them as ldmatrix() brings it. From sm_90 on.
KILN_DEVICE void stmatrix(void* row, const unsigned (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(row))),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

#if defined(KILN_USES_F16) || defined(KILN_USES_FP8)  // fp8 counts as f16
KILN_DEVICE void mma(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                     TypeTag<__half>, TypeTag<__half>) {
#if defined(KILN_MMA_OF_SM_75)
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(half == 0 ? b0 : b1));
  }
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
#endif

#if defined(KILN_USES_F16)
/// Sums of f16, of which two neighbours share a register.
KILN_DEVICE void mma(__half (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                     TypeTag<__half>, TypeTag<__half>) {
  unsigned short bits[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) bits[i] = __half_as_ushort(sum[i]);
#if defined(KILN_MMA_OF_SM_75)
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    asm("{.reg .b32 upper, lower; mov.b32 upper, {%0, %1}; mov.b32 lower, {%2, %3}; "
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {upper, lower}, {%4, %5}, {%6}, "
        "{upper, lower}; mov.b32 {%0, %1}, upper; mov.b32 {%2, %3}, lower;}"
        : "+h"(bits[0]), "+h"(bits[1]), "+h"(bits[2]), "+h"(bits[3])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(half == 0 ? b0 : b1));
  }
#else
  asm("{.reg .b32 upper, lower; mov.b32 upper, {%0, %1}; mov.b32 lower, {%2, %3}; "
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {upper, lower}, {%4, %5, %6, %7}, "
      "{%8, %9}, {upper, lower}; mov.b32 {%0, %1}, upper; mov.b32 {%2, %3}, lower;}"
      : "+h"(bits[0]), "+h"(bits[1]), "+h"(bits[2]), "+h"(bits[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] = __ushort_as_half(bits[i]);
}
#endif

#if defined(KILN_USES_BF16)
KILN_DEVICE void mma(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                     TypeTag<__nv_bfloat16>, TypeTag<__nv_bfloat16>) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

/// The words are f32 numbers that are rounded to tf32; of what lies below it nothing counts.
KILN_DEVICE void mma(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                     TypeTag<tf32>, TypeTag<tf32>) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define KILN_MMA_F64_OF_8_ROWS 1
#endif

/// f64 over 32 bytes of k: one word of each row and column of a lane. Products of 16 rows are there
/// from sm_90 on, twice as fast there as those of 8.
KILN_DEVICE void mma(double (&sum)[4], const double (&a)[2], double b, TypeTag<double>,
                     TypeTag<double>) {
#if defined(KILN_MMA_F64_OF_8_ROWS)
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
        : "d"(a[half]), "d"(b));
  }
#else
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#endif
}

/// f64 over 64 bytes of k.
KILN_DEVICE void mma(double (&sum)[4], const double (&a)[4], double b0, double b1,
                     TypeTag<double> f64, TypeTag<double>) {
#if defined(KILN_MMA_F64_OF_8_ROWS)
  mma(sum, {a[0], a[1]}, b0, f64, f64);
  mma(sum, {a[2], a[3]}, b1, f64, f64);
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
#endif
}

/// f64 over 128 bytes of k; of B four words.
KILN_DEVICE void mma(double (&sum)[4], const double (&a)[8], const double* b, TypeTag<double> f64,
                     TypeTag<double>) {
#if defined(KILN_MMA_F64_OF_8_ROWS)
#pragma unroll
  for (int i = 0; i < 4; ++i) mma(sum, {a[2 * i], a[2 * i + 1]}, b[i], f64, f64);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, "
      "%9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
}

/// Integers of 8 bits; TYPES are both names in PTX.
#if defined(KILN_MMA_OF_SM_75)
#define KILN_MMA_OF_BYTES(A, B, TYPES)                                                            \
  KILN_DEVICE void mma(int(&sum)[4], const unsigned(&a)[4], unsigned b0, unsigned b1, TypeTag<A>, \
                       TypeTag<B>) {                                                              \
    _Pragma("unroll") for (int half = 0; half < 2; ++half) {                                      \
      asm("mma.sync.aligned.m8n8k16.row.col.s32." TYPES ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"    \
          : "+r"(sum[2 * half]), "+r"(sum[2 * half + 1])                                          \
          : "r"(a[half]), "r"(b0));                                                               \
      asm("mma.sync.aligned.m8n8k16.row.col.s32." TYPES ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"    \
          : "+r"(sum[2 * half]), "+r"(sum[2 * half + 1])                                          \
          : "r"(a[2 + half]), "r"(b1));                                                           \
    }                                                                                             \
  }
#else
#define KILN_MMA_OF_BYTES(A, B, TYPES)                                                            \
  KILN_DEVICE void mma(int(&sum)[4], const unsigned(&a)[4], unsigned b0, unsigned b1, TypeTag<A>, \
                       TypeTag<B>) {                                                              \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." TYPES                                            \
        ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                    \
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])                                  \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                          \
  }
#endif
KILN_MMA_OF_BYTES(signed char, signed char, "s8.s8")
KILN_MMA_OF_BYTES(signed char, unsigned char, "s8.u8")
KILN_MMA_OF_BYTES(unsigned char, signed char, "u8.s8")
KILN_MMA_OF_BYTES(unsigned char, unsigned char, "u8.u8")

}  // namespace kiln
