// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/arith/small_floats_arithmetic.hpp"

/// \file
/// Floating-point operations of PTX ISA 9.0, sections 9.7.3 and 9.7.4, on one element.

namespace kiln::emulated::floats {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr BitsOf<T> kSignOf = BitsOf<T>{1} << (8 * sizeof(T) - 1);

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Fma {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
/// div.approx.f32 multiplies by a reciprocal, which is zero for divisors above 2^126.
struct DivApprox {
  static float of(float a, float b) {
    const float magnitude = std::fabs(b);
    const bool vanishes = magnitude > 0x1p126F && magnitude <= 0x1.fffffep127F;
    return vanishes ? a * std::copysign(0.0F, b) : a / b;
  }
};
struct Rcp {
  template <class T>
  static T of(T a) {
    return T{1} / a;
  }
};
struct Sqrt {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
template <class T, T (*function)(T)>
struct Call {
  static T of(T a) { return function(a); }
};

/// Whether .ftz flushes product + addend although it rounds to the least normal number of a format
/// with so many bits: the GPU judges what it would be if exponents had no end, with one bit more
/// below that number. Exact for products of f32 and smaller types.
inline bool flushes_least_normal(double product, double addend, double rounded, double least,
                                 int bits) {
  if (std::fabs(rounded) != least) return false;
  const double sign = rounded < 0.0 ? -1.0 : 1.0;
  const double below = least - std::ldexp(least, -bits);  // the number before, with that bit
  if (std::fegetround() != FE_TONEAREST) return sign * product <= below - sign * addend;
  return sign * product < (below + least) / 2 - sign * addend;
}

/// An operation on f32 with PTX's NaN and, if wanted, .ftz and .sat.
template <class F, bool kFlush, bool kSaturate = false>
struct Single {
  template <class... Operands>
  static float of(Operands... operands) {
    float result = canonical(F::of((kFlush ? flush_subnormal(operands) : operands)...));
    if constexpr (kFlush) result = flush_subnormal(result);
    if constexpr (kFlush && std::is_same_v<F, Mul>) {
      const double product = (double{operands} * ...);
      if (flushes_least_normal(product, 0.0, double{result}, 0x1p-126, 24)) {
        result = std::copysign(0.0F, result);
      }
    }
    if constexpr (kSaturate) result = saturate_unit(result);
    return result;
  }
};

struct Abs {
  template <class T>
  static T of(T a) {
    return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) & ~kSignOf<T>);
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) ^ kSignOf<T>);
  }
};
/// .ftz of abs and neg: there is no arithmetic that would change a NaN.
template <class F>
struct Flushed {
  static float of(float a) { return F::of(flush_subnormal(a)); }
};
/// The value of b with the sign of a.
struct CopySign {
  template <class T>
  static T of(T a, T b) {
    const auto sign = std::bit_cast<BitsOf<T>>(a) & kSignOf<T>;
    return std::bit_cast<T>((std::bit_cast<BitsOf<T>>(b) & ~kSignOf<T>) | sign);
  }
};

/// -0 is less than +0. Of a number and a NaN, the number; with kNanWins, NaN.
template <bool kMaximum, bool kNanWins = false>
struct Choose {
  template <class T>
  static T of(T a, T b) {
    const auto x = std::bit_cast<BitsOf<T>>(a);
    const auto y = std::bit_cast<BitsOf<T>>(b);
    // Of equals only zeros differ, in their sign.
    const auto equal = kMaximum ? x & y : x | y;
    auto result = (kMaximum ? a > b : a < b) ? x : y;
    result = a == b ? equal : result;
    // Only a NaN differs from itself; std::isnan would keep the loop from becoming vectors.
    result = a != a ? (kNanWins ? x : y) : result;  // NOLINT(misc-redundant-expression)
    result = b != b ? (kNanWins ? y : x) : result;  // NOLINT(misc-redundant-expression)
    return std::bit_cast<T>(result);
  }
};

// ---- halves ----

/// f16 as PTX's operations know it.
struct F16 {
  static constexpr FloatFormat kFormat = kF16;
  static float load(std::uint16_t a) { return f32_of_f16(a); }
  static std::uint16_t add(std::uint16_t a, std::uint16_t b) { return add_f16(a, b); }
  static std::uint16_t sub(std::uint16_t a, std::uint16_t b) { return sub_f16(a, b); }
  static std::uint16_t mul(std::uint16_t a, std::uint16_t b) { return mul_f16(a, b); }
  static std::uint16_t fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return fma_f16(a, b, c);
  }
};
struct Bf16 {
  static constexpr FloatFormat kFormat = kBf16;
  static float load(std::uint16_t a) { return f32_of_bf16(a); }
  static std::uint16_t add(std::uint16_t a, std::uint16_t b) { return add_bf16(a, b); }
  static std::uint16_t sub(std::uint16_t a, std::uint16_t b) { return sub_bf16(a, b); }
  static std::uint16_t mul(std::uint16_t a, std::uint16_t b) { return mul_bf16(a, b); }
  static std::uint16_t fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return fma_bf16(a, b, c);
  }
};

template <class H>
struct HalfAdd {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b) { return H::add(a, b); }
};
template <class H>
struct HalfSub {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b) { return H::sub(a, b); }
};
template <class H>
struct HalfMul {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b) { return H::mul(a, b); }
};
template <class H>
struct HalfFma {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return H::fma(a, b, c);
  }
};
struct HalfAbs {
  static std::uint16_t of(std::uint16_t a) { return a & 0x7FFFU; }
};
struct HalfNeg {
  static std::uint16_t of(std::uint16_t a) { return a ^ 0x8000U; }
};
/// Rounded once, from f64.
template <class H>
struct HalfEx2 {
  static std::uint16_t of(std::uint16_t a) {
    return static_cast<std::uint16_t>(
        encode(H::kFormat, std::exp2(static_cast<double>(H::load(a)))));
  }
};
template <class H>
struct HalfTanh {
  static std::uint16_t of(std::uint16_t a) {
    return static_cast<std::uint16_t>(
        encode(H::kFormat, std::tanh(static_cast<double>(H::load(a)))));
  }
};
template <class H, bool kMaximum, bool kNanWins>
struct HalfChoose {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b) {
    return static_cast<std::uint16_t>(kMaximum ? maximum(H::kFormat, a, b, kNanWins)
                                               : minimum(H::kFormat, a, b, kNanWins));
  }
};

/// What modifiers do to half operands and results.
struct HalfModifiers {
  bool flush = false;
  bool saturate = false;
  bool relu = false;
  bool xor_sign = false;  ///< .xorsign.abs: magnitudes are chosen among, signs multiplied
};
/// A subnormal becomes a zero of its sign.
template <class H>
[[nodiscard]] inline std::uint16_t flush_half(std::uint16_t a) {
  constexpr std::uint32_t kExponent = H::kFormat.infinity;
  return static_cast<std::uint16_t>((a & kExponent) == 0 ? a & H::kFormat.sign : a);
}
template <class H>
[[nodiscard]] inline std::uint16_t finish_half(std::uint16_t result, HalfModifiers modifiers) {
  if (modifiers.flush) result = flush_half<H>(result);
  if (modifiers.saturate) {
    const double value = saturate_unit(static_cast<double>(H::load(result)));
    result = static_cast<std::uint16_t>(encode(H::kFormat, value));
  }
  if (modifiers.relu) result = static_cast<std::uint16_t>(relu(H::kFormat, result));
  return result;
}

}  // namespace kiln::emulated::floats
