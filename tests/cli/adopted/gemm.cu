// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// C = A^T * B, A is K x M, B is K x N, C is N x M (as of CLTune's kernel): tiles of MWG x NWG.
#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)
#define KDIMA ((MDIMC * NDIMC) / MDIMA)
#define KDIMB ((MDIMC * NDIMC) / NDIMB)

#if VWM == 1
typedef float floatM;
#elif VWM == 2
typedef float2 floatM;
#elif VWM == 4
typedef float4 floatM;
#endif

__device__ __forceinline__ void load_tile(float* to, const float* from, int size, int first, int k0,
                                          int tile, int dim) {
  for (int at = threadIdx.y * MDIMC + threadIdx.x; at < tile * KWG; at += MDIMC * NDIMC) {
    to[at] = from[(k0 + at / tile) * size + first + at % tile];
  }
}

__device__ __forceinline__ void store_result(float* cgm, const float cpm[NWI][MWI], int kSizeM) {
  const int first_m = blockIdx.x * MWG, first_n = blockIdx.y * NWG;
  for (int ni = 0; ni < NWI; ++ni) {
    for (int mi = 0; mi < MWI; ++mi) {
#if STRM == 0
      const int m = first_m + threadIdx.x * MWI + mi;
#else
      const int m = first_m + threadIdx.x + mi * MDIMC;
#endif
#if STRN == 0
      const int n = first_n + threadIdx.y * NWI + ni;
#else
      const int n = first_n + threadIdx.y + ni * NDIMC;
#endif
      cgm[(size_t)n * kSizeM + m] = cpm[ni][mi];
    }
  }
}

__global__ void __launch_bounds__(MDIMC* NDIMC)
    gemm_fast(const int kSizeM, const int kSizeN, const int kSizeK, const float* agm,
              const float* bgm, float* cgm) {
#if SA == 1
  __shared__ float alm[KWG * MWG];
#endif
#if SB == 1
  __shared__ float blm[KWG * NWG];
#endif
  float cpm[NWI][MWI];
  for (int ni = 0; ni < NWI; ++ni)
    for (int mi = 0; mi < MWI; ++mi) cpm[ni][mi] = 0.0f;
  for (int k0 = 0; k0 < kSizeK; k0 += KWG) {
#if SA == 1
    load_tile(alm, agm, kSizeM, blockIdx.x * MWG, k0, MWG, MDIMA);
#endif
#if SB == 1
    load_tile(blm, bgm, kSizeN, blockIdx.y * NWG, k0, NWG, NDIMB);
#endif
    __syncthreads();
    for (int k = 0; k < KWG; k += KWI) {
#pragma unroll
      for (int ki = 0; ki < KWI; ++ki) {
        for (int ni = 0; ni < NWI; ++ni) {
#if STRN == 0
          const int n = threadIdx.y * NWI + ni;
#else
          const int n = threadIdx.y + ni * NDIMC;
#endif
#if SB == 1
          const float b = blm[(k + ki) * NWG + n];
#else
          const float b = bgm[(k0 + k + ki) * kSizeN + blockIdx.y * NWG + n];
#endif
          for (int mi = 0; mi < MWI; ++mi) {
#if STRM == 0
            const int m = threadIdx.x * MWI + mi;
#else
            const int m = threadIdx.x + mi * MDIMC;
#endif
#if SA == 1
            cpm[ni][mi] += alm[(k + ki) * MWG + m] * b;
#else
            cpm[ni][mi] += agm[(k0 + k + ki) * kSizeM + blockIdx.x * MWG + m] * b;
#endif
          }
        }
      }
    }
    __syncthreads();
  }
  store_result(cgm, cpm, kSizeM);
}
