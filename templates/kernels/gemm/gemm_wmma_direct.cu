// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_wmma_direct
//@ purpose    The first step with tensor cores: one warp, one fragment, straight from memory.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm >= 75
//@ priority   -20   // teaches: each fragment is read again for every other
//@ types      a=f16|bf16 b=a c=a d=a acc=f32
//@ types      a=f16|bf16|tf32 b=a c=f32 d=f32 acc=f32
//@ types      a=f16 b=a c=a d=a acc=f16
//@ types      a=s8|u8 b=a c=s32|f16|bf16|f32|s8|u8 d=c acc=s32
//@ types      a=s4|u4|b1|b1_xor b=a c=s32 d=s32 acc=s32
//@ types      a=f64 b=a c=a d=a acc=f64

/// \file
/// D = alpha op(A) op(B) + beta C with the fewest words that reach the tensor cores: a warp owns
/// one fragment of D and walks along k, 32 bytes at a time; each step loads a fragment of A and one
/// of B from global memory and multiplies them.
///
///                      B +----+ 32 bytes of k
///                        | b  |
///                        +----+
///                        | :  |
///     A +----+----+-     +----+
///       | a  | .. | ...  | D  | frag_m x frag_n: one warp, the only one of its block
///       +----+----+-     +----+
///
/// WMMA takes fragments whose rows start on 16 bytes and whose first element is on 32. Rows are a
/// requirement. Fragments that hang over the matrix, begin between two multiples of 32 bytes, or
/// have rows too far apart for WMMA's 32 bits, are first copied to shared memory, with zeros for
/// what does not exist:
///
///     +--------+--------+---+
///     | direct | direct | s |      s: staged
///     +--------+--------+---+
///     |   s    |   s    | s |
///     +--------+--------+---+
///
/// Limits. Nothing is used twice: every fragment of A is read for each fragment of D beside it, and
/// the warp waits for each. gemm_wmma shares tiles between warps and loads ahead.

#include "common/arithmetic.cuh"
#include "common/element.cuh"
#include "common/gemm_args.cuh"
#include "common/operands.cuh"
#include "lib/atom_wmma.cuh"
#include "lib/output.cuh"
#include "lib/panel.cuh"

//@ use        common/operands.cuh   // k_major_a, k_major_b
struct GemmWmmaDirectConfig : OperandsConfig {  //@ config
  int frag_m;       //@ tune 8 16* 32   // WMMA shape: 8x32, 16x16 or 32x8; or 8x8
  int frag_is_8x8;  //@ let a_bytes == 8 || a_packed > 1   // f64, 4 bits, 1 bit
  int frag_n;       //@ let frag_is_8x8 == 1 ? 8 : 256 / frag_m
  int frag_k;       //@ let 32 / a_bytes
};

//@ require    a_type != type.bf16 && a_type != type.tf32 && a_type != type.f64 || device.sm >= 80
//@ require    min(align_a, align_b) >= 16       // WMMA wants rows that start on 16 bytes
//@ require    a_type != type.tf32 || frag_m == 16   // the one shape of tf32
//@ require    frag_is_8x8 == 0 || frag_m == 8       // likewise
//@ require    a_packed == 1 || k % a_packed == 0 && trans_a == 0 && trans_b == 1   // whole bytes
//@ require    a_type != type.b1 || device.sm >= 80   // older ones have only b1_xor
//@ require    trans_a == 0 || frag_m * a_bytes >= min(32, 16 * a_bytes)   // rows of 32 bytes, or
//@ require    trans_b == 1 || frag_n * a_bytes >= min(32, 16 * a_bytes)   // of 16 8-bit elements
//@ require    frag_n * acc_bytes >= 32
//@ require    ceil_div(m, frag_m) * ceil_div(n, frag_n) <= 2147483647   // one-dimensional grid
//@ launch     gemm_wmma_direct
//@   grid     ceil_div(m, frag_m) * ceil_div(n, frag_n)
//@   block    32

