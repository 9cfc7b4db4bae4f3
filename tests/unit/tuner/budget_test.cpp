// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace kiln {
namespace {

TEST(Budget, CanonicalTextNamesBothLimits) {
  EXPECT_EQ(Budget{}.canonical(), "time=25s count=-");
  EXPECT_EQ((Budget{0.5, 12}).canonical(), "time=0.5s count=12");
  EXPECT_EQ((Budget{0, 0}).canonical(), "time=- count=-");
}

TEST(BudgetClock, WithoutLimitNeverEnds) {
  const BudgetClock clock({0, 7});
  EXPECT_TRUE(std::isinf(clock.left_s()));
  EXPECT_TRUE(std::isinf(clock.search_left_s()));
}

TEST(BudgetClock, KeepsTheReserveFromTheSearch) {
  const BudgetClock clock({100.0, 0}, 10.0);
  EXPECT_NEAR(clock.left_s() - clock.search_left_s(), 10.0, 1e-3);
  EXPECT_LE(clock.left_s(), 100.0);
}

TEST(BudgetClock, NeverGoesBelowZero) {
  const BudgetClock clock({0.001, 0}, 1.0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(clock.left_s(), 0.0);
  EXPECT_EQ(clock.search_left_s(), 0.0);
  EXPECT_GE(clock.elapsed_s(), 0.002);
}

TEST(FinalistsShare, IsATenthAndNoMoreThanFourSeconds) {
  EXPECT_DOUBLE_EQ(finalists_share_s({20.0, 0}, 4), 2.0);
  EXPECT_DOUBLE_EQ(finalists_share_s({45.0, 0}, 4), 4.0);
  EXPECT_DOUBLE_EQ(finalists_share_s({3600.0, 0}, 4), 4.0);
}

TEST(FinalistsShare, IsNothingWhenThereIsNothingToCompare) {
  EXPECT_EQ(finalists_share_s({45.0, 0}, 1), 0.0);
  EXPECT_EQ(finalists_share_s({0, 0}, 4), 0.0);
}

}  // namespace
}  // namespace kiln
