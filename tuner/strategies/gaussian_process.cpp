// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kiln {
namespace {

/// How scales and noise may change in one step, and between which bounds.
constexpr double kStep = 2.0;
constexpr double kLeastScale = 0.02;
constexpr double kMostScale = 100.0;
constexpr double kLeastNoise = 1e-3;
constexpr double kMostNoise = 0.5;
/// A scale of 1 is the likeliest before anything is known; the logarithm of a scale is normally
/// distributed around that with this deviation.
constexpr double kScaleDeviation = 1.0;
/// Smaller pivots are rounding errors.
constexpr double kLeastPivot = 1e-12;
constexpr double kLeastAmplitude = 1e-8;

}  // namespace

GaussianProcess::GaussianProcess(std::vector<std::vector<double>> positions, double noise)
    : noise_(noise) {
  for (auto& one : positions) {
    axes_.push_back({std::move(one), 1.0, {}});
    tabulate(axes_.back());
  }
}

void GaussianProcess::tabulate(Axis& axis) const {
  const std::size_t size = axis.positions.size();
  axis.likeness.resize(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      axis.likeness[i * size + j] =
          std::exp(-std::abs(axis.positions[i] - axis.positions[j]) / axis.scale);
    }
  }
}

void GaussianProcess::learn(std::span<const Point> points, std::span<const double> values) {
  points_.assign(points.begin(), points.end());
  values_.assign(values.begin(), values.end());
  if (!fit()) {  // by rounding; more noise makes up for it
    noise_ = kMostNoise;
    static_cast<void>(fit());
  }
}

void GaussianProcess::set_scales_of(const GaussianProcess& other) {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    axes_[i].scale = other.axes_[i].scale;
    axes_[i].likeness = other.axes_[i].likeness;
  }
}

void GaussianProcess::adapt() {
  points_.resize(values_.size());
  if (!fit()) return;
  double best = log_likelihood();
  const auto try_value = [&](double& value, double to, double least, double most, Axis* axis) {
    if (to < least || to > most) return false;
    const double before = std::exchange(value, to);
    if (axis != nullptr) tabulate(*axis);
    if (fit()) {
      if (const double now = log_likelihood(); now > best) {
        best = now;
        return true;
      }
    }
    value = before;
    if (axis != nullptr) tabulate(*axis);
    return false;
  };
  for (Axis& axis : axes_) {
    if (try_value(axis.scale, axis.scale * kStep, kLeastScale, kMostScale, &axis)) continue;
    try_value(axis.scale, axis.scale / kStep, kLeastScale, kMostScale, &axis);
  }
  if (!try_value(noise_, noise_ * kStep, kLeastNoise, kMostNoise, nullptr)) {
    try_value(noise_, noise_ / kStep, kLeastNoise, kMostNoise, nullptr);
  }
  static_cast<void>(fit());
}

/// Of the first `count` points.
void GaussianProcess::likeness_to(const Point& point, std::size_t count,
                                  std::vector<double>& found) const {
  thread_local std::vector<const double*> rows;
  rows.resize(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    rows[i] = axes_[i].likeness.data() + point[i] * axes_[i].positions.size();
  }
  found.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint16_t* const other = points_[n].data();
    double product = 1.0;
    for (std::size_t i = 0; i < axes_.size(); ++i) product *= rows[i][other[i]];
    found[n] = product;
  }
}

/// Adds the row of a point to the factor, whose earlier rows are there.
bool GaussianProcess::append(std::size_t row) {
  thread_local std::vector<double> likeness;
  likeness_to(points_[row], row + 1, likeness);
  factor_.resize((row + 1) * (row + 2) / 2);
  double* const own = factor_.data() + row * (row + 1) / 2;
  for (std::size_t column = 0; column <= row; ++column) {
    const double* const other = factor_.data() + column * (column + 1) / 2;
    double sum = likeness[column] - std::inner_product(own, own + column, other, 0.0);
    if (column < row) {
      own[column] = sum / other[column];
      continue;
    }
    sum += noise_;
    if (sum < kLeastPivot) return false;
    own[column] = std::sqrt(sum);
  }
  return true;
}

/// Factor, weights and amplitude of what is known; false where rounding prevents it.
bool GaussianProcess::fit() {
  const std::size_t count = values_.size();
  factor_.clear();
  weights_.resize(count);
  mean_ = count == 0
              ? 0.0
              : std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(count);
  double squares = 0.0;
  for (std::size_t row = 0; row < count; ++row) {
    if (!append(row)) return false;
    const double* const own = factor_.data() + row * (row + 1) / 2;
    const double rest =
        values_[row] - mean_ - std::inner_product(own, own + row, weights_.data(), 0.0);
    weights_[row] = rest / own[row];
    squares += weights_[row] * weights_[row];
  }
  amplitude_ = count == 0 ? 1.0 : std::max(squares / static_cast<double>(count), kLeastAmplitude);
  for (std::size_t row = count; row-- > 0;) {
    for (std::size_t below = row + 1; below < count; ++below) {
      weights_[row] -= factor(below, row) * weights_[below];
    }
    weights_[row] /= factor(row, row);
  }
  return true;
}

/// Of what is known under the present scales and noise, and of these scales, up to a constant.
double GaussianProcess::log_likelihood() const {
  const std::size_t count = values_.size();
  double sum = -0.5 * static_cast<double>(count) * std::log(amplitude_);
  for (std::size_t row = 0; row < count; ++row) {
    sum -= std::log(factor_[row * (row + 1) / 2 + row]);
  }
  for (const Axis& axis : axes_) {
    const double deviations = std::log(axis.scale) / kScaleDeviation;
    sum -= 0.5 * deviations * deviations;
  }
  return sum;
}

void GaussianProcess::expect(const Point& point) {
  points_.push_back(point);
  if (!append(points_.size() - 1)) points_.pop_back();
}

double GaussianProcess::mean(const Point& point) const {
  thread_local std::vector<double> likeness;
  likeness_to(point, values_.size(), likeness);
  return mean_ + std::inner_product(likeness.begin(), likeness.end(), weights_.begin(), 0.0);
}

GaussianProcess::Prediction GaussianProcess::predict(const Point& point) const {
  thread_local std::vector<double> likeness;
  likeness_to(point, points_.size(), likeness);
  Prediction found;
  found.mean = mean_ + std::inner_product(weights_.begin(), weights_.end(), likeness.begin(), 0.0);
  double rest = 1.0;
  for (std::size_t row = 0; row < points_.size(); ++row) {
    const double* const own = factor_.data() + row * (row + 1) / 2;
    likeness[row] -= std::inner_product(own, own + row, likeness.begin(), 0.0);
    likeness[row] /= own[row];
    rest -= likeness[row] * likeness[row];
  }
  found.variance = std::max(rest, 1e-9) * amplitude_;
  return found;
}

}  // namespace kiln
