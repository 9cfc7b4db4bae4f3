// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Declared operations on a GPU: those of examples/ are right in covering configurations, and found
// wrong with a planted fault of each kind that a GPU by itself does not report; every type, launch
// and array of pointers that an operation can have is handed over as it should be.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/compile/operations/launch_kernels.hpp"
#include "tests/compile/operations/operation_bench.hpp"
#include "tests/gpu/runtime_gpu.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::testing {
namespace {

using ::testing::HasSubstr;

class GpuOperations : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (device_) bench_ = std::make_unique<OperationBench>(std::move(device_));
  }

  void check(const std::string& folder, const Sizes& sizes) {
    check_directory(example_folder(folder), sizes);
  }

  void check_directory(const std::string& path, const Sizes& sizes) {
    SCOPED_TRACE(path);
    const Catalog catalog = Catalog::with_directories({path});
    for (const KernelTemplate& kernel : catalog.templates()) {
      const Operation& operation = *find_operation(kernel.operation());
      if (!operation.is_declared()) continue;  // built in
      const Problem problem = problem_of(operation, sizes, type_choices_of(kernel, false).front());
      bench_->set_up(problem);
      const ParamSpace space = kernel.space(problem, bench_->info().limits);
      for (const Config& config : covering_configs(space, 7)) {
        EXPECT_EQ(bench_->judge(catalog, {kernel.name(), config}).complaint(), "")
            << kernel.name() << " " << config.canonical();
        ++judged_;
      }
    }
  }

  struct Fault {
    std::string file, from, to, words;
  };
  /// `faults` of softmax_block, each in a copy of the folder.
  void plant(const std::vector<Fault>& faults) {
    const std::string folder = example_folder("operations/softmax");
    const Catalog sound = Catalog::with_directories({folder});
    const Operation& operation = *find_operation("softmax");
    const Candidate candidate{"softmax_block",
                              {{"row_threads", 64}, {"vector_bytes", 8}, {"held_vectors", 2}}};
    bench_->set_up(problem_of(operation, {{"rows", 5}, {"cols", 96}},
                              type_choices_of(sound.at("softmax_block"), false).front()));
    ASSERT_EQ(bench_->judge(sound, candidate).complaint(), "");
    for (const auto& [file, from, to, words] : faults) {
      SCOPED_TRACE(words);
      const TempFolder copy;
      std::filesystem::copy(folder, copy.path());
      std::string text = read_text(copy.path() / file);
      const auto at = text.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      text.replace(at, from.size(), to);
      std::ofstream(copy.path() / file) << text;
      const Judged judged =
          bench_->judge(Catalog::with_directories({copy.path().string()}), candidate);
      EXPECT_EQ(judged.outcome, Outcome::wrong_result) << judged.complaint();
      EXPECT_THAT(judged.message, HasSubstr(words));
    }
  }

  std::unique_ptr<OperationBench> bench_;
  int judged_ = 0;
};

TEST_F(GpuOperations, AreRight) {
  check("operations/softmax", {{"rows", 301}, {"cols", 1000}});
  check("operations/transpose", {{"rows", 257}, {"cols", 1032}});
  check("operations/transpose", {{"rows", 256}, {"cols", 1032}, {"ldx", 1040}, {"ldy", 264}});
  check("operations/sum", {{"n", 1'000'003}});
  check("operations/stencil2d", {{"rows", 130}, {"cols", 1028}});
  check("operations/histogram", {{"n", 1'000'003}, {"bins", 100}});
  check("operations/gather", {{"entries", 1000}, {"rows", 777}, {"cols", 200}});
  check("operations/matvec", {{"batch", 33}, {"rows", 65}, {"cols", 132}});
  EXPECT_GT(judged_, 50);
}

TEST_F(GpuOperations, AdoptedKernelsAreRight) {
  check("adopted/vector_add", {{"n", 100'003}});
  check("adopted/convolution", {{"height", 300}, {"width", 500}});
  check("adopted/stencil3d", {{"nx", 65}, {"ny", 33}, {"nz", 40}});
  check("adopted/complex_scale", {{"n", 100'003}});
  check("adopted/block_sum", {{"n", 1'000'003}});
  EXPECT_GT(judged_, 20);
}

TEST_F(GpuOperations, EveryTypeIsHandedOver) {
  check_directory(KILN_SOURCE_DIR "/tests/compile/operations/mix_types",
                  {{"n", 300}, {"entries", 40}});
  EXPECT_GT(judged_, 0);
}

TEST_F(GpuOperations, BlocksOfACooperativeLaunchMeetAtTheirGrid) {
  const auto judged = [&](const std::string& blocks) {
    return judge_texts(*bench_, kGridSum,
                       grid_sum_kernel("//@   cooperative\n", "cg::this_grid().sync();", blocks),
                       {{"n", 100'003}});
  };
  EXPECT_EQ(judged("132").complaint(), "");
  const Judged large = judged("100000");
  EXPECT_EQ(large.outcome, Outcome::out_of_resources);
  EXPECT_THAT(large.message, HasSubstr("100000 blocks"));
}

TEST_F(GpuOperations, ArraysBehindPointersAreOperands) {
  const Sizes sizes{{"batch", 5}, {"n", 40}};
  EXPECT_EQ(judge_texts(*bench_, kBatchedScale, batched_scale_kernel(""), sizes).complaint(), "");
  const Judged outside = judge_texts(*bench_, kBatchedScale,
                                     batched_scale_kernel("if (n > 1) out[b][n] = 1.0f;"), sizes);
  EXPECT_EQ(outside.outcome, Outcome::wrong_result);
  EXPECT_THAT(outside.message, HasSubstr("out"));
}

TEST_F(GpuOperations, PlantedFaultsAreFound) {
  const std::string share = "softmax_row.cuh";
  const std::string kernel = "softmax_block.cu";
  plant({
      {share, "(loaded[i].of[j]) : kLowest", "(loaded[i].of[j]) : 0.0f", " wrong"},
      {share, "if (at >= vectors) break;",
       "if (at >= vectors + (blockIdx.x == gridDim.x - 1)) break;", "after y"},
      {share, "scale * kiln::", "kiln::", "scale=0.75"},
      {kernel, "    softmax_of_row<1>(from, to, cols, scale * kLog2E);\n  }",
       "    softmax_of_row<1>(from, to, cols, scale * kLog2E);\n  }\n"
       "  if (threadIdx.x == 0) const_cast<X*>(from)[0] = static_cast<X>(7.0f);",
       "changed input x"},
      {share, "results[j] = numbers[i][j] * factor",
       "results[j] = (1.0f + clock() % 8 * 1.2e-7f) * numbers[i][j] * factor", "two runs"},
      // A race that is lost on every GPU: the first warp reads sums that others have yet to write.
      {kernel, "  __syncthreads();\n",
       "  if (threadIdx.x / 32 != 0) __nanosleep(20000);\n  if (threadIdx.x < 0) "
       "__syncthreads();\n",
       "wrong"},
  });
}

}  // namespace
}  // namespace kiln::testing
