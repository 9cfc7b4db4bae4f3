// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <iterator> for NVRTC: what pointers need.
#pragma once
#ifndef KILN_STANDARD_ITERATOR
#define KILN_STANDARD_ITERATOR

#include <utility>

namespace std {

struct input_iterator_tag {};
struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {};
struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};

template <class Iterator>
struct iterator_traits {
  using difference_type = typename Iterator::difference_type;
  using value_type = typename Iterator::value_type;
  using pointer = typename Iterator::pointer;
  using reference = typename Iterator::reference;
  using iterator_category = typename Iterator::iterator_category;
};
template <class T>
struct iterator_traits<T*> {
  using difference_type = ptrdiff_t;
  using value_type = remove_cv_t<T>;
  using pointer = T*;
  using reference = T&;
  using iterator_category = random_access_iterator_tag;
};

template <class Iterator>
KILN_STANDARD_FUNCTION constexpr auto distance(Iterator first, Iterator last) {
  typename iterator_traits<Iterator>::difference_type count = 0;
  for (; first != last; ++first) ++count;
  return count;
}
template <class T>
KILN_STANDARD_FUNCTION constexpr ptrdiff_t distance(T* first, T* last) {
  return last - first;
}
template <class Iterator>
KILN_STANDARD_FUNCTION constexpr Iterator next(Iterator at, ptrdiff_t count = 1) {
  for (; count > 0; --count) ++at;
  return at;
}

template <class T, size_t N>
KILN_STANDARD_FUNCTION constexpr T* begin(T (&array)[N]) {
  return array;
}
template <class T, size_t N>
KILN_STANDARD_FUNCTION constexpr T* end(T (&array)[N]) {
  return array + N;
}
template <class T, size_t N>
KILN_STANDARD_FUNCTION constexpr size_t size(const T (&)[N]) {
  return N;
}

}  // namespace std

#endif
