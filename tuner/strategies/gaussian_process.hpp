// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kiln {

/// A configuration as numbers: for each axis, which of its values it has.
using Point = std::vector<std::uint16_t>;

/// A Gaussian process over points: predicts a number from those that are known at other points.
/// Two points are alike by exp(-distance); the distance is the sum, over the axes, of how far apart
/// their values lie in units of the axis's scale. So an axis with a large scale matters little.
/// Scales and noise are those under which the known numbers are the likeliest.
///
/// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, algorithm 2.1 (mean and
/// variance) and equation 2.30 (likelihood), with the mean and the variance of the known numbers as
/// constant mean and amplitude. Used by one thread; mean() and predict() by several at once.
class GaussianProcess {
 public:
  /// `positions[axis][value]`: where each value lies on its axis, usually between 0 and 1. There is
  /// at least one axis. `noise`: the variance of what the axes do not explain, as a share of the
  /// variance of what they do; adapt() changes it.
  GaussianProcess(std::vector<std::vector<double>> positions, double noise);

  struct Prediction {
    double mean = 0.0;
    double variance = 0.0;
  };

  /// The numbers known so far, in place of those before. Points and numbers are as many.
  void learn(std::span<const Point> points, std::span<const double> values);
  /// Adapts scales and noise to what is known: one round over all axes.
  void adapt();
  /// Takes over the scales of another one with the same axes.
  void set_scales_of(const GaussianProcess& other);
  /// Adds a point whose number will soon be known: it is expected to be as predicted, so only the
  /// variance near it shrinks.
  void expect(const Point& point);

  [[nodiscard]] std::size_t known() const { return values_.size(); }
  /// Preconditions: known() > 0.
  [[nodiscard]] double mean(const Point& point) const;
  [[nodiscard]] Prediction predict(const Point& point) const;

 private:
  /// Likeness of two values of an axis, row by row.
  struct Axis {
    std::vector<double> positions;
    double scale = 1.0;
    std::vector<double> likeness;
  };
  void tabulate(Axis& axis) const;
  [[nodiscard]] bool fit();
  [[nodiscard]] bool append(std::size_t row);
  [[nodiscard]] double log_likelihood() const;
  void likeness_to(const Point& point, std::size_t count, std::vector<double>& found) const;
  [[nodiscard]] double& factor(std::size_t row, std::size_t column) {
    return factor_[row * (row + 1) / 2 + column];
  }

  std::vector<Axis> axes_;
  double noise_;
  std::vector<Point> points_;    ///< known ones, then expected ones
  std::vector<double> values_;   ///< of the known ones
  std::vector<double> factor_;   ///< Cholesky factor of the likenesses, its lower triangle by rows
  std::vector<double> weights_;  ///< of the known ones in the mean
  double mean_ = 0.0;
  double amplitude_ = 1.0;
};

}  // namespace kiln
