// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_wmma
//@ purpose    Tensor cores through the WMMA interface, block and warp tiles, one to four buffers.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 75
//@ priority   200   // tensor cores before plain arithmetic
//@ types      a=f16|bf16 b=a c=a d=a acc=f32
//@ types      a=f16|bf16|tf32 b=a c=f32 d=f32 acc=f32
//@ types      a=f16 b=a c=a d=a acc=f16
//@ types      a=s8|u8 b=a c=s32|f16|bf16|f32|s8|u8 d=c acc=s32
//@ types      a=s4|u4|b1|b1_xor b=a c=s32 d=s32 acc=s32
//@ types      a=f64 b=a c=a d=a acc=f64

/// \file
/// D = alpha op(A) op(B) + beta C on tensor cores, through the portable WMMA interface.
///
/// Tiles. A block computes tile_m x tile_n of D, each of its warps warp_m x warp_n of that, as a
/// grid of WMMA fragments of frag_m x frag_n whose accumulators stay in registers throughout:
///
///          B tile (one stage)
///          +-----------------+ tile_k          block tile of D          warp tile
///          +-----------------+            +--------+--------+       +----+----+----+----+
///     +--+ +--------+--------+            | warp 0 | warp 1 |       |frag|    |    |    | frag_m
///     |A | |        |        |            +--------+--------+       +----+----+----+----+
///     |  | |   D    |        |            | warp 2 | warp 3 |       |    |    |    |    |
///     |  | +--------+--------+            +--------+--------+       +----+----+----+----+
///     |  | |        |        |              warp_n                   frag_n
///     +--+ +--------+--------+
///     tile_k     tile_n
///
/// Operands keep the orientation that they have in memory: a transposed operand is loaded into
/// column-major fragments, and nothing is transposed by hand. Rows of the shared tiles are `pad`
/// elements longer than needed, so that the eight rows that one shared-memory load touches lie in
/// different banks.
///
/// Stages. The loop over k takes one of three forms:
///
///     stages 1, registers   load -> barrier -> multiply -> barrier       the plain textbook loop
///     stages 2, registers   the next tile travels through registers while this one is multiplied
///     stages 2-4, cp_async  a ring of tiles filled by cp.async; the copy of tile i + stages - 1
///                           starts when all warps have read tile i - 1, whose place it takes:
///
///         place     0          1          2          3          (stages 4)
///         tile     i-1         i         i+1        i+2
///                i+3 starts  multiply   ready     arriving
///
/// Fragments are double-buffered where registers allow: those of the next step, 32 bytes of k, in
/// the ring across tiles too, are read from shared memory while the tensor cores work on the
/// current ones.
///
/// Edges. Tiles that hang over a matrix are filled up with zeros while loading, and D is stored
/// through shared memory, so that rows come out in whole aligned vectors where they can and element
/// by element at the right edge.
///
/// Types. f16, bf16, tf32 (stored as f32, rounded as fragments are loaded), s8, u8, s4, u4, bits
/// and f64. f16 may be summed in f16, which takes half the registers for sums; alpha and beta are
/// applied in f32 all the same. Numbers of 4 bits and bits are packed in bytes along k; tile_k
/// counts those, and nothing but the product itself differs. Up to sm_89 it is one instruction. On
/// sm_90 compilers make two of it, of 8-bit numbers for those of 4 bits, of b1 for b1_xor; from
/// sm_100 on they make four products of 8-bit numbers of one of bits.
///
/// Limits. Both operands have one type. On sm_90 and newer WMMA reaches about 60 % of the tensor
/// cores' rate; the rest takes other instructions. Sums of integers wrap around. 8-bit operands
/// whose rows run across k are read byte by byte. Compilers make four instructions of a product of
/// tf32, each 4 deep, half as deep as those of mma.sync.

#include "common/arithmetic.cuh"
#include "common/gemm_args.cuh"
#include "common/meta.cuh"
#include "common/operands.cuh"
#include "lib/atom_wmma.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_registers.cuh"
#include "lib/epilogue_staged.cuh"
#include "lib/main_loop.cuh"
#include "lib/main_loop_async.cuh"
#include "lib/output.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"
#include "lib/tile_order.cuh"
#include "lib/warp_tile.cuh"

enum class Copy { registers, cp_async };

