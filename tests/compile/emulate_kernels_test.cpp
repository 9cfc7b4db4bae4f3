// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Executes the catalog on the emulated GPU with every check on: each template with its default
// configuration and sampled ones, over its types (all of them with KILN_FULL_CATALOG) and all
// layouts, with and without beta, judged as a tuning session judges candidates. Needs NVRTC, but no
// GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <future>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "templates/catalog.hpp"
#include "tests/support/full_catalog.hpp"
#include "tests/support/row_gemm.hpp"
#include "tests/support/shared_cache.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/setup.hpp"

namespace kiln {
namespace {

constexpr std::size_t kFewestProblems = 8;
constexpr std::size_t kProblemsWithLargeCases = 2;

/// The problems of a template, by the number that gemm_of_turn() takes. In tools/run-tests few: all
/// layouts, with and without C, with and without an expression.
std::vector<std::size_t> turns_of(const KernelTemplate& kernel) {
  if (!testing::full_catalog()) return {0, 2, 5, 7};
  std::vector<std::size_t> turns(std::max(kFewestProblems, testing::type_choices(kernel).size()));
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  return turns;
}

/// Configurations of a problem, the default among them: in tools/run-tests a second one for one of
/// the problems.
int configs_of_turn(std::size_t turn) {
  if (testing::full_catalog()) return 5;
  return turn == 5 ? 2 : 1;
}

/// Two problems of each template have an expression, with operands of every extent that are read,
/// and every one that amax() records in.
Epilogue epilogue_of_turn(std::size_t turn) {
  if (turn == 2) return Epilogue("amax(silu(acc * alpha + bias[n]), peak[]) * scale:f32[m]");
  if (turn == 5) {
    return Epilogue("amax(max(amax(acc, rows[m]) + other[m,n], beta * c), cols[n]) + zero[]");
  }
  return {};
}

class EmulateKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      compiler_ = testing::shared_compiler();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    EmulationOptions options;
    options.checks = true;
    auto device = std::make_unique<EmulatedDevice>("h200", options);
    device_ = device.get();
    evaluator_ = std::make_unique<LocalEvaluator>(std::move(device), BaselineSource{});
  }

  std::unique_ptr<Compiler> compiler_;
  EmulatedDevice* device_ = nullptr;
  std::unique_ptr<LocalEvaluator> evaluator_;
};

TEST_P(EmulateKernels, SampledConfigurationsAreRightAndClean) {
  const KernelTemplate& kernel = Catalog::builtin().at(GetParam());
  const DeviceInfo& info = device_->info();
  std::mt19937_64 random(20260101);
  const std::vector<std::size_t> turns = turns_of(kernel);
  std::size_t verified = 0;
  std::size_t wanted = 0;
  for (const std::size_t turn : turns) {
    Gemm gemm = testing::gemm_of_turn(kernel, turn, turns.back() + 1);
    gemm.m = 40;
    gemm.n = 72;
    gemm.k = 80;
    if (kernel.takes_epilogue()) gemm.epilogue = epilogue_of_turn(turn);
    gemm = normalised(testing::supported_gemm(kernel, gemm, info.limits));
    TuneRequest request;
    request.tuned =
        problem_case({gemm, has_whole_factors(gemm) ? 3.0 : 0.7, gemm.reads_c ? -1.0 : 0.0});
    const Problem& problem = request.tuned.problem;
    ASSERT_FALSE(kernel.why_unsupported(problem, info.limits)) << problem.kind_text();
    EvaluationSetup setup = make_setup(request, *compiler_, info);
    // The last two cases are most of the work, and one of them covers as much as both: the larger
    // set is left to the default configurations of the first problems.
    const bool has_large_case = turn < kProblemsWithLargeCases;
    const std::ptrdiff_t left_out = has_large_case ? 1 : 2;
    setup.cases.erase(setup.cases.end() - left_out, setup.cases.end());
    setup.reference_geometry.resize(setup.cases.size());
    evaluator_->set_up(setup);
    const ParamSpace space = kernel.space(problem, info.limits);
    const ParamSpace preferred = space.preferred();
    const int configs = configs_of_turn(turn);
    wanted += static_cast<std::size_t>(configs);
    std::vector<std::future<PreparedCandidate>> compiling;
    for (int i = 0; i < configs; ++i) {
      // What is not preferred must be right as well, but is slow.
      const bool anywhere = i % 2 == 1 && (turn % 4 == 0 || testing::full_catalog());
      const auto sampled =
          i == 0 ? space.default_config() : (anywhere ? space : preferred).sample(random);
      if (!sampled) continue;
      const Candidate candidate{kernel.name(), *sampled};
      compiling.push_back(std::async(std::launch::async, [&, candidate] {
        return prepare_candidate(candidate, Catalog::builtin(), *compiler_, info.limits,
                                 setup.cases, Admission::runnable, info.code);
      }));
    }
    for (auto& one : compiling) {
      PreparedCandidate candidate = one.get();
      const bool is_default = &one == compiling.data();
      if (candidate.outcome == Outcome::out_of_resources && !is_default) continue;
      const std::string label = problem.kind_text() + " " + candidate.candidate.config.canonical();
      ASSERT_EQ(candidate.outcome, Outcome::ok) << label << ": " << candidate.message;
      candidate.job.time_it = false;
      if (has_large_case && !is_default) {
        candidate.job.geometry.back().clear();
        candidate.job.arguments.back().clear();
      }
      const Evaluation result = evaluator_->evaluate(candidate.job);
      EXPECT_EQ(result.outcome, Outcome::ok) << label << ": " << result.message;
      for (const auto& report : device_->take_reports()) {
        ADD_FAILURE() << label << ": " << report.describe();
      }
      ++verified;
    }
  }
  fmt::print("{}: {} problems, {} candidates\n", kernel.name(), turns.size(), verified);
  EXPECT_GE(verified, wanted * 7 / 8);
}

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const KernelTemplate& kernel : Catalog::builtin().templates()) {
    names.push_back(kernel.name());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EmulateKernels, ::testing::ValuesIn(template_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace kiln
