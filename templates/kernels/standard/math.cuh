// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cmath> and <math.h> for NVRTC, which has the functions for float and double built in, outside of
// namespace std.
#pragma once
#ifndef KILN_STANDARD_MATH
#define KILN_STANDARD_MATH

#include <type_traits>

// libcu++ has these two, too.
#if !defined(INFINITY)
#define INFINITY __int_as_float(0x7f800000)
#endif
#if !defined(NAN)
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

// Integers, and arguments of several types, are taken for double, as the standard says.
#define KILN_STANDARD_UNARY(name)                                                        \
  template <class T>                                                                     \
  KILN_STANDARD_FUNCTION std::enable_if_t<std::is_integral_v<T>, double> name(T value) { \
    return name(static_cast<double>(value));                                             \
  }
#define KILN_STANDARD_BINARY(name)                                                 \
  template <class A, class B>                                                      \
  KILN_STANDARD_FUNCTION                                                           \
      std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B> &&       \
                           !(std::is_same_v<A, B> && std::is_floating_point_v<A>), \
                       double>                                                     \
      name(A a, B b) {                                                             \
    return name(static_cast<double>(a), static_cast<double>(b));                   \
  }

KILN_STANDARD_UNARY(acos)
KILN_STANDARD_UNARY(acosh)
KILN_STANDARD_UNARY(asin)
KILN_STANDARD_UNARY(asinh)
KILN_STANDARD_UNARY(atan)
KILN_STANDARD_UNARY(atanh)
KILN_STANDARD_UNARY(cbrt)
KILN_STANDARD_UNARY(ceil)
KILN_STANDARD_UNARY(cos)
KILN_STANDARD_UNARY(cosh)
KILN_STANDARD_UNARY(erf)
KILN_STANDARD_UNARY(erfc)
KILN_STANDARD_UNARY(exp)
KILN_STANDARD_UNARY(exp2)
KILN_STANDARD_UNARY(expm1)
KILN_STANDARD_UNARY(fabs)
KILN_STANDARD_UNARY(floor)
KILN_STANDARD_UNARY(lgamma)
KILN_STANDARD_UNARY(log)
KILN_STANDARD_UNARY(log10)
KILN_STANDARD_UNARY(log1p)
KILN_STANDARD_UNARY(log2)
KILN_STANDARD_UNARY(logb)
KILN_STANDARD_UNARY(nearbyint)
KILN_STANDARD_UNARY(rint)
KILN_STANDARD_UNARY(round)
KILN_STANDARD_UNARY(sin)
KILN_STANDARD_UNARY(sinh)
KILN_STANDARD_UNARY(sqrt)
KILN_STANDARD_UNARY(tan)
KILN_STANDARD_UNARY(tanh)
KILN_STANDARD_UNARY(tgamma)
KILN_STANDARD_UNARY(trunc)
KILN_STANDARD_BINARY(atan2)
KILN_STANDARD_BINARY(copysign)
KILN_STANDARD_BINARY(fdim)
KILN_STANDARD_BINARY(fmax)
KILN_STANDARD_BINARY(fmin)
KILN_STANDARD_BINARY(fmod)
KILN_STANDARD_BINARY(hypot)
KILN_STANDARD_BINARY(nextafter)
KILN_STANDARD_BINARY(pow)
KILN_STANDARD_BINARY(remainder)

#undef KILN_STANDARD_UNARY
#undef KILN_STANDARD_BINARY

namespace std {
using ::abs;
using ::acos;
using ::acosf;
using ::acosh;
using ::acoshf;
using ::asin;
using ::asinf;
using ::asinh;
using ::asinhf;
using ::atan;
using ::atan2;
using ::atan2f;
using ::atanf;
using ::atanh;
using ::atanhf;
using ::cbrt;
using ::cbrtf;
using ::ceil;
using ::ceilf;
using ::copysign;
using ::copysignf;
using ::cos;
using ::cosf;
using ::cosh;
using ::coshf;
using ::erf;
using ::erfc;
using ::erfcf;
using ::erff;
using ::exp;
using ::exp2;
using ::exp2f;
using ::expf;
using ::expm1;
using ::expm1f;
using ::fabs;
using ::fabsf;
using ::fdim;
using ::fdimf;
using ::floor;
using ::floorf;
using ::fma;
using ::fmaf;
using ::fmax;
using ::fmaxf;
using ::fmin;
using ::fminf;
using ::fmod;
using ::fmodf;
using ::frexp;
using ::hypot;
using ::hypotf;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::lgammaf;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log10f;
using ::log1p;
using ::log1pf;
using ::log2;
using ::log2f;
using ::logb;
using ::logbf;
using ::logf;
using ::lrint;
using ::lround;
using ::modf;
using ::nan;
using ::nearbyint;
using ::nearbyintf;
using ::nextafter;
using ::pow;
using ::powf;
using ::remainder;
using ::remainderf;
using ::remquo;
using ::rint;
using ::rintf;
using ::round;
using ::roundf;
using ::scalbln;
using ::scalbn;
using ::signbit;
using ::sin;
using ::sinf;
using ::sinh;
using ::sinhf;
using ::sqrt;
using ::sqrtf;
using ::tan;
using ::tanf;
using ::tanh;
using ::tanhf;
using ::tgamma;
using ::tgammaf;
using ::trunc;
using ::truncf;
}  // namespace std

#endif
