// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Split-K: where D has too few tiles for all multiprocessors, several blocks share a tile, each
/// with its part of k, and a second kernel adds up what they leave in the workspace:
///
///          k, in `splits` parts of k_each           workspace: `splits` matrices like D,
///        +-------+-------+-------+                  in the accumulator's type
///     A  | 0     | 1     | 2     |   --block 0-->   +-----+  \
///        +-------+-------+-------+   --block 1-->   +-----+   > sum_parts, in this order  -->  D
///                                    --block 2-->   +-----+  /
///
/// The order of the sum is fixed, so the result is the same bit for bit in every run.

#include "common/epilogue.cuh"
#include "common/gemm_args.cuh"
#include "common/overlap.cuh"
#include "lib/output.cuh"

struct SplitKConfig {  //@ config
  int vec_part;        //@ let 16 / acc_bytes       // elements of one access to the workspace
  int vec_sum;         //@ let min(vec_part, vec_d)   // likewise in the second launch
};
struct SplitKLaunch {  //@ at launch
  int splits;          //@ tune 1* 2 3 4 6 8 12 16 24 32 48 64   // parts of k
};
// Templates that use this define `parts`: how many are in the workspace, 0 if k is not split.
//@ let parts_bytes = parts * m * round_up(n, vec_part) * acc_bytes
//@ let sum_blocks = ceil_div(m * ceil_div(n, vec_sum), parts > 4 ? 32 : 128)   // of 128 threads

namespace kiln {

/// Elements of a row of a part, so that every row starts on 16 bytes.
template <class Acc>
KILN_DEVICE int part_stride(int cols) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(Acc));
  return (cols - 1) / kVector * kVector + kVector;
}

/// Part `split` in the workspace as the D of a gemm.
template <class Acc>
KILN_DEVICE GemmArgs matrix_of_part(GemmArgs args, int split) {
  args.ldd = part_stride<Acc>(args.n);
  args.d = static_cast<Acc*>(args.workspace) + split * (args.m * args.ldd);
  return args;
}

/// What is left of a gemm for the block that computes part `split`: operands that begin at its
/// share of k (which may be empty), and a matrix of its own in the workspace instead of D.
template <bool kTransposedA, bool kTransposedB, class A, class B, class Acc>
KILN_DEVICE GemmArgs part_of_gemm(GemmArgs args, int split, int k_each) {
  const long long first = static_cast<long long>(split) * k_each;
  args.a = static_cast<const A*>(args.a) + (kTransposedA ? first * args.lda : first);
  args.b = static_cast<const B*>(args.b) + (kTransposedB ? first : first * args.ldb);
  const long long left = args.k - first;
  args.k = static_cast<int>(left < 0 ? 0 : left < k_each ? left : k_each);
  return matrix_of_part<Acc>(args, split);
}

/// A part in the workspace as an epilogue sees it: sums go there as they are, in whole vectors, for
/// which its rows have room.
template <class Acc>
class PartOutput {
 public:
  using Element = Acc;
  using Scaled = Acc;

  KILN_DEVICE explicit PartOutput(const GemmArgs& part) : part_(part) {}
  KILN_DEVICE Acc alpha() const { return Acc(1); }
  KILN_DEVICE Acc beta() const { return Acc(0); }
  KILN_DEVICE static Acc scaled(Acc sum) { return sum; }
  KILN_DEVICE int rows() const { return part_.m; }
  KILN_DEVICE int cols() const { return part_.n; }
  template <int kVecC, int kCount>
  KILN_DEVICE void store(int row, int col, const Acc (&sums)[kCount], Acc, Acc) const {
    ElementVector<Acc, kCount> to;
#pragma unroll
    for (int i = 0; i < kCount; ++i) to.element[i] = sums[i];
    *reinterpret_cast<ElementVector<Acc, kCount>*>(static_cast<Acc*>(part_.d) + row * part_.ldd +
                                                   col) = to;
  }

 private:
  const GemmArgs& part_;
};

/// The second launch, in blocks of kSumThreads: adds up the parts of all of D, kVecD neighbours of
/// a row at a time. A thread takes all parts of such a piece; or, if there are more than kSumWarps,
/// the warps of a block share out those of 32 pieces, w, w + 4, ... to warp w, so that many parts
/// are on their way at once, and the first warp adds what the four have:
///
///     ceil_div(m * ceil_div(n, kVecD), parts > 4 ? 32 : 128)     blocks
constexpr int kSumThreads = 128;
constexpr int kSumWarps = kSumThreads / 32;

template <int kVecC, int kVecD, bool kReadsC, class CIn, class D, class Acc>
KILN_DEVICE void sum_parts(const GemmArgs& args, int parts) {
  using Vector = ElementVector<Acc, kVecD>;
  constexpr int kPieceC = kVecC < kVecD ? kVecC : kVecD;
  __shared__ Vector others[kSumWarps - 1][32];
  wait_for_previous_launch();
  const bool shares = parts > kSumWarps;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = shares ? thread / 32 : 0;
  const int pieces = (args.n - 1) / kVecD + 1;
  const long long piece =
      shares ? blockIdx.x * 32LL + lane : blockIdx.x * static_cast<long long>(kSumThreads) + thread;
  const int row = static_cast<int>(piece / pieces);
  const int col = static_cast<int>(piece % pieces) * kVecD;
  Vector sum = {};
  if (row < args.m) {
    const long long ld = part_stride<Acc>(args.n);
    const Acc* first = static_cast<const Acc*>(args.workspace) + row * ld + col;
    const long long step = args.m * ld;
    const int stride = shares ? kSumWarps : 1;
#pragma unroll 8
    for (int part = warp; part < parts; part += stride) {
      const Acc* from = first + part * step;
      if (col + kVecD <= args.n) {
        const Vector vector = *reinterpret_cast<const Vector*>(from);
#pragma unroll
        for (int i = 0; i < kVecD; ++i) sum.element[i] += vector.element[i];
      } else {
#pragma unroll
        for (int i = 0; i < kVecD; ++i) {
          if (col + i < args.n) sum.element[i] += from[i];
        }
      }
    }
  }
  if (shares) {
    if (warp > 0) others[warp - 1][lane] = sum;
    __syncthreads();
    if (warp > 0) return;
#pragma unroll
    for (int other = 0; other < kSumWarps - 1; ++other) {
#pragma unroll
      for (int i = 0; i < kVecD; ++i) sum.element[i] += others[other][lane].element[i];
    }
  }
  if (row >= args.m) return;
  const Output<CIn, D, Acc, kReadsC> output(args);
  typename Output<CIn, D, Acc, kReadsC>::Scaled product[kVecD];
#pragma unroll
  for (int i = 0; i < kVecD; ++i) product[i] = output.scaled(sum.element[i]);
  output.template store<kPieceC>(row, col, product, output.alpha(), output.beta());
}

}  // namespace kiln
