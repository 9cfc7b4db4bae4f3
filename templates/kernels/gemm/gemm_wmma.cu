// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_wmma
//@ purpose    Tensor cores through the WMMA interface, block and warp tiles, one to four buffers.
//@ operation  gemm
//@ arch       sm >= 75
//@ priority   200   // tensor cores before plain arithmetic
//@ types      a=f16|bf16 b=a c=a d=a acc=f32
//@ types      a=f16|bf16 b=a c=f32 d=f32 acc=f32

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
///     stages 1, copy 0    load -> barrier -> multiply -> barrier       the plain textbook loop
///     stages 2, copy 0    the next tile travels through registers while this one is multiplied
///     stages 2-4, copy 1  a ring of tiles filled by cp.async; the copy of tile i + stages - 1
///                         starts when all warps have read tile i - 1, whose place it takes:
///
///         place     0          1          2          3          (stages 4)
///         tile     i-1         i         i+1        i+2
///                i+3 starts  multiply   ready     arriving
///
/// Fragments are double-buffered where registers allow: those of the next 16-deep step, in the ring
/// across tiles too, are read from shared memory while the tensor cores work on the current ones.
///
/// Edges. Tiles that hang over a matrix are filled up with zeros while loading, and D is stored
/// through shared memory, so that rows come out in whole aligned vectors where they can and element
/// by element at the right edge.
///
/// Limits. f16 (and from sm_80 on bf16) operands of one type, float accumulation, output in float
/// or the operands' type. On sm_90 and newer WMMA reaches about 60 % of the tensor cores' rate; the
/// rest takes other instructions. Compilers turn the loads of f16 fragments into ldmatrix, but
/// those of bf16 fragments into plain loads of words, which costs bf16 a third of the speed.

#include <mma.h>

#include "common/element.cuh"
#include "common/epilogue.cuh"
#include "common/gemm_args.cuh"
#include "common/raster.cuh"
#include "common/tile_copy.cuh"

struct GemmWmmaConfig {  //@ config
  int tile_m;            //@ tune 32 64 128* 256   // rows of D that a block computes
  int tile_n;            //@ tune 32 64 128* 256   // columns of D that a block computes
  int tile_k;            //@ tune 16 32* 64        // depth of one stage
  int warp_m;            //@ tune 32 64*           // rows of D that a warp computes
  int warp_n;            //@ tune 32 64*           // columns of D that a warp computes
  int frag_m;            //@ tune 8 16* 32         // WMMA shape: 8x32x16, 16x16x16 or 32x8x16
  int pad;               //@ tune 0 8*             // elements between shared rows: bank conflicts
  int stages;            //@ tune 1 2 3* 4         // tiles of A and B in shared memory
  int copy;              //@ tune 0 1*             // 0 through registers, 1 by cp.async
  int group_m;           //@ tune 1 4 8*           // tile rows that blocks walk down, then a column
  int min_blocks;        //@ tune 1* 2             // blocks per SM that registers leave room for
  int frag_n;            //@ let 256 / frag_m
  int warps;             //@ let (tile_m / warp_m) * (tile_n / warp_n)
  int threads;           //@ let warps * 32
  int thread_regs;       //@ let min(device.regs_per_thread,
                         //@         device.regs_per_sm / (min_blocks * threads))
  int fragment_regs;     //@ let (warp_m + warp_n) / 4   // of one step's operands
  int fragment_buffers;  //@ let warp_m * warp_n / 32 + 2 * fragment_regs + 40 <= thread_regs
                         //@         ? 2 : 1
  int a_transposed;      //@ let trans_a
  int b_transposed;      //@ let trans_b
  int reads_matrix_c;    //@ let reads_c
  int a_rows;            //@ let trans_a == 1 ? tile_k : tile_m   // the tile of A as in memory
  int a_cols;            //@ let trans_a == 1 ? tile_m : tile_k
  int b_rows;            //@ let trans_b == 1 ? tile_n : tile_k
  int b_cols;            //@ let trans_b == 1 ? tile_k : tile_n
  int a_stride;          //@ let a_cols + pad
  int b_stride;          //@ let b_cols + pad
  int a_elements;        //@ let a_rows * a_stride
  int stage_elements;    //@ let a_elements + b_rows * b_stride
  int result_stride;     //@ let warp_n + 8   // of a warp's slab of results, in floats
  int result_elements;   //@ let frag_m * result_stride
  int smem_bytes;        //@ let max(stages * stage_elements * a_bytes,
                         //@         warps * result_elements * acc_bytes)
  int vec_a;             //@ let max(1, min(16, align_a) / a_bytes)   // elements of one load
  int vec_b;             //@ let max(1, min(16, align_b) / b_bytes)
  int vec_c;             //@ let max(1, min(16, align_c) / c_bytes)
  int vec_d;             //@ let max(1, min(16, align_d) / d_bytes)
};

