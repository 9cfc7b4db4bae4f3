// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Which registers WMMA's fragments are, on every architecture: the machine code of wmma.mma is that
// of mma.sync on the same registers, whose places in a matrix PTX describes. lib/atom_wmma.cuh
// relies on it where it loads a fragment as f16 and multiplies it as another type. Needs NVRTC, but
// no GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "tuner/compile/elf_image.hpp"

namespace kiln {
namespace {

/// Registers of a product: of D, of A and of B.
struct Registers {
  std::vector<int> d;
  std::vector<int> a;
  std::vector<int> b;
};

struct FragmentCase {
  std::string wmma;  ///< shape, then types
  std::string mma;
  int a;  ///< registers of a fragment
  int b;
  bool repeated;  ///< f16: until there are eight
  std::vector<Registers> products;
};

std::vector<int> span(int first, int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

/// The same with the operands exchanged: 8 x 32 is 32 x 8 transposed.
std::vector<Registers> exchanged(std::vector<Registers> products) {
  for (Registers& one : products) std::swap(one.a, one.b);
  return products;
}

std::vector<FragmentCase> fragment_cases() {
  std::vector<FragmentCase> all;
  const auto first = span(0, 4);
  const auto second = span(4, 4);
  for (const std::string type : {"f16", "bf16"}) {
    const bool f16 = type == "f16";
    const std::string types = f16 ? "f32.f32" : "f32.bf16.bf16.f32";
    const auto mma = fmt::format("m16n8k16.row.col.f32.{0}.{0}.f32", type);
    all.push_back(
        {"m16n16k16." + types, mma, 4, 4, f16, {{first, first, {0, 1}}, {second, first, {2, 3}}}});
    const std::vector<Registers> tall{{first, first, {0, 1}}, {second, second, {0, 1}}};
    all.push_back({"m32n8k16." + types, mma, 8, 2, f16, tall});
    all.push_back({"m8n32k16." + types, mma, 2, 8, f16, exchanged(tall)});
  }
  for (const std::string type : {"s8", "u8"}) {
    const auto types = fmt::format("s32.{0}.{0}.s32", type);
    const auto mma = fmt::format("m16n8k16.row.col.s32.{0}.{0}.s32", type);
    all.push_back(
        {"m16n16k16." + types, mma, 2, 2, false, {{first, {0, 1}, {0}}, {second, {0, 1}, {1}}}});
    const std::vector<Registers> tall{{first, {0, 1}, {0}}, {second, {2, 3}, {0}}};
    all.push_back({"m32n8k16." + types, mma, 4, 1, false, tall});
    all.push_back({"m8n32k16." + types, mma, 1, 4, false, exchanged(tall)});
  }
  all.push_back(
      {"m16n16k8.f32.tf32.tf32.f32",
       "m16n8k4.row.col.f32.tf32.tf32.f32",
       4,
       4,
       false,
       {{first, {0, 1}, {0}}, {first, {2, 3}, {1}}, {second, {0, 1}, {2}}, {second, {2, 3}, {3}}}});
  return all;
}

/// A kernel that loads every register from a place of its own, multiplies, and stores the sums.
std::string kernel_text(std::size_t number, const FragmentCase& one, bool wmma) {
  // Operands of the asm statement: eight sums, then A, then B.
  const auto list = [](const std::vector<int>& registers, int from) {
    std::string text;
    for (const int i : registers) {
      text += fmt::format("{}%{}", text.empty() ? "" : ", ", from + i);
    }
    return "{" + text + "}";
  };
  const auto fragment = [&](int count, int from) {
    std::vector<int> registers = span(0, one.repeated ? 8 : count);
    for (int& i : registers) i %= count;
    return list(registers, from);
  };
  std::string code;
  if (wmma) {
    const auto sums = list(span(0, 8), 0);
    code = fmt::format("wmma.mma.sync.aligned.row.col.{} {}, {}, {}, {};", one.wmma, sums,
                       fragment(one.a, 8), fragment(one.b, 8 + one.a), sums);
  } else {
    for (const Registers& product : one.products) {
      auto a = list(product.a, 8);
      auto b = list(product.b, 8 + one.a);
      if (one.wmma.starts_with("m8")) std::swap(a, b);
      const auto sums = list(product.d, 0);
      code += fmt::format("mma.sync.aligned.{} {}, {}, {}, {};", one.mma, sums, a, b, sums);
    }
  }
  const bool whole = one.wmma.find("s32") != std::string::npos;
  const char* const sum_type = whole ? "int" : "float";
  std::string outputs;
  std::string inputs;
  for (int i = 0; i < 8; ++i) {
    outputs += fmt::format("{}\"+{}\"(sums[{}])", i == 0 ? "" : ", ", whole ? 'r' : 'f', i);
  }
  for (int i = 0; i < one.a + one.b; ++i) {
    inputs += fmt::format("{}\"r\"(words[{}])", i == 0 ? "" : ", ", i);
  }
  return fmt::format(R"(
extern "C" __global__ void product{}(const unsigned* from, {}* to) {{
  unsigned words[{}];
  {} sums[8];
  for (int i = 0; i < {}; ++i) words[i] = from[i * 32 + threadIdx.x];
  for (int i = 0; i < 8; ++i) sums[i] = to[i * 32 + threadIdx.x];
  asm volatile("{}" : {} : {});
  for (int i = 0; i < 8; ++i) to[i * 32 + threadIdx.x] = sums[i];
}}
)",
                     number, sum_type, one.a + one.b, sum_type, one.a + one.b, code, outputs,
                     inputs);
}

/// The instructions of each kernel; what else a module has tells that WMMA was used.
std::map<std::string, std::string> instructions(const CompileResult& result) {
  std::map<std::string, std::string> kernels;
  const auto image = ElfImage::read(result.cubin);
  if (!image) return kernels;
  for (const ElfSection& section : image->sections) {
    if (section.name.starts_with(".text.")) {
      kernels.emplace(section.name.substr(6), section.content);
    }
  }
  return kernels;
}

TEST(WmmaFragments, AreThoseOfMmaSync) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_nvrtc_compiler();
  } catch (const Error& error) {
    GTEST_SKIP() << "no NVRTC here: " << error.what();
  }
  const auto cases = fragment_cases();
  for (const std::string arch : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"}) {
    std::map<std::string, std::string> code[2];
    for (const bool wmma : {false, true}) {
      CompileRequest request;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        request.source += kernel_text(i, cases[i], wmma);
        request.plain_names.push_back(fmt::format("product{}", i));
      }
      request.arch = arch;
      const CompileResult result = compiler->compile(request);
      ASSERT_TRUE(result.ok) << arch << "\n" << result.log;
      code[wmma ? 1 : 0] = instructions(result);
      ASSERT_EQ(code[wmma ? 1 : 0].size(), cases.size()) << arch;
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto name = fmt::format("product{}", i);
      EXPECT_TRUE(code[0].at(name) == code[1].at(name)) << arch << " " << cases[i].wmma;
    }
  }
}

}  // namespace
}  // namespace kiln
