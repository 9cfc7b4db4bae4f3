// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <functional> for NVRTC: operators as objects. There is no std::function, which needs a heap.
#pragma once
#ifndef KILN_STANDARD_FUNCTIONAL
#define KILN_STANDARD_FUNCTIONAL

#include <utility>

namespace std {

#define KILN_STANDARD_OPERATOR(name, sign)                                           \
  template <class T = void>                                                          \
  struct name {                                                                      \
    KILN_STANDARD_FUNCTION constexpr auto operator()(const T& a, const T& b) const { \
      return a sign b;                                                               \
    }                                                                                \
  };                                                                                 \
  template <>                                                                        \
  struct name<void> {                                                                \
    template <class A, class B>                                                      \
    KILN_STANDARD_FUNCTION constexpr auto operator()(const A& a, const B& b) const { \
      return a sign b;                                                               \
    }                                                                                \
  };

KILN_STANDARD_OPERATOR(plus, +)
KILN_STANDARD_OPERATOR(minus, -)
KILN_STANDARD_OPERATOR(multiplies, *)
KILN_STANDARD_OPERATOR(divides, /)
KILN_STANDARD_OPERATOR(modulus, %)
KILN_STANDARD_OPERATOR(equal_to, ==)
KILN_STANDARD_OPERATOR(not_equal_to, !=)
KILN_STANDARD_OPERATOR(greater, >)
KILN_STANDARD_OPERATOR(less, <)
KILN_STANDARD_OPERATOR(greater_equal, >=)
KILN_STANDARD_OPERATOR(less_equal, <=)
KILN_STANDARD_OPERATOR(logical_and, &&)
KILN_STANDARD_OPERATOR(logical_or, ||)
KILN_STANDARD_OPERATOR(bit_and, &)
KILN_STANDARD_OPERATOR(bit_or, |)
KILN_STANDARD_OPERATOR(bit_xor, ^)

#undef KILN_STANDARD_OPERATOR

template <class T>
struct negate {
  KILN_STANDARD_FUNCTION constexpr T operator()(const T& a) const { return -a; }
};
template <class T>
struct logical_not {
  KILN_STANDARD_FUNCTION constexpr bool operator()(const T& a) const { return !a; }
};

}  // namespace std

#endif
