// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <stdbool.h> and <stdalign.h> for NVRTC: in C++ what they declare are words of the language.
#pragma once
#ifndef KILN_STANDARD_KEYWORDS
#define KILN_STANDARD_KEYWORDS

#define __bool_true_false_are_defined 1
#define __alignas_is_defined 1
#define __alignof_is_defined 1

#endif
