// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Templates of examples/ with one mistake each, which judging has to find, and to name.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/compile/operations/operation_bench.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::testing {
namespace {

using emulated::Finding;
using ::testing::HasSubstr;

/// A piece of a file's text, and what stands in its place in a mutant.
struct OperationMutant {
  std::string name;
  std::string file;  ///< of the specimen's folder
  std::string from;  ///< occurs once in it
  std::string to;
  Outcome outcome = Outcome::ok;
  std::string words = "";                         ///< are in the message
  std::optional<Finding> finding = std::nullopt;  ///< a report of that kind must come
  std::string line = "";  ///< and its line of the mutant's file contains this, which no other does
};

/// A folder of examples/, with the template and configuration that are mutated.
struct OperationSpecimen {
  std::string folder;
  std::string kernel;
  Sizes sizes;
  Config config;
};

/// "sum_partials.cu:37" of the one line with `marker`; "" if there is none, or several.
std::string place_in(const std::string& file, const std::string& text, const std::string& marker) {
  std::istringstream lines(text);
  std::string line;
  std::string place;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find(marker) == std::string::npos) continue;
    if (!place.empty()) return {};
    place = fmt::format("{}:{}", file, number);
  }
  return place;
}

class OperationMutants : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      bench_ = std::make_unique<OperationBench>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void examine(const OperationSpecimen& specimen, const std::vector<OperationMutant>& mutants) {
    const std::string folder = example_folder(specimen.folder);
    const Catalog catalog = Catalog::with_directories({folder});
    const KernelTemplate& kernel = catalog.at(specimen.kernel);
    const Operation& operation = *find_operation(kernel.operation());
    bench_->set_up(problem_of(operation, specimen.sizes, type_choices_of(kernel, false).front()));
    const Candidate candidate{specimen.kernel, specimen.config};
    ASSERT_EQ(bench_->judge(catalog, candidate).complaint(), "");
    for (const OperationMutant& mutant : mutants) {
      SCOPED_TRACE(mutant.name);
      examine_mutant(folder, candidate, mutant);
    }
  }

 private:
  void examine_mutant(const std::string& folder, const Candidate& candidate,
                      const OperationMutant& mutant) {
    const TempFolder copy;
    std::filesystem::copy(folder, copy.path());
    std::string text = read_text(copy.path() / mutant.file);
    const auto at = text.find(mutant.from);
    ASSERT_NE(at, std::string::npos) << "'" << mutant.from << "' is not there";
    ASSERT_EQ(text.find(mutant.from, at + 1), std::string::npos) << "it is there more than once";
    text.replace(at, mutant.from.size(), mutant.to);
    std::ofstream(copy.path() / mutant.file) << text;

    const Catalog catalog = Catalog::with_directories({copy.path().string()});
    const Judged judged = bench_->judge(catalog, candidate);
    EXPECT_EQ(judged.outcome, mutant.outcome) << judged.complaint();
    EXPECT_THAT(judged.message, HasSubstr(mutant.words)) << judged.complaint();
    EXPECT_FALSE(judged.verified);
    if (!mutant.finding) {
      EXPECT_TRUE(judged.reports.empty()) << judged.complaint();
      return;
    }
    const std::string place = place_in(mutant.file, text, mutant.line);
    ASSERT_NE(place, "") << "'" << mutant.line << "' is not on one line";
    EXPECT_TRUE(std::ranges::any_of(judged.reports,
                                    [&](const emulated::Report& report) {
                                      return report.finding == *mutant.finding &&
                                             report.place == place;
                                    }))
        << "wanted " << emulated::name_of(*mutant.finding) << " at " << place
        << ", found: " << judged.complaint();
  }

  std::unique_ptr<OperationBench> bench_;
};

/// A mutant whose runs end by themselves, and are found wrong with these words.
OperationMutant refused(std::string name, std::string file, std::string from, std::string to,
                        std::string words) {
  return {std::move(name), std::move(file),       std::move(from),
          std::move(to),   Outcome::wrong_result, std::move(words)};
}

/// One that the emulated GPU reports. An access that cannot be done ends the run; of what it can do
/// all the same, such as reading what nobody wrote, the verdict is a wrong result.
OperationMutant reported(std::string name, std::string file, std::string from, std::string to,
                         Finding finding, std::string line) {
  const bool ends = finding == Finding::out_of_bounds || finding == Finding::misaligned;
  const Outcome outcome = ends ? Outcome::crashed : Outcome::wrong_result;
  return {std::move(name), std::move(file), std::move(from), std::move(to), outcome, "",
          finding,         std::move(line)};
}

