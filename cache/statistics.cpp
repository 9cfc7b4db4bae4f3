// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {

double median(std::vector<double> samples) {
  if (samples.empty()) return 0.0;
  const std::size_t upper = samples.size() / 2;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(upper);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(samples.begin(), middle));
}

// The number of samples below the true median is Binomial(count, 1/2), so the interval from the
// (depth+1)-th smallest to the (depth+1)-th largest misses it with probability 2 P(X <= depth).
std::size_t median_interval_depth(std::size_t count) {
  const auto n = static_cast<double>(count);
  double tail = 0.0;
  std::size_t depth = 0;
  for (std::size_t i = 0; 2 * i + 1 < count; ++i) {
    const auto x = static_cast<double>(i);
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(x + 1.0) - std::lgamma(n - x + 1.0) -
                     n * std::log(2.0));
    if (2.0 * tail > 0.05) break;
    depth = i;
  }
  return depth;
}

double median_spread(std::vector<double> samples) {
  if (samples.size() < 2) return 0.0;
  std::sort(samples.begin(), samples.end());
  const std::size_t depth = median_interval_depth(samples.size());
  return 0.5 * (samples[samples.size() - 1 - depth] - samples[depth]);
}

void summarise(Timing& timing) {
  timing.median_ns = median(timing.samples_ns);
  timing.spread_ns = median_spread(timing.samples_ns);
}

}  // namespace kiln
