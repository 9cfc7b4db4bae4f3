// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <algorithm> for NVRTC: what one thread does with a few elements. Sorting belongs to CUB.
#pragma once
#ifndef KILN_STANDARD_ALGORITHM
#define KILN_STANDARD_ALGORITHM

#include <initializer_list>
#include <iterator>
#include <utility>

namespace std {

#define KILN_ALGORITHM KILN_STANDARD_FUNCTION constexpr

template <class T>
KILN_ALGORITHM const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T, class Less>
KILN_ALGORITHM const T& min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T>
KILN_ALGORITHM T min(initializer_list<T> values) {
  T least = *values.begin();
  for (const T& value : values) least = std::min(least, value);
  return least;
}
template <class T>
KILN_ALGORITHM const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T, class Less>
KILN_ALGORITHM const T& max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <class T>
KILN_ALGORITHM T max(initializer_list<T> values) {
  T most = *values.begin();
  for (const T& value : values) most = std::max(most, value);
  return most;
}
template <class T>
KILN_ALGORITHM const T& clamp(const T& value, const T& low, const T& high) {
  return value < low ? low : high < value ? high : value;
}

template <class A, class B>
KILN_ALGORITHM void iter_swap(A a, B b) {
  swap(*a, *b);
}
template <class Iterator, class T>
KILN_ALGORITHM void fill(Iterator first, Iterator last, const T& value) {
  for (; first != last; ++first) *first = value;
}
template <class Iterator, class Count, class T>
KILN_ALGORITHM Iterator fill_n(Iterator first, Count count, const T& value) {
  for (; count > 0; --count, ++first) *first = value;
  return first;
}
template <class From, class To>
KILN_ALGORITHM To copy(From first, From last, To to) {
  for (; first != last; ++first, ++to) *to = *first;
  return to;
}
template <class From, class Count, class To>
KILN_ALGORITHM To copy_n(From first, Count count, To to) {
  for (; count > 0; --count, ++first, ++to) *to = *first;
  return to;
}
template <class Iterator, class Function>
KILN_ALGORITHM Function for_each(Iterator first, Iterator last, Function function) {
  for (; first != last; ++first) function(*first);
  return function;
}
template <class From, class To, class Function>
KILN_ALGORITHM To transform(From first, From last, To to, Function function) {
  for (; first != last; ++first, ++to) *to = function(*first);
  return to;
}
template <class Iterator>
KILN_ALGORITHM void reverse(Iterator first, Iterator last) {
  while (first != last && first != --last) iter_swap(first++, last);
}

template <class Iterator, class Test>
KILN_ALGORITHM Iterator find_if(Iterator first, Iterator last, Test test) {
  while (first != last && !test(*first)) ++first;
  return first;
}
template <class Iterator, class T>
KILN_ALGORITHM Iterator find(Iterator first, Iterator last, const T& value) {
  while (first != last && !(*first == value)) ++first;
  return first;
}
template <class Iterator, class T>
KILN_ALGORITHM ptrdiff_t count(Iterator first, Iterator last, const T& value) {
  ptrdiff_t found = 0;
  for (; first != last; ++first) found += *first == value ? 1 : 0;
  return found;
}
template <class Iterator, class Test>
KILN_ALGORITHM bool any_of(Iterator first, Iterator last, Test test) {
  return std::find_if(first, last, test) != last;
}
template <class Iterator, class Test>
KILN_ALGORITHM bool none_of(Iterator first, Iterator last, Test test) {
  return !std::any_of(first, last, test);
}
template <class Iterator, class Test>
KILN_ALGORITHM bool all_of(Iterator first, Iterator last, Test test) {
  while (first != last && test(*first)) ++first;
  return first == last;
}
template <class A, class B>
KILN_ALGORITHM bool equal(A first, A last, B other) {
  for (; first != last; ++first, ++other) {
    if (!(*first == *other)) return false;
  }
  return true;
}
template <class Iterator>
KILN_ALGORITHM Iterator min_element(Iterator first, Iterator last) {
  Iterator least = first;
  for (; first != last; ++first) {
    if (*first < *least) least = first;
  }
  return least;
}
template <class Iterator>
KILN_ALGORITHM Iterator max_element(Iterator first, Iterator last) {
  Iterator most = first;
  for (; first != last; ++first) {
    if (*most < *first) most = first;
  }
  return most;
}
template <class Iterator, class T>
KILN_ALGORITHM Iterator lower_bound(Iterator first, Iterator last, const T& value) {
  auto length = last - first;
  while (length > 0) {
    const auto half = length / 2;
    if (first[half] < value) {
      first += half + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  return first;
}
template <class Iterator, class T>
KILN_ALGORITHM Iterator upper_bound(Iterator first, Iterator last, const T& value) {
  auto length = last - first;
  while (length > 0) {
    const auto half = length / 2;
    if (value < first[half]) {
      length = half;
    } else {
      first += half + 1;
      length -= half + 1;
    }
  }
  return first;
}
template <class Iterator, class T>
KILN_ALGORITHM bool binary_search(Iterator first, Iterator last, const T& value) {
  first = std::lower_bound(first, last, value);
  return first != last && !(value < *first);
}

#undef KILN_ALGORITHM

}  // namespace std

#endif