TEST_F(OperationMutants, Softmax) {
  const std::string kernel = "softmax_block.cu";
  const std::string share = "softmax_row.cuh";
  examine({"operations/softmax",
           "softmax_block",
           {{"rows", 5}, {"cols", 96}},
           {{"row_threads", 64}, {"vector_bytes", 8}, {"held_vectors", 2}}},
          {
              refused("tail_of_zeros", share, "(loaded[i].of[j]) : kLowest",
                      "(loaded[i].of[j]) : 0.0f", " wrong"),
              refused("sum_of_a_warp", kernel, "if (lane < kWarps) {", "if (lane < 1) {", " wrong"),
              refused("scale_forgotten", share, "scale * kiln::", "kiln::", "scale=0.75"),
              refused("changes_its_input", kernel,
                      "    softmax_of_row<1>(from, to, cols, scale * kLog2E);\n  }",
                      "    softmax_of_row<1>(from, to, cols, scale * kLog2E);\n  }\n"
                      "  if (threadIdx.x == 0) const_cast<X*>(from)[0] = static_cast<X>(7.0f);",
                      "changed input x"),
              refused("never_the_same", share, "results[j] = numbers[i][j] * factor",
                      "results[j] = (1.0f + clock() % 8 * 1.2e-7f) * numbers[i][j] * factor",
                      "two runs"),
              reported("past_the_row", share, "if (at >= vectors) break;",
                       "if (at >= vectors + (blockIdx.x == gridDim.x - 1)) break;",
                       Finding::out_of_bounds, "Vector<Y, kCount>*>(row)[at] = stored"),
              reported("into_the_next_row", share, "if (at >= vectors) break;",
                       "if (at >= vectors + (blockIdx.x + 1 < gridDim.x)) break;", Finding::race,
                       "Vector<Y, kCount>*>(row)[at] = stored"),
              reported("no_barrier", kernel, "  __syncthreads();\n", "", Finding::race,
                       "total.greatest = greatest[lane]"),
              reported("unaligned", share, "cols % kCount == 0 &&", "cols >= kCount &&",
                       Finding::misaligned, "loaded[i] = reinterpret_cast"),
          });
}

TEST_F(OperationMutants, Sum) {
  const std::string kernel = "sum_partials.cu";
  examine(
      {"operations/sum",
       "sum_partials",
       {{"n", 5003}},
       {{"block_size", 128}, {"blocks_per_sm", 1}, {"vector_bytes", 8}, {"loads_together", 2}}},
      {
          refused("no_tail", kernel, "if (rest < n) sums", "if (rest < 0) sums", " wrong"),
          reported("tail_before_it", kernel, "const long long rest = vectors * kCount + thread;",
                   "const long long rest = vectors * kCount - kCount + thread;",
                   Finding::out_of_bounds, "kiln::to_accumulator<float>(x[rest])"),
          reported("second_result", kernel, "if (threadIdx.x == 0) *y = sum;",
                   "if (threadIdx.x < 2) y[threadIdx.x] = sum;", Finding::out_of_bounds,
                   "y[threadIdx.x] = sum"),
          reported("partials_of_none", kernel,
                   "//@   args     workspace, y, min(device.sm_count * blocks_per_sm, "
                   "ceil_div(n, block_size))",
                   "//@   args     workspace, y, device.sm_count * blocks_per_sm",
                   Finding::uninitialised, "mine += partials[at]"),
          reported("no_barrier", kernel, "  __syncthreads();\n", "", Finding::race,
                   "of_warps[threadIdx.x / 32] = mine"),
          reported("small_workspace", kernel, "//@ workspace  4 * device.sm_count * blocks_per_sm",
                   "//@ workspace  8", Finding::out_of_bounds, "partials[blockIdx.x] = sum"),
          {"one_argument_less", kernel, "args     x, workspace, n", "args     x, workspace",
           Outcome::compile_failed, "sum_to_partials"},
      });
}

TEST_F(OperationMutants, Histogram) {
  const std::string kernel = "histogram_shared.cu";
  examine({"operations/histogram",
           "histogram_shared",
           {{"n", 3001}, {"bins", 20}},
           {{"block_size", 128},
            {"blocks_per_sm", 1},
            {"block_copies", 2},
            {"copy_padding", 1},
            {"vector_bytes", 8}}},
          {
              refused("no_tail", kernel, "if (rest < n) atomicAdd", "if (rest < 0) atomicAdd",
                      " wrong"),
              refused("one_copy", kernel, "copy < block_copies", "copy < 1", " wrong"),
              reported("not_cleared", kernel, "counts[bin] = 0;", ";", Finding::uninitialised,
                       "atomicAdd(counts + bin, sum)"),
              reported("plain_addition", kernel, "atomicAdd(mine + held.of[i], 1);",
                       "mine[held.of[i]] += 1;", Finding::race, "mine[held.of[i]] += 1;"),
              reported("cleared_meanwhile", kernel, "copies[at] = 0;\n  __syncthreads();",
                       "copies[at] = 0;", Finding::race, "atomicAdd(mine + held.of[i], 1)"),
              reported("a_bin_too_many", kernel, "bin = threadIdx.x; bin < bins; bin += 256",
                       "bin = threadIdx.x; bin <= bins; bin += 256", Finding::out_of_bounds,
                       "counts[bin] = 0"),
          });
}

}  // namespace
}  // namespace kiln::testing
