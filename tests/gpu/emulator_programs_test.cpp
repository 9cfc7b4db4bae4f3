// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Whole kernels of everyday kinds, the same on both devices: sorting, sums, tables, loops that
// end at different times, locks. Each works in place on 64 KiB of random bits.
#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

class Programs : public EmulatorPair {
 protected:
  /// `body` sees the memory as `x`, a pointer to T.
  void compare(const std::string& type, const std::string& body, std::uint32_t blocks,
               std::uint32_t threads, std::uint32_t smem_bytes = 0) {
    PairRun run;
    run.source = "typedef unsigned char u8;\ntypedef " + type +
                 " T;\nextern \"C\" __global__ void k(const __grid_constant__ Args args) {\n"
                 "  T* const x = static_cast<T*>(args.out);\n"
                 "  const u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n" +
                 body + "}\n";
    run.geometry = {{blocks, 1, 1}, {threads, 1, 1}, {1, 1, 1}, smem_bytes};
    run.inputs = {Bytes(64)};  // zeros
    run.out = elements(Element::bits, 65536, Values::whole, 21);
    run.out_bytes = run.out.size();
    const auto result = this->run(run);
    ASSERT_TRUE(result);
    EXPECT_NE(result->gpu, run.out) << "it did nothing";
    expect_identical(*result);
  }
};

TEST_F(Programs, BitonicSort) {
  compare("u32", R"(
  __shared__ u32 s[512];
  for (u32 n = t; n < 512; n += 256) s[n] = x[n];
  __syncthreads();
  for (u32 size = 2; size <= 512; size <<= 1) {
    for (u32 step = size >> 1; step != 0; step >>= 1) {
      const u32 at = 2 * t - (t & (step - 1));
      const u32 a = s[at], b = s[at + step];
      if ((a > b) == ((at & size) == 0)) { s[at] = b; s[at + step] = a; }
      __syncthreads();
    }
  }
  for (u32 n = t; n < 512; n += 256) x[n] = s[n];
)",
          1, 256);
}

TEST_F(Programs, InsertionSortInLocalMemory) {
  compare("int", R"(
  int a[64];
  for (int n = 0; n < 64; ++n) a[n] = x[(t * 7 + n) & 1023];
  for (int n = 1; n < 64; ++n) {
    const int value = a[n];
    int at = n;
    while (at > 0 && a[at - 1] > value) { a[at] = a[at - 1]; --at; }
    a[at] = value;
  }
  __syncthreads();
  x[t] = a[x[2048 + t] & 63];
)",
          1, 128);
}

TEST_F(Programs, GameOfLife) {
  compare("u8", R"(
  const u32 c = t % 16 + 1, r = t / 16 + 1;
  __shared__ u8 s[2][18][18];
  for (u32 n = t; n < sizeof s; n += 256) (&s[0][0][0])[n] = 0;
  __syncthreads();
  s[0][r][c] = x[t] & 1;
  __syncthreads();
  for (int turn = 0; turn < 9; ++turn) {
    auto& a = s[turn & 1];
    const int n = a[r - 1][c - 1] + a[r - 1][c] + a[r - 1][c + 1] + a[r][c - 1] + a[r][c + 1] +
                  a[r + 1][c - 1] + a[r + 1][c] + a[r + 1][c + 1];
    s[(turn + 1) & 1][r][c] = n == 3 || (n == 2 && a[r][c]);
    __syncthreads();
  }
  x[t] = s[1][r][c];
)",
          1, 256);
}

TEST_F(Programs, CollatzEndsAtADifferentTimeInEachLane) {
  compare("u32", R"(
  u32 value = x[t] % 100000 + 1, steps = 0;
  while (value != 1) { value = value & 1 ? 3 * value + 1 : value / 2; ++steps; }
  x[t] = steps;
)",
          1, 256);
}

TEST_F(Programs, MandelbrotSet) {
  compare("float", R"(
  const float cx = t / 64.0f - 2.0f, cy = blockIdx.x / 4.0f - 1.0f;
  float a = 0, b = 0;
  int n = 0;
  for (; n < 200 && a * a + b * b < 4; ++n) {
    const float next = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = next;
  }
  x[i] = n;
)",
          8, 256);
}

TEST_F(Programs, SecureHash) {
  compare("u32", R"(
  u32 w[16];
  for (int n = 0; n < 16; ++n) w[n] = x[t * 16 + n];
  u32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
  const auto turned = [](u32 value, int by) { return __funnelshift_l(value, value, by); };
#pragma unroll
  for (int n = 0; n < 80; ++n) {
    const u32 f = n < 20 ? (b & c) | (~b & d)
                         : n >= 40 && n < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
    const u32 key = n < 20 ? 0x5a827999 : n < 40 ? 0x6ed9eba1 : n < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    const u32 word = w[n & 15];
    w[n & 15] = turned(w[(n + 13) & 15] ^ w[(n + 8) & 15] ^ w[(n + 2) & 15] ^ word, 1);
    const u32 next = turned(a, 5) + f + e + key + word;
    e = d; d = c; c = turned(b, 30); b = a; a = next;
  }
  __syncthreads();
  x[t] = a ^ b ^ c ^ d ^ e;
)",
          1, 256);
}

