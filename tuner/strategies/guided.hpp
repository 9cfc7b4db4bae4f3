// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// Two searches side by side: one for the templates with cost lines, in which the static model
/// leads, and one for the others, which learns from results alone. What templates prefer comes
/// first; then the search whose best candidate is the faster gets most of the proposals.
class GuidedStrategy : public Strategy {
 public:
  explicit GuidedStrategy(const StrategyInput& input);
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] bool has_converged() const override;
  [[nodiscard]] std::string canonical() const override;

 private:
  struct Arm {
    SearchSpace space;  ///< its templates
    std::unique_ptr<Strategy> search;
    std::optional<Candidate> held;  ///< its next proposal
    std::uint64_t proposals = 0;
    double best_ns = std::numeric_limits<double>::infinity();
  };
  [[nodiscard]] Arm* arm_of(const std::string& template_name);
  [[nodiscard]] Arm* next_arm();
  [[nodiscard]] bool is_preferred(const Candidate& candidate) const;

  std::uint64_t seed_;
  std::array<Arm, 2> arms_;  ///< of templates with cost lines, of those without
  std::map<std::string, ParamSpace, std::less<>> preferred_;  ///< of templates that prefer some
};

}  // namespace kiln
