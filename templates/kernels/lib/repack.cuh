// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Repacking: operands that the fast copies can't take as they are go to the workspace first, as
/// matrices whose rows all start on 128 bytes, the lines of the caches. That takes one pass over
/// each, next to nothing where every element is multiplied thousands of times:
///
///     rows of 4097 16-bit elements           in the workspace, rows of 4160
///     +-----------------+                    +-----------------+--+
///     +-----------------+  -- chunk by -->   +-----------------+--+   what the last line of a row
///      +-----------------+    chunk          +-----------------+--+   lacks is zero
///
/// Elements that lie across k are transposed on the way where nothing does it later: those of 8
/// bits for mma.sync, all but 16-bit ones for wgmma.
///
/// The workspace begins with the parts of split-K, if k is split (split_k.cuh); then come A and B.

#include "common/annotations.cuh"
#include "common/arithmetic.cuh"
#include "common/gemm_args.cuh"
#include "common/overlap.cuh"
#include "lib/chunk_load.cuh"
#include "lib/split_k.cuh"

/// Which operands are repacked.
enum class Repack { none, a, b, both };

/// Templates that use this define `packs_k_major`: whether their MMA takes an operand of these
/// types only K-major.
struct RepackConfig {   //@ config
  Repack repack;        //@ tune none* a b both   // operands first copied to aligned rows
  int repack_a;         //@ let repack.a || repack.both
  int repack_b;         //@ let repack.b || repack.both
  int given_k_major_a;  //@ let trans_a == 0
  int given_k_major_b;  //@ let trans_b == 1
  int k_major_a;        //@ let given_k_major_a == 1 || repack_a == 1 && packs_k_major == 1
  int k_major_b;        //@ let given_k_major_b == 1 || repack_b == 1 && packs_k_major == 1
  int given_a;          //@ let max(1, min(16, align_a) / a_bytes)   // elements of one load
  int given_b;          //@ let max(1, min(16, align_b) / b_bytes)
};
// In the workspace: chunks of 16 bytes in rows of whole lines, behind the parts of split-K.
//@ let packed_ld_a = repack_a * round_up(k_major_a == 1 ? k : m, 128 / a_bytes)
//@ let packed_ld_b = repack_b * round_up(k_major_b == 1 ? k : n, 128 / b_bytes)
//@ let chunks_a = (k_major_a == 1 ? m : k) * packed_ld_a * a_bytes / 16
//@ let chunks_b = (k_major_b == 1 ? n : k) * packed_ld_b * b_bytes / 16
//@ let packed_a_at = repack_a == 1 ? parts_bytes : -1   // bytes
//@ let packed_b_at = repack_b == 1 ? parts_bytes + 16 * chunks_a : -1
//@ let repack_blocks = ceil_div(chunks_a, 1024) + ceil_div(chunks_b, 1024)

namespace kiln {

/// An operand, op(X) having `across` rows (of A; columns of B) and depth k.
template <class T>
struct Operand {
  const T* source;
  long long ld;
  int across;
  int depth;
  bool k_major;        ///< as given
  bool packs_k_major;  ///< in the workspace, in any case

