// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_mma
//@ purpose    Tensor cores by mma.sync and ldmatrix on swizzled tiles, 8 to 64 bits, split along k.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 75
//@ priority   250   // whatever has tensor cores for its type
//@ types      a=f16|bf16 b=a c=a|f32 d=c acc=f32
//@ types      a=f16 b=a c=a d=a acc=f16
//@ types      a=tf32 b=tf32 c=f32 d=f32 acc=f32
//@ types      a=f64 b=f64 c=f64 d=f64 acc=f64
//@ types      a=s8|u8 b=s8|u8 c=s32|f16|bf16|f32|s8|u8 d=c acc=s32
//@ types      a=e4m3|e5m2 b=e4m3|e5m2 c=f16|bf16|f32 d=c acc=f32

/// \file
/// D = alpha op(A) op(B) + beta C on tensor cores, one level below WMMA: mma.sync says which lane
/// has which element, so that
///
///   - tiles in shared memory are swizzled instead of padded (lib/shared_layout.cuh): no wasted
///     room, no bank conflict in either direction;
///   - ldmatrix brings fragments of every type, and transposes 16-bit ones on the way;
///   - tf32 is rounded and 8-bit floats become f16 in registers, on the way to the multiplication.
///
///          B tile (one stage)
///          +-----------------+ tile_k          block tile of D          warp tile
///          +-----------------+            +--------+--------+       +----+----+----+----+
///     +--+ +--------+--------+            | warp 0 | warp 1 |       |atom|    |    |    | 16
///     |A | |        |        |            +--------+--------+       +----+----+----+----+
///     |  | |   D    |        |            | warp 2 | warp 3 |       |    |    |    |    |
///     |  | +--------+--------+            +--------+--------+       +----+----+----+----+
///     |  | |        |        |              warp_n                   16
///     +--+ +--------+--------+
///     tile_k     tile_n
///
/// Copies go through registers (any alignment), through a ring of stages that cp.async fills (rows
/// that start on 4 bytes or more), or that TMA fills (sm_90, 16 bytes; most of all for f64).
/// Operands that none suits are copied into aligned rows by a launch of their own (lib/repack.cuh):
/// 8-bit ones across k always. Where D has few tiles, blocks share them along k; another launch
/// adds up their parts (lib/split_k.cuh), or they do as a cluster (lib/cluster_sum.cuh). Warps of a
/// block can share the depth of its stages, too (lib/slices.cuh).
///
/// Limits. From sm_90 on mma.sync reaches two thirds of what the tensor cores do through wgmma
/// (1365 of 2049 multiply-adds a clock, `kiln doctor --save-profile` on an H200).

#include "common/arithmetic.cuh"
#include "common/meta.cuh"
#include "common/overlap.cuh"
#include "lib/atom_mma.cuh"
#include "lib/cluster_sum.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_registers.cuh"
#include "lib/epilogue_staged.cuh"
#include "lib/main_loop.cuh"
#include "lib/main_loop_async.cuh"
#include "lib/main_loop_boxes.cuh"
#include "lib/output.cuh"
#include "lib/panel.cuh"
#include "lib/repack.cuh"
#include "lib/shared_layout.cuh"
#include "lib/slices.cuh"
#include "lib/split_k.cuh"
#include "lib/tile_order.cuh"
#include "lib/warp_tile.cuh"

enum class Copy { registers, cp_async, tma };

