// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <complex> for NVRTC: a number that <thrust/complex.h> and kernels can name. thrust::complex has
// the functions of complex numbers.
#pragma once
#ifndef KILN_STANDARD_COMPLEX
#define KILN_STANDARD_COMPLEX

#include <type_traits>

namespace std {

template <class T>
struct complex {
  using value_type = T;
  KILN_STANDARD_FUNCTION constexpr complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  template <class U>
  KILN_STANDARD_FUNCTION constexpr complex(const complex<U>& other)
      : real_(T(other.real())), imag_(T(other.imag())) {}
  [[nodiscard]] KILN_STANDARD_FUNCTION constexpr T real() const { return real_; }
  [[nodiscard]] KILN_STANDARD_FUNCTION constexpr T imag() const { return imag_; }
  KILN_STANDARD_FUNCTION constexpr void real(T value) { real_ = value; }
  KILN_STANDARD_FUNCTION constexpr void imag(T value) { imag_ = value; }
  KILN_STANDARD_FUNCTION constexpr complex& operator+=(const complex& other) {
    real_ += other.real_;
    imag_ += other.imag_;
    return *this;
  }
  KILN_STANDARD_FUNCTION constexpr complex& operator-=(const complex& other) {
    real_ -= other.real_;
    imag_ -= other.imag_;
    return *this;
  }
  KILN_STANDARD_FUNCTION constexpr complex& operator*=(const complex& other) {
    return *this = complex(real_ * other.real_ - imag_ * other.imag_,
                           real_ * other.imag_ + imag_ * other.real_);
  }
  friend KILN_STANDARD_FUNCTION constexpr complex operator+(complex a, const complex& b) {
    return a += b;
  }
  friend KILN_STANDARD_FUNCTION constexpr complex operator-(complex a, const complex& b) {
    return a -= b;
  }
  friend KILN_STANDARD_FUNCTION constexpr complex operator*(complex a, const complex& b) {
    return a *= b;
  }
  friend KILN_STANDARD_FUNCTION constexpr complex operator-(const complex& a) {
    return complex(-a.real_, -a.imag_);
  }
  friend KILN_STANDARD_FUNCTION constexpr bool operator==(const complex& a, const complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }

 private:
  T real_;
  T imag_;
};

template <class T>
KILN_STANDARD_FUNCTION constexpr T real(const complex<T>& a) {
  return a.real();
}
template <class T>
KILN_STANDARD_FUNCTION constexpr T imag(const complex<T>& a) {
  return a.imag();
}
template <class T>
KILN_STANDARD_FUNCTION constexpr complex<T> conj(const complex<T>& a) {
  return complex<T>(a.real(), -a.imag());
}
template <class T>
KILN_STANDARD_FUNCTION constexpr T norm(const complex<T>& a) {
  return a.real() * a.real() + a.imag() * a.imag();
}

}  // namespace std

#endif
