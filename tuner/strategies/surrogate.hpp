// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "templates/launch/launch_planner.hpp"
#include "tuner/strategies/gaussian_process.hpp"
#include "tuner/strategies/random.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// Search that learns from nothing but results, for templates without cost lines. A Gaussian
/// process over the tunables (and over threads and blocks of the launch) predicts the logarithm of
/// the time, a second one whether a candidate works at all. Next comes the candidate with the
/// largest expected improvement, times the probability that it works, among a pool of random ones
/// and the neighbours of the best. Every so often it comes from the steps from the best, whatever
/// is expected there, so that the winner is no slower than any of them. It begins with candidates
/// that are far apart. Those whose results are still awaited are expected to be as predicted.
///
/// Source: Jones, Schonlau and Welch, Efficient Global Optimization of Expensive Black-Box
/// Functions (1998), equation 15 (expected improvement).
class SurrogateStrategy : public Strategy {
 public:
  SurrogateStrategy(std::string name, const StrategyInput& input);
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] bool has_converged() const override { return has_converged_; }
  [[nodiscard]] std::string canonical() const override;

 private:
  /// What is known of one template.
  struct Part {
    Part(const SearchSpace::Part& of, const StrategyInput& input);
    [[nodiscard]] Point point_of(const Config& config) const;

    const SearchSpace::Part* of;
    LaunchPlanner planner;
    ParamSpace preferred;
    GaussianProcess times;
    GaussianProcess works;
    std::vector<Point> timed;
    std::vector<double> log_times;
    std::vector<Point> tried;
    std::vector<double> worked;  ///< 1 or 0
    std::size_t adapted_at = 0;  ///< number of times known when scales were adapted
    bool is_learned = false;     ///< the two processes know the results
    bool is_abandoned = false;
  };
  struct Pooled {
    std::size_t part;
    Config config;
    Point point;
    bool is_step = false;
  };
  struct Scored {
    double mean;
    std::size_t index;  ///< in what is looked at
  };
  struct Score {
    double log_gain;    ///< of the expected improvement of log time
    double per_second;  ///< the same for each second that the try costs; larger is better
  };

  void fill_pool();
  [[nodiscard]] bool is_preferred(const Candidate& candidate) const;
  [[nodiscard]] std::vector<Pooled> looked_at();
  void add_neighbours(std::vector<Pooled>& found);
  void learn();
  void learn(Part& part);
  [[nodiscard]] Pooled spread_pick();
  /// Where the expected gain beyond `least_gain` (of log time) is greatest.
  [[nodiscard]] Pooled best_pick(double least_gain);
  [[nodiscard]] std::optional<Pooled> step_from_best();
  [[nodiscard]] bool may_promise() const;
  [[nodiscard]] Score score(const Pooled& one, double least_gain) const;
  [[nodiscard]] Candidate taken(const Pooled& one);
  [[nodiscard]] std::size_t part_of(const std::string& template_name) const;
  [[nodiscard]] std::size_t known() const;

  std::string name_;
  const SearchSpace& space_;
  std::uint64_t seed_;
  std::function<double(const Candidate&)> cost_s_;
  std::mt19937_64 random_;
  RandomStrategy drawn_;
  std::vector<Part> parts_;
  std::vector<Pooled> pool_;  ///< drawn, not yet proposed
  bool pool_is_preferred_ = true;
  std::optional<Candidate> held_;         ///< drawn, for when the pool is empty
  std::vector<Pooled> awaited_;           ///< proposed, without a result
  std::vector<Pooled> begun_;             ///< all proposed so far, as long as picks are spread
  std::unordered_set<std::string> gone_;  ///< proposed or observed
  double best_log_time_;
  std::optional<Pooled> best_;
  std::size_t proposals_ = 0;
  std::size_t results_ = 0;
  std::optional<std::size_t> promising_at_;  ///< results known when a gain was last worth a try
  std::size_t improved_at_ = 0;  ///< results known when one was notably faster than all before
  bool has_converged_ = false;
};

}  // namespace kiln
