// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <cuda.h> for NVRTC, which refuses the functions for hosts in it: the types that kernels name.
#pragma once
#ifndef KILN_STANDARD_DRIVER
#define KILN_STANDARD_DRIVER

#include <stdint.h>

#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)

using cuuint32_t = uint32_t;
using cuuint64_t = uint64_t;
using CUdeviceptr = unsigned long long;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUarray = struct CUarray_st*;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;

/// A tensor map, whose bits only the hardware knows.
struct alignas(64) CUtensorMap_st {
  cuuint64_t opaque[16];
};
using CUtensorMap = CUtensorMap_st;

#endif
