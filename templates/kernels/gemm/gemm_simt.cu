// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_simt
//@ purpose    Plain multiply-adds near full rate: large register blocks fed by a ring of cp.async.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 80
//@ priority   120   // between tiles that wait for their copies and tensor cores
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ types      a=f64 b=f64 c=f64 d=f64 acc=f64

/// \file
/// D = alpha op(A) op(B) + beta C without tensor cores, in the full precision of f32 and f64. Every
/// issue slot that is not a multiply-add is lost, so all else is made rare:
///
///          B, one stage of the ring
///          +-----------------+ tile_k         block tile of D            warp tile
///          +-----------------+            +--------+--------+      +----+----+----+----+
///     +--+ +--------+--------+            | warp 0 | warp 1 |      |lane|    |    |    | thread_m
///     |A | |        |        |            +--------+--------+      +----+----+----+----+
///     |  | |   D    |        |            | warp 2 | warp 3 |      |    |    |    |    |
///     |  | +--------+--------+            +--------+--------+      +----+----+----+----+
///     |  | |        |        |                                     thread_n
///     +--+ +--------+--------+
///     tile_k     tile_n
///
///   - a thread holds thread_m x thread_n sums in registers, and reads the thread_m + thread_n
///     numbers that a step of k takes as vectors of up to 16 bytes, which the lanes of a row or a
///     column of the warp share (lib/lane_tile.cuh);
///   - cp.async fills a ring of stages. Both tiles lie there as rows across k; rows of memory that
///     run along k are transposed on the way, in registers (lib/copy_turned.cuh) or by the copies
///     themselves (lib/copy_scattered.cuh);
///   - where D has too few tiles to fill the device with warps, several groups of warps compute one
///     tile, each from its slice of the stage (lib/slices.cuh), and add up what they have; where it
///     has fewer tiles than there are multiprocessors, several blocks do, each from its part of k,
///     and a second launch adds up (lib/split_k.cuh).
///
/// Limits. On an H200 a ninth of the clocks issues nothing (128 x 256, ncu): a quarter of the waits
/// is for the instruction before, a quarter for the loop's text, most others for what arrives late
/// (fragments, copies, the barrier). Of what is issued a tenth is not a multiply-add.

#include "common/arithmetic.cuh"
#include "common/gemm_args.cuh"
#include "common/meta.cuh"
#include "common/operands.cuh"
#include "common/overlap.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_scattered.cuh"
#include "lib/copy_turned.cuh"
#include "lib/epilogue_direct.cuh"
#include "lib/lane_tile.cuh"
#include "lib/main_loop_async.cuh"
#include "lib/output.cuh"
#include "lib/panel.cuh"
#include "lib/ring.cuh"
#include "lib/shared_layout.cuh"
#include "lib/slices.cuh"
#include "lib/split_k.cuh"
#include "lib/tile_chunks.cuh"
#include "lib/tile_order.cuh"

//@ use        common/operands.cuh   // k_major_a, k_major_b
//@ use        lib/output.cuh     // vec_c, vec_d: elements of one access
//@ use        lib/split_k.cuh    // splits; parts_bytes, sum_blocks
struct GemmSimtConfig : OperandsConfig, OutputConfig, SplitKConfig {  //@ config
  int tile_m;          //@ tune 32 64 80 96 128* 160 192 256   // rows of D that a block computes
  int tile_n;          //@ tune 32 64 80 96 128 160 192 256*   // columns of D that a block computes
  int thread_m;        //@ tune 4 6 8* 10 12 16   // rows of D that a thread computes
  int thread_n;        //@ tune 4 6 8 10 12 16*   // columns of D that a thread computes
  int lanes_m;         //@ tune 4 8*              // threads of a warp along the rows of D
  int slices;          //@ tune 1* 2 4            // warp groups that split the depth of a stage
  int slice_k;         //@ tune 8 16*             // steps of k in a slice of a stage
  int stages;          //@ tune 2 3* 4            // stages of A and B in shared memory
  bool parted;         //@ tune 0* 1              // 1: several blocks split the k of a tile
  bool turned;         //@ tune 0* 1              // 1: registers transpose, 0: cp.async does
  bool columns_first;  //@ tune 0 1*              // 1: multiply-adds go column by column
  bool loads_first;    //@ tune 0* 1              // 1: load fragments before multiply-adds
  int min_blocks;      //@ tune 1* 2 3            // blocks per SM (__launch_bounds__)
  int tile_k;          //@ let slices * slice_k   // depth of one stage
  int warp_m;          //@ let lanes_m * thread_m
  int warp_n;          //@ let 32 / lanes_m * thread_n
  int warps;           //@ let (tile_m / warp_m) * (tile_n / warp_n) * slices
  int threads;         //@ let warps * 32
  int thread_regs;     //@ let min(device.regs_per_thread,
                       //@         device.regs_per_sm / (min_blocks * max(threads, 32)))
  int vec_m;           //@ let gcd(thread_m, 16 / acc_bytes)   // numbers of one shared load
  int vec_n;           //@ let gcd(thread_n, 16 / acc_bytes)
  int a_stride;        //@ let tile_m + (trans_a == 0 ? 4 : 0)   // scattered rows: bank conflicts
  int b_stride;        //@ let tile_n + (trans_b == 1 ? 4 : 0)
  int a_elements;      //@ let tile_k * a_stride
  int stage_elements;  //@ let a_elements + tile_k * b_stride
  int smem_bytes;      //@ let acc_bytes * max(stages * stage_elements,
                       //@                     (slices - 1) * tile_m * tile_n)
  int vec_a;           //@ let max(1, min(16, align_a) / a_bytes)   // elements of one copy
  int vec_b;           //@ let max(1, min(16, align_b) / b_bytes)
};

