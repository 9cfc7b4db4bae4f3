// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/error_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "templates/operation/gemm_problem.hpp"
#include "tuner/verify/roundoff.hpp"

namespace kiln {
namespace {

bool is_fp8(DType type) {
  return type == DType::e4m3 || type == DType::e5m2;
}

/// Roundoff of one accumulation step. Tensor cores truncate when they add to a float32 accumulator,
/// which doubles the error of a step; for fp8 operands they keep 13 fraction bits of a partial sum.
double accumulation_roundoff(const Gemm& gemm) {
  if (gemm.acc != DType::f32) return unit_roundoff(gemm.acc);
  if (is_fp8(gemm.a) || is_fp8(gemm.b)) return std::ldexp(1.0, -13);
  if (gemm.a == DType::f32) return std::ldexp(1.0, -24);
  return std::ldexp(1.0, -23);
}

/// Integers up to this magnitude stay exact while they are summed.
double largest_exact_sum(const Gemm& gemm) {
  if (is_fp8(gemm.a) || is_fp8(gemm.b)) return std::ldexp(1.0, 13);
  switch (gemm.acc) {
    case DType::f16:
      return std::ldexp(1.0, 11);
    case DType::bf16:
      return std::ldexp(1.0, 8);
    case DType::f64:
      return std::ldexp(1.0, 53);
    case DType::s32:
      return has_whole_factors(gemm) ? std::ldexp(1.0, 31) - 1.0 : std::ldexp(1.0, 24);
    default:
      return std::ldexp(1.0, 24);
  }
}

double largest_finite(DType type) {
  switch (type) {
    case DType::f16:
      return 65504.0;
    case DType::e4m3:
      return 448.0;
    case DType::e5m2:
      return 57344.0;
    case DType::s8:
      return 127.0;
    case DType::u8:
      return 255.0;
    case DType::s32:
      return 2147483647.0;
    default:
      return std::numeric_limits<float>::max();
  }
}

/// What |A B| stays below: the worst case, or ten standard deviations if the operands are of
/// both signs, which no element of any matrix that fits a device exceeds.
double sum_limit(const Gemm& gemm, int range) {
  const auto k = static_cast<double>(gemm.k);
  const double worst = k * range * range;
  const auto has_both_signs = [](DType type) {
    return type != DType::u8 && type != DType::u4 && packed_values(type) < 8;
  };
  if (!has_both_signs(gemm.a) || !has_both_signs(gemm.b)) return worst;
  const double variance = range * (range + 1) / 3.0;  // of a uniform integer in [-range, range]
  return std::min(worst, 10.0 * std::sqrt(k) * variance);
}

}  // namespace

ErrorBound error_bound(const Gemm& gemm) {
  const double c = gemm.acc == DType::f64 ? 8.0 : 4.0;
  const bool narrow = size_bytes(gemm.acc) == 2;
  // Without a product beta * C is still computed.
  const std::int64_t depth = std::max<std::int64_t>(gemm.k, 1);
  const auto terms = static_cast<double>(narrow ? std::min<std::int64_t>(depth, 16) : depth);
  const double c_product = c * std::sqrt(terms) * accumulation_roundoff(gemm);
  double c_factor = c_product;
  if (!gemm.epilogue.is_default()) {
    c_factor = 1.0;
  } else if (gemm.acc == DType::s32 && !has_whole_factors(gemm)) {
    c_factor = 4.0 * unit_roundoff(DType::f32);
  }
  const double least = gemm.acc == DType::f16 ? terms * std::ldexp(1.0, -25) : 0.0;
  return {unit_roundoff(gemm.d), c_factor, c_product, least};
}

ExactPlan plan_exact(const Gemm& gemm) {
  // Strongest first: alpha 2 and beta -1 show whether the kernel applies them at all.
  struct Choice {
    int range;
    double alpha;
  };
  static constexpr std::array<Choice, 3> kChoices{{{2, 2.0}, {1, 2.0}, {1, 1.0}}};
  const double beta = gemm.reads_c ? -1.0 : 0.0;
  // The scaled result is formed in the accumulator's type, and an fp8 result's alpha in float32.
  const double computed = gemm.acc == DType::f32 ? std::ldexp(1.0, 24) : largest_exact_sum(gemm);
  // A D of whole numbers that f32 is rounded to is limited to its range, as the reference is.
  const bool saturates = epilogue_type(gemm) == DType::f32 && unit_roundoff(gemm.d) == 0.0;
  const double scaled_limit = saturates ? computed : std::min(computed, largest_finite(gemm.d));
  for (const Choice& choice : kChoices) {
    // What an expression makes of a sum need not be exact.
    if (!gemm.epilogue.is_default() && sum_limit(gemm, choice.range) <= largest_exact_sum(gemm)) {
      return {true, choice.range, 1.0, beta};
    }
    const double sum = sum_limit(gemm, choice.range);
    const double scaled = choice.alpha * sum + std::abs(beta) * choice.range;
    if (sum <= largest_exact_sum(gemm) && scaled <= scaled_limit) {
      return {true, choice.range, choice.alpha, beta};
    }
  }
  return {};
}

}  // namespace kiln