//@ require    a_type != type.bf16 || device.sm >= 80   // WMMA has bf16 from sm_80 on
//@ require    copy == 0 || device.sm >= 80             // cp.async is there from sm_80 on
//@ require    copy == 0 || min(vec_a, vec_b) >= 2      // cp.async moves at least 4 bytes
//@ require    copy == 0 ? stages <= 2 : stages >= 2    // a ring needs two
//@ require    copy == 0 || fragment_buffers == 1 || tile_k >= 32   // the ring alternates fragments
//@ require    tile_m % warp_m == 0 && tile_n % warp_n == 0   // warps tile the block
//@ require    warp_m % frag_m == 0 && warp_n % frag_n == 0   // fragments tile the warp
//@ require    threads <= device.max_threads
//@ require    threads * vec_a >= a_cols && threads * vec_b >= b_cols   // a pass covers a row
//@ require    frag_m != 8 || trans_a == 0              // WMMA wants 32-byte aligned fragments
//@ require    frag_n != 8 || trans_b == 1              // likewise
//@ require    smem_bytes <= device.smem_optin
//@ require    ceil_div(m, tile_m) * ceil_div(n, tile_n) <= 2147483647   // one-dimensional grid
//@ prefer     threads >= 64 && threads <= 512                           // 2 to 16 warps
//@ prefer     warp_m * warp_n / 32 + fragment_regs + 40 <= thread_regs  // no spilling
//@ prefer     min_blocks * (smem_bytes + device.smem_reserved) <= device.smem_per_sm
//@ prefer     pad == 8 || stages == 1   // a ring without padding only conflicts
//@ prefer     m * n < 4194304 || tile_m * tile_n >= 16384 && warp_m * warp_n >= 2048  // big: reuse
//@ prefer     m * n < 4194304 || copy == 1 || device.sm < 80 || min(vec_a, vec_b) < 2   // overlap
//@ launch     gemm_wmma
//@   grid     ceil_div(m, tile_m) * ceil_div(n, tile_n)
//@   block    threads
//@   smem     smem_bytes
//@ cost       tensor = tile_m * tile_n * round_up(k, tile_k)
//@ cost       issues = warps * ceil_div(k, tile_k) *
//@                     (tile_k / 16 * (warp_m * warp_n / 128 + (warp_m + warp_n) / 16 + 8) +
//@                      (tile_m + tile_n) * tile_k / threads / 2)
//@ cost       memory = ceil_div(k, tile_k) *
//@                     (warps * (warp_m + warp_n) * tile_k / 64 *
//@                      (a_type == type.bf16 ? 2 : 1) * (pad == 0 ? 4 : 1) +
//@                      (tile_m + tile_n) * tile_k / 64 +
//@                      a_rows * ceil_div(a_cols, 64) + b_rows * ceil_div(b_cols, 64))
//@ cost       l2_bytes = (tile_m + tile_n) * round_up(k, tile_k) * a_bytes
//@ cost       waits = stages == 1 ? ceil_div(k, tile_k)
//@                    : stages == 2 && copy == 1 ? ceil_div(k, tile_k) / 2 : 0   // half is hidden
//@ cost       trips = copy == 1 ? ceil_div(k, tile_k * (stages - 1)) : ceil_div(k, tile_k)
//@ cost       registers = min(thread_regs, warp_m * warp_n / 32 +
//@                                         fragment_buffers * fragment_regs + 40)

