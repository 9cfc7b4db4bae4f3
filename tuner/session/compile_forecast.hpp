// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/search_space.hpp"
#include "tuner/strategies/gaussian_process.hpp"

namespace kiln {

/// How long candidates will take to compile, learned from those that were compiled: a Gaussian
/// process over the logarithm of the seconds for each template. What unrolls a loop multiplies
/// them, so they differ by a factor of 20 within one space. Used by one thread.
class CompileForecast {
 public:
  /// The space must outlive it.
  explicit CompileForecast(const SearchSpace& space);

  /// What a compilation took, or, if `seconds` is only a lower bound, what it took until it was
  /// given up.
  void observe(const Candidate& candidate, double seconds);
  /// Nothing before some of its template were compiled.
  [[nodiscard]] std::optional<double> expected_s(const Candidate& candidate);
  /// Of all templates; 0 before anything was compiled.
  [[nodiscard]] double median_s() const;

 private:
  struct Part {
    const std::vector<Tunable>* tunables;
    GaussianProcess log_seconds;
    std::vector<Point> points;
    std::vector<double> values;
    std::size_t learned = 0;
    std::size_t adapted = 0;
  };
  std::map<std::string, Part, std::less<>> parts_;
  std::vector<double> seconds_;
};

}  // namespace kiln
