// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <utility> for NVRTC, which has std::move() and std::forward() built in.
#pragma once
#ifndef KILN_STANDARD_UTILITY
#define KILN_STANDARD_UTILITY

#include <type_traits>

namespace std {

template <class T>
KILN_STANDARD_FUNCTION constexpr void swap(T& a, T& b) {
  T kept = std::move(a);
  a = std::move(b);
  b = std::move(kept);
}

template <class T, class U = T>
KILN_STANDARD_FUNCTION constexpr T exchange(T& place, U&& value) {
  T kept = std::move(place);
  place = std::forward<U>(value);
  return kept;
}

template <class T>
KILN_STANDARD_FUNCTION constexpr const T& as_const(T& value) {
  return value;
}

template <class A, class B>
struct pair {
  using first_type = A;
  using second_type = B;
  A first{};
  B second{};
  friend KILN_STANDARD_FUNCTION constexpr bool operator==(const pair& x, const pair& y) {
    return x.first == y.first && x.second == y.second;
  }
  friend KILN_STANDARD_FUNCTION constexpr bool operator<(const pair& x, const pair& y) {
    return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
  }
};
template <class A, class B>
pair(A, B) -> pair<A, B>;

template <class A, class B>
KILN_STANDARD_FUNCTION constexpr pair<decay_t<A>, decay_t<B>> make_pair(A&& a, B&& b) {
  return {std::forward<A>(a), std::forward<B>(b)};
}

template <class T, T... Values>
struct integer_sequence {
  using value_type = T;
  static KILN_STANDARD_FUNCTION constexpr size_t size() { return sizeof...(Values); }
};
template <size_t... Values>
using index_sequence = integer_sequence<size_t, Values...>;

/// 0 to N - 1, of two halves, so that templates do not nest deeply.
template <class T, class A, class B>
struct kiln_joined_sequence;
template <class T, T... A, T... B>
struct kiln_joined_sequence<T, integer_sequence<T, A...>, integer_sequence<T, B...>>
    : type_identity<integer_sequence<T, A..., (T(sizeof...(A)) + B)...>> {};
template <class T, size_t N>
struct kiln_sequence : kiln_joined_sequence<T, typename kiln_sequence<T, N / 2>::type,
                                            typename kiln_sequence<T, N - N / 2>::type> {};
template <class T>
struct kiln_sequence<T, 0> : type_identity<integer_sequence<T>> {};
template <class T>
struct kiln_sequence<T, 1> : type_identity<integer_sequence<T, T(0)>> {};
template <class T, T N>
using make_integer_sequence = typename kiln_sequence<T, size_t(N)>::type;
template <size_t N>
using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... Ts>
using index_sequence_for = make_index_sequence<sizeof...(Ts)>;

}  // namespace std

#endif
