// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The functions of an epilogue's expression: for the numbers that kernels compute with, and for a
/// number that knows how far those may be off. Shared with the host, which evaluates expressions
/// with the latter as well, so each rule has one home.
///
/// `Bounded` is a running error analysis (N. J. Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd edition, section 3.3): beside the exact value it carries a bound on the distance
/// of what a kernel has there. An operation passes on the errors of its operands by its slope, and
/// adds its own rounding; the functions add what CUDA's mathematics states for them in float, with
/// some room.

#include "common/annotations.cuh"
#include "common/peak_range.cuh"
#if !defined(__CUDACC__)
#include <cmath>
#endif

namespace kiln::epilogue {

#if !defined(__CUDACC__)
using std::erf;
using std::exp;
using std::expm1;
using std::fabs;
using std::fmax;
using std::fmin;
using std::log;
using std::sqrt;
using std::tanh;
#endif

// In double they serve Bounded as well, which belongs to both sides.
#if defined(__CUDACC__)
KILN_DEVICE float exp(float x) {
  return ::expf(x);
}
KILN_HD double exp(double x) {
  return ::exp(x);
}
KILN_DEVICE float log(float x) {
  return ::logf(x);
}
KILN_HD double log(double x) {
  return ::log(x);
}
KILN_DEVICE float sqrt(float x) {
  return ::sqrtf(x);
}
KILN_HD double sqrt(double x) {
  return ::sqrt(x);
}
KILN_DEVICE float rsqrt(float x) {
  return ::rsqrtf(x);
}
KILN_DEVICE double rsqrt(double x) {
  return ::rsqrt(x);
}
KILN_DEVICE float tanh(float x) {
  return ::tanhf(x);
}
KILN_HD double tanh(double x) {
  return ::tanh(x);
}
/// 1 / (1 + 2^x), in three instructions.
KILN_DEVICE float logistic_of_power(float x) {
  float power;
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(1.0F + power));
  return result;
}
/// The exponent is rounded once more than in expf(), so the error grows with |x| where the power
/// counts.
KILN_DEVICE float sigmoid(float x) {
  return logistic_of_power(x * -1.44269504F);
}
KILN_DEVICE double sigmoid(double x) {
  return 1.0 / (1.0 + ::exp(-x));
}
KILN_DEVICE float gelu(float x) {
  return 0.5F * x * (1.0F + ::erff(x * 0.70710678F));
}
KILN_DEVICE double gelu(double x) {
  return 0.5 * x * (1.0 + ::erf(x * 0.70710678118654752440));
}
KILN_DEVICE float abs(float x) {
  return ::fabsf(x);
}
KILN_DEVICE double abs(double x) {
  return ::fabs(x);
}
KILN_DEVICE float min(float x, float y) {
  return ::fminf(x, y);
}
KILN_DEVICE double min(double x, double y) {
  return ::fmin(x, y);
}
KILN_DEVICE float max(float x, float y) {
  return ::fmaxf(x, y);
}
KILN_DEVICE double max(double x, double y) {
  return ::fmax(x, y);
}
#endif

/// A number that kernels compute in Compute. The reference computes in double itself, so there both
/// may be off.
template <class Compute>
struct Bounded {
  double value = 0.0;
  double error = 0.0;  ///< infinite where nothing is known

  /// Half the distance from 1 to the next number.
  KILN_HD static constexpr double unit() {
    return sizeof(Compute) == 4 ? 5.9604644775390625e-08 : 2.2204460492503131e-16;
  }
  /// What flushing or approximate division may lose near zero.
  KILN_HD static constexpr double least() { return sizeof(Compute) == 4 ? 1.2e-38 : 0.0; }

  Bounded() = default;
  KILN_HD explicit Bounded(float exact) : value(static_cast<double>(exact)) {}
  /// What Compute may have to round.
  KILN_HD explicit Bounded(double number)
      : value(number),
        error(static_cast<double>(static_cast<Compute>(number)) == number ? 0.0
                                                                          : fabs(number) * unit()) {
  }
  KILN_HD explicit Bounded(int number) : Bounded(static_cast<double>(number)) {}
  KILN_HD Bounded(double value_, double error_) : value(value_), error(error_) {}
};

