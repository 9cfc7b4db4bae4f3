// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/gemm.hpp"

namespace kiln {

/// The bound that a correct kernel meets for every element of D:
///
///     |D - ref| <= u_out |ref| + c sqrt(K) u_acc (|alpha| |A||B| + |beta| |C|) + |alpha| least
///
/// with c = 4 (8 with a float64 accumulator, whose reference errs as much as the kernel itself).
/// Why 4: up to K = 9 the K + 3 roundings of an element (products, sums, alpha, beta and the final
/// addition; the last of them is the u_out term) stay below 4 sqrt(K) even if all conspire. Beyond,
/// rounding errors behave like independent zero-mean noise, for which a bound of lambda sqrt(K) u
/// on the same sum of absolute products fails with probability below 2 exp(-lambda^2 / 2) per
/// element even if every partial sum were as large as the last; with operands of both signs partial
/// sums are smaller by about sqrt(K), so a correct kernel stays far inside.
/// It is still tight enough to reveal one lost product up to about K = 2^14: that is 1/K of the
/// absolute sum. For longer sums the exact comparison of integers reveals it.
///
/// With an accumulator of 16 bits that would soon be more than the result, so there min(K, 16)
/// takes the place of K. 16 roundings stay below 4 sqrt(16) u_acc even if all conspire. Beyond, it
/// counts that random operands have both signs: a partial sum of j products is about sqrt(j), the
/// rounding errors of K of them add up to some 0.3 u_acc K, and the absolute sum is (2 / pi) K, so
/// the error relative to that does not grow with K: its root mean square is 0.47 u_acc when every
/// product is rounded on its own (in a simulation, for K from 16 to 65536) and 0.12 u_acc when
/// tensor cores add 16 at once, far from 16 u_acc. The bound is below the median result up to K =
/// 2^14. Where an exact comparison is possible it sees a lost product, this one a kernel that is
/// wrong as a whole.
///
/// `least` is half of such an accumulator's smallest number for each of these min(K, 16) roundings:
/// where sums are subnormal, their error has nothing to do with their size. Random data come
/// nowhere near the smallest numbers of other accumulators.
///
/// Whole numbers whose result is another type are scaled in float32: the product is exact then, and
/// its conversion, alpha, beta and the addition round four times.
///
/// Operands enter the reference as converted (tf32 rounded, fp8 exact), so they add no error.
struct ErrorBound {
  double u_out = 0.0;
  double c_factor = 0.0;  ///< c sqrt(K) u_acc; of a problem with an expression 1, see c_product
  /// c sqrt(K) u_acc, the error of a product on its own. From there on a running error analysis
  /// (templates/kernels/common/epilogue_math.cuh) bounds what an expression makes of it.
  double c_product = 0.0;
  double least = 0.0;  ///< of a sum, before alpha
};
[[nodiscard]] ErrorBound error_bound(const Gemm& gemm);

/// How small integers must be so that every partial sum is exact, whatever the order of
/// summation, and D represents or correctly rounds the result.
struct ExactPlan {
  bool possible = false;
  int range = 0;  ///< operands from [-range, range], unsigned ones from [0, range]
  double alpha = 1.0;
  double beta = 0.0;
};
[[nodiscard]] ExactPlan plan_exact(const Gemm& gemm);

}  // namespace kiln
