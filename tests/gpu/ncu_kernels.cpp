// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ncu_kernels.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/space/tunable_value.hpp"

#include <fmt/format.h>

#include <cstring>

#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/support/gemm_arguments.hpp"

namespace kiln::testing {
namespace {

struct CatalogCase {
  const char* kernel;
  DType type;
  Storage a, b;
  int alignment;
  std::vector<NamedValue> set;  ///< that differ from the default's
  Tolerance tolerance{};
};

/// ptxas turns cp.async with the number of bytes in a register into different instructions,
/// depending on what it can prove about that number; those of no bytes may be skipped.
const std::int64_t kRegisters = value_of_name("registers").value();

constexpr Tolerance kUnknownBytes{"shared cp", 0.08};
constexpr Tolerance kSkippedCopies{" cp", 0.17};
/// ptxas merges stores of the PTX.
constexpr Tolerance kJoinedStores{"shared st", 0.15};

CountedKernel from_catalog(const CatalogCase& test, const DeviceLimits& limits) {
  const Catalog& catalog = Catalog::builtin();
  const KernelTemplate& kernel = catalog.at(test.kernel);
  Gemm gemm = Gemm::of(test.type, 136, 200, 96, test.a, test.b);
  gemm.alignment_a = gemm.alignment_b = gemm.alignment_c = gemm.alignment_d = test.alignment;
  const Problem problem = to_problem(gemm);
  Config config = kernel.space(problem, limits).default_config().value();
  for (const NamedValue& value : test.set) config.set(value.name, value.value);
  const RenderedKernel rendered = render(catalog, kernel, config, problem, limits);
  CountedKernel counted;
  counted.label = fmt::format("{} {} {}{} align {}", test.kernel, to_string(test.type),
                              test.a == Storage::n ? "n" : "t", test.b == Storage::n ? "n" : "t",
                              test.alignment);
  for (const NamedValue& value : test.set) {
    counted.label += fmt::format(" {}={}", value.name, value.value);
  }
  counted.source = rendered.text;
  counted.name = rendered.name_expressions.at(0);
  counted.geometry = LaunchPlanner(kernel, problem, limits).geometry(config).at(0);
  counted.tolerance = test.tolerance;
  counted.arguments = [gemm](DevicePtr memory) {
    constexpr DevicePtr kOperand = kCountedBytes / 4;
    const GemmArgs args = plain_arguments(gemm, memory, memory + kOperand, memory + 2 * kOperand,
                                          memory + 3 * kOperand);
    std::vector<std::byte> bytes(sizeof args);
    std::memcpy(bytes.data(), &args, sizeof args);
    return bytes;
  };
  return counted;
}

/// A body for 128 threads of 3 blocks: t is the thread, `in` and `out` are words of global memory,
/// `words` 16 KiB of shared memory that hold numbers, `base` their address.
CountedKernel small(const std::string& label, const std::string& body) {
  CountedKernel counted;
  counted.label = label;
  counted.source = fmt::format(R"(
struct Args {{ unsigned* memory; }};
extern "C" __global__ void k(const Args args) {{
  __shared__ __align__(128) unsigned words[4096];
  const unsigned t = threadIdx.x;
  const unsigned* const in = args.memory + blockIdx.x * 8192;
  unsigned* const out = args.memory + 524288 + blockIdx.x * 8192;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  for (unsigned i = t; i < 4096; i += 128) words[i] = i;
  __syncthreads();
  unsigned x = t, y = 0, z = 0, w = 0;
{}
  out[t] = x ^ y ^ z ^ w;
}}
)",
                               body);
  counted.geometry = {{3, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  counted.arguments = [](DevicePtr memory) {
    std::vector<std::byte> bytes(sizeof memory);
    std::memcpy(bytes.data(), &memory, sizeof memory);
    return bytes;
  };
  return counted;
}

/// Registers of an access of 4, 8 or 16 bytes: its suffix, and what is in its braces.
struct Width {
  const char* suffix;
  const char* loaded;
  const char* stored;
  const char* outputs;
  int count;
};
const Width& width_of(int bytes) {
  static constexpr Width kWidths[] = {{"u32", "%0", "%1", R"("=r"(x))", 1},
                                      {"v2.u32", "{%0, %1}", "{%1, %1}", R"("=r"(x), "=r"(y))", 2},
                                      {"v4.u32", "{%0, %1, %2, %3}", "{%1, %1, %1, %1}",
                                       R"("=r"(x), "=r"(y), "=r"(z), "=r"(w))", 4}};
  return kWidths[bytes / 8];
}

/// Loads of 4, 8 or 16 bytes from shared memory at `address`, an expression of t.
CountedKernel load(const std::string& label, int bytes, const std::string& address) {
  const Width& width = width_of(bytes);
  return small("load " + label,
               fmt::format(R"(  asm volatile("ld.volatile.shared.{} {}, [%{}];" : {} : "r"({}));)",
                           width.suffix, width.loaded, width.count, width.outputs,
                           "base + (" + address + ")"));
}

CountedKernel store(const std::string& label, int bytes, const std::string& address) {
  const Width& width = width_of(bytes);
  return small("store " + label,
               fmt::format(R"(  asm volatile("st.volatile.shared.{} [%0], {};")"
                           R"( :: "r"({}), "r"(x) : "memory");)",
                           width.suffix, width.stored, "base + (" + address + ")"));
}

void add_catalog(std::vector<CountedKernel>& to, const DeviceLimits& limits) {
  using enum Storage;
  const std::vector<CatalogCase> cases{
      {"gemm_naive", DType::f32, n, n, 16, {}},
      {"gemm_naive", DType::f16, n, t, 2, {{"block_x", 8}, {"block_y", 16}}},
      {"gemm_naive", DType::f64, t, n, 16, {{"block_x", 16}, {"block_y", 8}}},
      {"gemm_tiled", DType::f32, n, n, 16, {}},
      {"gemm_tiled", DType::f32, n, n, 16, {{"pad", 0}}},
      {"gemm_tiled",
       DType::f32,
       t,
       t,
       16,
       {{"tile_m", 64}, {"tile_n", 64}, {"thread_m", 4}, {"thread_n", 4}}},
      {"gemm_tiled",
       DType::f64,
       n,
       t,
       16,
       {{"tile_m", 64}, {"tile_n", 64}, {"thread_m", 4}, {"thread_n", 4}}},
      {"gemm_tiled",
       DType::f16,
       n,
       n,
       16,
       {{"tile_m", 64}, {"tile_n", 64}, {"thread_m", 4}, {"thread_n", 4}}},
      {"gemm_tiled",
       DType::f32,
       n,
       n,
       4,
       {{"tile_m", 32}, {"tile_n", 32}, {"thread_m", 2}, {"thread_n", 2}}},
      {"gemm_wmma", DType::f16, n, n, 16, {}, kUnknownBytes},
      {"gemm_wmma", DType::f16, n, n, 16, {{"pad", 0}, {"stages", 1}, {"copy", kRegisters}}},
      {"gemm_wmma", DType::f16, n, n, 16, {{"copy", kRegisters}, {"stages", 2}}, kJoinedStores},
      {"gemm_wmma", DType::f16, n, t, 16, {{"pad", 0}, {"copy", kRegisters}, {"stages", 1}}},
      {"gemm_wmma", DType::f16, n, n, 16, {{"frag_m", 8}}, kUnknownBytes},
      {"gemm_wmma",
       DType::bf16,
       t,
       t,
       16,
       {{"frag_m", 32}, {"tile_m", 64}, {"tile_n", 64}, {"warp_m", 32}, {"warp_n", 32}},
       kSkippedCopies},
      {"gemm_wmma",
       DType::f16,
       n,
       n,
       2,
       {{"copy", kRegisters},
        {"tile_m", 64},
        {"tile_n", 64},
        {"warp_m", 32},
        {"warp_n", 32},
        {"stages", 2}}},
  };
  for (const CatalogCase& test : cases) to.push_back(from_catalog(test, limits));
}

}  // namespace

std::vector<CountedKernel> counted_kernels(const DeviceLimits& limits) {
  std::vector<CountedKernel> all;
  add_catalog(all, limits);
  all.push_back(load("4 side by side", 4, "t * 4"));
  all.push_back(load("4 stride 2", 4, "t * 8"));
  all.push_back(load("4 stride 32", 4, "t % 32 * 128"));
  all.push_back(load("4 stride 33", 4, "t % 32 * 132"));
  all.push_back(load("4 pairs share", 4, "t / 2 * 4 + t % 2 * 128 * (t / 64)"));
  all.push_back(load("8 side by side", 8, "t * 8"));
  all.push_back(load("8 stride 4 words", 8, "t * 16"));
  all.push_back(load("8 neighbours share", 8, "t / 2 * 16"));
  all.push_back(load("16 side by side", 16, "t * 16"));
  all.push_back(load("16 rows of 64 bytes", 16, "t % 16 * 64 + t / 16 * 16"));
  all.push_back(load("16 rows of 80 bytes", 16, "t % 16 * 80 + t / 16 * 16"));
  all.push_back(load("16 every second shares", 16, "t / 4 * 64 + t % 2 * 16"));
  all.push_back(store("4 stride 5", 4, "t * 20"));
  all.push_back(store("8 stride 4 words", 8, "t * 16"));
  all.push_back(store("16 rows of 128 bytes", 16, "t % 32 * 128 + t / 32 * 16"));
  all.push_back(small("ldmatrix rows of 64 bytes", R"(
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(base + t * 64));)"));
  all.push_back(small("ldmatrix.trans rows of 80 bytes", R"(
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(base + t * 80));)"));
  all.push_back(small("stmatrix rows of 128 bytes", R"(
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};"
               ::"r"(base + t * 128), "r"(x) : "memory");)"));
  all.push_back(small("cp.async 16 into rows of 64 bytes", R"(
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.wait_all;"
               ::"r"(base + t % 32 * 64 + t / 32 * 16), "l"(in + t * 4) : "memory");)"));
  all.push_back(small("cp.async 4 transposed", R"(
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.wait_all;"
               ::"r"(base + t % 32 * 128 + t / 32 * 4), "l"(in + t) : "memory");)"));
  all.push_back(small("global 4 stride 3, off by a word", "  x = in[t * 3 + 1];"));
  all.push_back(small("global gather, some lanes off", R"(
  if (t % 5 != 2) x = in[t * 977 % 8000];)"));
  all.push_back(small("global 16 in an odd order, bytes stored", R"(
  const uint4 v = reinterpret_cast<const uint4*>(in)[t * 7 % 128 * 3];
  x = v.x ^ v.y ^ v.z ^ v.w;
  reinterpret_cast<unsigned char*>(out)[8192 + t * 5] = x;)"));
  all.push_back(small("shared and global atomics", R"(
  atomicAdd(words + t % 8, t);
  atomicAdd(out + 2048 + t % 4 * 16, t);
  __syncthreads();
  x = words[t];)"));
  return all;
}

}  // namespace kiln::testing