/// Infinite, without a literal that compilers warn of.
KILN_HD double unknown_error() {
  const double large = 1e200;
  return large * large;
}
/// `value`, of which a kernel has something no farther than `inherited`, after roundings of
/// `units` times the unit, relative to the result.
template <class C>
KILN_HD Bounded<C> rounded(double value, double inherited, double units = 1.0) {
  // An unknown error times zero is no number, and as unknown.
  const double error = inherited == inherited ? inherited : unknown_error();
  const double size = fabs(value) + error;
  return {value, error + units * Bounded<C>::unit() * size + Bounded<C>::least()};
}

template <class C>
KILN_HD Bounded<C> operator+(const Bounded<C>& x, const Bounded<C>& y) {
  return rounded<C>(x.value + y.value, x.error + y.error);
}
template <class C>
KILN_HD Bounded<C> operator-(const Bounded<C>& x, const Bounded<C>& y) {
  return rounded<C>(x.value - y.value, x.error + y.error);
}
template <class C>
KILN_HD Bounded<C> operator-(const Bounded<C>& x) {
  return {-x.value, x.error};
}
template <class C>
KILN_HD Bounded<C> operator*(const Bounded<C>& x, const Bounded<C>& y) {
  return rounded<C>(x.value * y.value,
                    fabs(x.value) * y.error + fabs(y.value) * x.error + x.error * y.error);
}
template <class C>
KILN_HD Bounded<C> operator/(const Bounded<C>& x, const Bounded<C>& y) {
  const double value = x.value / y.value;
  const double nearest = fabs(y.value) - y.error;
  if (!(nearest > 0.0)) return {value, unknown_error()};
  return rounded<C>(value, (x.error + fabs(value) * y.error) / nearest, 4.0);
}

template <class C>
KILN_HD Bounded<C> exp(const Bounded<C>& x) {
  const double value = exp(x.value);
  return rounded<C>(value, value * expm1(x.error), 4.0);
}
template <class C>
KILN_HD Bounded<C> log(const Bounded<C>& x) {
  const double nearest = x.value - x.error;
  if (!(nearest > 0.0) && x.value >= 0.0) return {log(x.value), unknown_error()};
  return rounded<C>(log(x.value), x.error / nearest, 4.0);
}
template <class C>
KILN_HD Bounded<C> sqrt(const Bounded<C>& x) {
  const double nearest = x.value - x.error;
  const double value = sqrt(x.value);
  const double slope = nearest > 0.0 ? x.error / (2.0 * sqrt(nearest)) : sqrt(x.value + x.error);
  return rounded<C>(value, slope, 2.0);
}
template <class C>
KILN_HD Bounded<C> rsqrt(const Bounded<C>& x) {
  const double nearest = x.value - x.error;
  const double value = 1.0 / sqrt(x.value);
  if (!(nearest > 0.0) && x.value >= 0.0) return {value, unknown_error()};
  return rounded<C>(value, x.error * 0.5 / (nearest * sqrt(nearest)), 4.0);
}
template <class C>
KILN_HD Bounded<C> tanh(const Bounded<C>& x) {
  return rounded<C>(tanh(x.value), x.error, 6.0);
}
/// What the rounding of the exponent makes of the logistic function, relative to it: half a unit of
/// |x| log2(e) ln(2) and as much for the factor, of the power's share in 1 + power; with some room.
template <class C>
KILN_HD double exponent_error(double x, double sigmoid_of_x) {
  return 2.0 * Bounded<C>::unit() * fabs(x) * (1.0 - sigmoid_of_x);
}
template <class C>
KILN_HD Bounded<C> sigmoid(const Bounded<C>& x) {
  const double value = 1.0 / (1.0 + exp(-x.value));
  return rounded<C>(value, 0.25 * x.error + value * exponent_error<C>(x.value, value), 12.0);
}
/// The slope of each of these three is at most 1.13.
template <class C>
KILN_HD Bounded<C> silu(const Bounded<C>& x) {
  const double factor = 1.0 / (1.0 + exp(-x.value));
  const double lost = factor * exponent_error<C>(x.value, factor) + Bounded<C>::least();
  return rounded<C>(x.value * factor, 1.13 * x.error + fabs(x.value) * lost, 14.0);
}
template <class C>
KILN_HD Bounded<C> gelu(const Bounded<C>& x) {
  // 1 + erf cancels for negative numbers, so its rounding is relative to 1.
  const double value = 0.5 * x.value * (1.0 + erf(x.value * 0.70710678118654752440));
  return rounded<C>(value, 1.13 * x.error + 8.0 * Bounded<C>::unit() * fabs(x.value), 4.0);
}
template <class C>
KILN_HD Bounded<C> gelu_tanh(const Bounded<C>& x) {
  const double inner = x.value * (1.5957691216057308 + 0.07135481627159056 * x.value * x.value);
  const double value = x.value / (1.0 + exp(-inner));
  return rounded<C>(value, 1.13 * x.error + 4.0 * Bounded<C>::unit() * fabs(x.value), 16.0);
}
template <class C>
KILN_HD Bounded<C> abs(const Bounded<C>& x) {
  return {fabs(x.value), x.error};
}
template <class C>
KILN_HD Bounded<C> min(const Bounded<C>& x, const Bounded<C>& y) {
  return {fmin(x.value, y.value), fmax(x.error, y.error)};
}
template <class C>
KILN_HD Bounded<C> max(const Bounded<C>& x, const Bounded<C>& y) {
  return {fmax(x.value, y.value), fmax(x.error, y.error)};
}

