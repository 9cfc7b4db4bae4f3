// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/kept_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "templates/device_limits.hpp"
#include "tuner/problem_case.hpp"
#include "tuner/session/setup.hpp"

namespace kiln::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kPaned = R"(//@ operation  paned
//@ purpose    Three sizes
//@ size       rows 1..1000
//@ size       cols 1..1000
//@ size       depth 1..1000
//@ type       x f32
//@ type       y f32
//@ operand    x in: rows, cols, depth
//@ operand    y out: rows, cols, depth
//@ right      y exact
//@ ragged     rows=3 cols=5 depth=7
//@ ragged     rows=1 cols=9 depth=7
//@ ragged     rows=8 cols=5 depth=7
//@ flops      rows
//@ reference  paned_reference
//@   grid     rows
//@   block    32
//@   args     x, y

__global__ void paned_reference(const float* x, float* y) {}
)";

const Operation& paned() {
  declare_operation(Operation::parse("paned.cu", kPaned));
  return *find_operation("paned");
}

Problem paned_problem() {
  Problem problem;
  problem.operation = paned().name;
  problem.sizes = {{"rows", 8}, {"cols", 64}, {"depth", 32}};
  problem.types = {{"x", DType::f32}, {"y", DType::f32}};
  return problem;
}

std::vector<std::string> kept_by(const std::string& lines) {
  const Problem problem = paned_problem();
  const KernelTemplate made =
      KernelTemplate::parse("paned_kernel.cu",
                            "//@ template paned_kernel\n//@ purpose Is compiled for sizes\n"
                            "//@ operation paned\n" +
                                lines +
                                "//@ launch k\n//@   grid 1\n//@   block 32\n//@   args x, y\n\n"
                                "__global__ void k(const float* x, float* y) {}\n");
  return kept_sizes(made, problem, limits_of_arch("90a").value());
}

TEST(KeptSizes, AreThoseThatTheKernelIsCompiledFor) {
  EXPECT_THAT(kept_by("//@ tune C = 64 128\n//@ require C == cols\n"), ElementsAre("cols"));
  EXPECT_THAT(kept_by("//@ tune C = 64\n//@ tune D = 32\n//@ require C == cols\n"
                      "//@ require depth == D\n"),
              ElementsAre("cols", "depth"));
  EXPECT_THAT(kept_by("//@ require cols % 32 == 0\n"), ElementsAre("cols"));
}

TEST(KeptSizes, AreNoneWhereRaggedSizesSuit) {
  EXPECT_THAT(kept_by(""), IsEmpty());
  EXPECT_THAT(kept_by("//@ tune R = 8\n//@ require R == rows\n"), IsEmpty())
      << "one of the lines has 8 rows";
}

TEST(KeptSizes, AreNoneWhereNothingCanVary) {
  EXPECT_THAT(kept_by("//@ tune C = 64\n//@ require C == cols\n//@ require rows == 8\n"
                      "//@ require depth == 32\n"),
              IsEmpty());
  EXPECT_THAT(kept_by("//@ tune C = 63\n//@ require C == cols\n"), IsEmpty()) << "no configuration";
}

TEST(KeptSizes, GiveRaggedProblemsWithoutRepeats) {
  const Problem problem = paned_problem();
  std::vector<std::string> texts;
  for (const Problem& each : ragged_problems(paned(), problem, {"cols", "depth"})) {
    texts.push_back(each.sizes_text());
  }
  EXPECT_THAT(texts, ElementsAre("rows=3 cols=64 depth=32", "rows=1 cols=64 depth=32"));
}

TEST(KeptSizes, AreVerifiedBesideTheRaggedLines) {
  ProblemCase tuned = declared_case(paned(), paned_problem(), {});
  EXPECT_EQ(verification_cases(tuned, Thoroughness::full).size(), 4U);
  tuned.kept_sizes = {{"cols"}};
  const auto cases = verification_cases(tuned, Thoroughness::full);
  ASSERT_EQ(cases.size(), 7U);
  EXPECT_EQ(describe(cases[4]), "rows=3 cols=64 depth=7");
  EXPECT_EQ(describe(cases[6]), "rows=8 cols=64 depth=7");
}

}  // namespace
}  // namespace kiln::testing
