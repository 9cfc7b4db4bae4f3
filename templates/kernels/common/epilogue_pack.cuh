// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An epilogue's expression for several neighbours in a row of D at once, so that what it reads
/// comes in whole vectors:
///
///     acc     a0 a1 a2 a3        one Pack of four
///     bias[n] b0 b1 b2 b3        one load
///     s[m]    s  s  s  s         one load
///
/// Every operation is done element by element, as for a single number.

#include "common/epilogue_math.cuh"

namespace kiln::epilogue {

/// Neighbours in a row of D, each computed as a single element is; what they read comes at once.
template <class T, int kCount>
struct Pack {
  T value[kCount] = {};

  Pack() = default;
  KILN_DEVICE explicit Pack(T all) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) value[i] = all;
  }
  template <class Function>
  KILN_DEVICE static Pack each(const Function& function) {
    Pack result;
#pragma unroll
    for (int i = 0; i < kCount; ++i) result.value[i] = function(i);
    return result;
  }
};
template <int kCount>
struct PackTruth {
  bool value[kCount];
};

template <class T, int kCount>
KILN_DEVICE Pack<T, kCount> operator-(const Pack<T, kCount>& x) {
  return Pack<T, kCount>::each([&](int i) { return -x.value[i]; });
}
#define KILN_PACK_OPERATOR(symbol)                                                     \
  template <class T, int kCount>                                                       \
  KILN_DEVICE Pack<T, kCount> operator symbol(const Pack<T, kCount>& x,                \
                                              const Pack<T, kCount>& y) {              \
    return Pack<T, kCount>::each([&](int i) { return x.value[i] symbol y.value[i]; }); \
  }
#define KILN_PACK_UNARY(name)                                              \
  template <class T, int kCount>                                           \
  KILN_DEVICE Pack<T, kCount> name(const Pack<T, kCount>& x) {             \
    return Pack<T, kCount>::each([&](int i) { return name(x.value[i]); }); \
  }
#define KILN_PACK_BINARY(name)                                                           \
  template <class T, int kCount>                                                         \
  KILN_DEVICE Pack<T, kCount> name(const Pack<T, kCount>& x, const Pack<T, kCount>& y) { \
    return Pack<T, kCount>::each([&](int i) { return name(x.value[i], y.value[i]); });   \
  }
#define KILN_PACK_COMPARISON(name)                                                         \
  template <class T, int kCount>                                                           \
  KILN_DEVICE PackTruth<kCount> name(const Pack<T, kCount>& x, const Pack<T, kCount>& y) { \
    PackTruth<kCount> result;                                                              \
    for (int i = 0; i < kCount; ++i) result.value[i] = name(x.value[i], y.value[i]);       \
    return result;                                                                         \
  }
KILN_PACK_OPERATOR(+)
KILN_PACK_OPERATOR(-)
KILN_PACK_OPERATOR(*)
KILN_PACK_OPERATOR(/)
KILN_PACK_UNARY(exp)
KILN_PACK_UNARY(log)
KILN_PACK_UNARY(sqrt)
KILN_PACK_UNARY(rsqrt)
KILN_PACK_UNARY(tanh)
KILN_PACK_UNARY(sigmoid)
KILN_PACK_UNARY(silu)
KILN_PACK_UNARY(gelu)
KILN_PACK_UNARY(gelu_tanh)
KILN_PACK_UNARY(abs)
KILN_PACK_BINARY(min)
KILN_PACK_BINARY(max)
KILN_PACK_COMPARISON(less)
KILN_PACK_COMPARISON(less_equal)
#undef KILN_PACK_OPERATOR
#undef KILN_PACK_UNARY
#undef KILN_PACK_BINARY
#undef KILN_PACK_COMPARISON
template <class T, int kCount>
KILN_DEVICE Pack<T, kCount> select(const PackTruth<kCount>& truth, const Pack<T, kCount>& x,
                                   const Pack<T, kCount>& y) {
  return Pack<T, kCount>::each([&](int i) { return truth.value[i] ? x.value[i] : y.value[i]; });
}

}  // namespace kiln::epilogue
