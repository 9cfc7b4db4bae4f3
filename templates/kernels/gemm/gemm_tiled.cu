// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_tiled
//@ purpose    Shared-memory tiles with a zero-filled border and a register block per thread.
//@ operation  gemm
//@ arch       sm >= 75
//@ priority   100   // tiles before none
//@ types      a=f16|bf16|tf32|f32 b=a c=f32 d=f32 acc=f32
//@ types      a=f16|bf16 b=a c=a d=a acc=f32
//@ types      a=f64 b=f64 c=f64 d=f64 acc=f64
//@ types      a=s8 b=s8 c=s32 d=s32 acc=s32

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
/// Stages of each step along k: load_tile (every thread copies some elements, converted once, with
/// zeros outside the matrix, so that the arithmetic needs no edge case), barrier, compute_tile,
/// barrier. At the end store_tile writes what lies inside D.
///
/// A thread computes thread_m x thread_n elements in registers, because one shared-memory read per
/// product would be as slow as the caches were. They come in pieces of vec_m x vec_n, the pieces
/// spread over the tile, so that neighbouring threads read and write neighbouring vectors:
///
///     vec_n = 2, thread_n = 4, threads_n = 4:   t0 t0 t1 t1 t2 t2 t3 t3 | t0 t0 t1 t1 t2 t2 t3 t3
///
/// Limits. No copy overlaps with arithmetic within a block (other blocks of the multiprocessor fill
/// the gap), and global memory is read element by element. No tensor cores.

#include "common/arithmetic.cuh"
#include "common/element.cuh"
#include "common/epilogue.cuh"
#include "common/gemm_args.cuh"
#include "lib/tile_order.cuh"

struct GemmTiledConfig {  //@ config
  int tile_m;             //@ tune 16 32 64 128*   // rows of D that a block computes
  int tile_n;             //@ tune 16 32 64 128*   // columns of D that a block computes
  int tile_k;             //@ tune 8 16* 32        // depth of the tiles in shared memory
  int thread_m;           //@ tune 1 2 4 8*        // rows of D that a thread computes
  int thread_n;           //@ tune 1 2 4 8*        // columns of D that a thread computes
  int pad;                //@ tune 0 1 4*          // numbers between shared rows: bank conflicts
  int group_m;            //@ tune 1 8*            // tile rows that blocks walk down, then a column
  int min_blocks;         //@ tune 1* 2            // blocks per SM that registers leave room for
  int threads_m;          //@ let tile_m / thread_m
  int threads_n;          //@ let tile_n / thread_n
  int threads;            //@ let threads_m * threads_n
  int thread_regs;        //@ let min(device.regs_per_thread,
                          //@         device.regs_per_sm / (min_blocks * threads))
  int vec_m;              //@ let pad % 4 == 0 ? min(thread_m, 16 / acc_bytes) : 1  // of one load
  int vec_n;              //@ let pad % 4 == 0 ? min(thread_n, 16 / acc_bytes) : 1
  int a_transposed;       //@ let trans_a
  int b_transposed;       //@ let trans_b
  int a_stride;           //@ let tile_m + pad
  int b_stride;           //@ let tile_n + pad
  int a_numbers;          //@ let tile_k * a_stride
  int smem_bytes;         //@ let (a_numbers + tile_k * b_stride) * acc_bytes
};

