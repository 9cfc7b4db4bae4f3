// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_rows
//@ purpose    Several rows of a column per thread: 8-bit types without tensor cores.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 75
//@ priority   -50   // before gemm_naive
//@ types      a=e4m3|e5m2 b=e4m3|e5m2 c=f16|bf16|f32 d=f16|bf16|f32 acc=f32
//@ types      a=s8|u8 b=s8|u8 c=s32|f16|bf16|f32|s8|u8 d=c acc=s32

/// \file
/// D = alpha op(A) op(B) + beta C, the next step after gemm_naive: a thread computes `rows`
/// elements of one column of D. An element of B, once loaded and converted, serves `rows` products,
/// and these do not wait for each other, so that their latencies overlap.
///
///                          j
///                     +----|----+
///                     |    |    | op(B)
///                     |    v    |
///        op(A)        +----|----+
///       +------+      +---------+
///     i |----->|      |    x    |      one thread: D[i, j], D[i+1, j], ... (rows of them)
///       |----->|----->|    x    | D
///       |----->|      |    x    |      one block: block_y * rows x block_x elements
///       +------+      +---------+
///
/// The lanes of a warp lie along a row of D where block_x is 32 or more: they read neighbours in B
/// and all the same element of A, which is one transaction.
///
/// Limits. Every block reads its rows of A and columns of B from the caches, element by element;
/// shared memory (gemm_tiled) would bring each of them once.

#include "common/arithmetic.cuh"
#include "common/element.cuh"
#include "common/gemm_args.cuh"
#include "common/operands.cuh"
#include "lib/output.cuh"

//@ use        common/operands.cuh   // k_major_a, k_major_b
struct GemmRowsConfig : OperandsConfig {  //@ config
  int block_x;                            //@ tune 16 32* 64   // threads along a row of D
  int block_y;                            //@ tune 1 2 4* 8    // threads along a column of D
  int rows;     //@ tune 2 4* 8      // elements of D that a thread computes
  int unroll;   //@ tune 1 2 4*      // steps of k in flight at once
  int threads;  //@ let block_x * block_y
  int tile_m;   //@ let block_y * rows
};

//@ require    ceil_div(m, tile_m) * ceil_div(n, block_x) <= 2147483647   // one-dimensional grid
//@ launch     gemm_rows
//@   grid     ceil_div(m, tile_m) * ceil_div(n, block_x)
//@   block    block_x, block_y

template <GemmRowsConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads) gemm_rows(const kiln::GemmArgs args) {
  static_assert(C.threads == C.block_x * C.block_y, "The block must have its shape's threads");
  using namespace kiln;

  const unsigned blocks_n = static_cast<unsigned>(ceil_div(args.n, C.block_x));
  // Unsigned, because the last block of the largest matrices reaches past 2^31.
  const unsigned row = blockIdx.x / blocks_n * C.tile_m + threadIdx.y * C.rows;
  const unsigned col = blockIdx.x % blocks_n * C.block_x + threadIdx.x;
  const unsigned end = static_cast<unsigned>(args.m);
  if (row >= end || col >= static_cast<unsigned>(args.n)) return;

  const long long step_a = C.k_major_a ? 1 : args.lda;
  const long long step_b = C.k_major_b ? 1 : args.ldb;
  // Rows past the last one are computed like it, and not stored.
  const A* a[C.rows];
#pragma unroll
  for (int i = 0; i < C.rows; ++i) {
    const unsigned of = min(row + i, end - 1);
    a[i] = static_cast<const A*>(args.a) + (C.k_major_a ? of * args.lda : of);
  }
  const B* b = static_cast<const B*>(args.b) + (C.k_major_b ? col * args.ldb : col);

  Acc sums[C.rows] = {};
#pragma unroll C.unroll
  for (int z = 0; z < args.k; ++z) {
    const Acc of_b = to_accumulator<Acc>(b[z * step_b]);
#pragma unroll
    for (int i = 0; i < C.rows; ++i) sums[i] += to_accumulator<Acc>(a[i][z * step_a]) * of_b;
  }

  const Output<CIn, D, Acc, true> output(args);
#pragma unroll
  for (int i = 0; i < C.rows; ++i) {
    if (row + i >= end) return;
    output.store(static_cast<int>(row) + i, static_cast<int>(col), output.scaled(sums[i]),
                 output.alpha(), output.beta());
  }
}
