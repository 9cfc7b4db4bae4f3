// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What lanes do together: shuffles, votes, atomics, divergence, cp.async.
#include <algorithm>

#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

class Warps : public EmulatorPair {
 protected:
  /// Runs `blocks` of `threads` on words of random bits; every word of the output, which begins as
  /// `out` where that is given, must be the same.
  void compare(const std::string& source, std::uint32_t blocks, std::uint32_t threads,
               std::size_t out_words, const Bytes& out = {}) {
    PairRun run;
    run.source = source;
    run.geometry = {{blocks, 1, 1}, {threads, 1, 1}, {1, 1, 1}, 0};
    run.inputs = {elements(Element::bits, 65536, Values::whole, 5),
                  elements(Element::f32, 65536, Values::whole, 6),
                  elements(Element::f16, 65536, Values::whole, 7)};
    run.out_bytes = out_words * 4;
    run.out = out;
    const auto result = this->run(run);
    ASSERT_TRUE(result);
    expect_identical(*result);
  }
};

TEST_F(Warps, Shuffles) {
  compare(R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const u32 x = static_cast<const u32*>(args.in[0])[i];
  u32* out = static_cast<u32*>(args.out) + i;
  const int by = x % 40;
  u32 inside;
#define SHUFFLE(mode, lane, clamp)                                                                 \
  asm volatile("{\n.reg .pred p;\nshfl.sync." mode ".b32 %0|p, %2, %3, %4, -1;\n" \
               "selp.b32 %1, 1, 0, p;\n}"                                       \
               : "=r"(*out), "=r"(inside) : "r"(x), "r"(lane), "r"(clamp));     \
  out += n; *out = inside; out += n;
  SHUFFLE("up", by, 0) SHUFFLE("down", by, 31) SHUFFLE("bfly", by, 31) SHUFFLE("idx", by, 31)
  SHUFFLE("up", 3, 0x1800) SHUFFLE("down", 5, 0x181f) SHUFFLE("bfly", 4, 0x1c1f) SHUFFLE("idx", by,
      0x101f)
}
)",
          4, 64, 16 * 256);
}

TEST_F(Warps, VotesMatchesAndReductions) {
  compare(R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const u32 x = static_cast<const u32*>(args.in[0])[i];
  u32* out = static_cast<u32*>(args.out) + i;
  const auto put = [&](u32 value) { *out = value; out += n; };
  put(__ballot_sync(~0u, x % 3 == 0));
  put(__any_sync(~0u, x % 97 == 0)); put(__all_sync(~0u, x != 12345));
  put(__match_any_sync(~0u, x % 5)); int all; put(__match_all_sync(~0u, x % 2, &all)); put(all);
  put(__reduce_add_sync(~0u, x)); put(__reduce_min_sync(~0u, x)); put(__reduce_max_sync(~0u,
      int(x)));
  put(__reduce_and_sync(~0u, x | 0xff)); put(__reduce_or_sync(~0u, x & 0xff));
      put(__reduce_xor_sync(~0u, x));
  u32 lane = 0;
  if (x % 4 != 1) {
    lane = __activemask();
    put(__reduce_add_sync(lane, x)); put(__ballot_sync(lane, x & 1)); put(__shfl_xor_sync(lane, x,
        0));
  } else {
    put(x); put(x); put(x);
  }
  put(lane);
  u32 elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, -1;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(elected));
  put(elected);
}
)",
          4, 64, 17 * 256);
}

TEST_F(Warps, LoopsOfDifferentLengthAndSwitches) {
  compare(R"(
__device__ u32 step(u32 x, int which) {
  switch (which) {
    case 0: return x * 3 + 1;
    case 1: return x >> 3;
    case 2: return x ^ 0x5bd1e995u;
    case 3: return __brev(x);
    case 4: return x - 77;
    default: return ~x;
  }
}
extern "C" __global__ void k(const __grid_constant__ Args args) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 x = static_cast<const u32*>(args.in[0])[i];
  const int turns = x % 23;
  for (int t = 0; t < turns; ++t) {
    if (x % 7 == 3) continue;
    if (x % 1001 == 5) break;
    x = step(x, (x >> 5) % 6);
    for (u32 y = x % 5; y > 0; --y) x += y * t;
  }
  static_cast<u32*>(args.out)[i] = x;
}
)",
          8, 128, 1024);
}

