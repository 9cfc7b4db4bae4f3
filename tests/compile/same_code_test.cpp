// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Digests of what NVRTC really makes: of every architecture that has a form of its own, as machine
// code and as PTX. Needs NVRTC, but no GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "tests/compile/bench.hpp"
#include "tuner/compile/code_digest.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/prepared_candidate.hpp"

namespace kiln {
namespace {

/// All that a configuration gets into the names of: the kernel, a function that is called, a table
/// in constant memory, a table in global memory, shared memory.
constexpr const char* kSource = R"(
struct Config { int tile; int unused; int blocks; };

template <Config C> struct Rows {
  static constexpr int kRows = C.tile;
  static constexpr int kTable[4] = {C.tile, 2, 3, 5};
};

template <Config C> __constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};

template <Config C> __device__ __noinline__ float twice(float x, const int& rows) {
  return x * rows + weights<C>[threadIdx.x % 4];
}

template <Config C> __global__ void __launch_bounds__(128, C.blocks) kernel(float* data, int i) {
  __shared__ float tile[C.tile * 32];
  tile[threadIdx.x % (C.tile * 32)] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = twice<C>(tile[i], Rows<C>::kRows) + Rows<C>::kTable[i % 4];
}

template <Config C> __global__ void second(float* data) { data[threadIdx.x] += C.tile; }
)";

class SameCode : public testing::NvrtcTest {
 protected:
  [[nodiscard]] std::string digest(const std::string& config, CodeKind kind,
                                   const std::string& arch = "sm_90a") const {
    CompileRequest request;
    request.source = kSource;
    for (const char* kernel : {"kernel", "second"}) {
      request.name_expressions.push_back(fmt::format("{}<Config{}>", kernel, config));
    }
    request.arch = arch;
    request.code = kind;
    const CompileResult result = testing::nvrtc()->compile(request);
    EXPECT_TRUE(result.ok) << result.log;
    const std::string digest = code_digest(kind, result.cubin, result.lowered_names);
    EXPECT_EQ(digest.size(), 32U) << arch << ": code that is not understood";
    return digest;
  }
};

TEST_F(SameCode, AConfigurationThatTheCodeDoesNotUseIsTheSame) {
  const auto archs = testing::nvrtc()->supported_archs();
  for (const std::string arch :
       {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_120a"}) {
    if (std::find(archs.begin(), archs.end(), arch) == archs.end()) continue;
    EXPECT_EQ(digest("{4, 1, 1}", CodeKind::cubin, arch),
              digest("{4, 123456, 1}", CodeKind::cubin, arch))
        << arch;
  }
  EXPECT_EQ(digest("{4, 1, 1}", CodeKind::ptx), digest("{4, 123456, 1}", CodeKind::ptx));
}

TEST_F(SameCode, AConfigurationThatTheCodeUsesDiffers) {
  for (const CodeKind kind : {CodeKind::cubin, CodeKind::ptx}) {
    EXPECT_NE(digest("{4, 1, 1}", kind), digest("{8, 1, 1}", kind));
  }
}

// 128 threads: from four blocks on the limit is 128 registers, and the kernel needs far fewer.
TEST_F(SameCode, RoomForMoreBlocksIsTheSameWhereRegistersAreFewAnyway) {
  for (const CodeKind kind : {CodeKind::cubin, CodeKind::ptx}) {
    EXPECT_EQ(digest("{4, 1, 1}", kind), digest("{4, 1, 4}", kind));
  }
}

// The templates of the catalog in their default configurations, of every kind of code.
TEST_F(SameCode, TheCodeOfEveryTemplateIsUnderstoodAndItsOwn) {
  const Gemm gemm = Gemm::of(DType::f16, 512, 512, 512);
  for (const auto& [arch, kind] : {std::pair{"sm_80", CodeKind::cubin},
                                   {"sm_90a", CodeKind::cubin},
                                   {"sm_90a", CodeKind::ptx}}) {
    const auto limits = limits_of_arch(arch);
    ASSERT_TRUE(limits);
    std::set<std::string> digests;
    for (const auto& kernel : Catalog::builtin().templates()) {
      if (kernel.why_unsupported(to_problem(gemm), *limits)) continue;
      const auto config = kernel.space(to_problem(gemm), *limits).default_config();
      ASSERT_TRUE(config) << kernel.name();
      const auto prepared =
          prepare_candidate({kernel.name(), *config}, Catalog::builtin(), *testing::nvrtc(),
                            *limits, problem_cases({{gemm}}), Admission::runnable, kind);
      ASSERT_EQ(prepared.outcome, Outcome::ok) << prepared.message;
      EXPECT_EQ(prepared.code_digest.size(), 32U) << kernel.name();
      EXPECT_TRUE(digests.insert(prepared.code_digest).second) << kernel.name();
    }
    EXPECT_GE(digests.size(), 3U);
  }
}

}  // namespace
}  // namespace kiln
