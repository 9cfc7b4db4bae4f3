// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Compiles the catalog for every architecture: templates and type rows with their default
// configuration, some with a sampled one, and the verification kernels. Each architecture has one
// of the four layouts, in rotation, and the element types rotate through what the row allows. With
// KILN_FULL_CATALOG every row has both configurations, and all types occur. Needs NVRTC, but no
// GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/support/full_catalog.hpp"
#include "tests/support/gemm_arguments.hpp"
#include "tests/support/row_gemm.hpp"

namespace kiln {
namespace {

const std::vector<std::string> kArchs{"sm_75",  "sm_80",  "sm_86", "sm_89",
                                      "sm_90a", "sm_100", "sm_120"};

/// One thing to compile, and the result.
struct Job {
  std::string label;
  CompileRequest request;
  bool is_default = false;
  CompileResult result;
};

/// A problem of some tiles and a remainder, chosen by the row and the turn.
Gemm problem_of(const TypeRow& row, std::size_t turn, Storage a, Storage b, int alignment,
                bool reads_c) {
  Gemm gemm = testing::gemm_of_row(row, turn, a, b, alignment, reads_c);
  gemm.m = 992;
  gemm.n = 704;
  gemm.k = 320;
  return gemm;
}

Job job_of(const KernelTemplate& kernel, const Config& config, const Problem& problem,
           const DeviceLimits& limits, bool is_default) {
  const auto rendered = render(Catalog::builtin(), kernel, config, problem, limits);
  Job job;
  job.label = fmt::format("{} {} {} [{}]", limits.arch, kernel.name(), problem.kind_text(),
                          config.canonical());
  job.request = testing::request_of(rendered, limits.arch, CodeKind::cubin);
  job.request.source_name = kernel.file();
  job.is_default = is_default;
  return job;
}

/// Compiles all jobs, on every core.
void compile_all(Compiler& compiler, std::vector<Job>& jobs) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t j = next++; j < jobs.size(); j = next++) {
        jobs[j].result = compiler.compile(jobs[j].request);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

class CompileKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler_ = make_nvrtc_compiler("", SystemHeaders::precompile);
    } catch (const Error& error) {
      GTEST_SKIP() << "no NVRTC here: " << error.what();
    }
  }

  /// The architectures that the test covers and this NVRTC can compile for.
  [[nodiscard]] std::vector<DeviceLimits> archs() const {
    const auto supported = compiler_->supported_archs();
    std::vector<DeviceLimits> all;
    for (const auto& arch : kArchs) {
      const auto limits = limits_of_arch(arch);
      if (!limits) {
        ADD_FAILURE() << "no limits for " << arch;
        continue;
      }
      const auto base = arch.back() == 'a' ? arch.substr(0, arch.size() - 1) : arch;
      const bool known = std::find(supported.begin(), supported.end(), arch) != supported.end() ||
                         std::find(supported.begin(), supported.end(), base) != supported.end();
      if (known) {
        all.push_back(*limits);
      } else {
        fmt::print("this NVRTC compiles nothing for {}\n", arch);
      }
    }
    return all;
  }

  /// Compiles, and expects success of all and no spills of defaults.
  void compile_and_check(std::vector<Job>& jobs) {
    compile_all(*compiler_, jobs);
    int spilled = 0;
    for (const auto& job : jobs) {
      EXPECT_TRUE(job.result.ok) << job.label << "\n" << job.result.log;
      if (!job.result.ok) continue;
      EXPECT_FALSE(job.result.cubin.empty()) << job.label;
      EXPECT_EQ(job.result.lowered_names.size(),
                job.request.name_expressions.size() + job.request.plain_names.size())
          << job.label;
      const auto spill_bytes =
          job.result.resources.spill_store_bytes + job.result.resources.spill_load_bytes;
      if (job.is_default) {
        EXPECT_EQ(spill_bytes, 0) << job.label << " spills with its default configuration";
      }
      spilled += spill_bytes > 0 ? 1 : 0;
    }
    RecordProperty("compiled", static_cast<int>(jobs.size()));
    fmt::print("compiled {} kernels, {} of the sampled ones spill\n", jobs.size(), spilled);
  }

  /// The rows of types of a template, each with the numbers of types to begin with: one, since they
  /// go on from architecture to architecture; as many as there are where it has only one.
  [[nodiscard]] static std::vector<std::pair<TypeRow, std::size_t>> rows_of(
      const KernelTemplate& kernel, const std::vector<DeviceLimits>& all_archs) {
    const auto archs = std::ranges::count_if(all_archs, [&](const DeviceLimits& limits) {
      const Problem problem = to_problem(testing::supported_gemm(
          kernel, problem_of(kernel.type_rows().front(), 0, Storage::n, Storage::n, 16, true),
          limits));
      return !kernel.why_unsupported(problem, limits);
    });
    std::vector<std::pair<TypeRow, std::size_t>> rows;
    for (const TypeRow& row : kernel.type_rows()) {
      const std::size_t choices = archs == 1 ? row.slots.front().allowed.size() : 1;
      for (std::size_t i = 0; i < choices; ++i) rows.emplace_back(row, i);
    }
    return rows;
  }

  std::unique_ptr<Compiler> compiler_;
};

