// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   cltune_gemm_kernel
//@ purpose    Tiles of C with CLTune's parameters: staging, vectors and strides for A and B apart.
//@ operation  cltune_gemm
//@ tune       MWG = 16 32 64 128   // rows of C that a block computes
//@ tune       NWG = 16 32 64 128   // columns of C that a block computes
//@ tune       KWG = 16 32          // depth of a stage
//@ tune       MDIMC = 8 16 32      // threads along the rows of C
//@ tune       NDIMC = 8 16 32      // threads along the columns of C
//@ tune       MDIMA = 8 16 32      // threads along the rows of a stage of A
//@ tune       NDIMB = 8 16 32      // threads along the columns of a stage of B
//@ tune       KWI = 2 8            // unrolling of the loop over a stage
//@ tune       VWM = 1 2 4          // width of accesses to A and C
//@ tune       VWN = 1 2 4          // width of accesses to B
//@ tune       STRM = 0 1           // whether a thread's vectors of A lie apart
//@ tune       STRN = 0 1           // whether a thread's vectors of B lie apart
//@ tune       SA = 0 1             // whether A is staged in shared memory
//@ tune       SB = 0 1             // whether B is staged in shared memory
//@ tune       PRECISION = 32
//@ require    KWG % KWI == 0
//@ require    MWG % (MDIMC * VWM) == 0
//@ require    NWG % (NDIMC * VWN) == 0
//@ require    MWG % (MDIMA * VWM) == 0
//@ require    NWG % (NDIMB * VWN) == 0
//@ require    KWG % ((MDIMC * NDIMC) / MDIMA) == 0
//@ require    KWG % ((MDIMC * NDIMC) / NDIMB) == 0
//@ require    MDIMC * NDIMC <= device.max_threads
//@ require    m % MWG == 0   // only whole tiles
//@ require    n % NWG == 0
//@ require    k % KWG == 0
//@ launch     cltune_gemm
//@   grid     m / MWG, n / NWG
//@   block    MDIMC, NDIMC
//@   args     m, n, k, a, b, c

#define threads (MDIMC * NDIMC)
#define packs_m (MWG / MDIMC / VWM)  // vectors of a thread along the rows of C
#define packs_n (NWG / NDIMC / VWN)

/// As many floats as one access moves.
template <int width>
struct alignas(4 * width) Pack {
  float item[width];
};
typedef Pack<VWM> PackM;
typedef Pack<VWN> PackN;

/// The vector of a tile that is number `i` of the thread `lane`, of `lanes` that have `each`.
template <bool strided>
__device__ __forceinline__ int place(int lane, int lanes, int i, int each) {
  return strided ? lane + i * lanes : lane * each + i;
}

/// KWG rows of `across` floats each to shared memory; `dim` threads share a row.
template <int across, int dim, bool strided, class P>
__device__ __forceinline__ void stage(P* to, const float* from, int pitch, int thread) {
  const int width = sizeof(P) / sizeof(float);
  const int each = across / dim / width;  // vectors of a thread in a row
  const int lane = thread % dim;
#pragma unroll
  for (int row = 0; row < KWG; row += threads / dim) {
    const int depth = row + thread / dim;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int at = place<strided>(lane, dim, i, each);
      to[depth * (across / width) + at] =
          *reinterpret_cast<const P*>(from + depth * (size_t)pitch + at * width);
    }
  }
}

/// C^T = B^T A: A is k x m, B is k x n and C is n x m, all row-major.
extern "C" __global__ void __launch_bounds__(threads)
    cltune_gemm(int m, int n, int k, const float* a, const float* b, float* c) {
#if SA == 1
  __shared__ PackM staged_a[KWG * MWG / VWM];
#endif
#if SB == 1
  __shared__ PackN staged_b[KWG * NWG / VWN];
#endif
  a += blockIdx.x * MWG;
  b += blockIdx.y * NWG;
  c += blockIdx.y * NWG * (size_t)m + blockIdx.x * MWG;

  float sum[packs_n * VWN][packs_m * VWM];
#pragma unroll
  for (int j = 0; j < packs_n * VWN; ++j) {
#pragma unroll
    for (int i = 0; i < packs_m * VWM; ++i) sum[j][i] = 0.0f;
  }

  for (int from = 0; from < k; from += KWG) {
#if SA == 1
    stage<MWG, MDIMA, STRM == 1>(staged_a, a, m, threadIdx.y * MDIMC + threadIdx.x);
#endif
#if SB == 1
    stage<NWG, NDIMB, STRN == 1>(staged_b, b, n, threadIdx.y * MDIMC + threadIdx.x);
#endif
#if SA == 1 || SB == 1
    __syncthreads();
#endif
    for (int step = 0; step < KWG; step += KWI) {
#pragma unroll
      for (int part = 0; part < KWI; ++part) {
        const int depth = step + part;
        PackM of_a[packs_m];
        PackN of_b[packs_n];
#pragma unroll
        for (int i = 0; i < packs_m; ++i) {
          const int at = place<STRM == 1>(threadIdx.x, MDIMC, i, packs_m);
#if SA == 1
          of_a[i] = staged_a[depth * (MWG / VWM) + at];
#else
          of_a[i] = *reinterpret_cast<const PackM*>(a + depth * (size_t)m + at * VWM);
#endif
        }
#pragma unroll
        for (int j = 0; j < packs_n; ++j) {
          const int at = place<STRN == 1>(threadIdx.y, NDIMC, j, packs_n);
#if SB == 1
          of_b[j] = staged_b[depth * (NWG / VWN) + at];
#else
          of_b[j] = *reinterpret_cast<const PackN*>(b + depth * (size_t)n + at * VWN);
#endif
        }
#pragma unroll
        for (int j = 0; j < packs_n * VWN; ++j) {
#pragma unroll
          for (int i = 0; i < packs_m * VWM; ++i) {
            sum[j][i] += of_a[i / VWM].item[i % VWM] * of_b[j / VWN].item[j % VWN];
          }
        }
      }
    }
#if SA == 1 || SB == 1
    __syncthreads();
#endif
    a += KWG * (size_t)m;
    b += KWG * (size_t)n;
  }

#pragma unroll
  for (int j = 0; j < packs_n * VWN; ++j) {
    const int column = place<STRN == 1>(threadIdx.y, NDIMC, j / VWN, packs_n) * VWN + j % VWN;
#pragma unroll
    for (int i = 0; i < packs_m; ++i) {
      PackM result;
#pragma unroll
      for (int v = 0; v < VWM; ++v) result.item[v] = sum[j][i * VWM + v];
      const int row = place<STRM == 1>(threadIdx.x, MDIMC, i, packs_m) * VWM;
      *reinterpret_cast<PackM*>(c + column * (size_t)m + row) = result;
    }
  }
}
