// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an epilogue makes of the float64 reference, element by element, with a bound on what a
/// right kernel may make of it instead:
///
///     product, |A||B|  --->  expression of Bounded numbers  --->  value, bound
///
/// common/epilogue_math.cuh says how errors travel through an expression. Operands in which amax()
/// records are PeakRanges here.

#include "common/epilogue_ahead.cuh"
#include "common/epilogue_args.cuh"

#include "common/epilogue.cuh"

/// Compute: the type that the judged kernels evaluate the expression in.
template <class CIn, class Compute>
__global__ void kiln_apply_epilogue(const kiln::ApplyEpilogueArgs args) {
  using namespace kiln;
  using Number = epilogue::Bounded<Compute>;
  const GemmArgs& gemm = args.gemm;
  Peaks peaks(gemm);
  const long long elements = static_cast<long long>(args.rows) * gemm.n;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements;
       i += step) {
    const int row = args.first_row + static_cast<int>(i / gemm.n);
    const int col = static_cast<int>(i % gemm.n);
    // Its conversion, where the sum is a whole number, and what the accumulation may have lost.
    double error = Number::unit() * fabs(args.value[i]);
    if (args.c_factor > 0.0) error += args.c_factor * args.bound[i] + args.least;
    Number c(0.0F);
    if (gemm.c != nullptr) {
      c = to_accumulator<Number>(static_cast<const CIn*>(gemm.c)[row * gemm.ldc + col]);
    }
    const Number result = finished(Number(args.value[i], error), Number(gemm.alpha),
                                   Number(gemm.beta), c, {gemm, row, col, peaks});
    args.value[i] = result.value;
    args.bound[i] = result.error;
  }
}

/// The expression as a pass over a D that holds the product: what a library needs which cannot fuse
/// it. A thread finishes kCount neighbours, to which rows of D are aligned.
template <class CIn, class D, class T, int kCount, int kVecC, bool kReadsC>
__global__ void __launch_bounds__(256) kiln_finish(const kiln::GemmArgs args) {
  using namespace kiln;
  const int pieces = (args.n - 1) / kCount + 1;
  const long long piece = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int row = static_cast<int>(piece / pieces);
  const int col = static_cast<int>(piece % pieces) * kCount;
  if (row >= args.m) return;
  D* const d = static_cast<D*>(args.d) + row * args.ldd + col;
  const int valid = args.n - col;
  T product[kCount] = {};
  if (valid >= kCount) {
    const auto from = *reinterpret_cast<const ElementVector<D, kCount>*>(d);
#pragma unroll
    for (int i = 0; i < kCount; ++i) product[i] = to_accumulator<T>(from.element[i]);
  } else {
    for (int i = 0; i < valid; ++i) product[i] = to_accumulator<T>(d[i]);
  }
  const CIn* const c = static_cast<const CIn*>(args.c) + (kReadsC ? row * args.ldc + col : 0);
  Peaks peaks(args);
  store_piece<kCount, kVecC, kReadsC>(product, valid, static_cast<T>(args.alpha),
                                      static_cast<T>(args.beta), c, d, {args, row, col, peaks});
}