//@ require    threads <= device.max_threads
//@ require    threads >= max(tile_m, tile_n)   // one pass loads whole lines
//@ require    smem_bytes <= device.smem_optin
//@ require    ceil_div(m, tile_m) * ceil_div(n, tile_n) <= 2147483647   // one-dimensional grid
//@ prefer     threads >= 64 && threads <= 512                           // 2 to 16 warps
//@ prefer     thread_m <= 2 * thread_n && thread_n <= 2 * thread_m      // near-square: most reuse
//@ prefer     threads_n >= 8 && threads_m >= 2                          // rows of D in wide pieces
//@ prefer     (thread_m * thread_n + thread_m + thread_n) * acc_bytes / 4 + 48 <= thread_regs
//@ prefer     threads <= min(tile_m, tile_n) * tile_k   // every thread has something to load
//@ prefer     m * n < 1048576 || thread_m * thread_n >= 16              // big: enough reuse
//@ prefer     smem_bytes <= device.smem_static                          // several blocks on an SM
//@ launch     gemm_tiled
//@   grid     ceil_div(m, tile_m) * ceil_div(n, tile_n)
//@   block    threads
//@   smem     smem_bytes
//@ cost       fp32 = acc_bytes == 8 ? 0 : tile_m * tile_n * round_up(k, tile_k)   // integers too
//@ cost       fp64 = acc_bytes == 8 ? tile_m * tile_n * round_up(k, tile_k) : 0
//@ cost       issues = round_up(k, tile_k) *
//@                     (threads * (thread_m * thread_n + thread_m / vec_m + thread_n / vec_n) +
//@                      8 * (tile_m + tile_n)) / 32   // 8 for each element loaded
//@ cost       memory = round_up(k, tile_k) *   // loads, stores along rows, stores across them
//@                     (threads * (thread_m / vec_m + thread_n / vec_n *
//@                                 max(1, min(32, threads_n) * vec_n * acc_bytes / 128)) +
//@                      2 * (tile_m * a_transposed + tile_n * (1 - b_transposed)) +
//@                      (tile_m * (1 - a_transposed) + tile_n * b_transposed) *
//@                      (32 / tile_k + (pad == 0 ? tile_k
//@                                     : max(1, pad * tile_k / 32, 32 / (pad * tile_k))))) / 32
//@ cost       l2_bytes = (tile_m + tile_n) * round_up(k, tile_k) * a_bytes
//@ cost       waits = ceil_div(k, tile_k) *   // of small elements eight travel at once
//@                    max(8, a_bytes < 4 ? (tile_m + tile_n) * tile_k / threads : 8) / 8
//@ cost       trips = ceil_div(k, tile_k)
//@ cost       registers = min(thread_regs, 56 + thread_m * thread_n * acc_bytes / 4 +
//@                        (tile_m + tile_n) * tile_k / threads * (a_bytes < 4 ? 6 : 1) / 2)

namespace kiln {

/// Copies a tile of kAcross x kDepth elements to shared memory as kDepth rows of kAcross numbers.
/// `across` and `depth` say how much of the matrix is left; beyond that there are zeros. In memory,
/// neighbours run along k when kDepthContiguous, else across. Neighbouring threads take neighbours
/// in memory; one pass of all threads takes kLines whole lines of them.
template <int kAcross, int kDepth, int kStride, int kThreads, bool kDepthContiguous, class T,
          class Acc>
KILN_DEVICE void load_tile(const T* source, long long ld, int across, int depth, Acc* tile) {
  constexpr int kLength = kDepthContiguous ? kDepth : kAcross;
  constexpr int kLines = kThreads / kLength;
  constexpr int kAllLines = kDepthContiguous ? kAcross : kDepth;
  static_assert(kThreads % kLength == 0, "A pass must take whole lines");
  const int along = static_cast<int>(threadIdx.x) % kLength;
  int line = static_cast<int>(threadIdx.x) / kLength;
  const T* from = source + line * ld + along;
#pragma unroll
  for (int pass = 0; pass < (kAllLines + kLines - 1) / kLines; ++pass) {
    if (kAllLines % kLines != 0 && line >= kAllLines) break;
    const int x = kDepthContiguous ? line : along;
    const int z = kDepthContiguous ? along : line;
    tile[z * kStride + x] = x < across && z < depth ? to_accumulator<Acc>(*from) : Acc(0);
    line += kLines;
    from += kLines * ld;
  }
}

/// Where element `i` of a thread lies along a tile's side.
template <int kVec, int kThreads>
KILN_DEVICE int spread(int thread, int i) {
  return (i / kVec * kThreads + thread) * kVec + i % kVec;
}

/// Reads a thread's share of one shared row.
template <int kCount, int kVec, int kThreads, class Acc>
KILN_DEVICE void read_share(const Acc* row, int thread, Acc (&share)[kCount]) {
  using Vector = ElementVector<Acc, kVec>;
#pragma unroll
  for (int i = 0; i < kCount; i += kVec) {
    const Vector vector = *reinterpret_cast<const Vector*>(row + spread<kVec, kThreads>(thread, i));
#pragma unroll
    for (int j = 0; j < kVec; ++j) share[i + j] = vector.element[j];
  }
}

/// Adds the product of two tiles to a thread's elements of D.
template <GemmTiledConfig C, class Acc>
KILN_DEVICE void compute_tile(const Acc* a_tile, const Acc* b_tile, int thread_row, int thread_col,
                              Acc (&sum)[C.thread_m][C.thread_n]) {
#pragma unroll
  for (int z = 0; z < C.tile_k; ++z) {
    Acc a[C.thread_m];
    Acc b[C.thread_n];
    read_share<C.thread_m, C.vec_m, C.threads_m>(a_tile + z * C.a_stride, thread_row, a);
    read_share<C.thread_n, C.vec_n, C.threads_n>(b_tile + z * C.b_stride, thread_col, b);
#pragma unroll
    for (int i = 0; i < C.thread_m; ++i) {
#pragma unroll
      for (int j = 0; j < C.thread_n; ++j) sum[i][j] += a[i] * b[j];
    }
  }
}

}  // namespace kiln

