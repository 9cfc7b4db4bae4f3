// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_tiled
//@ purpose    Shared-memory tiles with a zero-filled border and a register block per thread.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 75
//@ priority   100   // tiles before none
//@ types      a=f16|bf16|tf32|f32 b=a c=f32 d=f32 acc=f32
//@ types      a=f16|bf16 b=a c=a d=a acc=f32
//@ types      a=f64 b=f64 c=f64 d=f64 acc=f64
//@ types      a=s8 b=s8 c=s32|f16|bf16|f32|s8|u8 d=c acc=s32

/// \file
/// D = alpha op(A) op(B) + beta C with the classic remedy for slow memory: a block computes a tile
/// of D, and walks along k with a tile of A and one of B in shared memory, each element of which is
/// then used tile_n or tile_m times.
///
///                        tile_n
///                     +-----------+
///                     |     B     | tile_k        shared memory holds both as numbers of the
///                     +-----------+               accumulator's type, k-th rows one after another:
///        tile_k             |
///       +------+      +-----v-----+                 A: tile_k rows of tile_m (+ pad)
///     t |      |      |           |                 B: tile_k rows of tile_n (+ pad)
///     i |  A   |----->|     D     | tile_m
///     l |      |      |           |
///     e +------+      +-----------+
///     _m
///
/// Each step along k: CopyElements brings both tiles (every thread some elements, converted once,
/// with zeros outside the matrix, so that the arithmetic needs no edge case), barrier, ThreadTile
/// multiplies them, barrier. A thread computes thread_m x thread_n elements in registers, in pieces
/// of vec_m x vec_n that are spread over the tile. At the end store_direct writes what lies in D.
///
/// With one stage no copy overlaps with arithmetic within a block (other blocks of the
/// multiprocessor fill the gap). With two the elements of the next tile travel to registers while
/// this one is multiplied, and from there to the other stage; one barrier a tile is enough:
///
///     stages 1    | copy i     | multiply i | copy i+1   | multiply i+1 |
///     stages 2    | load i+1 ..  multiply i .. store i+1 | load i+2 ..
///
/// Limits. Global memory is read element by element. No tensor cores.

#include "common/arithmetic.cuh"
#include "common/gemm_args.cuh"
#include "common/operands.cuh"
#include "lib/copy_elements.cuh"
#include "lib/epilogue_direct.cuh"
#include "lib/main_loop.cuh"
#include "lib/output.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"
#include "lib/thread_tile.cuh"
#include "lib/tile_order.cuh"

//@ use        common/operands.cuh   // k_major_a, k_major_b
struct GemmTiledConfig : OperandsConfig {  //@ config
  int tile_m;         //@ tune 16 32 64 128*   // rows of D that a block computes
  int tile_n;         //@ tune 16 32 64 128*   // columns of D that a block computes
  int tile_k;         //@ tune 8 16* 32        // depth of the tiles in shared memory
  int thread_m;       //@ tune 1 2 4 8*        // rows of D that a thread computes
  int thread_n;       //@ tune 1 2 4 8*        // columns of D that a thread computes
  int pad;            //@ tune 0 1 4*          // padding of shared rows, in elements
  int stages;         //@ tune 1* 2            // stages of A and B in shared memory
  int min_blocks;     //@ tune 1* 2            // blocks per SM (__launch_bounds__)
  int threads_m;      //@ let tile_m / thread_m
  int threads_n;      //@ let tile_n / thread_n
  int threads;        //@ let threads_m * threads_n
  int vec_m;          //@ let pad % 4 == 0 ? min(thread_m, 16 / acc_bytes) : 1  // of one load
  int vec_n;          //@ let pad % 4 == 0 ? min(thread_n, 16 / acc_bytes) : 1
  int a_stride;       //@ let tile_m + pad
  int b_stride;       //@ let tile_n + pad
  int a_numbers;      //@ let tile_k * a_stride
  int stage_numbers;  //@ let a_numbers + tile_k * b_stride
  int smem_bytes;     //@ let stages * stage_numbers * acc_bytes
};

struct GemmTiledLaunch {  //@ at launch
  int group_m;            //@ tune 1 8*   // tile rows of a group, visited column by column
};

//@ require    threads <= device.max_threads
//@ require    threads >= max(tile_m, tile_n)   // one pass loads whole lines
//@ require    smem_bytes <= device.smem_optin
//@ require    ceil_div(m, tile_m) * ceil_div(n, tile_n) <= 2147483647   // one-dimensional grid
//@ launch     gemm_tiled
//@   grid     ceil_div(m, tile_m) * ceil_div(n, tile_n)
//@   block    threads
//@   smem     smem_bytes

template <GemmTiledConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks)
    gemm_tiled(const kiln::GemmArgs args, const GemmTiledLaunch at_launch) {
  static_assert(C.tile_m % C.thread_m == 0 && C.tile_n % C.thread_n == 0,
                "Threads' shares must tile the block's tile");
  static_assert(C.a_stride % C.vec_m == 0 && C.b_stride % C.vec_n == 0,
                "Shared rows must start on a vector");
  using namespace kiln;

  constexpr TileShape kTileA{C.tile_m, C.tile_k, C.k_major_a != 0};
  constexpr TileShape kTileB{C.tile_n, C.tile_k, C.k_major_b != 0};
  // mutant: tiled_b
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{C.a_stride}, false, 0}, {{C.b_stride}, false, C.a_numbers}, C.stage_numbers};
  constexpr ThreadTileShape kShare{C.thread_m,  C.thread_n, C.tile_k, C.threads_m,
                                   C.threads_n, C.vec_m,    C.vec_n};

  extern __shared__ __align__(16) unsigned char shared_memory[];
  Acc* stages = reinterpret_cast<Acc*>(shared_memory);

  const TilePlace place = grouped_tile(blockIdx.x, ceil_div(args.m, C.tile_m),
                                       ceil_div(args.n, C.tile_n), at_launch.group_m);
  const int row = place.row * C.tile_m;
  const int col = place.col * C.tile_n;

  ThreadTile<Acc, kShare, kStage> mma;
  CopyElements<A, Acc, kTileA, kStage.a, C.threads> copy_a(
      panel_of_a<C.k_major_a == 0, A>(args, row));
  CopyElements<B, Acc, kTileB, kStage.b, C.threads> copy_b(
      panel_of_b<C.k_major_b != 0, B>(args, col));
  if constexpr (C.stages == 1) {
    run_unbuffered<kStage>(mma, copy_a, copy_b, stages, args.k);
  } else {
    run_double_buffer<kStage>(mma, copy_a, copy_b, stages, ceil_div(args.k, C.tile_k));
  }
  store_direct(mma, Output<CIn, D, Acc, true>(args), row, col);
}