struct GemmSimtLaunch : SplitKLaunch {  //@ at launch
  int group_m;  //@ tune 1 4 8*   // tile rows of a group, visited column by column
  int early;    //@ tune 0 1*   // start before the previous launch ends
  int k_each;   //@ let min(k, ceil_div(ceil_div(k, tile_k), splits) * tile_k)   // of one
  int blocks;   //@ let ceil_div(m, tile_m) * ceil_div(n, tile_n)   // for each part
};

//@ require    early == 0 || device.sm >= 90
//@ require    tile_m % warp_m == 0 && tile_n % warp_n == 0   // warps tile the block
//@ require    threads <= device.max_threads
//@ require    thread_m * thread_n * acc_bytes / 4 + 32 <= thread_regs   // the sums stay there
//@ require    thread_m % slices == 0               // each slice finishes a part of the sums
//@ require    trans_a == 0 || threads * vec_a >= tile_m   // one pass copies whole rows
//@ require    trans_b == 1 || threads * vec_b >= tile_n
//@ require    smem_bytes <= device.smem_optin
//@ require    blocks <= 2147483647
//@ require    parted == 1 ? splits > 1 : splits == 1
//@ launch     gemm_simt
//@   grid     blocks, splits
//@   block    threads
//@   smem     smem_bytes
//@   overlap  early
//@ launch     gemm_simt_sum
//@   when     splits > 1
//@   grid     sum_blocks
//@   block    128
//@   smem     early * 40960   // so that they do not crowd where the first come free
//@   overlap  early
//@ let        parts = splits > 1 ? splits : 0   // in the workspace
//@ workspace  parts_bytes

template <GemmSimtConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks)
    gemm_simt(const kiln::GemmArgs args, const GemmSimtLaunch at_launch) {
  static_assert(C.tile_m % C.warp_m == 0 && C.tile_n % C.warp_n == 0, "Warps must tile the block");
  using namespace kiln;
  constexpr TileShape kTileA{C.tile_m, C.tile_k, C.k_major_a != 0};
  constexpr TileShape kTileB{C.tile_n, C.tile_k, C.k_major_b != 0};
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{
      {{C.a_stride}, false, 0}, {{C.b_stride}, false, C.a_elements}, C.stage_elements};
  using TurnA = Conditional<C.turned, CopyTurned<A, kTileA, kStage.a, C.vec_a, C.threads>,
                            CopyScattered<A, kTileA, kStage.a, C.threads>>;
  using TurnB = Conditional<C.turned, CopyTurned<B, kTileB, kStage.b, C.vec_b, C.threads>,
                            CopyScattered<B, kTileB, kStage.b, C.threads>>;
  using CopyA = Conditional<kTileA.k_major, TurnA,
                            CopyAsync<TileChunks<A, kTileA, kStage.a, C.vec_a, C.threads>, true>>;
  using CopyB = Conditional<kTileB.k_major, TurnB,
                            CopyAsync<TileChunks<B, kTileB, kStage.b, C.vec_b, C.threads>, true>>;
  constexpr LaneTileShape kShare{C.thread_m, C.thread_n, C.slice_k,       C.lanes_m,    C.vec_m,
                                 C.vec_n,    2,          C.columns_first, C.loads_first};

  wait_for_previous_launch();
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
  GemmArgs part = args;
  if constexpr (C.parted) {
    part = part_of_gemm<C.k_major_a == 0, C.k_major_b != 0, A, B, Acc>(
        args, static_cast<int>(blockIdx.y), at_launch.k_each);
  }
  if constexpr (!C.parted) {
    look_ahead<C.reads_matrix_c != 0, C.tile_m, C.tile_n, CIn>(
        args, row, col, static_cast<int>(threadIdx.x), C.threads);
  }
  const Panel<A> panel_a = panel_of_a<C.k_major_a == 0, A>(part, row);
  const Panel<B> panel_b = panel_of_b<C.k_major_b != 0, B>(part, col);
  CopyA copy_a(panel_a);
  CopyB copy_b(panel_b);
  LaneTile<Acc, kShare, kStage> mma(warp_index / kWarpsPerRow * C.warp_m,
                                    warp_index % kWarpsPerRow * C.warp_n, slice * kShare.depth);
  // What registers transpose is loaded a tile ahead.
  const int whole =
      min(panel_a.whole_tiles(kTileA), panel_b.whole_tiles(kTileB)) - (C.turned ? 1 : 0);
  run_async_ring<kStage, C.stages, C.threads, RingIndex, true>(mma, copy_a, copy_b, stages,
                                                               ceil_div(part.k, C.tile_k), whole);
  let_next_launch_begin();
  if constexpr (C.slices > 1) {
    __syncthreads();
    add_slices<C.slices, C.threads>(mma, stages, slice);
  }
  if constexpr (C.parted) {
    store_vectors<C.vec_n, 1, C.vec_part, C.slices>(mma, PartOutput<Acc>(part), row, col, slice);
  } else {
    store_vectors<C.vec_n, C.vec_c, C.vec_d, C.slices>(
        mma, Output<CIn, D, Acc, C.reads_matrix_c != 0>(args), row, col, slice);
  }
}

template <GemmSimtConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(128)
    gemm_simt_sum(const kiln::GemmArgs args, const GemmSimtLaunch at_launch) {
  kiln::sum_parts<C.vec_c, C.vec_sum, C.reads_matrix_c != 0, CIn, D, Acc>(args, at_launch.splits);
}
