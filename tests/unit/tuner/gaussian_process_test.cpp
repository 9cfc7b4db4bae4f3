// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace kiln {
namespace {

std::vector<double> even_positions(int count) {
  std::vector<double> positions;
  for (int i = 0; i < count; ++i) positions.push_back(i / double(count - 1));
  return positions;
}

TEST(GaussianProcessTest, AgreesWithTheFormulaForTwoPoints) {
  // One axis, two points at distance 1: likeness exp(-1), noise 0.1.
  GaussianProcess process({{0.0, 1.0, 2.0}}, 0.1);
  const std::vector<Point> points{{0}, {1}};
  const std::vector<double> values{3.0, 5.0};
  process.learn(points, values);
  const double near = std::exp(-1.0);
  const double far = std::exp(-2.0);
  // K = [[1.1, near], [near, 1.1]]; y - mean = [-1, 1]; weights = 1 / (1.1 - near) * [-1, 1].
  const double weight = 1.0 / (1.1 - near);
  EXPECT_NEAR(process.mean({2}), 4.0 + weight * (near - far), 1e-12);
  EXPECT_NEAR(process.mean({0}), 4.0 + weight * (near - 1.0), 1e-12);
  // Amplitude: y' K^-1 y / 2 = weight; variance: 1 - k' K^-1 k.
  const double determinant = 1.1 * 1.1 - near * near;
  const double explained =
      (1.1 * (far * far + near * near) - 2.0 * near * far * near) / determinant;
  EXPECT_NEAR(process.predict({2}).variance, weight * (1.0 - explained), 1e-12);
}

TEST(GaussianProcessTest, WhatIsKnownIsNearlyCertainAndWhatIsFarIsNot) {
  GaussianProcess process({even_positions(9), even_positions(9)}, 0.02);
  const std::vector<Point> points{{0, 0}, {0, 4}, {4, 0}, {4, 4}};
  const std::vector<double> values{1.0, 2.0, 2.0, 3.0};
  process.learn(points, values);
  EXPECT_NEAR(process.predict({4, 4}).mean, 3.0, 0.1);
  EXPECT_LT(process.predict({4, 4}).variance, 0.1 * process.predict({8, 8}).variance);
}

TEST(GaussianProcessTest, AnExpectedPointShrinksTheVarianceButMovesNoMean) {
  GaussianProcess process({even_positions(9)}, 0.02);
  const std::vector<Point> points{{0}, {8}};
  const std::vector<double> values{1.0, 2.0};
  process.learn(points, values);
  const auto before = process.predict({4});
  process.expect({4});
  const auto after = process.predict({4});
  EXPECT_DOUBLE_EQ(after.mean, before.mean);
  EXPECT_LT(after.variance, 0.2 * before.variance);
  EXPECT_EQ(process.known(), 2U);
}

TEST(GaussianProcessTest, LearnsWhichAxisMatters) {
  // The second of three axes decides; the others are noise to it.
  GaussianProcess process({even_positions(8), even_positions(8), even_positions(8)}, 0.02);
  GaussianProcess rigid = process;
  std::mt19937_64 random(1);
  const auto draw = [&] {
    return Point{std::uint16_t(random() % 8), std::uint16_t(random() % 8),
                 std::uint16_t(random() % 8)};
  };
  const auto truth = [](const Point& point) { return std::pow(double(point[1]) - 3.0, 2); };
  std::vector<Point> points;
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) {
    points.push_back(draw());
    values.push_back(truth(points.back()));
  }
  rigid.learn(points, values);
  process.learn(points, values);
  for (int i = 0; i < 6; ++i) process.adapt();
  double error = 0.0;
  double rigid_error = 0.0;
  for (int i = 0; i < 200; ++i) {
    const Point point = draw();
    error += std::abs(process.mean(point) - truth(point));
    rigid_error += std::abs(rigid.mean(point) - truth(point));
  }
  EXPECT_LT(error, 0.4 * rigid_error);
}

TEST(GaussianProcessTest, TakesPointsThatRepeatAndValuesThatAreAllEqual) {
  GaussianProcess process({even_positions(3)}, 0.02);
  const std::vector<Point> points{{1}, {1}, {1}, {2}};
  const std::vector<double> values{2.0, 2.0, 2.0, 2.0};
  process.learn(points, values);
  process.adapt();
  EXPECT_NEAR(process.predict({0}).mean, 2.0, 1e-9);
  EXPECT_GT(process.predict({0}).variance, 0.0);
}

}  // namespace
}  // namespace kiln