namespace kiln {

namespace wmma = nvcuda::wmma;

template <bool kTransposed>
struct WmmaLayout {
  using type = wmma::row_major;
};
template <>
struct WmmaLayout<true> {
  using type = wmma::col_major;
};

/// One warp's share of the block's tile: the accumulators, and operand fragments for two steps.
template <GemmWmmaConfig C, class T>
class WarpTile {
 public:
  static constexpr int kDepth = 16;  ///< of every 16-bit WMMA shape
  static constexpr int kBuffers = C.fragment_buffers;
  static constexpr int kSteps = C.tile_k / kDepth;
  static constexpr int kRows = C.warp_m / C.frag_m;
  static constexpr int kCols = C.warp_n / C.frag_n;

  KILN_DEVICE WarpTile(int warp_row, int warp_col)
      : a_offset_(warp_row * C.warp_m * (C.a_transposed ? 1 : C.a_stride)),
        b_offset_(C.a_elements + warp_col * C.warp_n * (C.b_transposed ? C.b_stride : 1)) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) wmma::fill_fragment(accumulators_[i][j], 0.0F);
    }
  }

  /// Reads the fragments of a 16-deep step of a stage from shared memory into buffer `slot`.
  KILN_DEVICE void load_fragments(const T* stage, int step, int slot) {
    const T* a = stage + a_offset_ + step * kDepth * (C.a_transposed ? C.a_stride : 1);
    const T* b = stage + b_offset_ + step * kDepth * (C.b_transposed ? 1 : C.b_stride);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int offset = i * C.frag_m * (C.a_transposed ? 1 : C.a_stride);
      wmma::load_matrix_sync(a_[slot][i], a + offset, C.a_stride);
    }
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
      const int offset = j * C.frag_n * (C.b_transposed ? C.b_stride : 1);
      wmma::load_matrix_sync(b_[slot][j], b + offset, C.b_stride);
    }
  }

  KILN_DEVICE void multiply(int slot) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        wmma::mma_sync(accumulators_[i][j], a_[slot][i], b_[slot][j], accumulators_[i][j]);
      }
    }
  }

  /// Multiplies a whole stage. With two fragment buffers, each step's fragments are read while the
  /// step before is multiplied.
  KILN_DEVICE void compute_stage(const T* stage) {
    load_fragments(stage, 0, 0);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (kBuffers == 1) multiply(0);
      if (step + 1 < kSteps) load_fragments(stage, step + 1, (step + 1) % kBuffers);
      if (kBuffers == 2) multiply(step % 2);
    }
  }

  /// Writes one row of fragments, frag_m x warp_n floats, to shared memory.
  KILN_DEVICE void store_row(int row, float* slab) const {
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
      wmma::store_matrix_sync(slab + j * C.frag_n, accumulators_[row][j], C.result_stride,
                              wmma::mem_row_major);
    }
  }

 private:
  using FragmentA = wmma::fragment<wmma::matrix_a, C.frag_m, C.frag_n, kDepth, T,
                                   typename WmmaLayout<C.a_transposed != 0>::type>;
  using FragmentB = wmma::fragment<wmma::matrix_b, C.frag_m, C.frag_n, kDepth, T,
                                   typename WmmaLayout<C.b_transposed != 0>::type>;
  using Accumulator = wmma::fragment<wmma::accumulator, C.frag_m, C.frag_n, kDepth, float>;

  int a_offset_;  ///< of the warp's first element in a stage
  int b_offset_;
  FragmentA a_[kBuffers][kRows];
  FragmentB b_[kBuffers][kCols];
  Accumulator accumulators_[kRows][kCols];
};

template <GemmWmmaConfig C, class T>
using WmmaCopyA =
    TileCopy<T, C.a_rows, C.a_cols, C.a_stride, C.vec_a, C.threads, C.a_transposed != 0>;
template <GemmWmmaConfig C, class T>
using WmmaCopyB =
    TileCopy<T, C.b_rows, C.b_cols, C.b_stride, C.vec_b, C.threads, C.b_transposed == 0>;

/// stages 1: load a tile, multiply it, and so on.
template <GemmWmmaConfig C, class T>
KILN_DEVICE void run_single_buffer(WarpTile<C, T>& warp, WmmaCopyA<C, T>& copy_a,
                                   WmmaCopyB<C, T>& copy_b, T* stage, int tiles) {
  typename WmmaCopyA<C, T>::Registers a;
  typename WmmaCopyB<C, T>::Registers b;
  for (int tile = 0; tile < tiles; ++tile) {
    copy_a.load(a);
    copy_b.load(b);
    copy_a.store(a, stage);
    copy_b.store(b, stage + C.a_elements);
    __syncthreads();
    warp.compute_stage(stage);
    __syncthreads();
  }
}

