// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// What declarations can say and no example says (see mix_rows/mix_rows.cu and
// greatest/greatest.cu), and what few say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "tests/compile/operations/operation_bench.hpp"
#include "tests/support/toy_templates.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const char* const kGreatest = KILN_SOURCE_DIR "/tests/compile/operations/greatest";
const char* const kMixTypes = KILN_SOURCE_DIR "/tests/compile/operations/mix_types";
const char* const kMixRows = KILN_SOURCE_DIR "/tests/compile/operations/mix_rows";

class OperationFeatures : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      bench_ = std::make_unique<OperationBench>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Judges the default configuration of a template, after changes of its folder's files: every
  /// `from` in them becomes `to`.
  Judged judge_changed(const std::string& folder, const std::string& kernel, const Sizes& sizes,
                       const std::vector<std::pair<std::string, std::string>>& changes,
                       const std::vector<NamedValue>& traits = {}) {
    const TempFolder copy;
    std::filesystem::copy(folder, copy.path());
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(copy.path())) {
      std::string text = read_text(entry.path());
      for (const auto& [from, to] : changes) {
        for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
          text.replace(at, from.size(), to);
          at += to.size();
          found.insert(from);
        }
      }
      std::ofstream(entry.path()) << text;
    }
    EXPECT_EQ(found.size(), changes.size()) << "a text to be changed is not there";
    const Catalog catalog = Catalog::with_directories({copy.path().string()});
    const KernelTemplate& changed = catalog.at(kernel);
    const Operation& operation = *find_operation(changed.operation());
    const Problem problem =
        problem_of(operation, sizes, type_choices_of(changed, false).front(), traits);
    bench_->set_up(problem);
    const auto config = changed.space(problem, bench_->info().limits).default_config();
    return bench_->judge(catalog, {kernel, config.value()});
  }

  std::unique_ptr<OperationBench> bench_;
};

// Loads of 16, 64 and 128 bits, numbers of every size by value.
TEST_F(OperationFeatures, EveryTypeIsVerified) {
  const Sizes sizes{{"n", 300}, {"entries", 40}};
  EXPECT_EQ(judge_changed(kMixTypes, "mix_types_plain", sizes, {}).complaint(), "");
  // Float64 has not all of these numbers, and the difference is told in all digits.
  const Judged rounded = judge_changed(
      kMixTypes, "mix_types_plain", sizes,
      {{"big[i] * 4099ULL", "(unsigned long long)(static_cast<double>(big[i]) * 4099.0)"}});
  EXPECT_EQ(rounded.outcome, Outcome::wrong_result);
  EXPECT_THAT(
      rounded.message,
      ContainsRegex("sum, element [0-9]+: [0-9]{15,}, expected [0-9]{15,} .allowed error 0"));
  const Judged turned = judge_changed(kMixTypes, "mix_types_plain", sizes,
                                      {{"turn ? -factor * from.y", "turn ? factor * from.y"}});
  EXPECT_EQ(turned.outcome, Outcome::wrong_result);
  EXPECT_THAT(turned.message, ContainsRegex("y, element 0: \\(.*, .*\\), expected \\("));
}

TEST_F(OperationFeatures, EveryPartOfADeclarationReachesTheKernels) {
  const Catalog catalog = Catalog::with_directories({kMixRows});
  const Operation& operation = *find_operation("mix_rows");
  for (const char* name : {"mix_rows_plain", "mix_rows_struct"}) {
    const KernelTemplate& kernel = catalog.at(name);
    std::int64_t has_bias = 0;
    for (const Types& types : type_choices_of(kernel, false)) {
      const Problem problem = problem_of(operation, {{"rows", 20}, {"cols", 100}}, types,
                                         {{"has_bias", has_bias = 1 - has_bias}});
      bench_->set_up(problem, {{"factor", 2.5}, {"step", 3.0}});
      const ParamSpace space = kernel.space(problem, bench_->info().limits);
      for (const Config& config : covering_configs(space, 1)) {
        const Judged judged = bench_->judge(catalog, {name, config});
        EXPECT_EQ(judged.complaint(), "")
            << name << " " << problem.canonical() << " " << config.canonical();
      }
    }
  }
}

TEST_F(OperationFeatures, OfSeveralResultsTheWrongOneIsNamed) {
  const Sizes sizes{{"rows", 20}, {"cols", 100}};
  const Judged judged = judge_changed(
      kMixRows, "mix_rows_struct", sizes,
      {{"total[row] = static_cast<Total>(sum)", "total[row] = static_cast<Total>(sum * 1.01)"}});
  EXPECT_EQ(judged.outcome, Outcome::wrong_result);
  EXPECT_THAT(judged.message, HasSubstr("total, element 0"));
}

