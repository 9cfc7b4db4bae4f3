// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kiln/error.hpp"
#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/local_evaluator.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

/// A vendor library made of planted kernels, given by name and time.
struct FakeLibrary {
  struct Entry {
    std::string kernel;
    double time_ns;
  };
  std::vector<Entry> entries;

  Baselines operator()(MemoryLedger& ledger, const OperandSet& operands, const CompiledUnit&,
                       std::int64_t) const {
    Device& device = ledger.device();
    const EvaluationSetup setup = testing::planted_setup({{gemm_of(operands.problem())}});
    auto modules = std::make_shared<std::vector<std::unique_ptr<LoadedModule>>>();
    Baselines baselines;
    for (const Entry& entry : entries) {
      const EvaluationJob job = testing::planted_job(setup, entry.kernel, entry.time_ns);
      DeviceStatus status;
      auto module = device.load(job.unit.cubin, job.unit.names, status);
      const DeviceFunction function = module->functions()[0];
      modules->push_back(std::move(module));
      baselines.algorithms.push_back(
          {entry.kernel, [&device, function, modules, tuned = operands.problem()](
                             const RunArguments& run, void* stream) {
             const GemmArgs args = gemm_argument(tuned, run);
             return device.launch({function, LaunchGeometry{}, &args}, stream);
           }});
    }
    if (entries.empty()) baselines.note = "no library here";
    return baselines;
  }
};

class ComparisonTest : public ::testing::Test {
 protected:
  Comparison compare(const std::vector<FakeLibrary::Entry>& jobs, bool against,
                     FakeLibrary library = {}, double noise = 0.0) {
    testing::FakeDeviceOptions options;
    options.noise = noise;
    LocalEvaluator evaluator(testing::make_planted_device(std::move(options)), std::move(library));
    const EvaluationSetup setup = testing::planted_setup(testing::planted_cases());
    evaluator.set_up(setup);
    ComparisonRequest request;
    for (const auto& job : jobs) {
      request.jobs.push_back(testing::planted_job(setup, job.kernel, job.time_ns));
    }
    request.against_cublaslt = against;
    return evaluator.compare(request);
  }
};

TEST_F(ComparisonTest, RatiosAreAgainstTheFirstJobWithoutABaseline) {
  const Comparison result = compare({{"right", 2000.0}, {"right", 1000.0}}, false);
  ASSERT_EQ(result.jobs.size(), 2U);
  EXPECT_EQ(result.jobs[0].timing.samples_ns.size(), 15U);
  EXPECT_DOUBLE_EQ(result.jobs[0].ratio, 1.0);
  EXPECT_DOUBLE_EQ(result.jobs[1].ratio, 2.0);
  EXPECT_TRUE(result.baselines.empty());
  EXPECT_EQ(result.note, "");
}

TEST_F(ComparisonTest, TheFastestBaselineIsTheReferenceAndComesFirst) {
  const Comparison result =
      compare({{"right", 500.0}}, true, {{{"right", 1500.0}, {"right", 1000.0}}});
  ASSERT_EQ(result.baselines.size(), 2U);
  EXPECT_DOUBLE_EQ(result.baselines[0].timing.median_ns, 1000.0);
  EXPECT_DOUBLE_EQ(result.baselines[0].ratio, 1.0);
  EXPECT_DOUBLE_EQ(result.jobs[0].ratio, 2.0);
}

TEST_F(ComparisonTest, NoiseShowsInTheSpreadAndHardlyInTheRatio) {
  const Comparison result = compare({{"right", 2000.0}, {"right", 1000.0}}, false, {}, 0.02);
  EXPECT_NEAR(result.jobs[1].ratio, 2.0, 0.1);
  EXPECT_GT(result.jobs[1].ratio_spread, 0.0);
  EXPECT_LT(result.jobs[1].ratio_spread, 0.1);
}

TEST_F(ComparisonTest, AWrongJobIsNotTimed) {
  const Comparison result = compare({{"right", 1000.0}, {"drops_k_tail", 100.0}}, false);
  EXPECT_EQ(result.jobs[1].outcome, Outcome::wrong_result);
  EXPECT_THAT(result.jobs[1].message, HasSubstr("integers"));
  EXPECT_TRUE(result.jobs[1].timing.samples_ns.empty());
  EXPECT_EQ(result.jobs[1].ratio, 0.0);
  EXPECT_EQ(result.jobs[0].outcome, Outcome::ok);
}

// A vendor library is what users would otherwise run, right or not, so it is timed and reported.
TEST_F(ComparisonTest, AWrongBaselineIsTimedAndReported) {
  const Comparison result = compare({{"right", 1000.0}}, true, {{{"forgets_alpha", 800.0}}});
  ASSERT_EQ(result.baselines.size(), 1U);
  EXPECT_EQ(result.baselines[0].outcome, Outcome::wrong_result);
  EXPECT_DOUBLE_EQ(result.jobs[0].ratio, 0.8);
}

TEST_F(ComparisonTest, AMissingBaselineLeavesANote) {
  const Comparison result = compare({{"right", 1000.0}}, true);
  EXPECT_EQ(result.note, "no library here");
  EXPECT_DOUBLE_EQ(result.jobs[0].ratio, 1.0);
}

TEST_F(ComparisonTest, SlowJobsGetFewerRounds) {
  const Comparison result = compare({{"right", 5e9}, {"right", 1000.0}}, false);
  EXPECT_EQ(result.jobs[0].timing.samples_ns.size(), 5U);  // half a minute
  EXPECT_EQ(result.jobs[1].timing.samples_ns.size(), 5U);
}

}  // namespace
}  // namespace kiln