TEST_F(Warps, GlobalAtomics) {
  // Zeros, except where that is the least that the instruction can produce.
  std::vector<std::uint32_t> out(192, 0);
  std::fill_n(out.begin() + 8, 8, 0xffffffffU);   // minima
  std::fill_n(out.begin() + 24, 8, 0xffffffffU);  // ANDs
  compare(R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 x = static_cast<const u32*>(args.in[0])[i];
  const float f = static_cast<const float*>(args.in[1])[i];
  u32* const out = static_cast<u32*>(args.out);
  const u32 slot = x % 8;
  atomicAdd(out + slot, x); atomicMin(out + 8 + slot, x); atomicMax((int*)out + 16 + slot, int(x));
  atomicAnd(out + 24 + slot, x); atomicOr(out + 32 + slot, x & 0xff); atomicXor(out + 40 + slot, x);
  atomicInc(out + 48 + slot, 100); atomicDec(out + 56 + slot, 1000);
  atomicAdd((float*)out + 64 + slot, f);
  atomicAdd((u64*)(out + 80) + slot, (u64(x) << 20)); atomicMax((u64*)(out + 96) + slot, u64(x) *
      x);
  atomicMin((s64*)(out + 112) + slot, -s64(x));
  atomicAdd((__half2*)out + 128 + slot, __floats2half2_rn(f, -f));
  atomicAdd((double*)(out + 144) + slot, double(f));
  for (u32 seen = out[136 + slot];;) {
    const u32 before = atomicCAS(out + 136 + slot, seen, seen * 2 + 1 > 5000 ? seen : seen + 1);
    if (before == seen) break;
    seen = before;
  }
  atomicExch(out + 160, 42u); atomicSub(out + 161, x);
  asm volatile("red.global.add.noftz.f16 [%0], %1;" ::"l"(out + 164 + slot),
      "h"(__half_as_ushort(__float2half_rn(f))) : "memory");
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(out + 172 + slot), "r"(0x3f80bf80u) :
      "memory");
}
)",
          2, 64, out.size(), bytes_of(out));
}

TEST_F(Warps, SharedAtomics) {
  compare(R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  __shared__ u32 words[64];
  __shared__ u64 wide[16];
  const u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  const u32 x = static_cast<const u32*>(args.in[0])[i];
  if (t < 64) words[t] = 0;
  if (t < 16) wide[t] = 0;
  __syncthreads();
  atomicAdd(words + x % 8, x); atomicMax(words + 8 + x % 8, x); atomicXor(words + 16 + x % 8, x);
  atomicInc(words + 24 + x % 8, 7); atomicAdd((float*)words + 32 + x % 8, float(x % 16));
  atomicOr(words + 40 + x % 8, x); atomicMin((int*)words + 48 + x % 8, int(x));
  atomicAdd(wide + x % 8, u64(x) * 3); atomicMax(wide + 8 + x % 8, u64(x) << 9);
  __syncthreads();
  u32* const out = static_cast<u32*>(args.out) + blockIdx.x * 96;
  if (t < 64) out[t] = words[t];
  if (t < 16) { out[64 + t * 2] = u32(wide[t]); out[65 + t * 2] = u32(wide[t] >> 32); }
}
)",
          4, 128, 4 * 96);
}

TEST_F(Warps, AsyncCopiesOfAllSizesWithZeros) {
  compare(R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  __shared__ __align__(16) u32 words[128 * 4 * 3];
  const u32 t = threadIdx.x;
  const char* const from = static_cast<const char*>(args.in[0]) + blockIdx.x * 8192;
  for (int i = t; i < 128 * 12; i += 128) words[i] = 0x11111111;
  __syncthreads();
  const u32 to = smem(words) + t * 48;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from + t * 4) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to + 8), "l"(from + t * 8),
      "r"(t % 9) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + 16), "l"(from + t * 16),
      "r"(t % 17) : "memory");
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2;" ::"r"(to + 4), "l"(from + t
      * 4), "r"(t % 5) : "memory");
  asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, %2, 1;\n"
               "cp.async.cg.shared.global [%0], [%1], 16, p;\n}"
               ::"r"(to + 32), "l"(from + 4096), "r"(t % 3) : "memory");
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  u32* const out = static_cast<u32*>(args.out) + blockIdx.x * 1536;
  for (int i = t; i < 128 * 12; i += 128) out[i] = words[i];
}
)",
          4, 128, 4 * 1536);
}

TEST_F(Warps, NamedBarriersAndOrderedSums) {
  compare(R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  __shared__ u32 words[256];
  const u32 t = threadIdx.x, i = blockIdx.x * 256 + t;
  const u32 x = static_cast<const u32*>(args.in[0])[i];
  u32* const out = static_cast<u32*>(args.out) + i;
  u32 sum = 0;
  words[t] = x;
  asm volatile("barrier.cta.sync %0, 128;" ::"r"(1 + t / 128) : "memory");
  for (u32 j = 0; j < 128; ++j) sum = sum * 31 + words[t / 128 * 128 + (t + j) % 128];
  int all, some, many;
  asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %1, 0;\nbarrier.cta.red.and.pred q, 0, p;\n"
               "selp.b32 %0, 1, 0, q;\n}" : "=r"(all) : "r"(x | 1) : "memory");
  some = __syncthreads_or(x == 1); many = __syncthreads_count(x & 1);
  *out = sum + all * 3 + some * 5 + many * 7;
}
)",
          4, 256, 1024);
}

}  // namespace
}  // namespace kiln::testing