TEST_F(OperationFeatures, ResultsInPlaceAreCompared) {
  const Sizes sizes{{"rows", 20}, {"cols", 100}};
  const Judged judged =
      judge_changed(kMixRows, "mix_rows_struct", sizes, {{"y[at] = static_cast<Y>(mixed);", ""}});
  EXPECT_EQ(judged.outcome, Outcome::wrong_result);
  EXPECT_THAT(judged.message, HasSubstr("y, row"));
}

TEST_F(OperationFeatures, RunsMayDifferWhereTheOperationSaysSo) {
  const auto judge = [&](const std::string& name, const std::string& says) {
    return judge_changed(
        example_folder("operations/softmax"), "softmax_warp", {{"rows", 9}, {"cols", 64}},
        {{"//@ operation  softmax", "//@ operation  " + name},
         {"//@ purpose    Softmax of every row", says + "//@ purpose    Softmax of every row"},
         {"= numbers[i][j] * factor",
          "= (1.0f + clock() % 8 * 1.2e-7f) * numbers[i][j] * factor"}});
  };
  EXPECT_THAT(judge("strict_softmax", "").message, HasSubstr("two runs"));
  EXPECT_EQ(judge("loose_softmax", "//@ deterministic 0\n").complaint(), "");
}

TEST_F(OperationFeatures, OperandsLieApartAndStartAnywhere) {
  const Catalog catalog = Catalog::with_directories({example_folder("operations/transpose")});
  const KernelTemplate& kernel = catalog.at("transpose_tile");
  for (const DType type : {DType::f32, DType::f16}) {
    const Problem problem = problem_of(
        *find_operation("transpose"), {{"rows", 40}, {"cols", 24}, {"ldx", 28}, {"ldy", 48}},
        {{"x", type}, {"y", type}}, {{"align_x", 4}, {"align_y", 8}});
    bench_->set_up(problem);
    for (const Config& config : covering_configs(kernel.space(problem, bench_->info().limits), 3)) {
      const Judged judged = bench_->judge(catalog, {"transpose_tile", config});
      EXPECT_EQ(judged.complaint(), "") << problem.canonical() << " " << config.canonical();
    }
  }
}

TEST_F(OperationFeatures, FaultsOfLayoutsAreFound) {
  const auto judge = [&](const std::string& from, const std::string& to) {
    return judge_changed(example_folder("operations/transpose"), "transpose_tile",
                         {{"rows", 40}, {"cols", 24}}, {{from, to}}, {{"align_x", 4}});
  };
  EXPECT_THAT(judge("x + from_row * ld + from_col", "x + from_row * cols + from_col").complaint(),
              AllOf(HasSubstr("rows=33 cols=65 ldx=70 ldy=40"), HasSubstr("elements wrong")));
  EXPECT_THAT(judge("load_elements = max(min(vector_bytes, align_x) / x_bytes, 1)",
                    "load_elements = vector_bytes / x_bytes")
                  .complaint(),
              HasSubstr("misaligned"));
  const std::string barrier = "  __syncthreads();\n";
  EXPECT_THAT(
      judge(barrier, barrier + "  if (blockIdx.x + threadIdx.x == 0 && ldy > rows) to[rows] = 0;\n")
          .complaint(),
      HasSubstr("padding of y"));
}

TEST_F(OperationFeatures, AnyOfManyRightResultsPasses) {
  const Catalog catalog = Catalog::with_directories({kGreatest});
  const KernelTemplate& kernel = catalog.at("greatest_rows");
  for (const Types& types : type_choices_of(kernel, true)) {
    const Problem problem =
        problem_of(*find_operation("greatest"), {{"rows", 50}, {"cols", 70}}, types);
    bench_->set_up(problem);
    for (const Config& config : covering_configs(kernel.space(problem, bench_->info().limits), 2)) {
      EXPECT_EQ(bench_->judge(catalog, {"greatest_rows", config}).complaint(), "")
          << problem.canonical() << " " << config.canonical();
    }
  }
}

TEST_F(OperationFeatures, CheckersFindFaults) {
  const auto judge = [&](const std::string& from, const std::string& to) {
    return judge_changed(kGreatest, "greatest_rows", {{"rows", 50}, {"cols", 70}}, {{from, to}});
  };
  EXPECT_THAT(judge("place[row] = mine;", "place[row] = row == 5 ? cols : mine;").complaint(),
              HasSubstr("rows=7 cols=33 ldx=40 (normal data): element 5: 33, which "
                        "greatest_checker rejects; 1 element wrong"));
  EXPECT_THAT(judge("static_cast<float>(from[i]) > ", "static_cast<float>(from[i]) < ").complaint(),
              HasSubstr("which greatest_checker rejects"));
}

