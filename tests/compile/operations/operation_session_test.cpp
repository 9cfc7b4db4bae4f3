// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Tuning sessions of declared operations from end to end: NVRTC, the emulated GPU, a database.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "kiln/error.hpp"
#include "tests/compile/operations/operation_bench.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/session/session.hpp"

namespace kiln::testing {
namespace {

class OperationSession : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kCandidates = 3;

  void SetUp() override {
    try {
      compiler_ = shared_nvrtc();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// A session of few candidates for the problem.
  TuneResult tune_for(const Catalog& catalog, const Problem& problem, const std::string& strategy) {
    TuneRequest request;
    request.tuned = declared_case(*find_operation(problem.operation), problem, {});
    request.strategy = strategy;
    request.budget = {0.0, kCandidates};
    request.compile_threads = 1;
    TuningStore store = open(OpenMode::read_write);
    EmulationOptions options;
    options.memory_bytes = std::int64_t{1} << 30;
    LocalEvaluator evaluator(std::make_unique<EmulatedDevice>("h200", options), BaselineSource{});
    device_ = evaluator.info().device_class;
    SessionObserver quiet;
    const std::atomic<bool> stop{false};
    const SearchSpace space = make_search_space(catalog, problem, evaluator.info().limits);
    return tune(request, space, catalog, compiler_, evaluator, store, quiet, stop);
  }

  [[nodiscard]] TuningStore open(OpenMode mode) const {
    return TuningStore::open((folder_.path() / "tuning.db").string(), mode);
  }
  [[nodiscard]] std::optional<Trial> best_of(const Catalog& catalog, const Problem& problem) const {
    BestQuery query;
    query.problem = problem;
    query.device = device_;
    query.admits_template = [&](std::string_view name, std::string_view digest) {
      return catalog.find(name) != nullptr && catalog.digest(name) == digest;
    };
    return open(OpenMode::read_only).best(query);
  }

  void expect_tuned(const std::string& folder, const Sizes& sizes, const Types& types,
                    const std::string& strategy) {
    const Catalog catalog = Catalog::with_directories({example_folder(folder)});
    const Operation& operation = *find_operation(folder.substr(folder.rfind('/') + 1));
    const Problem problem = problem_of(operation, sizes, types);
    const TuneResult result = tune_for(catalog, problem, strategy);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.progress.done, kCandidates);
    EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), kCandidates);
    EXPECT_EQ(result.ragged_sizes, operation.judge.ragged.size());

    const auto best = best_of(catalog, problem);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->key, result.best->key);
    ASSERT_TRUE(best->verification && best->timing);
    EXPECT_TRUE(best->verification->passed);
    EXPECT_GT(best->timing->median_ns, 0.0);
    EXPECT_EQ(best->key.problem, problem);
    EXPECT_EQ(catalog.at(best->key.template_name).operation(), operation.name);

    // What is known is not measured again: the budget goes to others.
    const TuneResult again = tune_for(catalog, problem, strategy);
    EXPECT_EQ(again.progress.known, kCandidates);
    EXPECT_GT(again.progress.done, 0U);
    ASSERT_TRUE(again.best);
    EXPECT_LE(again.best->timing->median_ns, 1.01 * result.best->timing->median_ns);
  }

  TempFolder folder_;
  std::shared_ptr<Compiler> compiler_;
  DeviceClass device_;
};

TEST_F(OperationSession, TunesSoftmaxOfSeveralTemplates) {
  expect_tuned("operations/softmax", {{"rows", 300}, {"cols", 256}},
               {{"x", DType::f16}, {"y", DType::f32}}, "model");
}

TEST_F(OperationSession, TunesSumInTwoLaunchesWithWorkspace) {
  expect_tuned("operations/sum", {{"n", 60000}}, {{"x", DType::f32}, {"y", DType::f32}}, "random");
}

TEST_F(OperationSession, CompilesForOtherDevicesThanItHas) {
  const Catalog catalog = Catalog::with_directories({example_folder("operations/histogram")});
  TuneRequest request;
  const Operation& operation = *find_operation("histogram");
  const Problem problem = problem_of(operation, {{"n", 1000000}, {"bins", 100}},
                                     {{"values", DType::u8}, {"counts", DType::s32}});
  request.tuned = declared_case(operation, problem, {});
  request.budget = {0.0, 2};
  TuningStore store = open(OpenMode::read_write);
  SessionObserver quiet;
  const std::atomic<bool> stop{false};
  const SearchSpace space = make_search_space(catalog, problem, *limits_of_arch("sm_90a"));
  const TuneResult result =
      tune_compile_only(request, space, "sm_90a", catalog, compiler_, store, quiet, stop);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->provenance, Provenance::compiled);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::ok), 2U);
  ASSERT_TRUE(result.best->resources);
  EXPECT_GT(result.best->resources->registers, 0);
}

TEST_F(OperationSession, RefusesWhatIsWrong) {
  // A template that forgets what is left past the last vector, of two numbers at least.
  const TempFolder copy;
  std::filesystem::copy(example_folder("operations/sum"), copy.path());
  const auto file = copy.path() / "sum_partials.cu";
  std::string text = read_text(file);
  const std::string tail = "if (rest < n) sums";
  const auto at = text.find(tail);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, tail.size(), "if (rest < 0) sums");
  std::ofstream(file) << text;
  const Catalog catalog = Catalog::with_directories({copy.path().string()});
  const Problem problem =
      problem_of(*find_operation("sum"), {{"n", 60001}}, {{"x", DType::f16}, {"y", DType::f32}});
  const TuneResult result = tune_for(catalog, problem, "random");
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.progress.by_outcome.at(Outcome::wrong_result), kCandidates);
  EXPECT_FALSE(best_of(catalog, problem));
}

}  // namespace
}  // namespace kiln::testing