/// stages 2 through registers: the loads of the next tile are in flight while this one is
/// multiplied; one barrier per tile is enough, because reader and writer use different buffers.
template <GemmWmmaConfig C, class T>
KILN_DEVICE void run_double_buffer(WarpTile<C, T>& warp, WmmaCopyA<C, T>& copy_a,
                                   WmmaCopyB<C, T>& copy_b, T* stages, int tiles) {
  typename WmmaCopyA<C, T>::Registers a;
  typename WmmaCopyB<C, T>::Registers b;
  copy_a.load(a);
  copy_b.load(b);
  copy_a.store(a, stages);
  copy_b.store(b, stages + C.a_elements);
  __syncthreads();
  for (int tile = 0; tile < tiles; ++tile) {
    const bool more = tile + 1 < tiles;
    if (more) {
      copy_a.load(a);
      copy_b.load(b);
    }
    warp.compute_stage(stages + tile % 2 * C.stage_elements);
    if (more) {
      T* next = stages + (tile + 1) % 2 * C.stage_elements;
      copy_a.store(a, next);
      copy_b.store(b, next + C.a_elements);
    }
    __syncthreads();
  }
}

/// stages 2 to 4 with cp.async.
template <GemmWmmaConfig C, class T>
KILN_DEVICE void run_async_ring(WarpTile<C, T>& warp, WmmaCopyA<C, T>& copy_a,
                                WmmaCopyB<C, T>& copy_b, T* stages, int tiles) {
  constexpr int kSteps = WarpTile<C, T>::kSteps;
  constexpr int kBuffers = C.fragment_buffers;
  static_assert(kSteps % kBuffers == 0, "Fragment buffers alternate across stages");
  const T* const end = stages + C.stages * C.stage_elements;

  // One group of copies per tile, empty past the last, so that the number of groups tells which
  // tiles have arrived.
  int started = 0;
  T* write = stages;
  const auto start_next = [&] {
    if (started < tiles) {
      copy_a.start(write);
      copy_b.start(write + C.a_elements);
    }
    commit_async_group();
    ++started;
    write += C.stage_elements;
    if (write == end) write = stages;
  };

  // With fewer tiles than stages, the stage that is read last holds nothing yet.
  if (tiles < C.stages) {
    for (int i = static_cast<int>(threadIdx.x); i < C.stages * C.stage_elements; i += C.threads) {
      stages[i] = static_cast<T>(0.0F);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < C.stages - 1; ++i) start_next();
  wait_async_groups<C.stages - 2>();
  __syncthreads();

  const T* read = stages;
  warp.load_fragments(read, 0, 0);
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // All warps have read the tile before this one ahead of the last barrier: its place is free.
      if (step == 0) start_next();
      if (kBuffers == 1) warp.multiply(0);
      if (step == kSteps - 1) {
        read += C.stage_elements;
        if (read == end) read = stages;
        wait_async_groups<C.stages - 2>();
        __syncthreads();
      }
      // After the last tile this reads a stage that holds old data, which nothing uses. A branch
      // around it would cost a tenth of the speed.
      warp.load_fragments(read, (step + 1) % kSteps, (step + 1) % kBuffers);
      if (kBuffers == 2) warp.multiply(step % 2);
    }
  }
}

