// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/ceiling_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"

namespace kiln::tools {
namespace {

constexpr const char* kFile = "support/ceilings.cu";

/// One row of wgmma's types: what PTX calls them and how many elements along K one step takes.
struct WgmmaType {
  const char* name;
  const char* types;
  int k;
  bool floating;
  bool transposes;  ///< 16-bit types name their operands' major dimension
};
constexpr std::array<WgmmaType, 4> kWgmmaTypes{{{"f16", "f32.f16.f16", 16, true, true},
                                                {"tf32", "f32.tf32.tf32", 8, true, false},
                                                {"s8", "s32.s8.s8", 32, false, false},
                                                {"e4m3", "f32.e4m3.e4m3", 32, true, false}}};
constexpr int kRows = 64;
constexpr int kColumns = 256;
constexpr int kSums = kRows * kColumns / 128;  // accumulators of a thread
constexpr int kSteps = 4;                      // of 32 bytes along K: a row of 128 bytes
constexpr int kGroups = 2;                     // warpgroups of a block

/// One wgmma on operand rows of 128 bytes with the 128-byte swizzle, 32 bytes further along K for
/// each step.
std::string wgmma_text(const WgmmaType& type) {
  std::string sums;
  for (int i = 0; i < kSums; ++i) sums += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
  return fmt::format(
      R"(        asm volatile("wgmma.mma_async.sync.aligned.m{}n{}k{}.{} {{{}}}, %{}, %{}, 1{};"
                     : KILN_SUMS : "l"(a + step * 2), "l"(b + step * 2));
)",
      kRows, kColumns, type.k, type.types, sums, kSums, kSums + 1,
      type.floating ? (type.transposes ? ", 1, 1, 0, 0" : ", 1, 1") : "");
}

/// A kernel that keeps the tensor cores busy from shared memory: each warpgroup multiplies rows of
/// its own with columns that both share.
std::string wgmma_kernel(const WgmmaType& type) {
  std::string operands;
  for (int i = 0; i < kSums; ++i) {
    operands +=
        fmt::format("{}\"+{}\"(sums[{}])", i == 0 ? "" : ", ", type.floating ? "f" : "r", i);
  }
  std::string text = fmt::format("#undef KILN_SUMS\n#define KILN_SUMS {}\n", operands);
  text += fmt::format("KILN_CEILING(wgmma_{}, 256) {{\n  {} sums[{}];\n", type.name,
                      type.floating ? "float" : "int", kSums);
  text += R"(  __shared__ __align__(1024) unsigned words[(2 * 64 + 256) * 32];
  for (int i = threadIdx.x; i < (2 * 64 + 256) * 32; i += 256) words[i] = args.seed * i % 251;
  for (auto& sum : sums) sum = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  // Start address, and 1024 bytes from 8 rows to the next, in units of 16; swizzle of 128 bytes.
  const unsigned long long layout = 1ULL << 62 | 64ULL << 32 | 1ULL << 16;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words)) / 16;
  const unsigned long long a = layout | (base + threadIdx.x / 128 * 512);
  const unsigned long long b = layout | (base + 1024);
  timed(args, [&](int) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < 4; ++step) {
)" + wgmma_text(type) +
          R"(    }
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 1;"
                 ::: "memory");
  });
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  auto total = sums[0];
  for (int i = 1; i < )" +
          std::to_string(kSums) + R"(; ++i) total += sums[i];
  keep(args, static_cast<unsigned>(total));
}
)";
  return text;
}

struct Named {
  const char* name;
  int since;  ///< compute capability
};
constexpr std::array<Named, 25> kKernels{{{"rate_integer", 75},  {"rate_integer64", 75},
                                          {"rate_multiply", 75}, {"rate_fp32", 75},
                                          {"rate_fp64", 75},     {"rate_fp16", 75},
                                          {"rate_convert", 75},  {"rate_special", 75},
                                          {"rate_shuffle", 75},  {"rate_shared_wavefronts", 75},
                                          {"stream", 75},        {"link", 75},
                                          {"latency_l1", 75},    {"latency_l2", 75},
                                          {"latency_dram", 75},  {"latency_shared", 75},
                                          {"latency_alu", 75},   {"latency_barrier", 75},
                                          {"empty", 75},         {"mma_f16", 80},
                                          {"mma_tf32", 80},      {"mma_s8", 80},
                                          {"mma_f64", 80},       {"latency_mma", 80},
                                          {"mma_e4m3", 89}}};

}  // namespace

CeilingSource ceiling_source(int sm) {
  const auto& files = embedded_files();
  const auto found = files.find(kFile);
  if (found == files.end()) {
    throw Error(
        ErrorKind::internal,
        fmt::format("this build of Kiln lacks the file {}; please report this bug in Kiln", kFile));
  }
  CeilingSource source;
  source.text = found->second;
  for (const Named& kernel : kKernels) {
    if (sm >= kernel.since) source.kernels.emplace_back(kernel.name);
  }
  if (sm != 90) return source;
  source.text += "\nnamespace kiln {\n";
  for (const WgmmaType& type : kWgmmaTypes) {
    source.text += wgmma_kernel(type);
    source.kernels.push_back(fmt::format("wgmma_{}", type.name));
  }
  source.text += "}  // namespace kiln\n";
  return source;
}

double wgmma_work(const std::string& type) {
  const auto* const found =
      std::find_if(kWgmmaTypes.begin(), kWgmmaTypes.end(),
                   [&](const WgmmaType& candidate) { return candidate.name == type; });
  if (found == kWgmmaTypes.end()) {
    throw Error(
        ErrorKind::internal,
        fmt::format("Kiln has no wgmma kernel for the type {}; please report this bug in Kiln",
                    type));
  }
  return 1.0 * kRows * kColumns * found->k * kSteps * kGroups;
}

}  // namespace kiln::tools
