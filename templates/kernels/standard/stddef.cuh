// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cstddef> and <stddef.h> for NVRTC, which has none of the standard headers: what device code
// uses of them, in words of our own. Other compilers never see this folder.
#pragma once
#ifndef KILN_STANDARD_STDDEF
#define KILN_STANDARD_STDDEF

/// NVRTC takes a function without a word for one of the host, of which it has none.
#define KILN_STANDARD_FUNCTION __host__ __device__ inline

#if !defined(NULL)
#define NULL 0
#endif
#if !defined(offsetof)
#define offsetof(type, member) ((size_t) & reinterpret_cast<char&>(((type*)0)->member))
#endif

namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
struct alignas(16) max_align_t {
  long long whole[2];
};
enum class byte : unsigned char {};
}  // namespace std

#endif