/// Of an element that amax() records. Where nothing is known of it, that may be anything.
template <class C>
KILN_HD PeakRange peak_range(const Bounded<C>& x) {
  const double size = fabs(x.value);
  if (size != size) return {size, size};
  if (!(x.error < unknown_error())) return {0.0, unknown_error()};
  return {fmax(size - x.error, 0.0), size + x.error};
}
/// Of all of both.
KILN_HD PeakRange joined(const PeakRange& x, const PeakRange& y) {
  if (x.least != x.least || y.least != y.least) return x.least != x.least ? x : y;
  return {fmax(x.least, y.least), fmax(x.most, y.most)};
}
/// Whether a kernel that computes in `largest` at most may have recorded that.
KILN_HD bool contains(const PeakRange& range, double recorded, double largest) {
  if (range.least != range.least) return recorded != recorded;
  return range.least <= recorded &&
         (recorded <= range.most || (recorded > largest && range.most > largest));
}

/// A comparison whose sides may be off by more than what is between them is not certain.
struct Truth {
  bool value;
  bool certain;
};
/// Whether every kernel finds the two in the same order, or both equal.
template <class C>
KILN_HD bool is_certain_order(const Bounded<C>& x, const Bounded<C>& y) {
  const bool exact = x.error == 0.0 && y.error == 0.0;
  return exact || fabs(x.value - y.value) > x.error + y.error;
}
template <class C>
KILN_HD Truth less(const Bounded<C>& x, const Bounded<C>& y) {
  return {x.value < y.value, is_certain_order(x, y)};
}
template <class C>
KILN_HD Truth less_equal(const Bounded<C>& x, const Bounded<C>& y) {
  return {x.value <= y.value, is_certain_order(x, y)};
}
template <class C>
KILN_HD Bounded<C> select(Truth truth, const Bounded<C>& x, const Bounded<C>& y) {
  const Bounded<C>& taken = truth.value ? x : y;
  const bool exact = truth.certain || (x.value == y.value && x.error == y.error);
  if (exact) return taken;
  return {taken.value, fmax(x.error, y.error) + fabs(x.value - y.value)};
}

#if defined(__CUDACC__)
/// x times the logistic function, which for large negative x is 0 to all digits.
template <class T>
KILN_DEVICE T silu(T x) {
  return x * sigmoid(x);
}
/// With 1 + tanh(y) = 2 sigmoid(2 y), y = sqrt(2 / pi) (x + 0.044715 x^3).
template <class T>
KILN_DEVICE T gelu_tanh(T x) {
  return x * sigmoid(x * (static_cast<T>(1.5957691216057308) +
                          static_cast<T>(0.07135481627159056) * x * x));
}
/// The same with log2(e) in the factors.
KILN_DEVICE float gelu_tanh(float x) {
  return x * logistic_of_power(x * __fmaf_rn(x * x, -0.102943240F, -2.30220818F));
}
template <class T>
KILN_DEVICE bool less(T x, T y) {
  return x < y;
}
template <class T>
KILN_DEVICE bool less_equal(T x, T y) {
  return x <= y;
}
template <class T>
KILN_DEVICE T select(bool truth, T x, T y) {
  return truth ? x : y;
}
#endif

template <class T>
KILN_HD T relu(const T& x) {
  return max(x, T(0.0F));
}
template <class T>
KILN_HD T clamp(const T& x, const T& least, const T& greatest) {
  return min(max(x, least), greatest);
}

}  // namespace kiln::epilogue