//@ use        lib/output.cuh        // vec_c, vec_d: elements of one access
//@ use        lib/split_k.cuh       // splits; parts_bytes, sum_blocks
//@ use        lib/repack.cuh        // repack; k_major_a, packed_a_at, packed_ld_a, chunks_a
//@ use        lib/tile_order.cuh    // reciprocals of group_m and the tiles
struct GemmMmaConfig : OutputConfig, SplitKConfig, RepackConfig {  //@ config
  int tile_m;         //@ tune 16 32 64 96 128* 256   // rows of D that a block computes
  int tile_n;         //@ tune 16 32 64 96 128* 256   // columns of D that a block computes
  Copy copy;          //@ tune registers cp_async* tma   // how A and B get into shared memory
  int atom_bytes;     //@ tune 32* 64 128       // bytes of k per product (more: f64)
  int depth_bytes;    //@ tune 32 64* 128 256         // depth of one stage, in bytes of A
  int warp_m;         //@ tune 16 32 48 64*           // rows of D that a warp computes
  int warp_n;         //@ tune 16 32 48 64*           // columns of D that a warp computes
  int slices;         //@ tune 1* 2 4           // warp groups that split the depth of a stage
  int stages;         //@ tune 1 2 3* 4 5 8     // stages of A and B in shared memory
  int buffers;        //@ tune 1 2*             // sets of fragments in registers
  int min_blocks;     //@ tune 1* 2 3           // blocks per SM (__launch_bounds__)
  int cluster_sum;    //@ tune 0* 1             // parts of k are summed by: 0 a launch, 1 a cluster
  int tile_k;         //@ let depth_bytes / a_bytes
  int packs_k_major;  //@ let a_bytes == 1      // as ldmatrix wants bytes
  int slice_warps;    //@ let (tile_m / warp_m) * (tile_n / warp_n)
  int warps;          //@ let slice_warps * slices
  int threads;        //@ let warps * 32
  int thread_regs;    //@ let min(device.regs_per_thread,
                      //@         device.regs_per_sm / (min_blocks * max(threads, 32)))
  int a_rows;         //@ let k_major_a == 1 ? tile_m : tile_k   // of the tile in memory
  int a_cols;         //@ let k_major_a == 1 ? tile_k : tile_m
  int b_rows;         //@ let k_major_b == 1 ? tile_n : tile_k
  int b_cols;         //@ let k_major_b == 1 ? tile_k : tile_n
  int a_line;         //@ let a_bytes == 8 || a_bytes == 4 && k_major_a == 0 ? 4 : 8   // chunks
  int b_line;         //@ let b_bytes == 8 || b_bytes == 4 && k_major_b == 0 ? 4 : 8   // of a line
  int span_a;      //@ let min(128, a_cols * a_bytes)   // bytes of its rows in a slab of the stage
  int span_b;      //@ let min(128, b_cols * b_bytes)
  int a_stride;    //@ let copy.tma ? span_a / a_bytes : a_cols
  int b_stride;    //@ let copy.tma ? span_b / b_bytes : b_cols
  int a_apart;     //@ let copy.tma ? a_rows : 1   // lines from one of a row to the next
  int b_apart;     //@ let copy.tma ? b_rows : 1
  int a_elements;  //@ let a_rows * a_cols
  int stage_elements;   //@ let a_elements + b_rows * b_cols
  int result_stride;    //@ let warp_n + 8   // of a warp's slab of results, in accumulators
  int result_elements;  //@ let 16 * result_stride
  int tile_stride;      //@ let tile_n + 8   // of a tile of sums
  int slab_elements;    //@ let cluster_sum == 1 ? tile_m * tile_stride
                        //@                      : slice_warps * result_elements
  int barriers_at;      //@ let max(stages * stage_elements * a_bytes, acc_bytes *
                        //@         (slab_elements + (slices - 1) * tile_m * tile_n))
  int smem_bytes;       //@ let barriers_at + 136   // of a ring of 8 stages
  int aligned_a;        //@ let repack_a == 1 ? 16 / a_bytes : given_a   // once repacked
  int aligned_b;        //@ let repack_b == 1 ? 16 / b_bytes : given_b
  bool whole_first;     //@ let copy.cp_async && tile_m * tile_n * acc_bytes >= 131072   // large
  int vec_a;            //@ let !copy.registers ? aligned_a : 16 / a_bytes   // of one store
  int vec_b;            //@ let !copy.registers ? aligned_b : 16 / b_bytes
};

struct GemmMmaLaunch : SplitKLaunch, TileOrderLaunch {  //@ at launch
  int group_m;  //@ tune 1 4 8*   // tile rows of a group, visited column by column
  int early;    //@ tune 0 1*   // start before the previous launch ends
  int parts;    //@ let cluster_sum == 1 || splits == 1 ? 0 : splits   // in the workspace
  int k_each;   //@ let min(k, ceil_div(ceil_div(k, tile_k), splits) * tile_k)   // of one
};
//@ let row_tiles = ceil_div(m, tile_m)
//@ let col_tiles = ceil_div(n, tile_n)
//@ let tiles = row_tiles * col_tiles

