// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/model/device_profile.hpp"
#include "templates/problem.hpp"
#include "tuner/strategies/random.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// Candidates by their static time (runtime/model/static_model.hpp), shortest first, all templates
/// together, what they prefer before the rest; those whose time is the same are spread a little,
/// the ones that are nearest to the defaults first. Templates that state no costs have no such
/// time: every eighth proposal is drawn from them at random, as long as there are any. Of a very
/// large space only what the template prefers is timed, or an evenly spaced sample of that; the
/// rest of it is drawn at random like those.
class ModelStrategy : public Strategy {
 public:
  /// Times the candidates: up to 50,000 of each template. Throws Error(template_) if a cost is
  /// undefined.
  ModelStrategy(const SearchSpace& space, const Problem& problem, const DeviceProfile& profile,
                std::uint64_t seed);
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] std::string canonical() const override;

 private:
  /// A candidate in 32 bytes: there can be many.
  struct Timed {
    double time_ns = 0.0;
    std::size_t part = 0;
    std::uint64_t index = 0;  ///< in the part's timed space
    bool preferred = true;
    std::uint8_t strays = 0;  ///< tunables that do not have their default
  };
  void time_part(std::size_t part, const Problem& problem, const DeviceProfile& profile);
  void sort();
  void spread_look_alikes();
  [[nodiscard]] std::optional<Candidate> next_timed();
  [[nodiscard]] std::optional<Candidate> next_drawn();

  const SearchSpace& space_;
  std::uint64_t seed_;
  std::vector<ParamSpace> timed_spaces_;  ///< what is timed of each part
  std::vector<Timed> timed_;              ///< preferred ones first, then shortest first
  std::size_t next_ = 0;
  SearchSpace untimed_space_;  ///< parts that are not, or not completely, in timed_
  RandomStrategy drawn_;
  std::uint64_t proposals_ = 0;
  std::unordered_set<std::string> gone_;  ///< proposed or observed
  std::set<std::string> abandoned_;
};

}  // namespace kiln
