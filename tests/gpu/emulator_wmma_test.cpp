// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Fragments of WMMA: the registers that they are loaded into are those of the emulated GPU, and the
// same whether they are loaded as what they are or as f16 (lib/atom_wmma.cuh).
#include <fmt/format.h>

#include <array>

#include "templates/catalog.hpp"
#include "templates/render/renderer.hpp"
#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

// Every word of a fragment twice: loaded as its type, and by the atom's operand.
const char* const kFragments = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#define KILN_USES_BF16 1
#include "lib/atom_wmma.cuh"

namespace kiln {

struct Pointers {
  const unsigned* from;
  unsigned* to;
};

template <class Fragment>
__device__ void write(const Fragment& fragment, unsigned* to) {
  unsigned words[sizeof(fragment.x) / 4];
  memcpy(words, fragment.x, sizeof(words));
  for (unsigned word : words) {
    *to = word;
    to += 64;
  }
}

template <class Use, class T, int kM, int kN, bool kAlong>
__device__ unsigned* both(const T* stage, unsigned* to) {
  using Operand = WmmaOperand<Use, T, WmmaShape{kM, kN}, kAlong>;
  constexpr int kStride = 48 / static_cast<int>(sizeof(T));  // 48 bytes
  constexpr int kWide = 80 / static_cast<int>(sizeof(T));
  const int stride = kAlong ? kStride : kWide;
  Operand operand;
  operand.load(stage, stride);
  for (int i = 0; i < Operand::kParts; ++i) {
    typename Operand::Part plain;
    using Stored = typename Operand::Part::storage_element_type;
    const T* part = stage + i * Operand::kDepth * (kAlong ? 1 : stride);
    nvcuda::wmma::load_matrix_sync(plain, reinterpret_cast<const Stored*>(part), stride);
    round_fragment(plain, TypeTag<T>{});
    write(plain, to + threadIdx.x);
    write(operand.parts[i], to + threadIdx.x + 32);
    to += sizeof(plain.x) / 4 * 64;
  }
  return to;
}

template <class T, int kM, int kN>
__global__ void fragments(const Pointers pointers) {
  __shared__ __align__(128) unsigned words[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) words[i] = pointers.from[i];
  __syncwarp();
  const T* stage = reinterpret_cast<const T*>(words);
  using A = nvcuda::wmma::matrix_a;
  using B = nvcuda::wmma::matrix_b;
  unsigned* to = pointers.to;
  to = both<A, T, kM, kN, true>(stage, to);
  to = both<A, T, kM, kN, false>(stage, to);
  to = both<B, T, kM, kN, true>(stage, to);
  both<B, T, kM, kN, false>(stage, to);
}

}  // namespace kiln
)";

struct WmmaCase {
  const char* name;
  const char* arguments;
  int words;  ///< of a lane, in all fragments
  Element element = Element::bits;
};

class WmmaFragments : public EmulatorPair, public ::testing::WithParamInterface<WmmaCase> {};

TEST_P(WmmaFragments, AreLoadedIntoTheSameRegisters) {
  const WmmaCase& test = GetParam();
  const auto words = static_cast<std::size_t>(test.words);
  PairProgram program;
  program.source = inline_headers(embedded_files(), "fragments.cu", kFragments);
  program.names = {fmt::format("kiln::fragments<{}>", test.arguments)};
  program.launches = {{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}};
  program.inputs = {elements(test.element, 4096, Values::real, 7)};
  program.out_bytes = words * 64 * 4;
  program.argument = [](const std::vector<DevicePtr>& in, DevicePtr out, DevicePtr) {
    return bytes_of(std::vector<DevicePtr>{in[0], out});
  };
  const auto result = this->run(program);
  ASSERT_TRUE(result);
  expect_identical(*result);
  const auto gpu = values_of<std::uint32_t>(result->gpu);
  for (std::size_t i = 0; i < words * 32; ++i) {
    const std::size_t at = i / 32 * 64 + i % 32;
    ASSERT_EQ(gpu[at], gpu[at + 32]) << "word " << i / 32 << " of lane " << i % 32;
  }
}

constexpr std::array kCases{
    WmmaCase{"f16", "__half, 16, 16", 32},
    WmmaCase{"bf16", "__nv_bfloat16, 16, 16", 16},
    WmmaCase{"bf16_tall", "__nv_bfloat16, 32, 8", 20},
    WmmaCase{"bf16_wide", "__nv_bfloat16, 8, 32", 20},
    WmmaCase{"tf32", "kiln::tf32, 16, 16", 16, Element::tf32},
    WmmaCase{"s8", "signed char, 16, 16", 16},
    WmmaCase{"s8_tall", "signed char, 32, 8", 20},
    WmmaCase{"u8_wide", "unsigned char, 8, 32", 20},
    WmmaCase{"f64", "double, 8, 8", 8},
};

INSTANTIATE_TEST_SUITE_P(All, WmmaFragments, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace kiln::testing
