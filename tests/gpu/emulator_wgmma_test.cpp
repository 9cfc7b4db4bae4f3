// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// wgmma: types, widths, layouts and descriptors. Operands are bytes of shared memory that both
// devices read through the same descriptors, so that nothing here needs to know a layout.
#include <fmt/format.h>

#include "runtime/emulated/matrix/matrix_descriptor.hpp"
#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

using emulated::MatrixDescriptor;
using emulated::Swizzle;

constexpr std::uint32_t kImageBytes = 65536;
constexpr std::uint32_t kB = 32768;  // where B begins

struct WgmmaCase {
  const char* name;
  const char* shape;  ///< "m64n64k16"
  int n;
  const char* types;  ///< D, A, B
  Element element;
  MatrixDescriptor a, b;
  const char* tail = "1, 1, 0, 0";  ///< scales and majors; empty for integers
  bool a_in_registers = false;
  double bound = 0.0;  ///< relative to the number of products; 0: identical always
  bool halves = false;
  int steps = 1;  ///< wgmmas in a chain
};

std::string source_of(const WgmmaCase& test, std::uint64_t a, std::uint64_t b) {
  const bool integer = std::string_view(test.types).starts_with("s32");
  const int count = test.n / (test.halves ? 4 : 2);
  std::string names;
  std::string operands;
  const char letter = integer || test.halves ? 'r' : 'f';
  for (int i = 0; i < count; ++i) {
    names += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    operands += fmt::format("{}\"+{}\"(d[{}])", i == 0 ? "" : ", ", letter, i);
  }
  std::string first = fmt::format("%{}", count);
  std::string inputs = fmt::format("\"l\"({:#x}ull + base)", a);
  int next = count + 1;
  if (test.a_in_registers) {
    first = fmt::format("{{%{}, %{}, %{}, %{}}}", count, count + 1, count + 2, count + 3);
    inputs = "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])";
    next = count + 4;
  }
  inputs += fmt::format(", \"l\"({:#x}ull + base)", b);
  const std::string tail = test.tail[0] == 0 ? std::string() : fmt::format(", {}", test.tail);
  std::string chain;
  for (int i = 0; i < test.steps; ++i) {
    chain += fmt::format("wgmma.mma_async.sync.aligned.{}.{} {{{}}}, {}, %{}, 1{};\\n", test.shape,
                         test.types, names, first, next, tail);
  }
  return fmt::format(R"(
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ Args args) {{
  extern __shared__ __align__(1024) u32 image[];
  const u32 t = threadIdx.x;
  for (int i = t; i < {0}; i += 128) image[i] = static_cast<const u32*>(args.in[0])[i];
  {1} d[{2}];
  for (int i = 0; i < {2}; ++i) d[i] = static_cast<const {1}*>(args.in[1])[i * 128 + t];
  u32 a[4];
  for (int i = 0; i < 4; ++i) a[i] = static_cast<const u32*>(args.in[2])[i * 128 + t];
  const u64 base = smem(image) >> 4;
  fence_async();
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{3}" : {4} : {5});
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < {2}; ++i) static_cast<{1}*>(args.out)[i * 128 + t] = d[i];
}}
)",
                     kImageBytes / 4, integer || test.halves ? "u32" : "float", count, chain,
                     operands, inputs);
}

class Wgmmas : public EmulatorPair, public ::testing::WithParamInterface<WgmmaCase> {
 protected:
  std::optional<PairResult> multiply(Values whole) {
    const WgmmaCase& test = GetParam();
    const auto count = static_cast<std::size_t>(test.n) * 64 / (test.halves ? 2 : 1);
    const bool integer = std::string_view(test.types).starts_with("s32");
    PairRun run;
    run.source =
        source_of(test, emulated::encode_descriptor(test.a), emulated::encode_descriptor(test.b));
    run.geometry = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, kImageBytes + 1024};
    const Element sums = integer ? Element::s32 : test.halves ? Element::f16 : Element::f32;
    run.inputs = {elements(test.element, kImageBytes, whole, 31),
                  elements(sums, count * 4, whole, 32),
                  elements(test.element, 4 * 128 * 4, whole, 33)};
    run.out_bytes = count * 4;
    return this->run(run);
  }
};

TEST_P(Wgmmas, MultiplyAlike) {
  const WgmmaCase& test = GetParam();
  const auto whole = multiply(Values::whole);
  ASSERT_TRUE(whole);
  expect_identical(*whole);
  if (test.bound == 0.0) return;
  const auto zeros = multiply(Values::zeros);
  ASSERT_TRUE(zeros);
  expect_identical(*zeros);
  const auto real = multiply(Values::real);
  ASSERT_TRUE(real);
  // A step takes 32 bytes of each row. Sums are below 4 times their number, and mostly below it.
  const double products = 32.0 / bytes_of_element(test.element) * test.steps;
  const double bound = test.bound * (products + 1);
  const double worst = expect_close<float>(*real, bound);
  fmt::print("{}: largest difference {:.3g}, allowed {:.3g}\n", test.name, worst, bound);
}

MatrixDescriptor at(std::uint32_t start, std::uint32_t leading, std::uint32_t stride,
                    Swizzle swizzle = Swizzle::none, std::uint32_t base = 0) {
  return {start, leading, stride, base, swizzle};
}

