// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Small kernels that each keep one part of a GPU busy and nothing else, with which
/// `kiln doctor --save-profile` measures what that part can do at most.
///
/// A kernel rate_X repeats an instruction on independent values, in every warp of a block that has
/// a multiprocessor to itself, and block b leaves in clocks[b] how long that took:
///
///     barrier | iterations x (chains x repeats) instructions | barrier
///             ^ clock64, globaltimer                                  ^ clock64, globaltimer
///
/// A kernel latency_X is one warp whose every instruction needs the result of the one before. The
/// instructions are volatile assembly on values that are used at the end, under a condition that
/// no compiler can know to be false; pairs of them do not cancel out or merge into one.

namespace kiln {

struct BlockTime {
  long long clocks;
  long long ns;
};

struct CeilingArgs {
  BlockTime* times;           ///< one of each block
  void* memory;               ///< what loads read
  unsigned long long bytes;   ///< of it, a power of two for all but stream
  unsigned long long stride;  ///< between the links of a chain
  int iterations;
  unsigned seed;   ///< of values in registers
  unsigned never;  ///< a sum that no kernel reaches
};

constexpr int kChains = 8;
constexpr int kRepeats = 32;    // so that counting iterations costs next to nothing
constexpr int kFewRepeats = 8;  // of what takes longer

__device__ __forceinline__ long long global_ns() {
  long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/// Times `iterations` calls of `step` by all threads of the block.
template <class Step>
__device__ __forceinline__ void timed(const CeilingArgs& args, Step step) {
  __syncthreads();
  const long long begin_ns = global_ns();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < args.iterations; ++i) step(i);
  __syncthreads();
  const long long end = clock64();
  const long long end_ns = global_ns();
  if (threadIdx.x == 0) args.times[blockIdx.x] = {end - begin, end_ns - begin_ns};
}

/// Calls `one(chain)` for each chain, `kRepeats` times over.
template <class One>
__device__ __forceinline__ void each_chain(One one) {
#pragma unroll
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) one(chain);
  }
}

/// Makes a result matter.
__device__ __forceinline__ void keep(const CeilingArgs& args, unsigned value) {
  if (value == args.never) *static_cast<unsigned*>(args.memory) = value;
}
__device__ __forceinline__ void keep(const CeilingArgs& args, float value) {
  keep(args, __float_as_uint(value));
}

template <class Value>
__device__ __forceinline__ void keep_all(const CeilingArgs& args, const Value (&values)[kChains]) {
  Value sum = values[0];
#pragma unroll
  for (int chain = 1; chain < kChains; ++chain) sum += values[chain];
  keep(args, static_cast<unsigned>(sum));
}

#define KILN_CEILING(name, threads) \
  extern "C" __global__ void __launch_bounds__(threads) name(const CeilingArgs args)

/// Two instructions a chain, so that none can be merged with the one after it.
template <class Integer, class Both>
__device__ __forceinline__ void integer_rate(const CeilingArgs& args, Both both) {
  Integer x[kChains];
  Integer y[kChains];
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) {
    x[chain] = args.seed * threadIdx.x + chain;
    y[chain] = args.seed + threadIdx.x * chain;
  }
  timed(args, [&](int) { each_chain([&](int chain) { both(x[chain], y[chain]); }); });
  keep_all(args, x);
}

KILN_CEILING(rate_integer, 1024) {
  integer_rate<unsigned>(args, [](unsigned& x, unsigned& y) {
    asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %1, %1, %0;" : "+r"(x), "+r"(y));
  });
}

KILN_CEILING(rate_integer64, 1024) {
  integer_rate<unsigned long long>(args, [](unsigned long long& x, unsigned long long& y) {
    asm volatile("add.u64 %0, %0, %1;\n\txor.b64 %1, %1, %0;" : "+l"(x), "+l"(y));
  });
}

KILN_CEILING(rate_multiply, 1024) {
  integer_rate<unsigned>(args, [](unsigned& x, unsigned& y) {
    asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
  });
}

/// One instruction a chain on floating-point values.
template <class Float, class One>
__device__ __forceinline__ void float_rate(const CeilingArgs& args, One one) {
  Float x[kChains];
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) {
    x[chain] = static_cast<Float>(args.seed + threadIdx.x + chain);
  }
  timed(args, [&](int) { each_chain([&](int chain) { one(x[chain]); }); });
  keep_all(args, x);
}

