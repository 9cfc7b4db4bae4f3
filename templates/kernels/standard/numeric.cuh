// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <numeric> for NVRTC.
#pragma once
#ifndef KILN_STANDARD_NUMERIC
#define KILN_STANDARD_NUMERIC

#include <utility>

namespace std {

template <class Iterator, class T>
KILN_STANDARD_FUNCTION constexpr T accumulate(Iterator first, Iterator last, T sum) {
  for (; first != last; ++first) sum = sum + *first;
  return sum;
}
template <class Iterator, class T, class Operation>
KILN_STANDARD_FUNCTION constexpr T accumulate(Iterator first, Iterator last, T sum,
                                              Operation operation) {
  for (; first != last; ++first) sum = operation(sum, *first);
  return sum;
}
template <class A, class B, class T>
KILN_STANDARD_FUNCTION constexpr T inner_product(A first, A last, B other, T sum) {
  for (; first != last; ++first, ++other) sum = sum + *first * *other;
  return sum;
}
template <class Iterator, class T>
KILN_STANDARD_FUNCTION constexpr void iota(Iterator first, Iterator last, T value) {
  for (; first != last; ++first, ++value) *first = value;
}
template <class T>
KILN_STANDARD_FUNCTION constexpr T gcd(T a, T b) {
  while (b != 0) {
    const T rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

}  // namespace std

#endif
