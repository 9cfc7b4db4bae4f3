// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/local_evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kiln/error.hpp"
#include "tests/unit/tuner/planted_kernels.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

class LocalEvaluatorTest : public ::testing::Test {
 protected:
  LocalEvaluatorTest() {
    auto device = testing::make_planted_device();
    device_ = device.get();
    evaluator_ = make_local_evaluator(std::move(device));
    evaluator_->set_up(setup_);
  }
  [[nodiscard]] EvaluationJob job(const std::string& name,
                                  std::string_view behaviour = testing::kBehaveOk) const {
    return testing::planted_job(setup_, name, 1000.0, behaviour);
  }

  EvaluationSetup setup_ = testing::planted_setup(testing::planted_cases());
  testing::FakeDevice* device_ = nullptr;
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(LocalEvaluatorTest, VerifiesAndTimesARightKernel) {
  const Evaluation result = evaluator_->evaluate(job("right"));
  EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
  EXPECT_TRUE(result.verification.passed);
  ASSERT_TRUE(result.timing);
  EXPECT_DOUBLE_EQ(result.timing->median_ns, 1000.0);
}

TEST_F(LocalEvaluatorTest, VerifiesOnlyWhenAskedTo) {
  EvaluationJob untimed = job("right");
  untimed.time_it = false;
  const Evaluation result = evaluator_->evaluate(untimed);
  EXPECT_TRUE(result.verification.passed);
  EXPECT_FALSE(result.timing);
}

TEST_F(LocalEvaluatorTest, NeverTimesAWrongKernel) {
  const std::uint64_t replays = device_->replays();
  const Evaluation result = evaluator_->evaluate(job("forgets_beta"));
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
  EXPECT_EQ(result.message, result.verification.evidence);
  EXPECT_FALSE(result.timing);
  EXPECT_EQ(device_->replays(), replays);
}

TEST_F(LocalEvaluatorTest, RefusalsOfTheDeviceBecomeOutcomes) {
  EXPECT_EQ(evaluator_->evaluate(job("right", testing::kBehaveLoadFailed)).outcome,
            Outcome::launch_failed);
  EXPECT_EQ(evaluator_->evaluate(job("right", testing::kBehaveLaunchFailed)).outcome,
            Outcome::launch_failed);
  EXPECT_EQ(evaluator_->evaluate(job("right", testing::kBehaveOutOfResources)).outcome,
            Outcome::out_of_resources);
  EvaluationJob greedy = job("right");
  greedy.geometry[1][0].smem_bytes = 1 << 20;  // in one case is enough
  EXPECT_EQ(evaluator_->evaluate(greedy).outcome, Outcome::out_of_resources);
  EvaluationJob hungry = job("right");
  hungry.workspace_bytes[0] = 1LL << 40;
  const Evaluation refused = evaluator_->evaluate(hungry);
  EXPECT_EQ(refused.outcome, Outcome::out_of_resources);
  EXPECT_THAT(refused.message, HasSubstr("workspace"));
  EXPECT_EQ(evaluator_->evaluate(job("right")).outcome, Outcome::ok);
}

TEST_F(LocalEvaluatorTest, AFaultIsACrashAndEndsTheDevice) {
  const Evaluation result = evaluator_->evaluate(job("right", testing::kBehaveIllegalAddress));
  EXPECT_EQ(result.outcome, Outcome::crashed);
  EXPECT_THAT(result.message, HasSubstr("illegal memory access"));
  EXPECT_THAT(result.message, HasSubstr("m=17 n=13 k=23"));
  EXPECT_THROW((void)evaluator_->evaluate(job("right")), Error);
  EXPECT_THROW((void)evaluator_->compare({}), Error);
}

TEST_F(LocalEvaluatorTest, CasesWithoutALaunchAreLeftOut) {
  EvaluationJob partial = job("drops_k_tail");  // wrong only on the ragged case
  partial.geometry[1].clear();
  partial.arguments[1].clear();
  EXPECT_EQ(evaluator_->evaluate(partial).outcome, Outcome::ok);
  partial.geometry[0].clear();
  partial.arguments[0].clear();
  EXPECT_EQ(evaluator_->evaluate(partial).outcome, Outcome::launch_failed);
}

// A device that executes slowly checks only small cases. A candidate that none of them fits is
// neither right nor wrong for ever: that is unknown.
TEST_F(LocalEvaluatorTest, WhatNoCaseCanCheckIsRejected) {
  testing::FakeDeviceOptions options;
  options.info = testing::fake_device_info();
  options.info.most_products = 1;
  const auto evaluator = make_local_evaluator(testing::make_planted_device(std::move(options)));
  evaluator->set_up(setup_);
  const Evaluation result = evaluator->evaluate(job("right"));
  EXPECT_EQ(result.outcome, Outcome::rejected);
  EXPECT_THAT(result.message, HasSubstr("cannot verify the candidate"));
  EXPECT_FALSE(result.verification.passed);
  EXPECT_FALSE(result.timing);
}

TEST_F(LocalEvaluatorTest, CandidatesLeaveNoMemoryBehind) {
  const std::size_t before = device_->live_allocations();
  EvaluationJob with_workspace = job("right");
  with_workspace.workspace_bytes.assign(2, 4096);
  EXPECT_EQ(evaluator_->evaluate(with_workspace).outcome, Outcome::ok);
  EXPECT_EQ(device_->live_allocations(), before);
  evaluator_->set_up(setup_);
  EXPECT_EQ(device_->live_allocations(), before);
}

TEST_F(LocalEvaluatorTest, TakesNoMoreMemoryThanItIsGiven) {
  const std::int64_t free_before = device_->free_memory_bytes();
  setup_.memory_limit_bytes = 2 << 20;
  setup_.policy.l2_multiple = 1e6;
  evaluator_->set_up(setup_);
  EXPECT_GE(device_->free_memory_bytes(), (1LL << 30) - setup_.memory_limit_bytes);
  EXPECT_LE(free_before, 1LL << 30);
  EXPECT_EQ(evaluator_->evaluate(job("right")).outcome, Outcome::ok);
}

TEST(LocalEvaluator, MustBeSetUpFirst) {
  const auto evaluator = make_local_evaluator(testing::make_planted_device());
  EXPECT_THROW((void)evaluator->evaluate({}), Error);
}

}  // namespace
}  // namespace kiln
