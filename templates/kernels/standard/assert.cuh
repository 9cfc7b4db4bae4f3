// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cassert> and <assert.h> for NVRTC, which has assert() built in.
#pragma once
#ifndef KILN_STANDARD_ASSERT
#define KILN_STANDARD_ASSERT

#if defined(NDEBUG)
#undef assert
#define assert(condition) ((void)0)
#endif

#endif