KILN_CEILING(rate_fp32, 1024) {
  const float a = 1.0F / static_cast<float>(args.seed);
  float_rate<float>(args, [&](float& x) {
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(a));
  });
}

KILN_CEILING(rate_fp64, 1024) {
  const double a = 1.0 / static_cast<double>(args.seed);
  float_rate<double>(args, [&](double& x) {
    asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(a));
  });
}

KILN_CEILING(rate_fp16, 1024) {
  const unsigned a = 0x38003400U ^ args.seed;
  integer_rate<unsigned>(args, [&](unsigned& x, unsigned&) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(a));
  });
}

KILN_CEILING(rate_convert, 1024) {
  float_rate<float>(args, [](float& x) {
    asm volatile("{\n\t.reg .b16 half;\n\tcvt.rn.f16.f32 half, %0;\n\tcvt.f32.f16 %0, half;\n\t}"
                 : "+f"(x));
  });
}

KILN_CEILING(rate_special, 1024) {
  float_rate<float>(args, [](float& x) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); });
}

KILN_CEILING(rate_shuffle, 1024) {
  integer_rate<unsigned>(args, [](unsigned& x, unsigned&) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, 5, 31, -1;" : "+r"(x));
  });
}

/// Loads of 16 bytes a lane from shared memory, side by side: four wavefronts a warp. Addresses
/// change with the iteration, so that no load can be moved out of the loop.
KILN_CEILING(rate_shared_wavefronts, 512) {
  constexpr unsigned kBytes = 16384;
  __shared__ __align__(16) unsigned words[kBytes / 4];
  for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x) words[i] = args.seed * i;
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(words));
  unsigned sum[kChains] = {};
  timed(args, [&](int i) {
    const unsigned lane = (threadIdx.x * 16 + i * 512U) % (kBytes / 2);
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) {
      unsigned x, y, z, w;
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                   : "r"(shared + lane + chain * 512));
      sum[chain] ^= x ^ y ^ z ^ w;
    }
  });
  keep_all(args, sum);
}

/// Reads `bytes` of memory once for each iteration, all blocks together, past the L1 cache. `bytes`
/// is a multiple of what all threads read in one step.
KILN_CEILING(stream, 512) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long thread =
      static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned sum[kChains] = {};
  for (int i = 0; i < args.iterations; ++i) {
    for (unsigned long long at = thread * 16; at < args.bytes; at += threads * 16 * kChains) {
      const char* const memory = static_cast<const char*>(args.memory) + at;
      uint4 read[kChains];
#pragma unroll
      for (int chain = 0; chain < kChains; ++chain) {
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(read[chain].x), "=r"(read[chain].y), "=r"(read[chain].z),
                       "=r"(read[chain].w)
                     : "l"(memory + threads * 16 * chain));
      }
#pragma unroll
      for (int chain = 0; chain < kChains; ++chain) {
        sum[chain] ^= read[chain].x ^ read[chain].y ^ read[chain].z ^ read[chain].w;
      }
    }
  }
  keep_all(args, sum);
}

/// Lays a chain of addresses through memory, `stride` bytes apart, that visits every link in an
/// order without a pattern: x -> a x + c runs through all numbers below a power of two where a - 1
/// is a multiple of 4 and c is odd.
extern "C" __global__ void link(const CeilingArgs args) {
  const unsigned long long links = args.bytes / args.stride;
  char* const memory = static_cast<char*>(args.memory);
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i =
           static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < links; i += threads) {
    const unsigned long long next = (i * 2891336453ULL + 12345) % links;
    *reinterpret_cast<char**>(memory + i * args.stride) = memory + next * args.stride;
  }
}

/// Follows a chain: twice, and times the second walk, so that what fits a cache lies in it.
template <class Load>
__device__ __forceinline__ void chase(const CeilingArgs& args, bool warm, Load load) {
  unsigned long long at = reinterpret_cast<unsigned long long>(args.memory);
  if (warm) {
    for (unsigned long long i = 0; i < args.bytes / args.stride; ++i) at = load(at);
  }
  timed(args, [&](int) { at = load(at); });
  keep(args, static_cast<unsigned>(at));
}

KILN_CEILING(latency_l1, 32) {
  chase(args, true, [](unsigned long long at) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    return at;
  });
}
KILN_CEILING(latency_l2, 32) {
  chase(args, true, [](unsigned long long at) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    return at;
  });
}
KILN_CEILING(latency_dram, 32) {
  chase(args, false, [](unsigned long long at) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    return at;
  });
}