//@ use        common/operands.cuh   // k_major_a, k_major_b
//@ use        lib/output.cuh   // vec_c, vec_d: elements of one access
struct GemmWmmaConfig : OperandsConfig, OutputConfig {  //@ config
  int tile_m;            //@ tune 32 64 128* 256   // rows of D that a block computes
  int tile_n;            //@ tune 32 64 128* 256   // columns of D that a block computes
  int tile_k;            //@ tune 16 32* 64 128    // depth of one stage
  int warp_m;            //@ tune 32 64*           // rows of D that a warp computes
  int warp_n;            //@ tune 32 64*           // columns of D that a warp computes
  int frag_m;            //@ tune 8 16* 32         // WMMA shape: 8x32, 16x16 or 32x8; or 8x8
  int pad;               //@ tune 0 4 8* 16        // padding of shared rows, in elements
  int stages;            //@ tune 1 2 3* 4         // stages of A and B in shared memory
  Copy copy;             //@ tune registers cp_async*   // how A and B get into shared memory
  int min_blocks;        //@ tune 1* 2             // blocks per SM (__launch_bounds__)
  int frag_is_8x8;       //@ let a_bytes == 8 || a_packed > 1   // f64, 4 bits, 1 bit
  int frag_n;            //@ let frag_is_8x8 == 1 ? 8 : 256 / frag_m
  int warps;             //@ let (tile_m / warp_m) * (tile_n / warp_n)
  int threads;           //@ let warps * 32
  int thread_regs;       //@ let min(device.regs_per_thread,
                         //@         device.regs_per_sm / (min_blocks * threads))
  int sum_regs;          //@ let warp_m * warp_n * acc_bytes / 128
  int fragment_regs;     //@ let (warp_m + warp_n) / 4   // of one step's operands
  int other_regs;        //@ let a_bytes != 4 || trans_a == 0 && trans_b == 1 ? 40
                         //@     : trans_a == 1 && trans_b == 0 ? 168 : 96
  int fragment_buffers;  //@ let sum_regs + 2 * fragment_regs + other_regs <= thread_regs ? 2 : 1
  int a_rows;            //@ let trans_a == 1 ? tile_k : tile_m   // the tile of A as in memory
  int a_cols;            //@ let trans_a == 1 ? tile_m : tile_k
  int b_rows;            //@ let trans_b == 1 ? tile_n : tile_k
  int b_cols;            //@ let trans_b == 1 ? tile_k : tile_n
  int a_stride;          //@ let a_cols + pad
  int b_stride;          //@ let b_cols + pad
  int a_elements;        //@ let a_rows * a_stride
  int stage_elements;    //@ let a_elements + b_rows * b_stride
  int result_stride;     //@ let warp_n + 8   // of a warp's slab of results, in sums
  int result_elements;   //@ let frag_m * result_stride
  int smem_bytes;        //@ let max(stages * stage_elements * a_bytes,
                         //@         warps * result_elements * acc_bytes)
  int vec_a;             //@ let max(1, min(16, align_a) / a_bytes)   // elements of one load
  int vec_b;             //@ let max(1, min(16, align_b) / b_bytes)
};

struct GemmWmmaLaunch {  //@ at launch
  int group_m;           //@ tune 1 4 8*   // tile rows of a group, visited column by column
};

//@ require    a_type != type.bf16 && a_type != type.tf32 && a_type != type.f64 || device.sm >= 80
//@ require    copy.registers || device.sm >= 80   // cp.async is there from sm_80 on
//@ require    copy.registers || min(vec_a, vec_b) * a_bytes >= 4   // cp.async moves 4 or more
//@ require    copy.registers ? stages <= 2 : stages >= 2    // a ring needs two
//@ require    tile_k * a_bytes >= 32 && tile_k * a_bytes <= 128
//@ require    copy.registers || fragment_buffers == 1 || tile_k * a_bytes >= 64   // alternating
//@ require    tile_m % warp_m == 0 && tile_n % warp_n == 0   // warps tile the block
//@ require    warp_m % frag_m == 0 && warp_n % frag_n == 0   // fragments tile the warp
//@ require    threads <= device.max_threads
//@ require    threads * vec_a >= a_cols && threads * vec_b >= b_cols   // a pass covers a row
//@ require    a_type != type.tf32 || frag_m == 16         // the one shape of tf32
//@ require    frag_is_8x8 == 0 || frag_m == 8             // likewise
//@ require    a_packed == 1 || k % a_packed == 0 && trans_a == 0 && trans_b == 1   // whole bytes
//@ require    a_type != type.b1 || device.sm >= 80        // older ones have only b1_xor
//@ require    pad == 0 || pad * a_bytes == 16 || pad * a_bytes == 32 && a_bytes >= 4
//@ require    trans_a == 0 || frag_m * a_bytes >= min(32, 16 * a_bytes)   // WMMA wants fragments
//@ require    trans_b == 1 || frag_n * a_bytes >= min(32, 16 * a_bytes)   // on 32 bytes, of 8-bit
//@ require    frag_n * acc_bytes >= 32                                    // elements on 16
//@ require    smem_bytes <= device.smem_optin
//@ require    ceil_div(m, tile_m) * ceil_div(n, tile_n) <= 2147483647   // one-dimensional grid
//@ launch     gemm_wmma
//@   grid     ceil_div(m, tile_m) * ceil_div(n, tile_n)
//@   block    threads
//@   smem     smem_bytes

