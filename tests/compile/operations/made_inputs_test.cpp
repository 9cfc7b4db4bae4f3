// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that read what fill kernels have made (see made_inputs/), and mutants of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/compile/operations/operation_bench.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kMadeInputs = KILN_SOURCE_DIR "/tests/compile/operations/made_inputs/";

class MadeInputs : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      bench_ = std::make_unique<OperationBench>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Every value of every tunable, and the mutant: one text of the kernel's file is another.
  void examine(const std::string& operation, const std::string& kernel, const Sizes& sizes) {
    const Catalog catalog = Catalog::with_directories({kMadeInputs});
    const KernelTemplate& made = catalog.at(kernel);
    const Problem problem =
        problem_of(*find_operation(operation), sizes, type_choices_of(made, false).front());
    bench_->set_up(problem);
    for (const Config& config : covering_configs(made.space(problem, bench_->info().limits), 1)) {
      EXPECT_EQ(bench_->judge(catalog, {kernel, config}).complaint(), "") << config.canonical();
    }
  }
  std::string complaint_of(const std::string& operation, const std::string& kernel,
                           const Sizes& sizes, const std::string& from, const std::string& to,
                           bool in_operation = false) {
    std::string texts[] = {read_text(kMadeInputs + operation + ".cu"),
                           read_text(kMadeInputs + kernel + ".cu")};
    for (std::string& text : texts) {
      text.erase(0, text.find("//@"));
      const std::string line = "operation  " + operation;
      text.replace(text.find(line), line.size(), line + "_mutant");
    }
    std::string& changed = texts[in_operation ? 0 : 1];
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return judge_texts(*bench_, texts[0], texts[1], sizes).complaint();
  }

  std::unique_ptr<OperationBench> bench_;
};

TEST_F(MadeInputs, SlopesOfAPolygonComeThroughConstantMemory) {
  const Sizes sizes{{"points", 300}, {"vertices", 50}};
  examine("point_in_polygon", "polygon_tiles", sizes);
  EXPECT_THAT(complaint_of("point_in_polygon", "polygon_tiles", sizes, "slopes[i]",
                           "slopes[i > 0 ? i - 1 : 0]"),
              HasSubstr("wrong_result: points=77 vertices=40"));
}

TEST_F(MadeInputs, AStructureOfArraysHasTheNumbersOfTheArrayOfStructures) {
  const Sizes bodies{{"bodies", 100}};
  examine("attraction", "attraction_blocks", bodies);
  EXPECT_THAT(
      complaint_of("attraction", "attraction_blocks", bodies, "z[i], mass[i]", "y[i], mass[i]"),
      HasSubstr("wrong_result: bodies=45"));
  const Sizes lattice{{"height", 9}, {"width", 40}, {"atoms", 30}};
  examine("potential", "potential_columns", lattice);
  EXPECT_THAT(
      complaint_of("potential", "potential_columns", lattice, "place[atoms + i]", "place[i]"),
      HasSubstr("wrong_result: "));
}

TEST_F(MadeInputs, AFillKernelsMistakeIsItsOwn) {
  const Sizes bodies{{"bodies", 100}};
  const auto refusal = [&](const std::string& from, const std::string& to) {
    return test::error_text(ErrorKind::template_, [&] {
      (void)complaint_of("attraction", "attraction_blocks", bodies, from, to, true);
    });
  };
  EXPECT_THAT(refusal("if (i >= bodies) return;\n  to.x", "to.x"),
              AllOf(HasSubstr("the fill kernel split_bodies has an error"),
                    HasSubstr("Next: correct this kernel")));
  EXPECT_THAT(
      refusal("to.mass[i] = body[4 * i + 3];", "to.mass[i] = body[4 * i + 3] + clock() % 1000;"),
      HasSubstr("two runs gave different data for mass"));
  EXPECT_THAT(refusal("{x, y, z, mass}, bodies", "{x, y, z, mass}, (float) bodies"),
              HasSubstr("operation.cu:25: argument 3 of split_bodies"));
}

}  // namespace
}  // namespace kiln::testing
