// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cstring> and <string.h> for NVRTC, which has memcpy() and memset() built in.
#pragma once
#ifndef KILN_STANDARD_STRING_H
#define KILN_STANDARD_STRING_H

#include <stddef.h>

KILN_STANDARD_FUNCTION void* memmove(void* to, const void* from, size_t bytes) {
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  if (target <= source) {
    for (size_t i = 0; i < bytes; ++i) target[i] = source[i];
  } else {
    for (size_t i = bytes; i > 0; --i) target[i - 1] = source[i - 1];
  }
  return to;
}

KILN_STANDARD_FUNCTION int memcmp(const void* a, const void* b, size_t bytes) {
  const auto* const left = static_cast<const unsigned char*>(a);
  const auto* const right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

KILN_STANDARD_FUNCTION size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

KILN_STANDARD_FUNCTION int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) {
    ++a;
    ++b;
  }
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

namespace std {
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::strcmp;
using ::strlen;
}  // namespace std

#endif
