// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <new> for NVRTC, which has placement new built in.
#pragma once
#ifndef KILN_STANDARD_NEW
#define KILN_STANDARD_NEW

#include <stddef.h>

#endif
