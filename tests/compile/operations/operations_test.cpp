// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Executes every template of examples/ on the emulated GPU with every check on, judged as a tuning
// session judges candidates: one configuration for some types; with KILN_FULL_CATALOG each value of
// each tunable, for all types. Needs NVRTC, but no GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/compile/operations/operation_bench.hpp"
#include "tests/support/full_catalog.hpp"

namespace kiln::testing {
namespace {

/// A folder of examples/, and the problem that its templates are to solve beside the ragged sizes
/// that its operation states. Vectors of 16 bytes fit it.
struct ExampleProblem {
  std::string folder;
  std::string operation;
  Sizes sizes;
};

class ExampleOperations : public ::testing::TestWithParam<ExampleProblem> {
 protected:
  void SetUp() override {
    try {
      bench_ = std::make_unique<OperationBench>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Judges one template for its problem with these types: one configuration, or as many as it
  /// takes to cover each value of each tunable.
  void examine(const Catalog& catalog, const KernelTemplate& kernel, const Types& types) {
    const Problem problem =
        problem_of(*find_operation(kernel.operation()), GetParam().sizes, types);
    const auto unsupported = kernel.why_unsupported(problem, bench_->info().limits);
    ASSERT_FALSE(unsupported) << *unsupported;
    bench_->set_up(problem);
    const ParamSpace space = kernel.space(problem, bench_->info().limits);
    std::vector<Config> configs = covering_configs(space, judged_ + 1);
    ASSERT_FALSE(configs.empty()) << problem.canonical();
    if (!full_catalog()) configs.resize(1);
    for (const Config& config : configs) {
      const Judged judged = bench_->judge(catalog, {kernel.name(), config});
      EXPECT_EQ(judged.complaint(), "")
          << kernel.name() << ": " << problem.kind_text() << " " << config.canonical();
      ++judged_;
    }
  }

  std::unique_ptr<OperationBench> bench_;
  std::size_t judged_ = 0;
};

TEST_P(ExampleOperations, AreRightAndClean) {
  const Catalog catalog = Catalog::with_directories({example_folder(GetParam().folder)});
  std::size_t templates = 0;
  for (const KernelTemplate& kernel : catalog.templates()) {
    if (kernel.operation() != GetParam().operation) continue;
    ++templates;
    for (const Types& types : type_choices_of(kernel, full_catalog())) {
      ASSERT_NO_FATAL_FAILURE(examine(catalog, kernel, types)) << kernel.name();
    }
  }
  EXPECT_GT(templates, 0U);
  fmt::print("{}: {} templates, {} candidates\n", GetParam().operation, templates, judged_);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ExampleOperations,
    ::testing::Values(
        ExampleProblem{
            "operations/gather", "gather", {{"entries", 40}, {"rows", 70}, {"cols", 64}}},
        ExampleProblem{"operations/histogram", "histogram", {{"n", 6000}, {"bins", 64}}},
        ExampleProblem{"operations/matvec", "matvec", {{"batch", 5}, {"rows", 24}, {"cols", 64}}},
        ExampleProblem{"operations/softmax", "softmax", {{"rows", 9}, {"cols", 512}}},
        ExampleProblem{"operations/stencil2d", "stencil2d", {{"rows", 70}, {"cols", 136}}},
        ExampleProblem{"operations/sum", "sum", {{"n", 20000}}},
        ExampleProblem{"operations/transpose", "transpose", {{"rows", 136}, {"cols", 72}}},
        ExampleProblem{"adopted/block_sum", "block_sum", {{"n", 20000}}},
        ExampleProblem{"adopted/complex_scale", "complex_scale", {{"n", 3000}}},
        ExampleProblem{"adopted/convolution", "convolution", {{"height", 40}, {"width", 72}}},
        ExampleProblem{"adopted/stencil3d", "stencil3d", {{"nx", 40}, {"ny", 18}, {"nz", 10}}},
        ExampleProblem{"adopted/vector_add", "vector_add", {{"n", 3000}}}),
    [](const auto& test) { return test.param.operation; });

}  // namespace
}  // namespace kiln::testing
