// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cstdlib> and <stdlib.h> for NVRTC.
#pragma once
#ifndef KILN_STANDARD_STDLIB
#define KILN_STANDARD_STDLIB

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

KILN_STANDARD_FUNCTION void abort() {
#if defined(__CUDA_ARCH__)
  __trap();
#endif
}

namespace std {
using ::abort;
using ::abs;
using ::free;
using ::labs;
using ::llabs;
using ::malloc;
}  // namespace std

#endif
