// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of one warp: mma.sync in its shapes and types, ldmatrix, stmatrix, movmatrix.
#include <fmt/format.h>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

constexpr std::size_t kWarps = 32;

/// Registers of a fragment, and their contents.
struct Fragment {
  int count;
  Element element;
};

struct MmaCase {
  const char* name;
  std::string text;  ///< after mma.sync.aligned.
  Fragment a, b, c;
  int k;
  double bound = 0.0;  ///< of random numbers, relative to K; 0: identical
};

char letter(Element element) {
  return element == Element::f64 ? 'd' : 'r';
}
const char* c_type(Element element) {
  return element == Element::f64 ? "double" : "u32";
}

std::string mma_source(const MmaCase& test) {
  std::string text =
      "extern \"C\" __global__ void k(const __grid_constant__ Args args) {\n"
      "  const u32 lane = threadIdx.x, warp = blockIdx.x;\n";
  std::string inputs;
  std::string outputs;
  std::string d;
  int operand = 0;
  const auto list = [&](int count) {
    std::string names;
    for (int i = 0; i < count; ++i) names += fmt::format("{}%{}", i == 0 ? "" : ", ", operand++);
    return "{" + names + "}";
  };
  const std::string d_list = list(test.c.count);
  const std::string a_list = list(test.a.count);
  const std::string b_list = list(test.b.count);
  const std::string c_list = list(test.c.count);
  const auto load = [&](const char* name, int index, const Fragment& fragment) {
    text += fmt::format(
        "  const {0}* const {1} = static_cast<const {0}*>(args.in[{2}]) + (warp * {3}) "
        "* 32 + lane;\n",
        c_type(fragment.element), name, index, fragment.count);
    for (int i = 0; i < fragment.count; ++i) {
      inputs += fmt::format("{}\"{}\"({}[{}])", inputs.empty() ? "" : ", ",
                            letter(fragment.element), name, i * 32);
    }
  };
  load("a", 0, test.a);
  load("b", 1, test.b);
  load("c", 2, test.c);
  text += fmt::format("  {} d[{}];\n", c_type(test.c.element), test.c.count);
  for (int i = 0; i < test.c.count; ++i) {
    outputs += fmt::format("{}\"=&{}\"(d[{}])", i == 0 ? "" : ", ", letter(test.c.element), i);
  }
  text += fmt::format("  asm volatile(\"mma.sync.aligned.{} {}, {}, {}, {};\" : {} : {});\n",
                      test.text, d_list, a_list, b_list, c_list, outputs, inputs);
  text +=
      fmt::format("  {0}* const out = static_cast<{0}*>(args.out) + (warp * {1}) * 32 + lane;\n",
                  c_type(test.c.element), test.c.count);
  for (int i = 0; i < test.c.count; ++i) text += fmt::format("  out[{}] = d[{}];\n", i * 32, i);
  return text + "}\n";
}

