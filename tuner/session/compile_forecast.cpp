// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/compile_forecast.hpp"

#include <algorithm>
#include <cmath>

#include "cache/statistics.hpp"
#include "tuner/strategies/axes.hpp"

namespace kiln {
namespace {

/// Fewer say nothing about the others.
constexpr std::size_t kEnough = 4;
/// Of the newest so many the forecast is made.
constexpr std::size_t kMostLearned = 200;
/// It is brought up to date after so many more, its scales after that share more.
constexpr std::size_t kLearnEvery = 4;
constexpr double kAdaptShare = 0.5;
constexpr double kNoise = 0.05;
constexpr double kLeastSeconds = 1e-3;

}  // namespace

CompileForecast::CompileForecast(const SearchSpace& space) {
  for (const SearchSpace::Part& part : space.parts) {
    if (part.space.tunables().empty()) continue;
    parts_.emplace(part.kernel_template->name(),
                   Part{&part.space.tunables(),
                        GaussianProcess(axes_of(part.space.tunables()), kNoise),
                        {},
                        {}});
  }
}

void CompileForecast::observe(const Candidate& candidate, double seconds) {
  seconds_.push_back(seconds);
  const auto found = parts_.find(candidate.template_name);
  if (found == parts_.end()) return;
  Part& part = found->second;
  part.points.push_back(point_of(*part.tunables, candidate.config));
  part.values.push_back(std::log(std::max(seconds, kLeastSeconds)));
  const std::size_t count = part.values.size();
  if (count < kEnough || count < part.learned + kLearnEvery) return;
  part.learned = count;
  const std::size_t first = count - std::min(count, kMostLearned);
  part.log_seconds.learn(std::span(part.points).subspan(first),
                         std::span(part.values).subspan(first));
  if (static_cast<double>(count) >= (1.0 + kAdaptShare) * static_cast<double>(part.adapted)) {
    part.log_seconds.adapt();
    part.adapted = count;
  }
}

std::optional<double> CompileForecast::expected_s(const Candidate& candidate) {
  const auto found = parts_.find(candidate.template_name);
  if (found == parts_.end() || found->second.log_seconds.known() == 0) return std::nullopt;
  const Part& part = found->second;
  return std::exp(part.log_seconds.mean(point_of(*part.tunables, candidate.config)));
}

double CompileForecast::median_s() const {
  return seconds_.empty() ? 0.0 : median(seconds_);
}

}  // namespace kiln
