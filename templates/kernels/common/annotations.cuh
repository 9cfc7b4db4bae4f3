// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Function annotations that vanish in host C++, so that pure arithmetic is shared with it.

#if defined(__CUDACC__)
#define KILN_HD __host__ __device__ __forceinline__
#define KILN_DEVICE __device__ __forceinline__
#else
#define KILN_HD inline
#endif