class Matrices : public EmulatorPair {
 protected:
  std::optional<PairResult> multiply(const MmaCase& test, Values whole) {
    PairRun run;
    run.source = mma_source(test);
    run.geometry = {{kWarps, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
    const auto bytes = [](const Fragment& fragment) {
      return kWarps * 32 * static_cast<std::size_t>(fragment.count) *
             (fragment.element == Element::f64 ? 8 : 4);
    };
    run.inputs = {elements(test.a.element, bytes(test.a), whole, 1),
                  elements(test.b.element, bytes(test.b), whole, 2),
                  elements(test.c.element, bytes(test.c), whole, 3)};
    run.out_bytes = bytes(test.c);
    return this->run(run);
  }
};

class MatrixTypes : public Matrices, public ::testing::WithParamInterface<MmaCase> {};

TEST_P(MatrixTypes, MultiplyAlike) {
  const MmaCase& test = GetParam();
  const auto whole = multiply(test, Values::whole);
  ASSERT_TRUE(whole);
  expect_identical(*whole);
  if (test.bound == 0.0) return;
  const auto zeros = multiply(test, Values::zeros);
  ASSERT_TRUE(zeros);
  expect_identical(*zeros);
  const auto real = multiply(test, Values::real);
  ASSERT_TRUE(real);
  // Sums are below 4 K, and mostly below K.
  const double bound = test.bound * test.k;
  double worst = 0.0;
  if (test.c.element == Element::f16) {
    worst = expect_close<std::uint16_t>(
        *real, bound, [](std::uint16_t bits) { return emulated::f32_of_f16(bits); });
  } else if (test.c.element == Element::f64) {
    worst = expect_close<double>(*real, bound);
  } else {
    worst = expect_close<float>(*real, bound);
  }
  fmt::print("{}: largest difference {:.3g}, allowed {:.3g}\n", test.name, worst, bound);
}

std::vector<MmaCase> mma_cases() {
  using E = Element;
  constexpr double kSingle = 1.0 / (1 << 21);
  constexpr double kHalf = 1.0 / (1 << 10);
  return {
      {"m16n8k8_f16",
       "m16n8k8.row.col.f32.f16.f16.f32",
       {2, E::f16},
       {1, E::f16},
       {4, E::f32},
       8,
       kSingle},
      {"m16n8k16_f16",
       "m16n8k16.row.col.f32.f16.f16.f32",
       {4, E::f16},
       {2, E::f16},
       {4, E::f32},
       16,
       kSingle},
      {"m16n8k8_f16_f16",
       "m16n8k8.row.col.f16.f16.f16.f16",
       {2, E::f16},
       {1, E::f16},
       {2, E::f16},
       8,
       kHalf},
      {"m16n8k16_f16_f16",
       "m16n8k16.row.col.f16.f16.f16.f16",
       {4, E::f16},
       {2, E::f16},
       {2, E::f16},
       16,
       kHalf},
      {"m8n8k4_f16_rc",
       "m8n8k4.row.col.f32.f16.f16.f32",
       {2, E::f16},
       {2, E::f16},
       {8, E::f32},
       4,
       kSingle},
      {"m8n8k4_f16_cr",
       "m8n8k4.col.row.f16.f16.f16.f16",
       {2, E::f16},
       {2, E::f16},
       {4, E::f16},
       4,
       kHalf},
      {"m16n8k8_bf16",
       "m16n8k8.row.col.f32.bf16.bf16.f32",
       {2, E::bf16},
       {1, E::bf16},
       {4, E::f32},
       8,
       kSingle},
      {"m16n8k16_bf16",
       "m16n8k16.row.col.f32.bf16.bf16.f32",
       {4, E::bf16},
       {2, E::bf16},
       {4, E::f32},
       16,
       kSingle},
      {"m16n8k4_tf32",
       "m16n8k4.row.col.f32.tf32.tf32.f32",
       {2, E::tf32},
       {1, E::tf32},
       {4, E::f32},
       4,
       kSingle},
      {"m16n8k8_tf32",
       "m16n8k8.row.col.f32.tf32.tf32.f32",
       {4, E::tf32},
       {2, E::tf32},
       {4, E::f32},
       8,
       kSingle},
      {"m8n8k4_f64",
       "m8n8k4.row.col.f64.f64.f64.f64",
       {1, E::f64},
       {1, E::f64},
       {2, E::f64},
       4,
       4.5e-16},
      {"m16n8k4_f64",
       "m16n8k4.row.col.f64.f64.f64.f64",
       {2, E::f64},
       {1, E::f64},
       {4, E::f64},
       4,
       4.5e-16},
      {"m16n8k8_f64",
       "m16n8k8.row.col.f64.f64.f64.f64",
       {4, E::f64},
       {2, E::f64},
       {4, E::f64},
       8,
       4.5e-16},
      {"m16n8k16_f64",
       "m16n8k16.row.col.f64.f64.f64.f64",
       {8, E::f64},
       {4, E::f64},
       {4, E::f64},
       16,
       4.5e-16},
      {"m16n8k32_e4m3",
       "m16n8k32.row.col.f32.e4m3.e4m3.f32",
       {4, E::e4m3},
       {2, E::e4m3},
       {4, E::f32},
       32,
       kSingle},
      {"m16n8k32_e5m2_e4m3",
       "m16n8k32.row.col.f32.e5m2.e4m3.f32",
       {4, E::e5m2},
       {2, E::e4m3},
       {4, E::f32},
       32,
       kSingle},
      {"m8n8k16_s8", "m8n8k16.row.col.s32.s8.s8.s32", {1, E::s8}, {1, E::s8}, {2, E::s32}, 16},
      {"m16n8k16_s8_u8", "m16n8k16.row.col.s32.s8.u8.s32", {2, E::s8}, {1, E::s8}, {4, E::s32}, 16},
      {"m16n8k32_u8",
       "m16n8k32.row.col.satfinite.s32.u8.u8.s32",
       {4, E::s8},
       {2, E::s8},
       {4, E::bits},
       32},
      {"m16n8k32_s8_wraps",
       "m16n8k32.row.col.s32.s8.s8.s32",
       {4, E::s8},
       {2, E::s8},
       {4, E::bits},
       32},
      {"m16n8k32_s4",
       "m16n8k32.row.col.s32.s4.s4.s32",
       {2, E::bits},
       {1, E::bits},
       {4, E::s32},
       32},
      {"m16n8k64_u4",
       "m16n8k64.row.col.s32.u4.u4.s32",
       {4, E::bits},
       {2, E::bits},
       {4, E::s32},
       64},
      {"m16n8k128_xor",
       "m16n8k128.row.col.s32.b1.b1.s32.xor.popc",
       {2, E::bits},
       {1, E::bits},
       {4, E::s32},
       128},
      {"m16n8k256_and",
       "m16n8k256.row.col.s32.b1.b1.s32.and.popc",
       {4, E::bits},
       {2, E::bits},
       {4, E::s32},
       256},
  };
}

INSTANTIATE_TEST_SUITE_P(All, MatrixTypes, ::testing::ValuesIn(mma_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Matrices, LoadMatrixStoreMatrixMoveMatrix) {
  PairRun run;
  run.source = R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  __shared__ __align__(16) u32 words[512];
  const u32 lane = threadIdx.x;
  for (int i = lane; i < 512; i += 32) words[i] = static_cast<const u32*>(args.in[0])[i];
  u32* out = static_cast<u32*>(args.out) + lane;
  // Rows in an order without a pattern, some of them twice.
  const u32 row = smem(words) + (lane * 11 % 29) * 16;
  __syncwarp();
  u32 d[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(row));
  *out = d[0]; out += 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(d[0]),
      "=r"(d[1]) : "r"(row));
  for (int i = 0; i < 2; ++i, out += 32) *out = d[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(d[0]),
      "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(row));
  for (int i = 0; i < 4; ++i, out += 32) *out = d[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" :
      "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(row));
  for (int i = 0; i < 4; ++i, out += 32) *out = d[i];
  u32 moved;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(d[3]));
  *out = moved; out += 32;
  const u32 to = smem(words) + (lane * 3 % 32) * 16;
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
      "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]) : "memory");
  __syncwarp();
  for (int i = 0; i < 16; ++i, out += 32) *out = words[lane + i * 32];
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to + 0),
      "r"(d[1]), "r"(d[2]) : "memory");
  __syncwarp();
  for (int i = 0; i < 16; ++i, out += 32) *out = words[lane + i * 32];
}
)";
  run.geometry = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 2048, Values::whole, 4)};
  run.out_bytes = (1 + 2 + 4 + 4 + 1 + 16 + 16) * 32 * 4;
  const auto result = this->run(run);
  ASSERT_TRUE(result);
  expect_identical(*result);
}

}  // namespace
}  // namespace kiln::testing
