// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_simt
//@ purpose    Plain multiply-adds at full rate: register blocks, warp tiles, a ring of cp.async.
//@ operation  gemm
//@ arch       sm >= 80
//@ priority   120   // between tiles that wait for their copies and tensor cores
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ types      a=f64 b=f64 c=f64 d=f64 acc=f64

#include "common/arithmetic.cuh"
#include "common/gemm_args.cuh"
#include "common/meta.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_scattered.cuh"
#include "lib/epilogue_direct.cuh"
#include "lib/lane_tile.cuh"
#include "lib/main_loop_async.cuh"
#include "lib/output.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"
#include "lib/slices.cuh"
#include "lib/tile_order.cuh"

struct GemmSimtConfig {  //@ config
  int tile_m;            //@ tune 32 64 80 96 128* 160 192 256   // rows of D that a block computes
  int tile_n;            //@ tune 32 64 80 96 128* 160 192 256   // columns of D
  int thread_m;          //@ tune 4 5 6 8* 10 12 16   // rows of D that a thread computes
  int thread_n;          //@ tune 4 5 6 8* 10 12 16   // columns of D that a thread computes
  int lanes_m;           //@ tune 4 8*                // threads of a warp along the rows of D
  int tile_k;            //@ tune 8* 16 32            // depth of one stage
  int stages;            //@ tune 2 3* 4              // tiles of A and B in shared memory
  int min_blocks;        //@ tune 1* 2 3 4            // blocks per SM that registers leave room for
  int slices;            //@ tune 1* 2 4              // groups of warps that share tile_k
  int warp_m;            //@ let lanes_m * thread_m
  int warp_n;            //@ let 32 / lanes_m * thread_n
  int warps;             //@ let (tile_m / warp_m) * (tile_n / warp_n) * slices
  int threads;           //@ let warps * 32
  int thread_regs;       //@ let min(device.regs_per_thread,
                         //@         device.regs_per_sm / (min_blocks * threads))
  int vec_m;             //@ let gcd(thread_m, 16 / acc_bytes)   // numbers of one shared load
  int vec_n;             //@ let gcd(thread_n, 16 / acc_bytes)
  int a_transposed;      //@ let trans_a
  int b_transposed;      //@ let trans_b
  int reads_matrix_c;    //@ let reads_c
  int a_stride;          //@ let tile_m + (trans_a == 0 ? 4 : 0)   // scattered rows: bank conflicts
  int b_stride;          //@ let tile_n + (trans_b == 1 ? 4 : 0)
  int a_elements;        //@ let tile_k * a_stride
  int stage_elements;    //@ let a_elements + tile_k * b_stride
  int smem_bytes;  //@ let acc_bytes * max(stages * stage_elements, (slices - 1) * tile_m * tile_n)
  int vec_a;       //@ let max(1, min(16, align_a) / a_bytes)   // elements of one copy
  int vec_b;       //@ let max(1, min(16, align_b) / b_bytes)
  int vec_c;       //@ let max(1, min(16, align_c) / c_bytes)
  int vec_d;       //@ let max(1, min(16, align_d) / d_bytes)
};

struct GemmSimtLaunch {  //@ at launch
  int group_m;           //@ tune 1 4 8*   // tile rows that blocks walk down, then a column
};

//@ require    tile_m % warp_m == 0 && tile_n % warp_n == 0   // warps tile the block
//@ require    threads <= device.max_threads
//@ require    thread_m % slices == 0                       // slices finish a part of it each
//@ require    tile_k / slices % 2 == 0                     // fragments alternate
//@ require    trans_a == 0 || threads * vec_a >= tile_m   // one pass copies whole rows
//@ require    trans_b == 1 || threads * vec_b >= tile_n
//@ require    smem_bytes <= device.smem_optin
//@ require    ceil_div(m, tile_m) * ceil_div(n, tile_n) <= 2147483647   // one-dimensional grid
//@ prefer     threads >= 128 && threads <= 256            // 1 or 2 warps for each scheduler
//@ prefer     thread_m * thread_n * acc_bytes >= 128 && thread_m <= 2 * thread_n && thread_n <= 2 * thread_m   // reuse
//@ prefer     (thread_m * thread_n + 2 * (thread_m + thread_n)) * acc_bytes / 4 + 36 <= thread_regs
//@ prefer     min_blocks * (smem_bytes + device.smem_reserved) <= device.smem_per_sm
//@ prefer     min_blocks * threads <= 512
//@ prefer     tile_k / slices * acc_bytes <= 64
//@ launch     gemm_simt
//@   grid     ceil_div(m, tile_m) * ceil_div(n, tile_n)
//@   block    threads
//@   smem     smem_bytes

template <GemmSimtConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks)
    gemm_simt(const kiln::GemmArgs args, const GemmSimtLaunch at_launch) {
  static_assert(C.tile_m % C.warp_m == 0 && C.tile_n % C.warp_n == 0, "Warps must tile the block");
  using namespace kiln;
  constexpr TileShape kTileA{C.tile_m, C.tile_k, C.a_transposed == 0};
  constexpr TileShape kTileB{C.tile_n, C.tile_k, C.b_transposed != 0};
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{C.a_stride}, false, 0}, {{C.b_stride}, false, C.a_elements}, C.stage_elements};
  using CopyA = Conditional<kTileA.depth_contiguous, CopyScattered<A, kTileA, kStage.a, C.threads>,
                            CopyAsync<TileChunks<A, kTileA, kStage.a, C.vec_a, C.threads>>>;
  using CopyB = Conditional<kTileB.depth_contiguous, CopyScattered<B, kTileB, kStage.b, C.threads>,
                            CopyAsync<TileChunks<B, kTileB, kStage.b, C.vec_b, C.threads>>>;
  constexpr LaneTileShape kShare{C.thread_m, C.thread_n, C.tile_k / C.slices, C.lanes_m, C.vec_m,
                                 C.vec_n,    2};

  extern __shared__ __align__(16) unsigned char shared_memory[];
  Acc* stages = reinterpret_cast<Acc*>(shared_memory);

  const TilePlace place = grouped_tile(blockIdx.x, ceil_div(args.m, C.tile_m),
                                       ceil_div(args.n, C.tile_n), at_launch.group_m);
  const int row = place.row * C.tile_m;
  const int col = place.col * C.tile_n;
  constexpr int kWarpsPerRow = C.tile_n / C.warp_n;
  constexpr int kWarpsPerSlice = C.warps / C.slices;
  const int warp_index = static_cast<int>(threadIdx.x) / 32 % kWarpsPerSlice;
  const int slice = static_cast<int>(threadIdx.x) / 32 / kWarpsPerSlice;
  CopyA copy_a(panel_of_a<C.a_transposed != 0, A>(args, row));
  CopyB copy_b(panel_of_b<C.b_transposed != 0, B>(args, col));
  LaneTile<Acc, kShare, kStage> mma(warp_index / kWarpsPerRow * C.warp_m,
                                    warp_index % kWarpsPerRow * C.warp_n, slice * kShare.depth);
  run_async_ring<kStage, C.stages, C.threads>(mma, copy_a, copy_b, stages,
                                              ceil_div(args.k, C.tile_k));
  if constexpr (C.slices > 1) {
    __syncthreads();
    add_slices<C.slices, C.threads>(mma, stages, slice);
  }
  store_vectors<C.vec_n, C.vec_c, C.vec_d, C.slices>(
      mma, Output<CIn, D, Acc, C.reads_matrix_c != 0>(args), row, col, slice);
}
