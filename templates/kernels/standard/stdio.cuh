// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cstdio> and <stdio.h> for NVRTC: printf(), which it has built in. There are no files.
#pragma once
#ifndef KILN_STANDARD_STDIO
#define KILN_STANDARD_STDIO

#include <stddef.h>

namespace std {
using ::printf;
}

#endif
