// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <initializer_list> for NVRTC, which has it built in.
#pragma once
#ifndef KILN_STANDARD_INITIALIZER_LIST
#define KILN_STANDARD_INITIALIZER_LIST

#include <stddef.h>

#endif
