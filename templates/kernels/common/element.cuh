// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Element types of operands and outputs, and their conversions to and from the accumulator.
/// Every conversion rounds to nearest even; to tf32, before sm_90, to nearest with ties away.

// A rendered kernel brings the headers of the types that it uses, and no others: each one costs
// compile time. As it stands, for nvcc and editors, this file takes all of them.
#if !defined(KILN_RENDERED)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define KILN_USES_F16 1
#define KILN_USES_BF16 1
#define KILN_USES_FP8 1
#endif

#include "common/annotations.cuh"

namespace kiln {

/// A 32-bit float in memory that counts with the 10-bit fraction of TF32.
struct tf32 {
  float storage;
};

/// Rounded, as tensor cores take it: the 13 bits that TF32 lacks are unspecified. Ties to even are
/// one instruction from sm_90 on, ties away three everywhere.
KILN_DEVICE unsigned tf32_operand(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
#else
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7f800000U) != 0x7f800000U) return bits + 0x1000U;
  return value != value ? 0x7fffffffU : bits;  // the NaN that the instruction gives
#endif
}

KILN_DEVICE float round_to_tf32(float value) {
  return __uint_as_float(tf32_operand(value) & 0xffffe000U);
}

/// Bytes of several numbers, the first in the lowest bits: two of 4 bits, or eight of 1 bit, of
/// which the product is whether both are 1, or, for `_xor`, whether they differ.
struct s4x2 {
  unsigned char bits;
};
struct u4x2 {
  unsigned char bits;
};
struct b1x8 {
  unsigned char bits;
};
struct b1x8_xor {
  unsigned char bits;
};

/// How many numbers an element in memory has.
template <class T>
struct Packed {
  static constexpr int kValues = 1;
};
template <>
struct Packed<s4x2> {
  static constexpr int kValues = 2;
};
template <>
struct Packed<u4x2> {
  static constexpr int kValues = 2;
};
template <>
struct Packed<b1x8> {
  static constexpr int kValues = 8;
};
template <>
struct Packed<b1x8_xor> {
  static constexpr int kValues = 8;
};

/// An operand's element as a number to multiply with, in the accumulator's type.
template <class Acc>
KILN_DEVICE Acc to_accumulator(float value) {
  return static_cast<Acc>(value);
}
template <class Acc>
KILN_DEVICE Acc to_accumulator(double value) {
  return static_cast<Acc>(value);
}
template <class Acc>
KILN_DEVICE Acc to_accumulator(int value) {
  return static_cast<Acc>(value);
}
template <class Acc>
KILN_DEVICE Acc to_accumulator(signed char value) {
  return static_cast<Acc>(value);
}
template <class Acc>
KILN_DEVICE Acc to_accumulator(unsigned char value) {
  return static_cast<Acc>(value);
}
template <class Acc>
KILN_DEVICE Acc to_accumulator(tf32 value) {
  return static_cast<Acc>(round_to_tf32(value.storage));
}
#if defined(KILN_USES_F16)
template <class Acc>
KILN_DEVICE Acc to_accumulator(__half value) {
  return static_cast<Acc>(__half2float(value));
}
#endif
#if defined(KILN_USES_BF16)
template <class Acc>
KILN_DEVICE Acc to_accumulator(__nv_bfloat16 value) {
  return static_cast<Acc>(__bfloat162float(value));
}
#endif
#if defined(KILN_USES_FP8)
template <class Acc>
KILN_DEVICE Acc to_accumulator(__nv_fp8_e4m3 value) {
  return static_cast<Acc>(static_cast<float>(value));
}
template <class Acc>
KILN_DEVICE Acc to_accumulator(__nv_fp8_e5m2 value) {
  return static_cast<Acc>(static_cast<float>(value));
}
#endif

