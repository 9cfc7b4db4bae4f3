// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/calibration.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Calibration, KnowsNothingAtFirst) {
  const Calibration calibration;
  EXPECT_DOUBLE_EQ(calibration.factor("t", "x=1"), 1.0);
  EXPECT_DOUBLE_EQ(calibration.usual("t", "x=1"), 1.0);
  EXPECT_GT(calibration.untried("t"), 1.0) << "templates say what is usual";
}

TEST(Calibration, OneResultIsTheFactorOfItsTemplate) {
  Calibration calibration;
  calibration.add("t", "x=1", 2.0, 3.0);
  EXPECT_DOUBLE_EQ(calibration.factor("t", "x=1"), 2.0);
  EXPECT_DOUBLE_EQ(calibration.factor("t", "x=2"), 2.0);
  EXPECT_DOUBLE_EQ(calibration.factor("u", "x=1"), 2.0) << "for want of anything nearer";
  EXPECT_GT(calibration.untried("t"), 2.0);
  EXPECT_GT(calibration.untried("u"), calibration.untried("t"));
}

TEST(Calibration, NearResultsCountMostAndFarOnesAreDrawnToTheTemplates) {
  Calibration calibration;
  calibration.add("t", "x=1", 2.0, 0.0);
  calibration.add("t", "x=1", 8.0, 6.0);
  const double own = calibration.factor("t", "x=1");
  EXPECT_GT(own, 2.0);
  EXPECT_LT(own, 4.0) << "the geometric mean of equals";
  calibration.add("t", "x=2", 32.0, 6.0);
  EXPECT_LT(calibration.factor("t", "x=2"), 16.0) << "far from all that is known of the template";
  EXPECT_GT(calibration.factor("t", "x=2"), calibration.factor("t", "x=1"));
}

TEST(Calibration, ResultsForNearlyTheSameProblemStandForThemselves) {
  const auto own_of = [](double distance) {
    Calibration calibration;
    calibration.add("t", "x=1", 1.0, distance);
    for (const char* const other : {"x=2", "x=3", "x=4"}) {
      calibration.add("t", other, 2.0, distance);
    }
    return calibration.factor("t", "x=1");
  };
  EXPECT_LT(own_of(0.125), 1.3) << "another type";
  EXPECT_GT(own_of(3.0), 1.6) << "another size";
}

TEST(Calibration, WhatIsUsualWasTriedWhereNearProblemsWereSearched) {
  Calibration near;
  near.add("t", "x=1", 2.0, 0.0);
  EXPECT_DOUBLE_EQ(near.usual("t", "x=2"), near.untried("t"));
  Calibration far;
  far.add("t", "x=1", 2.0, 6.0);
  EXPECT_NEAR(far.usual("t", "x=2"), far.factor("t", "x=2"), 1e-3);
  EXPECT_DOUBLE_EQ(near.usual("u", "x=2"), near.untried("u")) << "nothing of it was good";
}

TEST(Calibration, TemplatesOfOtherScalesDoNotMix) {
  Calibration calibration;
  calibration.add("t", "x=1", 2.0, 0.0);
  calibration.add_unmodelled("plain", "x=1", 64.0, 0.0);
  EXPECT_DOUBLE_EQ(calibration.factor("u", "x=1"), 2.0);
  EXPECT_DOUBLE_EQ(calibration.factor("plain", "x=1"), 64.0);
}

}  // namespace
}  // namespace kiln
