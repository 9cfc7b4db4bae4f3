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
#include "templates/operation/problem.hpp"
#include "tuner/session/time_correction.hpp"
#include "tuner/strategies/random.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// Candidates by their static time (runtime/model/static_model.hpp), shortest first, all templates
/// together, what they prefer before the rest; those whose time is the same are spread a little,
/// the ones that are nearest to the defaults first. Measured times of some correct the static times
/// of all others, those of their relatives most (tuner/session/time_correction.hpp).
///
/// Templates that state no costs have no such time: every eighth proposal is drawn from them at
/// random, as long as there are any. Of a very large space only what the template prefers is timed,
/// or an evenly spaced sample of that and what a few steps from its best lead to; the rest of it is
/// drawn at random like those.
class ModelStrategy : public Strategy {
 public:
  /// `must_end` is StrategyInput's.
  ModelStrategy(const SearchSpace& space, const Problem& problem, const DeviceProfile& profile,
                std::uint64_t seed, std::function<bool()> must_end = {});
  /// The first call times the candidates, some 50,000 of each template, which can take a second:
  /// a session has compilers busy by then. Throws Error(template_) if a cost is undefined.
  [[nodiscard]] std::optional<Candidate> propose() override;
  void observe(const Candidate& candidate, Outcome outcome, double time_ns) override;
  void abandon(const std::string& template_name) override;
  [[nodiscard]] std::string canonical() const override;

 private:
  /// A candidate in few bytes: there can be many.
  struct Timed {
    double static_ns = 0.0;
    double time_ns = 0.0;  ///< by which it is ordered
    std::size_t part = 0;
    std::uint64_t index = 0;  ///< in the part's timed space; behind its end in found_
    std::size_t code = 0;     ///< where it begins in codes_
    bool preferred = true;
    std::uint8_t strays = 0;  ///< tunables that do not have their default
  };
  void time_all();
  void time_part(std::size_t part);
  void time_neighbours(std::size_t part, std::size_t first);
  [[nodiscard]] std::size_t add_timed(std::size_t part, std::size_t count);
  [[nodiscard]] bool must_end() const { return must_end_ && must_end_(); }
  void time(Timed& timed, const Config& config);
  [[nodiscard]] Config config_of(const Timed& timed) const;
  void sort();
  void spread_look_alikes();
  void correct();
  [[nodiscard]] std::optional<Candidate> next_timed();
  [[nodiscard]] std::optional<Candidate> next_drawn();

  const SearchSpace& space_;
  Problem problem_;
  DeviceProfile profile_;
  std::uint64_t seed_;
  std::function<bool()> must_end_;
  std::vector<ParamSpace> timed_spaces_;    ///< what is timed of each part
  std::vector<ParamSpace> preferred_;       ///< what each part prefers, or all of it
  std::vector<Timed> timed_;                ///< preferred ones first, then shortest first
  std::vector<std::vector<Config>> found_;  ///< of each part, beside the evenly spaced ones
  std::vector<std::uint16_t> codes_;
  std::vector<TimeCorrection> corrections_;  ///< of each part
  int results_ = 0;                          ///< since the last correction
  std::size_t next_ = 0;
  SearchSpace untimed_space_;  ///< parts that are not, or not completely, in timed_
  RandomStrategy drawn_;
  std::uint64_t proposals_ = 0;
  std::unordered_set<std::string> gone_;  ///< proposed or observed
  std::set<std::string> abandoned_;
};

}  // namespace kiln
