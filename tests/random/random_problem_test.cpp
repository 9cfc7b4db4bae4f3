// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/random/random_problem.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <map>
#include <set>
#include <string>

#include "templates/operation/problem.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/quantity.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::testing {
namespace {

constexpr RandomLimits kLimits{std::int64_t{1} << 19, 300};

RandomProblem drawn(std::uint64_t index, int attempt = 0) {
  return draw_problem(7, index, attempt, Catalog::builtin(), limits_of_arch("sm_90a").value(),
                      kLimits);
}

TEST(RandomProblem, IsValidAndWithinItsLimits) {
  std::map<std::string, int> of_template;
  std::map<std::int64_t, int> of_depth;
  std::set<DType> types;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const auto [one, candidate] = drawn(index);
    const Gemm& gemm = one.gemm;
    EXPECT_EQ(normalised(gemm), gemm);
    EXPECT_LE(gemm.m * gemm.n * gemm.k, kLimits.most_products);
    if (gemm.epilogue.is_default()) {
      EXPECT_EQ(gemm.reads_c, one.beta != 0.0);
    } else {
      EXPECT_EQ(gemm.reads_c, gemm.epilogue.reads_c()) << gemm.epilogue.text();
    }
    const KernelTemplate& kernel = Catalog::builtin().at(candidate.template_name);
    const Problem problem = to_problem(gemm);
    ASSERT_FALSE(kernel.why_unsupported(problem, limits_of_arch("sm_90a").value()));
    EXPECT_TRUE(kernel.space(problem, limits_of_arch("sm_90a").value()).contains(candidate.config));
    ++of_template[candidate.template_name];
    ++of_depth[std::min<std::int64_t>(gemm.k, 2)];
    types.insert(gemm.a);
  }
  EXPECT_EQ(of_template.size(), Catalog::builtin().templates().size());
  for (const auto& [name, count] : of_template) EXPECT_GT(count, 10) << name;
  EXPECT_GT(of_depth[0], 2);
  EXPECT_GT(of_depth[1], 5);
  EXPECT_EQ(types.size(), 13U) << "all that operands can be";
}

TEST(RandomProblem, IsTheSameEachTime) {
  EXPECT_EQ(drawn(3).problem.gemm, drawn(3).problem.gemm);
  EXPECT_EQ(drawn(3).candidate, drawn(3).candidate);
  EXPECT_NE(drawn(3).problem.gemm, drawn(4).problem.gemm);
  EXPECT_EQ(drawn(3).problem.gemm, drawn(3, 1).problem.gemm) << "only the configuration changes";
}

TEST(RandomProblem, CanBeOfOneTemplate) {
  const DeviceLimits device = limits_of_arch("sm_90a").value();
  for (std::uint64_t index = 0; index < 20; ++index) {
    const RandomProblem one =
        draw_problem(7, index, 0, Catalog::builtin(), device, kLimits, "gemm_wgmma");
    EXPECT_EQ(one.candidate.template_name, "gemm_wgmma");
  }
}

TEST(RandomProblem, ItsCommandNamesIt) {
  for (std::uint64_t index = 0; index < 200; ++index) {
    const RandomProblem one = drawn(index);
    std::string line = command_to_repeat(one, "cuda:0", 5);
    const std::string start = "kiln verify ";
    ASSERT_EQ(line.compare(0, start.size(), start), 0) << line;
    CLI::App app;
    tools::ProblemFlags flags;
    flags.add_to(app, *find_operation("gemm"), tools::ProblemFlags::Word::required);
    std::string name;
    std::string values;
    std::string device;
    std::uint64_t seed = 0;
    app.add_option("--template", name);
    app.add_option("--set", values);
    app.add_option("--device", device);
    app.add_option("--seed", seed);
    app.parse(line.substr(start.size()));
    const GemmCase request = gemm_case_of(flags.request());
    // Operands of an expression may say their type or leave it out where it is D's.
    const Gemm as_a_case = gemm_of(problem_case(one.problem));
    EXPECT_EQ(request.gemm, as_a_case) << line;
    EXPECT_EQ(request.alpha, one.problem.alpha);
    EXPECT_EQ(request.beta, one.problem.beta);
    EXPECT_EQ(name, one.candidate.template_name);
    EXPECT_EQ(Config::parse(values), one.candidate.config);
    EXPECT_EQ(device, "cuda:0");
    EXPECT_EQ(seed, 5U);
  }
}

}  // namespace
}  // namespace kiln::testing
