// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// Every candidate once, template by template, in the enumeration order of a space;
/// first what the templates prefer.
class ExhaustiveStrategy : public Strategy {
 public:
  explicit ExhaustiveStrategy(const SearchSpace& space);
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] std::string canonical() const override { return "exhaustive"; }

 private:
  const SearchSpace& space_;
  std::vector<Stretch> stretches_;
  std::size_t stretch_ = 0;  ///< the stretch being enumerated
  std::uint64_t next_ = 0;   ///< its next configuration to propose
  std::unordered_set<std::string> observed_;
  std::set<std::string> abandoned_;
};

}  // namespace kiln
