// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_correction.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace kiln::testing {
namespace {

using Code = TimeCorrection::Code;

TEST(TimeCorrection, SaysNothingBeforeItHasLearned) {
  TimeCorrection correction(2);
  EXPECT_EQ(correction.factor(Code{0, 0}), 1.0);
  correction.add({0, 0}, 3.0, 1.0);
  EXPECT_EQ(correction.factor(Code{0, 0}), 1.0);
  EXPECT_EQ(correction.size(), 1U);
}

TEST(TimeCorrection, KnowsWhatWasMeasured) {
  TimeCorrection correction(3);
  correction.add({0, 0, 0}, 2.0, 1.0);
  correction.add({1, 1, 1}, 3.0, 4.0);
  correction.add({2, 2, 2}, 5.0, 5.0);
  correction.add({0, 2, 1}, 8.0, 7.0);
  correction.learn(0.0);
  EXPECT_NEAR(correction.factor(Code{0, 0, 0}), 2.0, 0.1);
  EXPECT_NEAR(correction.factor(Code{1, 1, 1}), 0.75, 0.05);
}

TEST(TimeCorrection, RelativesAreCorrectedMoreThanStrangers) {
  TimeCorrection correction(4);
  correction.add({0, 0, 0, 0}, 2.0, 1.0);
  for (std::uint16_t i = 1; i < 6; ++i) correction.add({i, i, i, i}, 1.0, 1.0);
  correction.learn(0.0);
  const double itself = correction.factor(Code{0, 0, 0, 0});
  const double relative = correction.factor(Code{9, 0, 0, 0});
  const double stranger = correction.factor(Code{9, 9, 9, 9});
  EXPECT_GT(itself, relative);
  EXPECT_GT(relative, 1.2);
  EXPECT_GT(relative, stranger);
}

TEST(TimeCorrection, FewCandidatesTakeTheUsualErrorOfOthers) {
  TimeCorrection none(2);
  none.learn(std::log(3.0));
  EXPECT_NEAR(none.factor(Code{0, 0}), 3.0, 1e-9);
  TimeCorrection enough(2);
  for (std::uint16_t i = 0; i < 4; ++i) enough.add({i, i}, 2.0, 1.0);
  enough.learn(std::log(3.0));
  EXPECT_NEAR(enough.factor(Code{7, 8}), 2.0, 1e-9);
}

TEST(TimeCorrection, TheOldestGiveWay) {
  TimeCorrection correction(1);
  for (int i = 0; i < 256; ++i) correction.add({0}, 2.0, 1.0);
  for (int i = 0; i < 256; ++i) correction.add({0}, 1.0, 1.0);
  EXPECT_EQ(correction.size(), 256U);
  correction.learn(0.0);
  EXPECT_NEAR(correction.factor(Code{0}), 1.0, 1e-9);
}

RC_GTEST_PROP(TimeCorrection, IsFiniteAndWithinReasonWhateverWasMeasured, ()) {
  constexpr std::size_t kTunables = 5;
  TimeCorrection correction(kTunables);
  const auto code = rc::gen::container<Code>(kTunables, rc::gen::inRange<std::uint16_t>(0, 3));
  const int count = *rc::gen::inRange(0, 60);
  for (int i = 0; i < count; ++i) {
    const int measured = *rc::gen::inRange(1, 1000);
    correction.add(*code, measured, *rc::gen::inRange(1, 1000));
  }
  correction.learn(0.0);
  const double factor = correction.factor(*code);
  RC_ASSERT(std::isfinite(factor));
  RC_ASSERT(factor > 0.0);
}

}  // namespace
}  // namespace kiln::testing
