// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The one argument of every gemm kernel, shared by host and device: the host includes this file
/// too, so the layout has one home. No header is included: NVRTC resolves none.

namespace kiln {

/// D[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C[m,n]; C is not read when beta is 0.
struct GemmArgs {
  /// Operands that an epilogue's expression may name, besides C.
  static constexpr int kMostOperands = 6;

  const void* a;
  const void* b;
  const void* c;
  void* d;
  void* workspace;  ///< as many bytes as the template's `workspace`, or null
  long long lda;    ///< leading dimensions in elements
  long long ldb;
  long long ldc;
  long long ldd;
  double alpha;  ///< converted to the accumulator's type by the kernel
  double beta;
  int m;
  int n;
  int k;
  int reserved;
  const void* operand[kMostOperands];   ///< of the epilogue, in order of appearance
  long long operand_ld[kMostOperands];  ///< of those with rows and columns
};

}  // namespace kiln
