// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/gemm.hpp"
#include "runtime/compile/candidate_request.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/device.hpp"
#include "templates/kernels/common/gemm_args.cuh"
#include "templates/render/renderer.hpp"

namespace kiln::testing {

/// Arguments for matrices without padding at these addresses; alpha is 1 and beta 0.
[[nodiscard]] inline GemmArgs plain_arguments(const Gemm& gemm, DevicePtr a, DevicePtr b,
                                              DevicePtr c, DevicePtr d) {
  GemmArgs args{};
  args.a = reinterpret_cast<const void*>(a);
  args.b = reinterpret_cast<const void*>(b);
  args.c = reinterpret_cast<const void*>(c);
  args.d = reinterpret_cast<void*>(d);
  args.lda = gemm.storage_a == Storage::n ? gemm.k : gemm.m;
  args.ldb = gemm.storage_b == Storage::n ? gemm.n : gemm.k;
  args.ldc = args.ldd = gemm.n;
  args.alpha = 1.0;
  args.m = static_cast<int>(gemm.m);
  args.n = static_cast<int>(gemm.n);
  args.k = static_cast<int>(gemm.k);
  return args;
}

[[nodiscard]] inline CompileRequest request_of(const RenderedKernel& rendered,
                                               const std::string& arch, CodeKind code) {
  CompileRequest request = candidate_request(rendered, arch, code);
  request.source_name = CompileRequest().source_name;
  return request;
}

}  // namespace kiln::testing
