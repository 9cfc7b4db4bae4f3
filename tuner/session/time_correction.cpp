// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_correction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cache/statistics.hpp"

namespace kiln {
namespace {

/// Of two candidates that differ in one tunable.
constexpr double kLikeness = 0.8;
/// Variance of what the tunables do not explain, in that of what they do.
constexpr double kNoise = 0.02;
constexpr std::size_t kMostKnown = 256;
/// So many tell the usual error of a template.
constexpr std::size_t kEnough = 4;

/// Solves matrix * x = values for a symmetric, positive definite matrix, row by row, by Cholesky
/// factors; both are overwritten, `values` by x.
void solve(std::vector<double>& matrix, std::vector<double>& values) {
  const std::size_t size = values.size();
  const auto at = [&](std::size_t row, std::size_t col) -> double& {
    return matrix[row * size + col];
  };
  for (std::size_t col = 0; col < size; ++col) {
    for (std::size_t row = col; row < size; ++row) {
      double sum = at(row, col);
      for (std::size_t k = 0; k < col; ++k) sum -= at(row, k) * at(col, k);
      at(row, col) = row == col ? std::sqrt(sum) : sum / at(col, col);
    }
  }
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t k = 0; k < row; ++k) values[row] -= at(row, k) * values[k];
    values[row] /= at(row, row);
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t k = row + 1; k < size; ++k) values[row] -= at(k, row) * values[k];
    values[row] /= at(row, row);
  }
}

}  // namespace

TimeCorrection::Code TimeCorrection::code_of(const std::vector<Tunable>& tunables,
                                             const Config& config) {
  Code code;
  for (const Tunable& tunable : tunables) {
    const auto at = std::ranges::find(tunable.values, config.at(tunable.name));
    code.push_back(static_cast<std::uint16_t>(at - tunable.values.begin()));
  }
  return code;
}

TimeCorrection::TimeCorrection(std::size_t tunables) {
  for (std::size_t i = 0; i <= tunables; ++i) {
    likeness_.push_back(std::pow(kLikeness, static_cast<double>(i)));
  }
}

void TimeCorrection::add(Code code, double measured, double expected) {
  Known one{std::move(code), std::log(measured / expected), 0.0};
  if (known_.size() < kMostKnown) {
    known_.push_back(std::move(one));
  } else {
    known_[next_++ % kMostKnown] = std::move(one);
  }
}

std::vector<double> TimeCorrection::errors() const {
  std::vector<double> errors;
  for (const Known& one : known_) errors.push_back(one.error);
  return errors;
}

void TimeCorrection::learn(double level) {
  const std::size_t size = known_.size();
  level_ = size < kEnough ? level : median(errors());
  std::vector<double> matrix(size * size);
  std::vector<double> weights(size);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t col = 0; col < size; ++col) {
      matrix[row * size + col] =
          likeness(known_[row].code, known_[col].code) + (row == col ? kNoise : 0.0);
    }
    weights[row] = known_[row].error - level_;
  }
  solve(matrix, weights);
  for (std::size_t i = 0; i < size; ++i) known_[i].weight = weights[i];
}

double TimeCorrection::factor(std::span<const std::uint16_t> code) const {
  double error = level_;
  for (const Known& one : known_) error += one.weight * likeness(code, one.code);
  return std::exp(error);
}

double TimeCorrection::likeness(std::span<const std::uint16_t> left, const Code& right) const {
  std::size_t differences = 0;
  for (std::size_t i = 0; i < right.size(); ++i) differences += left[i] != right[i] ? 1 : 0;
  return likeness_[differences];
}

}  // namespace kiln
