// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_naive
//@ purpose    One thread per element of D, any element types; in float64 it is the reference.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 75
//@ priority   -100   // only where nothing else works
//@ types      a=f16|bf16|tf32|f32|e4m3|e5m2 b=f16|bf16|tf32|f32|e4m3|e5m2
//@              c=f16|bf16|f32 d=f16|bf16|f32 acc=f32
//@ types      a=s8|u8 b=s8|u8 c=s32|f16|bf16|f32|s8|u8 d=c acc=s32
//@ types      a=s4|u4|b1|b1_xor b=a c=s32 d=s32 acc=s32
//@ types      a=s4|u4|b1|b1_xor b=a c=s32|f64 d=f64 acc=f64
//@ types      a=f16|bf16|tf32|f32|f64|e4m3|e5m2|s8|u8 b=f16|bf16|tf32|f32|f64|e4m3|e5m2|s8|u8
//@              c=f16|bf16|f32|f64|s32|s8|u8 d=f64 acc=f64

/// \file
/// D = alpha op(A) op(B) + beta C, straight from the definition: the thread of D[i,j] walks row i
/// of op(A) and column j of op(B), and adds up k products in order.
///
///                        j
///                   +----|----+
///                   |    |    | op(B)     k x n
///                   |    v    |
///        op(A)      +----|----+
///       +------+    +---------+
///     i |----->|    |    x    | D         one block: block_y x block_x elements
///       +------+    +---------+
///        m x k
///
/// The lanes of a warp lie along a row of D where block_x is 32 or more: they read neighbours in B
/// and all the same element of A. With block_x = 1 they lie down a column, each in a row of A of
/// its own: 32 transactions instead of one, unless A is transposed and those are neighbours too.
///
/// Its virtue is that there is nothing to get wrong: with f64 for D and the accumulator it judges
/// the other kernels, for every operand type. Its limit is that each operand element is read from
/// the caches min(m, n) times or so, with one product per two loads.

#include "common/arithmetic.cuh"
#include "common/element.cuh"
#include "common/gemm_args.cuh"
#include "common/operands.cuh"
#include "lib/output.cuh"

//@ use        common/operands.cuh   // k_major_a, k_major_b
struct GemmNaiveConfig : OperandsConfig {  //@ config
  int block_x;                             //@ tune 1 8 16 32* 64    // threads along a row of D
  int block_y;                             //@ tune 1 2 4 8* 16 32   // threads along a column of D
  int threads;                             //@ let block_x * block_y
};

//@ require    threads <= device.max_threads
//@ require    ceil_div(m, block_y) * ceil_div(n, block_x) <= 2147483647   // one-dimensional grid
//@ launch     gemm_naive
//@   grid     ceil_div(m, block_y) * ceil_div(n, block_x)
//@   block    block_x, block_y

template <GemmNaiveConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads) gemm_naive(const kiln::GemmArgs args) {
  static_assert(C.threads == C.block_x * C.block_y, "The block must have its shape's threads");
  using namespace kiln;

  const unsigned blocks_n = static_cast<unsigned>(ceil_div(args.n, C.block_x));
  // Unsigned, because the last block of the largest matrices reaches past 2^31.
  const unsigned row = blockIdx.x / blocks_n * C.block_y + threadIdx.y;
  const unsigned col = blockIdx.x % blocks_n * C.block_x + threadIdx.x;
  // mutant: naive_edge
  if (row >= static_cast<unsigned>(args.m) || col >= static_cast<unsigned>(args.n)) return;

  const A* a = static_cast<const A*>(args.a);
  const B* b = static_cast<const B*>(args.b);
  const long long step_a = C.k_major_a ? 1 : args.lda;
  const long long step_b = C.k_major_b ? 1 : args.ldb;  // mutant: naive_step_b
  long long at_a = C.k_major_a ? row * args.lda : row;
  long long at_b = C.k_major_b ? col * args.ldb : col;
  Acc sum = 0;
  for (int i = 0; i < args.k; ++i) {  // mutant: naive_k_loop
    sum += product_of(number_at<Acc>(a, at_a), number_at<Acc>(b, at_b), TypeTag<A>{});
    at_a += step_a;
    at_b += step_b;
  }
  const Output<CIn, D, Acc, true> output(args);
  output.store(static_cast<int>(row), static_cast<int>(col), output.scaled(sum), output.alpha(),
               output.beta());
}