  KILN_HD static constexpr int vec() { return 16 / static_cast<int>(sizeof(T)); }
  /// In the workspace.
  KILN_DEVICE bool packed_k_major() const { return k_major || packs_k_major; }
  KILN_DEVICE int packed_rows() const { return packed_k_major() ? across : depth; }
  KILN_DEVICE int chunks_of_row() const {
    return ceil_div(packed_k_major() ? depth : across, 8 * vec()) * 8;
  }
  KILN_DEVICE long long packed_ld() const { return chunks_of_row() * (vec() * 1LL); }
  KILN_DEVICE long long packed_elements() const { return packed_rows() * packed_ld(); }
  KILN_DEVICE unsigned packed_chunks() const {
    return static_cast<unsigned>(packed_rows()) * static_cast<unsigned>(chunks_of_row());
  }
};

struct RepackPlan {
  bool a;  ///< which operands are repacked
  bool b;
  bool k_major_a;  ///< as given
  bool k_major_b;
  int aligned_a;  ///< elements that their rows are aligned to as given
  int aligned_b;
  bool packs_k_major;  ///< whether both are K-major in the workspace
};

/// Of a configuration with RepackConfig as a base.
template <auto kConfig>
KILN_HD constexpr RepackPlan repack_plan() {
  return {kConfig.repack_a != 0,        kConfig.repack_b != 0, kConfig.given_k_major_a != 0,
          kConfig.given_k_major_b != 0, kConfig.given_a,       kConfig.given_b,
          kConfig.packs_k_major != 0};
}

template <RepackPlan kPlan, class T>
KILN_DEVICE Operand<T> given_a(const GemmArgs& args) {
  return {static_cast<const T*>(args.a),
          args.lda,
          args.m,
          args.k,
          kPlan.k_major_a,
          kPlan.packs_k_major};
}
template <RepackPlan kPlan, class T>
KILN_DEVICE Operand<T> given_b(const GemmArgs& args) {
  return {static_cast<const T*>(args.b),
          args.ldb,
          args.n,
          args.k,
          kPlan.k_major_b,
          kPlan.packs_k_major};
}

/// Where repacked operands begin: after so many parts.
template <class T, class Acc>
KILN_DEVICE T* packed_operands(const GemmArgs& args, int parts) {
  const long long first = parts * (args.m * (1LL * part_stride<Acc>(args.n)));
  return reinterpret_cast<T*>(static_cast<Acc*>(args.workspace) + first);
}

/// The gemm with those operands that are repacked in place of the given ones.
template <RepackPlan kPlan, class T, class Acc>
KILN_DEVICE GemmArgs with_packed_operands(GemmArgs args, int parts) {
  const T* packed = packed_operands<T, Acc>(args, parts);
  if constexpr (kPlan.a) {
    const auto a = given_a<kPlan, T>(args);
    args.a = packed;
    args.lda = a.packed_ld();
    packed += a.packed_elements();
  }
  if constexpr (kPlan.b) {
    const auto b = given_b<kPlan, T>(args);
    args.b = packed;
    args.ldb = b.packed_ld();
  }
  return args;
}

/// Chunks of 16 bytes that come to a thread, 1024 to a block of 256 threads.
constexpr int kRepackChunks = 4;

/// Block `block` of those that copy an operand whose rows keep their direction, the threads of a
/// warp side by side.
template <int kThreads, int kAligned, class T>
KILN_DEVICE void repack_rows(const Operand<T>& operand, T* to, unsigned block) {
  constexpr int kVec = Operand<T>::vec();
  using Load = ChunkLoad<T, kVec, kAligned>;
  const auto per_row = static_cast<unsigned>(operand.chunks_of_row());
  const int cols = operand.k_major ? operand.depth : operand.across;
  const unsigned first = block * (kThreads * kRepackChunks) + threadIdx.x;
  typename Load::Loaded loaded[kRepackChunks];
  bool odd[kRepackChunks];
#pragma unroll
  for (int i = 0; i < kRepackChunks; ++i) {
    const unsigned chunk = first + i * kThreads;
    const auto row = static_cast<int>(chunk / per_row);
    const int col = static_cast<int>(chunk % per_row) * kVec;
    const T* source = operand.source + row * operand.ld + col;
    odd[i] = Load::is_odd(source);
    const int count = row < operand.packed_rows() ? max(min(cols - col, kVec), 0) : 0;
    Load::load(loaded[i], source, count, odd[i]);
  }
#pragma unroll
  for (int i = 0; i < kRepackChunks; ++i) {
    const unsigned chunk = first + i * kThreads;
    if (static_cast<int>(chunk / per_row) >= operand.packed_rows()) continue;
    reinterpret_cast<typename Load::Vector*>(to)[chunk] = Load::joined(loaded[i], odd[i]);
  }
}

/// Elements of k and across of a tile that is transposed.
constexpr int kRepackTile = 64;

/// Block `block` of `blocks` that transpose an operand, tile by tile along k:
///
///     memory: rows across k          workspace: rows along k, in chunks of 16 bytes
///          64 across                     64 of k
///     k 0  b b b b ...               0  |0 ... 15|16 ... |  |  |
///       1  b b b b ...               1  |        |       |  |  |
///       ...                              ...
///
/// A thread reads every fourth row of the tile, and writes chunks, each from a column of the tile.
/// A warp reads 32 neighbours of a row of the tile: as many words or fewer, no conflict.
template <int kThreads, class T>
KILN_DEVICE void repack_transposed(const Operand<T>& operand, T* to, unsigned block,
                                   unsigned blocks) {
  static_assert(kThreads % kRepackTile == 0, "Threads take columns");
  constexpr int kVec = Operand<T>::vec();
  constexpr int kStride = kRepackTile + 4 / static_cast<int>(sizeof(T));
  constexpr int kRowsPerPass = kThreads / kRepackTile;
  __shared__ T tile[kRepackTile * kStride];
  const auto ld = static_cast<int>(operand.packed_ld());
  const auto deep = static_cast<unsigned>(ceil_div(ld, kRepackTile));
  const unsigned tiles = deep * static_cast<unsigned>(ceil_div(operand.across, kRepackTile));
  const int x = static_cast<int>(threadIdx.x) % kRepackTile;
  const int first_row = static_cast<int>(threadIdx.x) / kRepackTile;
  for (unsigned at = block; at < tiles; at += blocks) {
    const int first_k = static_cast<int>(at % deep) * kRepackTile;
    const int across = static_cast<int>(at / deep) * kRepackTile + x;
#pragma unroll
    for (int row = first_row; row < kRepackTile; row += kRowsPerPass) {
      const int z = first_k + row;
      const bool exists = z < operand.depth && across < operand.across;
      tile[row * kStride + x] = exists ? operand.source[z * operand.ld + across] : T{};
    }
    __syncthreads();
    for (int chunk = first_row; chunk < kRepackTile / kVec; chunk += kRowsPerPass) {
      const int z = first_k + chunk * kVec;
      if (across >= operand.across || z >= ld) continue;
      alignas(16) T column[kVec];
#pragma unroll
      for (int i = 0; i < kVec; ++i) column[i] = tile[(chunk * kVec + i) * kStride + x];
      *reinterpret_cast<uint4*>(to + across * operand.packed_ld() + z) =
          *reinterpret_cast<const uint4*>(column);
    }
    __syncthreads();
  }
}

template <int kThreads>
KILN_DEVICE unsigned repack_blocks(unsigned chunks) {
  return (chunks - 1) / (kThreads * kRepackChunks) + 1;
}

/// Block `block` of those that repack an operand, of which there are repack_blocks().
template <int kThreads, bool kTransposes, int kAligned, class T>
KILN_DEVICE void repack(const Operand<T>& operand, T* to, unsigned block) {
  if constexpr (kTransposes) {
    repack_transposed<kThreads>(operand, to, block,
                                repack_blocks<kThreads>(operand.packed_chunks()));
  } else {
    repack_rows<kThreads, kAligned>(operand, to, block);
  }
}

/// The kernel: the first blocks repack A, the others B. What multiplies may begin at once, and wait
/// with its barriers ready: it takes little that these blocks want, if it fills the GPU anyway.
template <RepackPlan kPlan, int kThreads, class A, class B, class Acc>
KILN_DEVICE void repack_operands(const GemmArgs& args, int parts) {
  wait_for_previous_launch();
  let_next_launch_begin();
  A* to = packed_operands<A, Acc>(args, parts);
  unsigned block = blockIdx.x;
  if constexpr (kPlan.a) {
    const auto a = given_a<kPlan, A>(args);
    const unsigned blocks = repack_blocks<kThreads>(a.packed_chunks());
    if (block < blocks) {
      repack<kThreads, kPlan.packs_k_major && !kPlan.k_major_a, kPlan.aligned_a>(a, to, block);
      return;
    }
    block -= blocks;
    to += a.packed_elements();
  }
  if constexpr (kPlan.b) {
    repack<kThreads, kPlan.packs_k_major && !kPlan.k_major_b, kPlan.aligned_b>(
        given_b<kPlan, B>(args), reinterpret_cast<B*>(to), block);
  }
}

}  // namespace kiln