std::vector<WgmmaCase> wgmma_cases() {
  using E = Element;
  using enum Swizzle;
  constexpr double kSingle = 1.0 / (1 << 21);
  // Of e4m3 and e5m2: the sums of one instruction keep 13 bits below the largest.
  constexpr double kEight = 1.0 / (1 << 11);
  const auto k128 = [](std::uint32_t start) { return at(start, 16, 1024, bytes128); };
  return {
      {"f16_k128", "m64n64k16", 64, "f32.f16.f16", E::f16, k128(0), k128(kB), "1, 1, 0, 0", false,
       kSingle},
      {"f16_k128_second_step", "m64n64k16", 64, "f32.f16.f16", E::f16, k128(32), k128(kB + 32),
       "1, 1, 0, 0", false, kSingle},
      {"f16_k64", "m64n32k16", 32, "f32.f16.f16", E::f16, at(0, 16, 512, bytes64),
       at(kB, 16, 512, bytes64), "1, 1, 0, 0", false, kSingle},
      {"f16_k32", "m64n32k16", 32, "f32.f16.f16", E::f16, at(0, 16, 256, bytes32),
       at(kB, 16, 256, bytes32), "1, 1, 0, 0", false, kSingle},
      {"f16_plain", "m64n32k16", 32, "f32.f16.f16", E::f16, at(0, 1024, 128), at(kB, 512, 128),
       "1, 1, 0, 0", false, kSingle},
      {"f16_plain_far", "m64n32k16", 32, "f32.f16.f16", E::f16, at(16, 128, 2048),
       at(kB + 48, 4096, 256), "1, 1, 0, 0"},
      {"f16_mn128", "m64n128k16", 128, "f32.f16.f16", E::f16, at(0, 8192, 1024, bytes128),
       at(kB, 2048, 1024, bytes128), "1, 1, 1, 1", false, kSingle},
      {"f16_mn64", "m64n64k16", 64, "f32.f16.f16", E::f16, at(0, 2048, 512, bytes64),
       at(kB, 1024, 512, bytes64), "1, 1, 1, 1"},
      {"f16_mn32", "m64n64k16", 64, "f32.f16.f16", E::f16, at(0, 1024, 256, bytes32),
       at(kB, 512, 256, bytes32), "1, 1, 1, 1"},
      {"f16_mn_plain", "m64n64k16", 64, "f32.f16.f16", E::f16, at(0, 1024, 128), at(kB, 128, 2048),
       "1, 1, 1, 1"},
      {"f16_mixed_majors", "m64n96k16", 96, "f32.f16.f16", E::f16, k128(0),
       at(kB, 4096, 1024, bytes128), "1, 1, 0, 1"},
      {"f16_negative", "m64n16k16", 16, "f32.f16.f16", E::f16, k128(0), k128(kB), "-1, 1, 0, 0",
       false, kSingle},
      {"f16_both_negative", "m64n8k16", 8, "f32.f16.f16", E::f16, k128(0), k128(kB),
       "-1, -1, 0, 0"},
      {"f16_to_f16", "m64n64k16", 64, "f16.f16.f16", E::f16, k128(0), k128(kB), "1, 1, 0, 0", false,
       0.0, true},
      {"f16_registers", "m64n64k16", 64, "f32.f16.f16", E::f16, k128(0), k128(kB), "1, 1, 0", true,
       kSingle},
      {"f16_chain", "m64n256k16", 256, "f32.f16.f16", E::f16, k128(0), k128(kB), "1, 1, 0, 0",
       false, kSingle, false, 4},
      {"f16_base_offset_3", "m64n32k16", 32, "f32.f16.f16", E::f16, at(384, 16, 1024, bytes128, 3),
       at(kB + 384, 16, 1024, bytes128, 3), "1, 1, 0, 0"},
      {"f16_base_offset_5_b", "m64n32k16", 32, "f32.f16.f16", E::f16, k128(0),
       at(kB + 640, 16, 1024, bytes128, 5), "1, 1, 0, 0"},
      {"f16_start_in_pattern", "m64n32k16", 32, "f32.f16.f16", E::f16, at(384, 16, 1024, bytes128),
       at(kB + 128, 16, 1024, bytes128), "1, 1, 0, 0"},
      {"f16_base_offset_64", "m64n32k16", 32, "f32.f16.f16", E::f16, at(128, 16, 512, bytes64, 1),
       at(kB + 384, 16, 512, bytes64, 3), "1, 1, 0, 0"},
      {"bf16_k128", "m64n192k16", 192, "f32.bf16.bf16", E::bf16, k128(0), k128(kB), "1, 1, 0, 0",
       false, kSingle},
      {"tf32_k128", "m64n64k8", 64, "f32.tf32.tf32", E::tf32, k128(0), k128(kB), "1, 1", false,
       kSingle},
      {"tf32_registers", "m64n24k8", 24, "f32.tf32.tf32", E::tf32, k128(0), k128(kB), "1, 1", true,
       kSingle},
      {"s8_k128", "m64n64k32", 64, "s32.s8.s8", E::s8, k128(0), k128(kB), ""},
      {"s8_u8_k64", "m64n128k32", 128, "s32.s8.u8", E::s8, at(0, 16, 512, bytes64),
       at(kB, 16, 512, bytes64), ""},
      {"u8_s8_registers", "m64n32k32", 32, "s32.u8.s8", E::s8, k128(0), k128(kB), "", true},
      {"e4m3_k128", "m64n64k32", 64, "f32.e4m3.e4m3", E::e4m3, k128(0), k128(kB), "1, 1", false,
       kEight},
      {"e5m2_e4m3_k128", "m64n64k32", 64, "f32.e5m2.e4m3", E::e5m2, k128(0), k128(kB), "1, 1",
       false, kEight},
      {"e4m3_registers_chain", "m64n64k32", 64, "f32.e4m3.e4m3", E::e4m3, k128(0), k128(kB), "1, 1",
       true, kEight, false, 4},
  };
}

INSTANTIATE_TEST_SUITE_P(All, Wgmmas, ::testing::ValuesIn(wgmma_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace kiln::testing
