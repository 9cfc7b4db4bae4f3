// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "templates/space/param_space.hpp"

namespace kiln {

/// How far the static times of a template are off, learned from those of its candidates that were
/// measured: a Gaussian process over the logarithm of measured over static time. Two candidates are
/// alike by a fixed factor for each tunable in which they differ, so a configuration is corrected
/// by what came of its relatives, and one that has none by what came of all.
///
/// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, equation 2.25 (the mean
/// of the prediction), with the median as a constant mean.
class TimeCorrection {
 public:
  /// A candidate: for each tunable, which of its values it has.
  using Code = std::vector<std::uint16_t>;
  [[nodiscard]] static Code code_of(const std::vector<Tunable>& tunables, const Config& config);

  explicit TimeCorrection(std::size_t tunables);

  /// Of the last 256 added candidates the correction is made. Both times above 0, in one unit.
  void add(Code code, double measured, double expected);
  /// How many candidates it knows.
  [[nodiscard]] std::size_t size() const { return known_.size(); }
  /// The logarithms of measured over static time.
  [[nodiscard]] std::vector<double> errors() const;
  /// From here on factor() is of all that was added. `level`: the logarithm of the usual error,
  /// for as long as there are too few candidates to tell.
  void learn(double level);
  /// What the static time of the candidate is to be multiplied with; 1 before anything was learned.
  /// `code` is as long as there are tunables. Threads may call it at once.
  [[nodiscard]] double factor(std::span<const std::uint16_t> code) const;

 private:
  struct Known {
    Code code;
    double error = 0.0;
    double weight = 0.0;  ///< in the correction of those like it
  };
  [[nodiscard]] double likeness(std::span<const std::uint16_t> left, const Code& right) const;

  std::vector<double> likeness_;  ///< by the number of tunables in which two candidates differ
  std::vector<Known> known_;
  std::size_t next_ = 0;  ///< that gives way to the next, once there are enough
  double level_ = 0.0;
};

}  // namespace kiln