/// A fragment of a panel, `depth` elements after its first; `stage` has room for the fragment.
template <class Fragment, kiln::TileShape kTile, class T>
KILN_DEVICE void load_fragment(Fragment& fragment, const kiln::Panel<T>& panel, int depth,
                               T* stage) {
  constexpr int kAcross = kTile.across;
  constexpr int kDepth = kTile.depth;
  constexpr int kLength = kTile.cols();
  constexpr bool kDepthContiguous = kTile.k_major;
  const T* from = panel.origin + depth * (kDepthContiguous ? 1 : panel.ld);
  constexpr long long kFarthest = 0x7fffffff / 32 / static_cast<int>(sizeof(T));
  const bool whole = panel.across() >= kAcross && panel.depth - depth >= kDepth;
  const bool aligned = reinterpret_cast<unsigned long long>(from) % 32 == 0;
  if (whole && aligned && panel.ld <= kFarthest) {
    fragment.load(from, static_cast<int>(panel.ld));
    return;
  }
  __syncwarp();  // the fragment before this one has been read
  for (int i = static_cast<int>(threadIdx.x); i < kAcross * kDepth; i += 32) {
    const int row = i / kLength;
    const int col = i % kLength;
    const int across = kDepthContiguous ? row : col;
    const int along = kDepthContiguous ? col : row;
    const bool exists = across < panel.across() && depth + along < panel.depth;
    stage[i] = exists ? from[row * panel.ld + col] : T{};
  }
  __syncwarp();
  fragment.load(stage, kLength);
}

template <GemmWmmaDirectConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(32) gemm_wmma_direct(const kiln::GemmArgs args) {
  static_assert(kiln::kSameType<A, B>, "Both operands have one type");
  using namespace kiln;
  constexpr TileShape kTileA{C.frag_m, C.frag_k, C.k_major_a != 0};
  constexpr TileShape kTileB{C.frag_n, C.frag_k, C.k_major_b != 0};
  using Atom = AtomWmma<A, Acc, WmmaShape{C.frag_m, C.frag_n}, kTileA.k_major, kTileB.k_major>;
  __shared__ __align__(128) A stage_a[C.frag_m * C.frag_k];
  __shared__ __align__(128) A stage_b[C.frag_n * C.frag_k];
  __shared__ __align__(128) Acc result[C.frag_m * C.frag_n];

  const int fragments_n = ceil_div(args.n, C.frag_n);
  const int row = static_cast<int>(blockIdx.x) / fragments_n * C.frag_m;
  const int col = static_cast<int>(blockIdx.x) % fragments_n * C.frag_n;
  const auto a = panel_of_a<C.k_major_a == 0, A>(args, row);
  const auto b = panel_of_b<C.k_major_b != 0, A>(args, col);

  typename Atom::FragmentA fragment_a;
  typename Atom::FragmentB fragment_b;
  typename Atom::Accumulator sum;
  Atom::clear(sum);
  for (int depth = 0; depth < a.depth; depth += C.frag_k) {
    load_fragment<typename Atom::FragmentA, kTileA>(fragment_a, a, depth, stage_a);
    load_fragment<typename Atom::FragmentB, kTileB>(fragment_b, b, depth, stage_b);
    Atom::multiply(sum, fragment_a, fragment_b);
  }

  // Only the hardware knows which lane has which sum; in shared memory they are rows again.
  Atom::store(sum, result, C.frag_n);
  __syncwarp();
  const Output<CIn, D, Acc, true> output(args);
  for (int i = static_cast<int>(threadIdx.x); i < C.frag_m * C.frag_n; i += 32) {
    const int to_row = row + i / C.frag_n;
    const int to_col = col + i % C.frag_n;
    if (to_row >= args.m || to_col >= args.n) continue;
    output.store(to_row, to_col, output.scaled(result[i]), output.alpha(), output.beta());
  }
}