/// Number `index` of those that lie in a row from `row` on.
template <class Acc, class T>
KILN_DEVICE Acc number_at(const T* row, long long index) {
  return to_accumulator<Acc>(row[index]);
}
template <class Acc>
KILN_DEVICE Acc number_at(const s4x2* row, long long index) {
  const int value = row[index / 2].bits >> index % 2 * 4 & 15;
  return static_cast<Acc>((value ^ 8) - 8);
}
template <class Acc>
KILN_DEVICE Acc number_at(const u4x2* row, long long index) {
  return static_cast<Acc>(row[index / 2].bits >> index % 2 * 4 & 15);
}
template <class Acc>
KILN_DEVICE Acc number_at(const b1x8* row, long long index) {
  return static_cast<Acc>(row[index / 8].bits >> index % 8 & 1);
}
template <class Acc>
KILN_DEVICE Acc number_at(const b1x8_xor* row, long long index) {
  return static_cast<Acc>(row[index / 8].bits >> index % 8 & 1);
}

/// Names a type to pick an overload with.
template <class T>
struct TypeTag {};

/// The product of two such numbers of operands of T.
template <class Acc, class T>
KILN_DEVICE Acc product_of(Acc a, Acc b, TypeTag<T>) {
  return a * b;
}
template <class Acc>
KILN_DEVICE Acc product_of(Acc a, Acc b, TypeTag<b1x8_xor>) {
  return a == b ? Acc(0) : Acc(1);
}

template <class Acc, class D>
KILN_DEVICE D convert_output(Acc value, TypeTag<D>) {
  return static_cast<D>(value);
}
/// Whole numbers: the nearest, limited to the range; 0 for NaN.
KILN_DEVICE int convert_output(float value, TypeTag<int>) {
  return __float2int_rn(value);
}
KILN_DEVICE signed char convert_output(float value, TypeTag<signed char>) {
  return static_cast<signed char>(min(max(__float2int_rn(value), -128), 127));
}
KILN_DEVICE unsigned char convert_output(float value, TypeTag<unsigned char>) {
  return static_cast<unsigned char>(min(max(__float2int_rn(value), 0), 255));
}
#if defined(KILN_USES_F16)
KILN_DEVICE __half convert_output(float value, TypeTag<__half>) {
  return __float2half_rn(value);
}
KILN_DEVICE __half convert_output(double value, TypeTag<__half>) {
  return __double2half(value);
}
#endif
#if defined(KILN_USES_BF16)
KILN_DEVICE __nv_bfloat16 convert_output(float value, TypeTag<__nv_bfloat16>) {
  return __float2bfloat16_rn(value);
}
KILN_DEVICE __nv_bfloat16 convert_output(double value, TypeTag<__nv_bfloat16>) {
  return __double2bfloat16(value);
}
#endif

/// A result in the output's type.
template <class D, class Acc>
KILN_DEVICE D from_accumulator(Acc value) {
  return convert_output(value, TypeTag<D>{});
}

/// Neighbours, two at once where there is an instruction for it.
template <class D, class Acc>
KILN_DEVICE void convert_pair(Acc first, Acc second, D* to, TypeTag<D>) {
  to[0] = from_accumulator<D>(first);
  to[1] = from_accumulator<D>(second);
}
#if defined(KILN_USES_F16)
KILN_DEVICE void convert_pair(float first, float second, __half* to, TypeTag<__half>) {
  const __half2 pair = __floats2half2_rn(first, second);
  memcpy(to, &pair, sizeof(pair));
}
#endif
#if defined(KILN_USES_BF16)
KILN_DEVICE void convert_pair(float first, float second, __nv_bfloat16* to,
                              TypeTag<__nv_bfloat16>) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  memcpy(to, &pair, sizeof(pair));
}
#endif
template <int kCount, class D, class Acc>
KILN_DEVICE void from_accumulators(const Acc (&values)[kCount], D* to) {
#pragma unroll
  for (int i = 0; i + 1 < kCount; i += 2) {
    convert_pair(values[i], values[i + 1], to + i, TypeTag<D>{});
  }
  if constexpr (kCount % 2 != 0) to[kCount - 1] = from_accumulator<D>(values[kCount - 1]);
}

}  // namespace kiln