template <GemmTiledConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks) gemm_tiled(const kiln::GemmArgs args) {
  static_assert(C.tile_m % C.thread_m == 0 && C.tile_n % C.thread_n == 0,
                "Threads' shares must tile the block's tile");
  static_assert(C.thread_m % C.vec_m == 0 && C.thread_n % C.vec_n == 0,
                "A thread's share must be whole vectors");
  static_assert(C.a_stride % C.vec_m == 0 && C.b_stride % C.vec_n == 0,
                "Shared rows must start on a vector");
  using namespace kiln;

  extern __shared__ __align__(16) unsigned char shared_memory[];
  Acc* a_tile = reinterpret_cast<Acc*>(shared_memory);
  Acc* b_tile = a_tile + C.a_numbers;

  const TilePlace place =
      grouped_tile(blockIdx.x, ceil_div(args.m, C.tile_m), ceil_div(args.n, C.tile_n), C.group_m);
  const int row = place.row * C.tile_m;
  const int col = place.col * C.tile_n;
  const int thread_row = static_cast<int>(threadIdx.x) / C.threads_n;
  const int thread_col = static_cast<int>(threadIdx.x) % C.threads_n;

  const A* a = static_cast<const A*>(args.a) + (C.a_transposed ? row : row * args.lda);
  const B* b = static_cast<const B*>(args.b) + (C.b_transposed ? col * args.ldb : col);
  const long long step_a = C.a_transposed ? C.tile_k * args.lda : C.tile_k;
  const long long step_b = C.b_transposed ? C.tile_k : C.tile_k * args.ldb;

  Acc sum[C.thread_m][C.thread_n] = {};
  for (int left = args.k; left > 0; left -= C.tile_k) {
    load_tile<C.tile_m, C.tile_k, C.a_stride, C.threads, C.a_transposed == 0>(
        a, args.lda, args.m - row, left, a_tile);
    load_tile<C.tile_n, C.tile_k, C.b_stride, C.threads, C.b_transposed != 0>(
        b, args.ldb, args.n - col, left, b_tile);
    __syncthreads();
    compute_tile<C>(a_tile, b_tile, thread_row, thread_col, sum);
    __syncthreads();
    a += step_a;
    b += step_b;
  }

  const Acc alpha = static_cast<Acc>(args.alpha);
  const Acc beta = static_cast<Acc>(args.beta);
#pragma unroll
  for (int i = 0; i < C.thread_m; ++i) {
    const int to_row = row + spread<C.vec_m, C.threads_m>(thread_row, i);
    if (to_row >= args.m) continue;
#pragma unroll
    for (int j = 0; j < C.thread_n; ++j) {
      const int to_col = col + spread<C.vec_n, C.threads_n>(thread_col, j);
      if (to_col >= args.n) continue;
      store_element(sum[i][j], alpha, beta,
                    static_cast<const CIn*>(args.c) + to_row * args.ldc + to_col,
                    static_cast<D*>(args.d) + to_row * args.ldd + to_col);
    }
  }
}
