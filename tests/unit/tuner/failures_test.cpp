// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/failures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln {
namespace {

Trial trial_of(Outcome outcome, const std::string& message) {
  Trial trial;
  trial.outcome = outcome;
  trial.message = message;
  return trial;
}

TEST(Failures, AreGroupedByWhatTheySayButForNumbers) {
  const std::vector<Trial> trials{
      trial_of(Outcome::ok, ""),
      trial_of(Outcome::crashed, "n=7: illegal address\nthe rest differs 1"),
      trial_of(Outcome::wrong_result,
               "n=7 (integers): row 0 column 3: 1, expected 2 (allowed error 0)"),
      trial_of(Outcome::wrong_result,
               "n=9 (integers): row 2 column 1: nan, expected -2 (allowed error 0)"),
      trial_of(Outcome::wrong_result, "n=9 (integers): wrote 4 bytes after y"),
      trial_of(Outcome::wrong_result,
               "n=5 (integers): row 2 column 1: 1e-3, expected 0 (allowed error 0)"),
      trial_of(Outcome::crashed, "n=8: illegal address\nthe rest differs 2"),
  };
  const auto groups = failure_groups(trials);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].count, 3U);
  EXPECT_EQ(groups[0].example.message, trials[2].message) << "the first of them";
  EXPECT_EQ(groups[1].count, 2U);
  EXPECT_EQ(groups[1].example.outcome, Outcome::crashed);
  EXPECT_EQ(groups[2].count, 1U);
  EXPECT_TRUE(failure_groups({}).empty());
}

TEST(Failures, AreGroupedHoweverManyElementsAreWrongAndByHowMuch) {
  const std::string place = "n=7 (normal data): element ";
  const auto groups = failure_groups(std::vector<Trial>{
      trial_of(Outcome::wrong_result,
               place + "3: 1, expected 2 (allowed error 0); 1 element wrong"),
      trial_of(Outcome::wrong_result,
               place + "4: 1.5, error 1e-8 (allowed error 1e-9, which is less than "
                       "one rounding error of f32: 2e-8); 12 "
                       "elements wrong; the largest error is 7.8 times the allowed error"),
      trial_of(Outcome::wrong_result,
               place + "0: never written, expected 2 (allowed error 0); 2 elements "
                       "wrong")});
  ASSERT_EQ(groups.size(), 2U) << "what was never written is another fault";
  EXPECT_EQ(groups[0].count, 2U);
}

TEST(Failures, ThatLeaveTheCodeBlamelessAreNoFaults) {
  EXPECT_FALSE(is_fault(Outcome::ok));
  EXPECT_FALSE(is_fault(Outcome::rejected));
  EXPECT_FALSE(is_fault(Outcome::out_of_resources));
  EXPECT_TRUE(is_fault(Outcome::compile_failed));
  EXPECT_TRUE(is_fault(Outcome::wrong_result));
}

}  // namespace
}  // namespace kiln