TEST_F(Programs, Checksums) {
  compare("u32", R"(
  u32 sum = ~0u;
  for (int n = 0; n < 16; ++n) {
    sum ^= x[t * 16 + n];
    for (int bit = 0; bit < 32; ++bit) sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
  }
  __syncthreads();
  x[t] = ~sum;
)",
          1, 256);
}

TEST_F(Programs, TheLastBlockAddsUpWhatAllWrote) {
  compare("u32", R"(
  volatile u32* const sums = x + 512;
  __shared__ u32 sum;
  __shared__ bool last;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[1024 + i] & 0xffff);
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(static_cast<u32*>(args.in[0]), gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    __threadfence();
    u32 all = 0;
    for (u32 n = 0; n < gridDim.x; ++n) all += sums[n];
    x[256] = all;
  }
)",
          8, 256);
}

TEST_F(Programs, HistogramOfAllBlocks) {
  compare("u32", "  atomicAdd(x + 8192 + (x[i] & 255), 1u);\n", 4, 256);
}

TEST_F(Programs, AtomicsOfVectors) {
  compare("u32", R"(
  // Small whole numbers: their sums are the same in any order.
  float4* const sums = reinterpret_cast<float4*>(x + 8192);
  if (i < 64) sums[i] = {0, 0, 0, 0};
  __half2* const halves = reinterpret_cast<__half2*>(x + 9216);
  if (i < 64) halves[i] = __floats2half2_rn(0, 0);
  __syncthreads();
  const u32 value = x[i];
  const float4 add = {float(value & 15), float(value >> 4 & 15), -float(value >> 8 & 15), 1};
  atomicAdd(sums + (value >> 12 & 31), add);
  atomicAdd(reinterpret_cast<float2*>(sums + 32 + (value >> 17 & 15)), float2{add.y, add.z});
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::
               "l"(halves + 2 * (value >> 21 & 15)), "r"(0x3c004000), "r"(0x40003c00) : "memory");
)",
          1, 256);
}

TEST_F(Programs, CallsThroughPointers) {
  compare("u32", R"(
  typedef u32 (*Step)(u32, u32*);
  const Step steps[] = {
      [](u32 value, u32* sum) -> u32 { *sum += value; return value * 3 + 1; },
      [](u32 value, u32* sum) -> u32 { *sum ^= value; return value >> 1; },
      [](u32 value, u32* sum) -> u32 { if (value & 8) *sum -= 5; return __brev(value); }};
  u32 value = x[t], sum = t;
  for (int turn = 0; turn < 6; ++turn) value = steps[value % 3](value, &sum);
  x[t] = value + sum;
)",
          1, 256);
}

TEST_F(Programs, ALockThatLanesOfAWarpTakeInTurn) {
  compare("u32", R"(
  if (t == 0) x[1000] = 0;
  __syncthreads();
  for (u32 lane = 0; lane < 32; ++lane) {
    if (t % 32 != lane) continue;
    while (atomicCAS(x + 1000, 0u, 1u) != 0u) {}
    __threadfence();
    volatile u32* const guarded = x + 1001;
    *guarded = *guarded + 3;
    __threadfence();
    atomicExch(x + 1000, 0u);
  }
)",
          1, 64);
}

TEST_F(Programs, SharedMemoryOfTheLaunch) {
  compare("int", R"(
  extern __shared__ int reversed[];
  reversed[t] = x[t];
  __syncthreads();
  x[t] = reversed[blockDim.x - 1 - t];
)",
          1, 256, 1024);
}

TEST_F(Programs, ShortIntegersAndCharacters) {
  compare("u16", R"(
  const short value = x[t];
  const u8 low = value;
  x[t] = (short)(value * value) + (low << 3) - (value >> 2) + (char)value;
)",
          1, 256);
}

TEST_F(Programs, SwitchWithATable) {
  compare("u32", R"(
  u32 value = x[t];
  for (int turn = 0; turn < 4; ++turn) {
    switch (value % 7) {
      case 0: value += 5; break;
      case 1: value *= 3; break;
      case 2: value -= 9;
      case 3: value ^= 77; break;
      case 4: value = __brev(value); break;
      case 5: value = value / 3 + 1; break;
      default: value = ~value;
    }
  }
  x[t] = value;
)",
          1, 256);
}

}  // namespace
}  // namespace kiln::testing