TEST_F(CompileKernels, TemplatesForEveryArchitecture) {
  std::vector<Job> jobs;
  std::map<std::string, std::set<DType>> operand_types;
  std::mt19937_64 random(1);
  const auto all_archs = archs();
  ASSERT_FALSE(all_archs.empty());
  std::size_t turn = 0;
  // Layouts and types go on by one from architecture to architecture.
  std::size_t arch_turn = 0;
  for (const auto& limits : all_archs) {
    const char* const layout = std::array{"nn", "nt", "tn", "tt"}[arch_turn % 4];
    const auto storage = parse_layout(layout);
    ASSERT_TRUE(storage);
    const auto [a, b] = *storage;
    for (const auto& kernel : Catalog::builtin().templates()) {
      for (const auto& [row, choice] : rows_of(kernel, all_archs)) {
        const int alignment = 1 << turn % 5;
        ++turn;
        const std::size_t types = arch_turn + choice;
        const Gemm gemm =
            testing::supported_gemm(kernel, problem_of(row, types, a, b, 16, true), limits);
        const Problem aligned = to_problem(gemm);
        if (const auto why = kernel.why_unsupported(aligned, limits)) {
          if (why->find(" needs sm == 90, but this device is ") != std::string::npos)
            continue;  // wgmma
          EXPECT_EQ(limits.arch, "sm_75") << *why;
          // sm_75 has neither these types nor the cp.async that some templates are built on.
          EXPECT_TRUE(gemm.a == DType::bf16 || gemm.a == DType::tf32 || gemm.a == DType::f64 ||
                      gemm.a == DType::b1 || why->find("sm >= 80") != std::string::npos)
              << *why;
          continue;
        }
        // In tools/run-tests, architectures but Hopper compile one of four; label catalog compiles
        // all.
        if (!testing::full_catalog() && limits.arch != "sm_90a" && turn % 4 != 0) continue;
        operand_types[kernel.name()].insert(gemm.a);
        const auto usual = kernel.space(aligned, limits).default_config();
        ASSERT_TRUE(usual) << limits.arch << " " << kernel.name() << " " << layout;
        jobs.push_back(job_of(kernel, *usual, aligned, limits, true));
        // Sampled ones take as long as defaults.
        if (turn % (testing::full_catalog() ? 1 : 9) != 0) continue;
        const Problem other = to_problem(testing::supported_gemm(
            kernel, problem_of(row, types, a, b, alignment, false), limits));
        // What is not preferred compiles as well, but slowly.
        const ParamSpace space = kernel.space(other, limits);
        const auto sampled =
            (turn % (testing::full_catalog() ? 2 : 18) == 0 ? space : space.preferred())
                .sample(random);
        ASSERT_TRUE(sampled) << limits.arch << " " << kernel.name() << " " << layout;
        jobs.push_back(job_of(kernel, *sampled, other, limits, false));
      }
    }
    // Else, whenever the combinations are a multiple of the alignments, each architecture would
    // get the same ones.
    ++turn;
    ++arch_turn;
  }
  // The rotation reaches every operand type that a template lists.
  for (const auto& kernel : Catalog::builtin().templates()) {
    if (!testing::full_catalog()) break;
    for (const auto& row : kernel.type_rows()) {
      for (const auto& slot : row.slots) {
        if (slot.name != "a") continue;
        for (const auto type : slot.allowed) {
          EXPECT_TRUE(operand_types[kernel.name()].contains(type))
              << kernel.name() << " was not compiled for " << to_string(type);
        }
      }
    }
  }
  compile_and_check(jobs);
}

TEST_F(CompileKernels, VerificationKernelsForOldAndNewArchitectures) {
  const auto& files = embedded_files();
  const auto source = files.find("support/verify.cu");
  ASSERT_NE(source, files.end());
  std::vector<Job> jobs;
  // The oldest and Hopper; label catalog compiles for all.
  const std::set<std::string> few{"sm_75", "sm_90a"};
  for (const auto& limits : archs()) {
    if (!testing::full_catalog() && !few.contains(limits.arch)) continue;
    Job job;
    job.label = limits.arch + " support/verify.cu";
    job.request.source = inline_headers(files, "support/verify.cu", source->second);
    job.request.source_name = "verify.cu";
    job.request.plain_names = {"kiln_fill_random",     "kiln_absolute",       "kiln_convert",
                               "kiln_compare",         "kiln_compare_detail", "kiln_count_mismatch",
                               "kiln_count_difference"};
    job.request.arch = limits.arch;
    job.is_default = true;
    jobs.push_back(std::move(job));
  }
  ASSERT_FALSE(jobs.empty());
  compile_and_check(jobs);
}

/// A configuration that breaks the kernel's own rules is refused by the kernel in a sentence, even
/// when it does not come through the front matter.
TEST_F(CompileKernels, StaticAssertionsExplainBadConfigurations) {
  const auto& kernel = Catalog::builtin().at("gemm_wmma");
  const auto limits = limits_of_arch("sm_90a");
  ASSERT_TRUE(limits);
  const Problem problem = to_problem(Gemm::of(DType::f16, 992, 704, 320));
  const auto config = kernel.space(problem, *limits).default_config();
  ASSERT_TRUE(config);
  auto job = job_of(kernel, *config, problem, *limits, true);
  auto& expression = job.request.name_expressions.front();
  // The tile's three extents, then warp_m.
  const std::string tile = "}, 128, 128, 32, ";
  const auto at = expression.find(tile + "64, ");
  ASSERT_NE(at, std::string::npos) << expression;
  expression.replace(at + tile.size(), 2, "48");
  const auto result = compiler_->compile(job.request);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.log.find("Warps must tile the block"), std::string::npos) << result.log;
}

}  // namespace
}  // namespace kiln