//@ require    early == 0 || device.sm >= 90
//@ require    a_type != type.bf16 && a_type != type.tf32 && a_type != type.f64 || device.sm >= 80
//@ require    packs_k_major == 0 || k_major_a == 1 && k_major_b == 1
//@ require    depth_bytes >= atom_bytes && (atom_bytes == 32 || a_bytes == 8)
//@ require    cluster_sum == 0 || device.sm >= 90 && splits > 1 && splits <= 8   // clusters
//@ require    copy.registers || device.sm >= 80 && min(aligned_a, aligned_b) * a_bytes >= 4
//@ require    copy.registers ? stages <= 2 : stages >= 2          // a ring needs two
//@ require    !copy.tma || device.sm >= 90 && depth_bytes >= (a_bytes == 8 ? 128 : 64)
//@ require    !copy.tma || (a_bytes == 8 ? atom_bytes >= 64 : a_line == 8 && b_line == 8)
//@ require    !copy.tma || min(aligned_a, aligned_b) * a_bytes == 16   // as TMA wants
//@ require    depth_bytes / slices % atom_bytes == 0           // whole steps for each
//@ require    copy.registers || depth_bytes / slices / atom_bytes % buffers == 0   // alternating
//@ require    tile_m % warp_m == 0 && tile_n % warp_n == 0   // warps tile the block
//@ require    threads <= device.max_threads
//@ require    is_pow2(a_cols) || a_cols * a_bytes % 128 == 0   // chunks are exchanged in lines
//@ require    is_pow2(b_cols) || b_cols * b_bytes % 128 == 0
//@ require    k_major_a == 1 || is_pow2(warp_m) || warp_m * a_bytes % 128 == 0   // atoms
//@ require    k_major_b == 1 || is_pow2(warp_n) || warp_n * b_bytes % 128 == 0   // on lines
//@ require    copy.tma || threads * vec_a % (a_cols * a_line) == 0   // with each pass of the
//@ require    copy.tma || threads * vec_b % (b_cols * b_line) == 0   // threads swizzles repeat
//@ require    a_bytes < 8 || thread_regs >= 64             // ptxas wants them for f64 products
//@ require    smem_bytes <= device.smem_optin && tiles <= 1073741824   // one-dimensional grid
//@ launch     gemm_mma_repack
//@   when     !repack.none && k > 0
//@   grid     repack_blocks
//@   block    256
//@ launch     gemm_mma
//@   grid     tiles, splits
//@   block    threads
//@   cluster  1, cluster_sum == 1 ? splits : 1
//@   smem     smem_bytes
//@   overlap  early
//@   map      a: !copy.tma ? 0 : k_major_a == 1 ? k : m, k_major_a == 1 ? m : k;
//@            box span_a / a_bytes, a_rows; swizzle copy.tma ? span_a : 0;
//@            pitch packed_ld_a; in_workspace packed_a_at
//@   map      b: !copy.tma ? 0 : k_major_b == 1 ? k : n, k_major_b == 1 ? n : k;
//@            box span_b / b_bytes, b_rows; swizzle copy.tma ? span_b : 0;
//@            pitch packed_ld_b; in_workspace packed_b_at
//@ launch     gemm_mma_sum
//@   when     parts > 0
//@   grid     sum_blocks
//@   block    128
//@   smem     early * 40960   // so that they do not crowd where the first come free
//@   overlap  early
//@ workspace  parts_bytes + 16 * (chunks_a + chunks_b)

template <GemmMmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(256)
    gemm_mma_repack(const kiln::GemmArgs args, const GemmMmaLaunch at_launch) {
  kiln::repack_operands<kiln::repack_plan<C>(), 256, A, B, Acc>(args, at_launch.parts);
}