TEST_F(OperationFeatures, WhatIsTooLargeIsCheckedInPart) {
  const auto judge_greatest = [&](const std::string& name, const std::string& value) {
    return judge_changed(kGreatest, "greatest_rows", {{"rows", 512}, {"cols", 16}},
                         {{"//@ operation  greatest", "//@ operation  " + name},
                          {"//@ flops      rows * cols", "//@ flops      rows * cols * 4096"},
                          {"place[row] = mine;", "place[row] = " + value + ";"}});
  };
  const Judged right = judge_greatest("greatest_of_many", "mine");
  EXPECT_EQ(right.complaint(), "");
  EXPECT_THAT(right.evidence, HasSubstr(" 32 of 512 rows"));
  EXPECT_THAT(judge_greatest("greatest_of_many", "row == 511 ? -1 : mine").complaint(),
              HasSubstr("element 511: -1, which greatest_checker rejects; 1 element wrong"));

  const auto judge_softmax = [&](const std::string& name, const std::string& factor) {
    return judge_changed(
        example_folder("operations/softmax"), "softmax_warp", {{"rows", 600}, {"cols", 32}},
        {{"//@ operation  softmax", "//@ operation  " + name},
         {"//@ flops      5 * rows", "//@ independent rows\n//@ flops      1000 * rows"},
         {"const X* from = x + row * cols;", "const X* from = x + row * cols;\n" + factor}});
  };
  const Judged rows = judge_softmax("softmax_of_many", "");
  EXPECT_EQ(rows.complaint(), "");
  EXPECT_THAT(rows.evidence, HasSubstr(" 64 of 600 rows"));
  EXPECT_THAT(judge_softmax("softmax_of_many", "  if (row == 599) scale *= 2.0f;").complaint(),
              AllOf(HasSubstr("rows=600 cols=32"), HasSubstr("row 599 column")));
}

/// The code of a document between a line of "```cuda" and one of "```", of which `first` is part of
/// the first line.
std::string documented_code(const std::string& document, const std::string& first) {
  const auto at = document.find("```cuda\n" + first);
  if (at == std::string::npos) return {};
  const auto begin = document.find('\n', at) + 1;
  return document.substr(begin, document.find("\n```", begin) + 1 - begin);
}

TEST_F(OperationFeatures, DocumentedExampleIsRight) {
  const std::string document = read_text(KILN_SOURCE_DIR "/docs/reference/operations.md");
  const std::string operation = documented_code(document, "//@ operation  softmax");
  const std::string kernel = documented_code(document, "//@ template   softmax_rows");
  ASSERT_FALSE(operation.empty() || kernel.empty());
  const TempFolder folder;
  std::ofstream(folder.path() / "softmax.cu") << operation;
  std::ofstream(folder.path() / "softmax_rows.cu") << kernel;
  // The example that is not in a document has that name, too.
  const Judged judged =
      judge_changed(folder.path(), "softmax_rows", {{"rows", 9}, {"cols", 300}},
                    {{"//@ operation  softmax", "//@ operation  documented_softmax"}});
  EXPECT_EQ(judged.complaint(), "");
}

/// A reference that reads the array, as a kernel's naive twin does.
TEST_F(OperationFeatures, AReferenceMayReadConstantMemory) {
  const std::vector<std::pair<std::string, std::string>> with_array{
      {"operation  convolution", "operation  constant_convolution"},
      {"input.f64, filter.f64, height, width",
       "input.f64, height, width\n//@   constant weights = filter"},
      {"const double* filter, int height, int width) {", "int height, int width) {"},
      {"* filter[i * 7 + j];", "* weights[i * 7 + j];"},
      {"__global__ void convolution_reference",
       "__constant__ float weights[49];\n__global__ void convolution_reference"}};
  const char* const folder = KILN_SOURCE_DIR "/examples/adopted/convolution";
  const Sizes sizes{{"height", 20}, {"width", 40}};
  const Judged right = judge_changed(folder, "convolution_tiled", sizes, with_array);
  EXPECT_EQ(right.complaint(), "");

  auto too_small = with_array;
  too_small.front().second = "operation  small_convolution";
  too_small.back().second.replace(too_small.back().second.find("49"), 2, "48");
  EXPECT_THAT(
      test::error_text(ErrorKind::template_,
                       [&] { (void)judge_changed(folder, "convolution_tiled", sizes, too_small); }),
      ::testing::AllOf(HasSubstr("the reference convolution_reference: "),
                       HasSubstr("/convolution.cu:25: the array weights has 192 bytes"),
                       HasSubstr("196")));
}

}  // namespace
}  // namespace kiln::testing
