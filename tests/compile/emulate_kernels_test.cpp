// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Executes the catalog on the emulated GPU with every check on: each template with its default
// configuration and sampled ones, over its types and all layouts, with and without beta, judged as
// a tuning session judges candidates. Needs NVRTC, but no GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compiler.hpp"
#include "runtime/emulated/emulated_device.hpp"
#include "templates/catalog.hpp"
#include "tests/support/row_gemm.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session.hpp"

namespace kiln {
namespace {

constexpr int kProblems = 4;
constexpr int kConfigsPerProblem = 6;

class EmulateKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      compiler_ = make_nvrtc_compiler();
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
  const auto& rows = kernel.type_rows();
  std::mt19937_64 random(20260101);
  int verified = 0;
  for (int turn = 0; turn < kProblems; ++turn) {
    const auto at = static_cast<std::size_t>(turn);
    TuneRequest request;
    const auto storage = [&](int bit) { return (turn >> bit & 1) != 0 ? Storage::t : Storage::n; };
    request.gemm = testing::gemm_of_row(rows[at % rows.size()], at, storage(0), storage(1),
                                        turn % 3 == 2 ? 1 : 16, turn % 2 == 1);
    request.gemm.m = 72;
    request.gemm.n = 136;
    request.gemm.k = 80;
    request.beta = turn % 2 == 1 ? -1.0 : 0.0;
    request.alpha = request.gemm.acc == DType::s32 ? 3.0 : 0.7;
    const Problem problem = to_problem(request.gemm);
    if (kernel.why_unsupported(problem, info.limits)) continue;
    EvaluationSetup setup = make_setup(request, Catalog::builtin(), *compiler_, info);
    // The largest two cases are most of the work, and one of them shows as much as both.
    setup.cases.pop_back();
    setup.reference_geometry.pop_back();
    evaluator_->set_up(setup);
    const ParamSpace space = kernel.space(problem, info.limits);
    std::vector<std::future<PreparedCandidate>> compiling;
    for (int i = 0; i < kConfigsPerProblem; ++i) {
      const auto sampled = i == 0 ? space.default_config() : space.sample(random);
      if (!sampled) continue;
      const Candidate candidate{kernel.name(), *sampled};
      compiling.push_back(std::async(std::launch::async, [&, candidate] {
        return prepare_candidate(candidate, Catalog::builtin(), *compiler_, info.limits,
                                 setup.cases, Admission::runnable, info.code);
      }));
    }
    for (auto& one : compiling) {
      PreparedCandidate candidate = one.get();
      if (candidate.outcome == Outcome::out_of_resources) continue;
      const std::string label = problem.kind_text() + " " + candidate.candidate.config.canonical();
      ASSERT_EQ(candidate.outcome, Outcome::ok) << label << ": " << candidate.message;
      candidate.job.time_it = false;
      const Evaluation result = evaluator_->evaluate(candidate.job);
      EXPECT_EQ(result.outcome, Outcome::ok) << label << ": " << result.message;
      for (const auto& report : device_->take_reports()) {
        ADD_FAILURE() << label << ": " << report.describe();
      }
      ++verified;
    }
  }
  EXPECT_GE(verified, 21);
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
