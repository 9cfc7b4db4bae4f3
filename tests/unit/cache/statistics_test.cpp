// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace kiln {
namespace {

TEST(Median, OfOddEvenAndNoSamples) {
  EXPECT_EQ(median({}), 0.0);
  EXPECT_EQ(median({7.0}), 7.0);
  EXPECT_EQ(median({3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({4.0, 1.0, 3.0, 2.0}), 2.5);
}

TEST(MedianInterval, DepthsAreThoseOfTheBinomialTable) {
  EXPECT_EQ(median_interval_depth(1), 0U);
  EXPECT_EQ(median_interval_depth(5), 0U);
  EXPECT_EQ(median_interval_depth(6), 0U);   // 2 / 2^6 = 3.1 %
  EXPECT_EQ(median_interval_depth(9), 1U);   // 2 (1 + 9) / 2^9 = 3.9 %
  EXPECT_EQ(median_interval_depth(15), 3U);  // 3.5 %
  EXPECT_EQ(median_interval_depth(100), 39U);
}

TEST(MedianInterval, SpreadIgnoresOutliersBeyondItsDepth) {
  std::vector<double> samples;
  for (int i = 0; i < 15; ++i) samples.push_back(100.0 + i);
  EXPECT_EQ(median_spread(samples), 4.0);  // from 103 to 111
  samples[14] = 1e9;
  EXPECT_EQ(median_spread(samples), 4.0);
  EXPECT_EQ(median_spread({5.0}), 0.0);
  EXPECT_EQ(median_spread({5.0, 7.0}), 1.0);
}

// The promise itself: the interval holds the true median in at least 95 % of all experiments, here
// with a skewed distribution like that of kernel times.
TEST(MedianInterval, CoversTheTrueMedian) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> times(0.0, 0.5);  // median 1
  for (const int count : {6, 15, 40}) {
    constexpr int kExperiments = 4000;
    int covered = 0;
    for (int experiment = 0; experiment < kExperiments; ++experiment) {
      std::vector<double> samples(static_cast<std::size_t>(count));
      std::generate(samples.begin(), samples.end(), [&] { return times(random); });
      std::sort(samples.begin(), samples.end());
      const std::size_t depth = median_interval_depth(samples.size());
      if (samples[depth] <= 1.0 && 1.0 <= samples[samples.size() - 1 - depth]) ++covered;
    }
    EXPECT_GE(covered, kExperiments * 0.94) << count << " samples";
    EXPECT_LE(covered, kExperiments * 0.99) << count << " samples";
  }
}

TEST(Summarise, FillsMedianAndSpread) {
  Timing timing;
  timing.samples_ns = {10.0, 30.0, 20.0};
  summarise(timing);
  EXPECT_EQ(timing.median_ns, 20.0);
  EXPECT_EQ(timing.spread_ns, 10.0);
}

}  // namespace
}  // namespace kiln