KILN_CEILING(latency_shared, 32) {
  __shared__ unsigned links[64];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(links));
  for (int i = static_cast<int>(threadIdx.x); i < 64; i += 32)
    links[i] = base + (i * 5 + 1) % 64 * 4;
  __syncthreads();
  unsigned at = base;
  timed(args, [&](int) {
#pragma unroll
    for (int i = 0; i < kFewRepeats; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  });
  keep(args, at);
}

KILN_CEILING(latency_alu, 32) {
  float x = static_cast<float>(args.seed + threadIdx.x);
  const float a = 1.0F / static_cast<float>(args.seed);
  timed(args, [&](int) {
#pragma unroll
    for (int i = 0; i < kChains * kFewRepeats; ++i) {
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(a));
    }
  });
  keep(args, x);
}

KILN_CEILING(latency_barrier, 256) {
  timed(args, [&](int) {
#pragma unroll
    for (int i = 0; i < kFewRepeats; ++i) asm volatile("bar.sync 0;" ::: "memory");
  });
}

/// For what a launch costs by itself.
extern "C" __global__ void empty(const CeilingArgs) {}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/// Matrix instructions m16n8k?: `One` does one on the accumulators that it is given.
constexpr int kTiles = 4;  // independent accumulators of a warp

/// The tiles are those of two fragments of A and two of B; `one` gets a number for each. With
/// `kFresh` they are others in every repetition, so that none can be converted once for all.
template <class Element, bool kFresh = false, class One>
__device__ __forceinline__ void matrix_rate(const CeilingArgs& args, int tiles, One one) {
  Element sums[kTiles][4];
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int i = 0; i < 4; ++i) sums[tile][i] = static_cast<Element>(args.seed + threadIdx.x);
  }
  const unsigned first = args.seed * threadIdx.x;
  timed(args, [&](int iteration) {
#pragma unroll
    for (int repeat = 0; repeat < kFewRepeats; ++repeat) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const unsigned number = first + (kFresh ? (iteration * kFewRepeats + repeat) * 64 : 0);
        if (tile < tiles) one(sums[tile], number + tile / 2 * 8, number + 32 + tile % 2 * 8);
      }
    }
  });
  Element total = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int i = 0; i < 4; ++i) total += sums[tile][i];
  }
  keep(args, static_cast<unsigned>(total));
}

/// m16n8k? with four registers of A and two of B; `text` names shape and types.
#define KILN_MMA(element, text, letter)                                                   \
  [](element(&d)[4], unsigned a, unsigned b) {                                            \
    asm volatile("mma.sync.aligned." text                                                 \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"       \
                 : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3]) \
                 : "r"(a), "r"(a + 1), "r"(a + 2), "r"(a + 3), "r"(b), "r"(b + 1));       \
  }

KILN_CEILING(mma_f16, 512) {
  matrix_rate<float>(args, kTiles, KILN_MMA(float, "m16n8k16.row.col.f32.f16.f16.f32", "f"));
}
KILN_CEILING(mma_tf32, 512) {
  matrix_rate<float>(args, kTiles, KILN_MMA(float, "m16n8k8.row.col.f32.tf32.tf32.f32", "f"));
}
KILN_CEILING(mma_s8, 512) {
  matrix_rate<int>(args, kTiles, KILN_MMA(int, "m16n8k32.row.col.s32.s8.s8.s32", "r"));
}
KILN_CEILING(latency_mma, 32) {
  matrix_rate<float>(args, 1, KILN_MMA(float, "m16n8k16.row.col.f32.f16.f16.f32", "f"));
}

/// 16 x 8 x 8 in one instruction where there is one, which is the faster way there, else in four.
KILN_CEILING(mma_f64, 512) {
  const double a = static_cast<double>(args.seed + threadIdx.x);
  matrix_rate<double>(args, kTiles, [&](double(&d)[4], unsigned, unsigned) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%4, %4}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a));
#else
    for (int i = 0; i < 4; ++i) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
                   : "+d"(d[i / 2 * 2]), "+d"(d[i / 2 * 2 + 1])
                   : "d"(a));
    }
#endif
  });
}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
KILN_CEILING(mma_e4m3, 512) {
  matrix_rate<float, true>(args, kTiles,
                           KILN_MMA(float, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f"));
}
#endif

}  // namespace kiln