/// Scales the warp's accumulators, adds beta C and writes D, one row of fragments at a time through
/// the warp's own slab of shared memory.
template <GemmWmmaConfig C, class T, class CIn, class D>
KILN_DEVICE void store_tile(const GemmArgs& args, const WarpTile<C, T>& warp, float* slab, int row,
                            int col) {
  constexpr int kPieces = C.warp_n / C.vec_d;  // per row
  constexpr int kVecC = C.vec_c < C.vec_d ? C.vec_c : C.vec_d;
  constexpr int kQuad = C.vec_d < 4 ? C.vec_d : 4;  // floats that one shared-memory load moves
  using Quad = ElementVector<float, kQuad>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float alpha = static_cast<float>(args.alpha);
  const float beta = static_cast<float>(args.beta);
#pragma unroll
  for (int i = 0; i < WarpTile<C, T>::kRows; ++i) {
    warp.store_row(i, slab);
    __syncwarp();
#pragma unroll 2
    for (int piece = lane; piece < C.frag_m * kPieces; piece += 32) {
      const int y = piece / kPieces;
      const int x = piece % kPieces * C.vec_d;
      const int to_row = row + i * C.frag_m + y;
      const int to_col = col + x;
      if (to_row >= args.m || to_col >= args.n) continue;
      alignas(16) float product[C.vec_d];
#pragma unroll
      for (int e = 0; e < C.vec_d; e += kQuad) {
        *reinterpret_cast<Quad*>(product + e) =
            *reinterpret_cast<const Quad*>(slab + y * C.result_stride + x + e);
      }
      store_piece<C.vec_d, kVecC, C.reads_matrix_c != 0>(
          product, args.n - to_col, alpha, beta,
          static_cast<const CIn*>(args.c) + to_row * args.ldc + to_col,
          static_cast<D*>(args.d) + to_row * args.ldd + to_col);
    }
    __syncwarp();
  }
}

}  // namespace kiln

template <GemmWmmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks) gemm_wmma(const kiln::GemmArgs args) {
  static_assert(sizeof(A) == 2 && sizeof(B) == 2, "gemm_wmma takes 16-bit operands");
  static_assert(sizeof(Acc) == 4, "gemm_wmma accumulates in float");
  static_assert(C.tile_m % C.warp_m == 0 && C.tile_n % C.warp_n == 0, "Warps must tile the block");
  static_assert(C.warp_m % C.frag_m == 0 && C.warp_n % C.frag_n == 0,
                "Fragments must tile the warp's share");
  static_assert(C.frag_m * C.frag_n == 256, "The WMMA shapes are 8x32, 16x16 and 32x8");
  static_assert(C.tile_k % 16 == 0, "A stage must be whole steps of the tensor core");
  static_assert(C.a_stride % 8 == 0 && C.b_stride % 8 == 0,
                "WMMA needs shared rows that are multiples of 16 bytes");
  static_assert(C.copy == 0 ? C.stages <= 2 : C.stages >= 2,
                "Register copies use one or two stages, background copies at least two");
  using namespace kiln;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  A* stages = reinterpret_cast<A*>(shared_memory);

  const TilePlace place =
      grouped_tile(blockIdx.x, ceil_div(args.m, C.tile_m), ceil_div(args.n, C.tile_n), C.group_m);
  const int row = place.row * C.tile_m;
  const int col = place.col * C.tile_n;
  const int warp_index = static_cast<int>(threadIdx.x) / 32;
  constexpr int kWarpsPerRow = C.tile_n / C.warp_n;
  const int warp_row = warp_index / kWarpsPerRow;
  const int warp_col = warp_index % kWarpsPerRow;

  const A* a = static_cast<const A*>(args.a) + (C.a_transposed ? row : row * args.lda);
  const B* b = static_cast<const B*>(args.b) + (C.b_transposed ? col * args.ldb : col);
  WmmaCopyA<C, A> copy_a(a, args.lda, C.a_transposed ? args.k : args.m - row,
                         C.a_transposed ? args.m - row : args.k);
  WmmaCopyB<C, B> copy_b(b, args.ldb, C.b_transposed ? args.n - col : args.k,
                         C.b_transposed ? args.k : args.n - col);
  WarpTile<C, A> warp(warp_row, warp_col);

  const int tiles = ceil_div(args.k, C.tile_k);
  if constexpr (C.copy == 1) {
    run_async_ring<C>(warp, copy_a, copy_b, stages, tiles);
  } else if constexpr (C.stages == 1) {
    run_single_buffer<C>(warp, copy_a, copy_b, stages, tiles);
  } else {
    run_double_buffer<C>(warp, copy_a, copy_b, stages, tiles);
  }

  // The results take the place of the tiles, once every warp has read the last of them.
  __syncthreads();
  float* slab = reinterpret_cast<float*>(shared_memory) + warp_index * C.result_elements;
  store_tile<C, A, CIn, D>(args, warp, slab, row + warp_row * C.warp_m, col + warp_col * C.warp_n);
}