template <GemmWmmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks)
    gemm_wmma(const kiln::GemmArgs args, const GemmWmmaLaunch at_launch) {
  static_assert(kiln::kSameType<A, B>, "Both operands have one type");
  static_assert(C.tile_m % C.warp_m == 0 && C.tile_n % C.warp_n == 0, "Warps must tile the block");
  static_assert(C.warp_m % C.frag_m == 0 && C.warp_n % C.frag_n == 0,
                "Fragments must tile the warp's share");
  static_assert(C.tile_k * sizeof(A) % 32 == 0, "A stage must be whole steps of the tensor core");
  static_assert(C.a_stride * sizeof(A) % 16 == 0 && C.b_stride * sizeof(A) % 16 == 0,
                "WMMA needs shared rows that are multiples of 16 bytes");
  static_assert(C.copy == Copy::registers ? C.stages <= 2 : C.stages >= 2,
                "Register copies use one or two stages, background copies at least two");
  using namespace kiln;
  constexpr TileShape kTileA{C.tile_m, C.tile_k, C.k_major_a != 0};
  constexpr TileShape kTileB{C.tile_n, C.tile_k, C.k_major_b != 0};
  constexpr Stage<PaddedLayout, PaddedLayout> kStage{{{C.a_stride}, kTileA.k_major, 0},
                                                     {{C.b_stride}, kTileB.k_major, C.a_elements},
                                                     C.stage_elements};
  using ChunksA = TileChunks<A, kTileA, kStage.a, C.vec_a, C.threads>;
  using ChunksB = TileChunks<B, kTileB, kStage.b, C.vec_b, C.threads>;
  using CopyA = Conditional<C.copy == Copy::cp_async, CopyAsync<ChunksA>, CopyRegisters<ChunksA>>;
  using CopyB = Conditional<C.copy == Copy::cp_async, CopyAsync<ChunksB>, CopyRegisters<ChunksB>>;
  using Atom = AtomWmma<A, Acc, WmmaShape{C.frag_m, C.frag_n}, kTileA.k_major, kTileB.k_major>;
  using Mma = WarpTile<
      Atom, WarpTileShape{C.warp_m / C.frag_m, C.warp_n / C.frag_n, C.tile_k, C.fragment_buffers},
      kStage>;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  A* stages = reinterpret_cast<A*>(shared_memory);

  const TilePlace place = grouped_tile(blockIdx.x, ceil_div(args.m, C.tile_m),
                                       ceil_div(args.n, C.tile_n), at_launch.group_m);
  const int row = place.row * C.tile_m;
  const int col = place.col * C.tile_n;
  const int warp_index = static_cast<int>(threadIdx.x) / 32;
  constexpr int kWarpsPerRow = C.tile_n / C.warp_n;
  const int warp_row = warp_index / kWarpsPerRow;
  const int warp_col = warp_index % kWarpsPerRow;

  const auto a = panel_of_a<C.k_major_a == 0, A>(args, row);
  const auto b = panel_of_b<C.k_major_b != 0, B>(args, col);
  CopyA copy_a(a);
  CopyB copy_b(b);
  Mma mma(warp_row * C.warp_m, warp_col * C.warp_n);
  const int tiles = ceil_div(a.depth, C.tile_k);  // mutant: wmma_tiles
  if constexpr (C.copy == Copy::cp_async) {
    run_async_ring<kStage, C.stages, C.threads>(mma, copy_a, copy_b, stages, tiles);
  } else {
    run_buffered<kStage, C.stages>(mma, copy_a, copy_b, stages, tiles);
  }

  // The results take the place of the tiles, once every warp has read the last of them.
  __syncthreads();  // mutant: wmma_tiles_read
  Acc* slab = reinterpret_cast<Acc*>(shared_memory) + warp_index * C.result_elements;
  store_staged<C.vec_c, C.vec_d, C.result_stride>(
      mma, Output<CIn, D, Acc, C.reads_matrix_c != 0>(args), slab, row + warp_row * C.warp_m,
      col + warp_col * C.warp_n);
}