template <GemmMmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks)
    gemm_mma(const kiln::GemmArgs args, const GemmMmaLaunch at_launch,
             const __grid_constant__ kiln::TensorMap map_a,
             const __grid_constant__ kiln::TensorMap map_b) {
  using namespace kiln;
  constexpr TileShape kTileA{C.tile_m, C.tile_k, C.k_major_a != 0};
  constexpr TileShape kTileB{C.tile_n, C.tile_k, C.k_major_b != 0};
  // ldmatrix reads chunks of 16 bytes; words that are read one by one want chunks of 32.
  constexpr int kLineElements = 128 / static_cast<int>(sizeof(A));
  constexpr int kLineA = C.copy == Copy::tma ? 8 : C.a_line;
  constexpr int kLineB = C.copy == Copy::tma ? 8 : C.b_line;
  constexpr SwizzledLayout kRowsA{C.a_stride, kLineElements / kLineA, kLineA, C.a_apart};
  constexpr SwizzledLayout kRowsB{C.b_stride, kLineElements / kLineB, kLineB, C.b_apart};
  constexpr Stage kStage{OperandLayout{kRowsA, kTileA.k_major, 0},
                         OperandLayout{kRowsB, kTileB.k_major, C.a_elements}, C.stage_elements};
  using ChunksA = TileChunks<A, kTileA, kStage.a, C.vec_a, C.threads>;
  using ChunksB = TileChunks<A, kTileB, kStage.b, C.vec_b, C.threads>;
  using CopyA = Conditional<C.copy == Copy::cp_async, CopyAsync<ChunksA>,
                            CopyRegisters<ChunksA, C.aligned_a>>;
  using CopyB = Conditional<C.copy == Copy::cp_async, CopyAsync<ChunksB>,
                            CopyRegisters<ChunksB, C.aligned_b>>;
  using Mma =
      WarpTile<AtomMma<A, B, Acc, C.atom_bytes>,
               WarpTileShape{C.warp_m / 16, C.warp_n / 16, C.tile_k / C.slices, C.buffers}, kStage>;

  extern __shared__ __align__(1024) unsigned char shared_memory[];
  A* stages = reinterpret_cast<A*>(shared_memory);
  const GemmArgs part = part_of_gemm<C.k_major_a == 0, C.k_major_b != 0, A, B, Acc>(
      with_packed_operands<repack_plan<C>(), A, Acc>(args, at_launch.parts),
      static_cast<int>(blockIdx.y), at_launch.k_each);

  const TilePlace place =
      grouped_tile(blockIdx.x, TileGrid{ceil_div(args.m, C.tile_m), ceil_div(args.n, C.tile_n),
                                        at_launch.group_m, at_launch.inverse_group,
                                        at_launch.inverse_rows, at_launch.inverse_last});
  const int row = place.row * C.tile_m;
  const int col = place.col * C.tile_n;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int slice = C.slices == 1 ? 0 : warp / C.slice_warps;
  const int warp_index = C.slices == 1 ? warp : warp % C.slice_warps;
  constexpr int kWarpsPerRow = C.tile_n / C.warp_n;
  const int warp_row = warp_index / kWarpsPerRow;
  const int warp_col = warp_index % kWarpsPerRow;

  using Ring = RingBarriers<C.stages, C.warps, 1, 0>;  // of tensor copies
  Ring& ring = *reinterpret_cast<Ring*>(shared_memory + C.barriers_at);
  if constexpr (C.copy == Copy::tma) {
    if (threadIdx.x == 0 && args.k > 0) tma_prefetch_descriptors(map_a, map_b);
    if (threadIdx.x == 0) ring.init();
  }
  wait_for_previous_launch();
  if (at_launch.parts == 0) {
    look_ahead<C.reads_matrix_c != 0, C.tile_m, C.tile_n, CIn>(
        args, row, col, static_cast<int>(threadIdx.x), C.threads);
  }
  Mma mma(warp_row * C.warp_m, warp_col * C.warp_n, slice * Mma::shape().depth);
  const int tiles = ceil_div(part.k, C.tile_k);
  if constexpr (C.copy == Copy::tma) {
    run_box_ring<kStage, C.stages, C.threads, C.tile_k>(
        mma, ring, map_a, map_b, {row, col, static_cast<int>(blockIdx.y) * at_launch.k_each},
        stages, tiles);
  } else {
    const auto a = panel_of_a<C.k_major_a == 0, A>(part, row);
    const auto b = panel_of_b<C.k_major_b != 0, A>(part, col);
    CopyA copy_a(a);
    CopyB copy_b(b);
    if constexpr (C.copy == Copy::cp_async) {
      run_async_ring<kStage, C.stages, C.threads, RingCursor, C.whole_first>(
          mma, copy_a, copy_b, stages, tiles, min(a.whole_tiles(kTileA), b.whole_tiles(kTileB)));
    } else {
      run_buffered<kStage, C.stages>(mma, copy_a, copy_b, stages, tiles);
    }
  }
  let_next_launch_begin();
  // The results take the place of the tiles, once every warp has read the last of them.
  __syncthreads();
  Acc* results = reinterpret_cast<Acc*>(shared_memory);
  if constexpr (C.slices > 1) {
    collect_slices<C.slices, C.threads>(mma, results + C.slab_elements, slice);
  }
  Acc* slab = results + warp_index * C.result_elements;
  const int first_row = row + warp_row * C.warp_m;
  const int first_col = col + warp_col * C.warp_n;
  if constexpr (C.cluster_sum == 1) {
    constexpr SumTile kTile{C.tile_m, C.tile_n, C.tile_stride};
    if (slice == 0) {
      leave_sums<kTile>(mma, results, warp_row * C.warp_m, warp_col * C.warp_n);
    }
    const Output<CIn, D, Acc, C.reads_matrix_c != 0> output(args);
    sum_in_cluster<kTile, C.threads, C.vec_c, C.vec_d>(
        output, results, static_cast<int>(blockIdx.y), at_launch.splits, row, col);
    return;
  }
  if (slice > 0) return;
  if (at_launch.splits == 1) {
    const Output<CIn, D, Acc, C.reads_matrix_c != 0> output(args);
    store_staged<C.vec_c, C.vec_d, C.result_stride>(mma, output, slab, first_row, first_col);
  } else {
    store_staged<1, C.vec_part, C.result_stride>(mma, PartOutput<Acc>(part), slab, first_row,
                                                 first_col);
  }
}

template <GemmMmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(128)
    gemm_mma_sum(const kiln::GemmArgs args, const GemmMmaLaunch at_launch) {
  kiln::sum_parts<C.vec_c, C.vec_sum, C.reads_matrix_c != 0, CIn, D, Acc>(args, at_launch.parts);
}
