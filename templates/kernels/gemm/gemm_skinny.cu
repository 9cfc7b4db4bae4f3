// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_skinny
//@ purpose    Few rows or columns of D: the large operand streams from memory to the tensor cores.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 80
//@ priority   140   // for few rows or columns only
//@ types      a=f16|bf16 b=a c=a|f32 d=c acc=f32

/// \file
/// D = alpha op(A) op(B) + beta C where one of m and n is small, as in a layer that serves a few
/// tokens: the large operand (the weights) is read once, and how fast memory gives it is all that
/// counts. So each lane copies just the chunks that mma.sync wants of it into a ring of its own
/// (lib/lane_ring.cuh): tens of kilobytes are always on their way to each multiprocessor, and no
/// warp waits for another.
///
///       weights, 16 rows, 32 of k             tokens, 8 rows, 32 of k
///       +-----------------------+             +-----------------------+
///     g | t=0 | t=1 | t=2 | t=3 |           g | t=0 | t=1 | t=2 | t=3 |     lane 4 g + t loads
///       +-----------------------+             +-----------------------+     16 bytes: 8 of k
///   g+8 | t=0 | t=1 | t=2 | t=3 |
///       +-----------------------+
///
/// mma.sync adds up over k in any order, as long as both operands have the same. So the four words
/// that a lane loads are simply its words of two products of 16 along k, for weights and tokens.
///
/// The warps of a block share 16 * row_tiles rows of the weights and take turns along k, `unroll`
/// pieces of 32 at a time, of which `slots - 1` are in flight in each. The tokens, which all blocks
/// read, come from the caches, into registers one turn ahead or through the ring. The warps' sums
/// meet in shared memory, and rows of D that are computed side by side are stored side by side.
///
/// Limits. Both operands lie along k, in rows that start on 16 bytes; at most 64 tokens.

#include "common/gemm_args.cuh"
#include "common/overlap.cuh"
#include "lib/lane_ring.cuh"
#include "lib/output.cuh"
#include "lib/ptx_matrix.cuh"
#include "lib/row_chunks.cuh"

struct GemmSkinnyConfig {  //@ config
  int tokens;              //@ tune 8* 16 32 64    // of the small extent; a multiple of 8
  int row_tiles;           //@ tune 1* 2 4         // times 16 rows of the large operand
  int warps;               //@ tune 4 8* 16        // share those rows
  int unroll;              //@ tune 1* 2 4         // pieces of 32 along k in a slot of the ring
  int slots;               //@ tune 3 4 6* 8 12    // of the ring
  bool tokens_in_ring;     //@ tune 0* 1           // and not in registers, one turn ahead
  int min_blocks;          //@ tune 1* 2           // blocks per SM that registers leave room for
  int threads;             //@ let warps * 32
  int rows;                //@ let 16 * row_tiles
  int slab_stride;         //@ let rows + 4   // of a token's sums: free of bank conflicts
  int chunks;              //@ let 2 * row_tiles + (tokens_in_ring ? tokens / 8 : 0)   // a piece
  int ring_bytes;          //@ let slots * unroll * chunks * threads * 16
  int smem_bytes;          //@ let max(ring_bytes, warps * tokens * slab_stride * acc_bytes)
};

struct GemmSkinnyLaunch {  //@ at launch
  int early;               //@ tune 0 1*   // begins while the launch before it ends
  int weights_in_a;        //@ let m > n
};

//@ require    early == 0 || device.sm >= 90
//@ require    trans_a == 0 && trans_b == 1            // both along k
//@ require    align_a >= 16 && align_b >= 16          // whole chunks
//@ require    min(m, n) <= 64                         // few
//@ require    min(m, n) <= tokens
//@ require    smem_bytes <= device.smem_optin
//@ launch     gemm_skinny
//@   grid     ceil_div(max(m, n), rows)
//@   block    threads
//@   smem     smem_bytes
//@   overlap  early

