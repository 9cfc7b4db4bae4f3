// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "templates/kernel_template.hpp"
#include "tuner/replay/measured_space.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// How soon a strategy found good configurations in a measured space. Evaluations are counted from
/// 1, failed ones too; 0: not within the limit.
struct ReplayRun {
  std::uint64_t to_95 = 0;  ///< until one reached 95 % of the best speed
  std::uint64_t to_98 = 0;
  std::uint64_t evaluations = 0;
  double best_share = 0.0;  ///< of the best speed, in the end
};

struct ReplayLimits {
  std::uint64_t evaluations = 400;
  /// How many candidates are proposed before the result of the first of them is known, as if they
  /// were being compiled.
  std::uint64_t in_flight = 1;
};

/// A measured space in which strategies search as they do in a session: its configurations are
/// those of a template that is never compiled. Immutable; run() may be called by several threads.
class Replay {
 public:
  /// Throws Error(usage) if no configuration of the space has a time.
  explicit Replay(const MeasuredSpace& measured);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Until 98 % are reached or the limit is. Throws Error(usage) for an unknown strategy.
  [[nodiscard]] ReplayRun run(const std::string& strategy, std::uint64_t seed,
                              const ReplayLimits& limits) const;
  [[nodiscard]] std::uint64_t count() const { return rows_.size(); }
  [[nodiscard]] std::uint64_t working() const { return working_; }
  /// The shortest time.
  [[nodiscard]] double best_ns() const { return best_ns_; }

 private:
  struct Row {
    Outcome outcome = Outcome::ok;
    double time_ns = 0.0;
  };
  KernelTemplate template_;
  SearchSpace space_;
  std::map<Config, Row> rows_;
  std::uint64_t working_ = 0;
  double best_ns_ = 0.0;
};

}  // namespace kiln
