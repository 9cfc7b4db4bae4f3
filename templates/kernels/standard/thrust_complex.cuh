// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <thrust/complex.h> for NVRTC, which refuses the functions for hosts in it: libcu++'s complex
// numbers under Thrust's names. Both operands of an operator have one type here.
#pragma once
#ifndef KILN_STANDARD_THRUST_COMPLEX
#define KILN_STANDARD_THRUST_COMPLEX

#include <cuda/std/complex>

namespace thrust {

template <class T>
using complex = ::cuda::std::complex<T>;

using ::cuda::std::abs;
using ::cuda::std::acos;
using ::cuda::std::acosh;
using ::cuda::std::arg;
using ::cuda::std::asin;
using ::cuda::std::asinh;
using ::cuda::std::atan;
using ::cuda::std::atanh;
using ::cuda::std::conj;
using ::cuda::std::cos;
using ::cuda::std::cosh;
using ::cuda::std::exp;
using ::cuda::std::log;
using ::cuda::std::log10;
using ::cuda::std::norm;
using ::cuda::std::polar;
using ::cuda::std::pow;
using ::cuda::std::proj;
using ::cuda::std::sin;
using ::cuda::std::sinh;
using ::cuda::std::sqrt;
using ::cuda::std::tan;
using ::cuda::std::tanh;

}  // namespace thrust

#endif