template <GemmSkinnyConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, C.min_blocks)
    gemm_skinny(const kiln::GemmArgs args, const GemmSkinnyLaunch at_launch) {
  using namespace kiln;
  wait_for_previous_launch();
  constexpr int kTokenTiles = C.tokens / 8;
  constexpr int kWeights = 2 * C.row_tiles;  // chunks of a piece
  constexpr unsigned kDepth = 32;
  const auto depth = static_cast<unsigned>(args.k);  // turns go on beyond it: int would overflow
  const bool weights_in_a = at_launch.weights_in_a != 0;
  const A* weights = static_cast<const A*>(weights_in_a ? args.a : args.b);
  const A* tokens = static_cast<const A*>(weights_in_a ? args.b : args.a);
  const long long ld_weights = weights_in_a ? args.lda : args.ldb;
  const long long ld_tokens = weights_in_a ? args.ldb : args.lda;
  const int rows = weights_in_a ? args.m : args.n;
  const int token_count = weights_in_a ? args.n : args.m;

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int first_row = static_cast<int>(blockIdx.x) * C.rows;
  // Rows beyond the end repeat the last one; what comes of them is not stored.
  const A* weight_rows[kWeights];
#pragma unroll
  for (int i = 0; i < kWeights; ++i) {
    weight_rows[i] = weights + min(first_row + lane / 4 + 8 * i, rows - 1) * ld_weights;
  }
  const A* token_rows[kTokenTiles];
#pragma unroll
  for (int j = 0; j < kTokenTiles; ++j) {
    token_rows[j] = tokens + min(lane / 4 + 8 * j, token_count - 1) * ld_tokens;
  }

  extern __shared__ __align__(16) unsigned char shared_memory[];
  LaneRing<C.slots, C.unroll * C.chunks, C.threads> ring(reinterpret_cast<uint4*>(shared_memory));
  constexpr unsigned kTurn = C.warps * C.unroll;  // pieces of all warps
  const auto start_chunks = [&](unsigned piece) {
    const unsigned first = piece * kDepth + lane % 4 * 8;
    const bool whole = (piece + C.unroll) * kDepth <= depth;
#pragma unroll
    for (int u = 0; u < C.unroll; ++u) {
      const unsigned k = first + u * kDepth;
      if (piece * kDepth >= depth) continue;
#pragma unroll
      for (int i = 0; i < C.chunks; ++i) {
        const A* from = i < kWeights ? weight_rows[i] : token_rows[i - kWeights];
        if (whole) {
          ring.start(u * C.chunks + i, from + k);
        } else {
          const int left = k < depth ? static_cast<int>(min(depth - k, 8U)) : 0;
          ring.start(u * C.chunks + i, from + (left > 0 ? k : 0),
                     left * static_cast<int>(sizeof(A)));
        }
      }
    }
    ring.close_slot();
  };
  constexpr int kHeld = C.tokens_in_ring ? 1 : C.unroll;  // pieces of the tokens in registers
  uint4 next_tokens[kHeld][kTokenTiles];
  const auto load_tokens = [&](unsigned piece) {
    if constexpr (C.tokens_in_ring) return;
#pragma unroll
    for (int u = 0; u < kHeld; ++u) {
      const unsigned k = (piece + u) * kDepth + lane % 4 * 8;
#pragma unroll
      for (int j = 0; j < kTokenTiles; ++j) {
        next_tokens[u][j] = load_chunk<Reuse::likely>(token_rows[j], k, depth);
      }
    }
  };

  Acc sums[C.row_tiles][kTokenTiles][4] = {};
  unsigned piece = static_cast<unsigned>(warp) * C.unroll;
#pragma unroll
  for (int slot = 0; slot < C.slots - 1; ++slot) start_chunks(piece + slot * kTurn);
  load_tokens(piece);
  for (; piece * kDepth < depth; piece += kTurn) {
    uint4 tokens_now[kHeld][kTokenTiles];
    if constexpr (!C.tokens_in_ring) {
#pragma unroll
      for (int u = 0; u < kHeld; ++u) {
#pragma unroll
        for (int j = 0; j < kTokenTiles; ++j) tokens_now[u][j] = next_tokens[u][j];
      }
    }
    load_tokens(piece + kTurn);
    ring.wait();
#pragma unroll
    for (int u = 0; u < C.unroll; ++u) {
      if constexpr (C.tokens_in_ring) {
#pragma unroll
        for (int j = 0; j < kTokenTiles; ++j) {
          tokens_now[0][j] = ring.chunk(u * C.chunks + kWeights + j);
        }
      }
#pragma unroll
      for (int i = 0; i < C.row_tiles; ++i) {
        const uint4 upper = ring.chunk(u * C.chunks + 2 * i);
        const uint4 lower = ring.chunk(u * C.chunks + 2 * i + 1);
#pragma unroll
        for (int j = 0; j < kTokenTiles; ++j) {
          const uint4 b = tokens_now[u % kHeld][j];
          mma(sums[i][j], {upper.x, lower.x, upper.y, lower.y}, b.x, b.y, TypeTag<A>{},
              TypeTag<A>{});
          mma(sums[i][j], {upper.z, lower.z, upper.w, lower.w}, b.z, b.w, TypeTag<A>{},
              TypeTag<A>{});
        }
      }
    }
    ring.release();
    start_chunks(piece + (C.slots - 1) * kTurn);
  }
  let_next_launch_begin();
  wait_async_groups<0>();
  __syncthreads();  // the sums take the place of the rings

  // slab[warp][token][row]: lanes that store neighbours read neighbours.
  Acc* slab = reinterpret_cast<Acc*>(shared_memory);
  constexpr int kStride = C.slab_stride;
#pragma unroll
  for (int i = 0; i < C.row_tiles; ++i) {
#pragma unroll
    for (int j = 0; j < kTokenTiles; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = 16 * i + lane / 4 + 8 * (e / 2);
        const int token = 8 * j + lane % 4 * 2 + e % 2;
        slab[(warp * C.tokens + token) * kStride + row] = sums[i][j][e];
      }
    }
  }
  __syncthreads();
  const Output<CIn, D, Acc, true> output(args);
  for (int at = static_cast<int>(threadIdx.x); at < C.rows * token_count; at += C.threads) {
    const int row = first_row + at % C.rows;
    const int token = at / C.rows;
    if (row >= rows) continue;
    Acc sum = 0;
#pragma unroll
    for (int w = 0; w < C.warps; ++w) {
      sum += slab[(w * C.tokens + token) * kStride + at % C.rows];
    }
    output.store(weights_in_a ? row : token, weights_in_a ? token : row, sum, output.alpha(),
                 output.beta());
  }
}
