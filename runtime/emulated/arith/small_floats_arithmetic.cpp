// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/small_floats_arithmetic.hpp"

#include <cfenv>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {
namespace {

int host_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return FE_TOWARDZERO;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::up:
      return FE_UPWARD;
    case Rounding::nearest_even:
    case Rounding::nearest_away:
      break;
  }
  return FE_TONEAREST;
}

float to_f32(double value) {
  return canonical(static_cast<float>(value));
}

}  // namespace

RoundingScope::RoundingScope(Rounding rounding) : before_(std::fegetround()) {
  static_cast<void>(std::fesetround(host_rounding(rounding)));
}

RoundingScope::~RoundingScope() {
  static_cast<void>(std::fesetround(before_));
}

void fma_f32(const float* a, const float* b, const float* c, float* d) {
  // In f64 the product is exact and the sum is rounded; rounding that to f32 gives the right f32
  // unless the f64 lies just halfway between two, where the first rounding may have hidden on which
  // side the sum is. Those lanes (and subnormal results, whose halfway points lie elsewhere) are
  // rare, and are computed again by the host's own fma.
  double sums[kLanes];
  bool doubtful = false;
  for (int i = 0; i < kLanes; ++i) {
    sums[i] = static_cast<double>(a[i]) * static_cast<double>(b[i]) + static_cast<double>(c[i]);
  }
  for (const double sum : sums) {
    const auto low = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(sum));
    const bool halfway = (low & 0x1FFFFFFFU) == 0x10000000U;
    doubtful |= halfway | ((std::fabs(sum) < 0x1p-126) & (sum != 0.0));
  }
  if (doubtful) {
    for (int i = 0; i < kLanes; ++i) d[i] = canonical(std::fma(a[i], b[i], c[i]));
  } else {
    for (int i = 0; i < kLanes; ++i) d[i] = canonical(static_cast<float>(sums[i]));
  }
}

float approx_ex2(float x) {
  return to_f32(std::exp2(static_cast<double>(x)));
}
float approx_lg2(float x) {
  return to_f32(std::log2(static_cast<double>(x)));
}
float approx_sin(float x) {
  return to_f32(std::sin(static_cast<double>(x)));
}
float approx_cos(float x) {
  return to_f32(std::cos(static_cast<double>(x)));
}
float approx_tanh(float x) {
  return to_f32(std::tanh(static_cast<double>(x)));
}
float approx_rsqrt(float x) {
  return to_f32(1.0 / std::sqrt(static_cast<double>(x)));
}
double approx_rsqrt(double x) {
  return 1.0 / std::sqrt(x);
}

double approx_rcp(double x) {
  const auto flushed = [](double value) {
    return std::fabs(value) < 0x1p-1022 ? std::copysign(0.0, value) : value;
  };
  const double result = flushed(1.0 / flushed(x));
  const auto bits = std::bit_cast<std::uint64_t>(result);
  return std::isnan(result) ? result : std::bit_cast<double>(bits & ~std::uint64_t{0xFFFFFFFFU});
}

}  // namespace kiln::emulated
