// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <iterator>
#include <span>
#include <thread>
#include <utility>

#include "cache/statistics.hpp"
#include "runtime/model/static_model.hpp"
#include "tuner/session/begin_task.hpp"

namespace kiln {
namespace {

/// Timing that many takes a second, divided by the machine's processors.
constexpr std::uint64_t kMostTimed = 50000;
constexpr std::uint64_t kDrawEvery = 8;
/// Of candidates with the same time, because a tunable did not matter, each counts as that much
/// slower for every doubling of their number: so others get tried in a short session too.
constexpr double kLookAlike = 0.05;
/// Of a sampled space the neighbours of the best 32 are timed, too, then those of the best 32 with
/// them, and so on, four times.
constexpr std::size_t kBestTimed = 32;
constexpr int kRounds = 4;
/// The order is corrected after that many results.
constexpr int kResultsEach = 4;

/// What is timed of a part. A large space is counted beside the part of it that is preferred, which
/// each take a good part of a second.
ParamSpace timed_space(const SearchSpace::Part& part) {
  if (part.kernel_template->cost_lines().empty() || !part.space.has_preferences()) {
    return part.space;
  }
  auto count = begin_task([&] { return part.space.count(); });
  ParamSpace preferred = part.space.preferred();
  const bool any = preferred.count() > 0;
  return count.get() > kMostTimed && any ? preferred : part.space;
}

std::vector<ParamSpace> timed_spaces(const SearchSpace& space) {
  std::vector<std::future<ParamSpace>> found;
  for (const auto& part : space.parts) {
    found.push_back(begin_task([&part] { return timed_space(part); }));
  }
  std::vector<ParamSpace> result;
  for (auto& one : found) result.push_back(one.get());
  return result;
}

/// Calls `work` with stretches of 0 to count - 1, which other threads do at the same time.
void in_parallel(std::uint64_t count,
                 const std::function<void(std::uint64_t begin, std::uint64_t end)>& work) {
  constexpr std::uint64_t kLeast = 256;
  const std::uint64_t most = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t threads = std::clamp<std::uint64_t>(count / kLeast, 1, most);
  std::vector<std::future<void>> stretches;
  for (std::uint64_t i = 0; i < threads; ++i) {
    stretches.push_back(begin_task([&work, begin = count * i / threads,
                                    end = count * (i + 1) / threads] { work(begin, end); }));
  }
  for (auto& stretch : stretches) stretch.get();
}

/// The parts whose candidates cannot all be ordered.
SearchSpace untimed(const SearchSpace& space) {
  SearchSpace result;
  for (const auto& part : space.parts) {
    const bool stated = !part.kernel_template->cost_lines().empty();
    if (!stated || part.space.count() > kMostTimed) result.parts.push_back(part);
  }
  return result;
}

/// How many tunables of `config` do not have their default.
std::uint8_t strays(const ParamSpace& space, const Config& config) {
  return static_cast<std::uint8_t>(std::ranges::count_if(
      space.tunables(),
      [&](const Tunable& tunable) { return config.at(tunable.name) != tunable.default_value; }));
}

}  // namespace

ModelStrategy::ModelStrategy(const SearchSpace& space, const Problem& problem,
                             const DeviceProfile& profile, std::uint64_t seed,
                             std::function<bool()> must_end)
    : space_(space),
      problem_(problem),
      profile_(profile),
      seed_(seed),
      must_end_(std::move(must_end)),
      timed_spaces_(timed_spaces(space)),
      found_(space.parts.size()),
      untimed_space_(untimed(space)),
      drawn_(untimed_space_, seed) {
  for (std::size_t part = 0; part < space.parts.size(); ++part) {
    corrections_.emplace_back(timed_spaces_[part].tunables().size());
  }
}

void ModelStrategy::time_all() {
  for (std::size_t part = 0; part < space_.parts.size(); ++part) {
    preferred_.push_back(space_.parts[part].space.preferred());
    time_part(part);
  }
  sort();
  spread_look_alikes();
  sort();
}

/// Ties in the order of the space, which is the same in every session.
void ModelStrategy::sort() {
  std::stable_sort(timed_.begin() + static_cast<std::ptrdiff_t>(next_), timed_.end(),
                   [](const Timed& left, const Timed& right) {
                     if (left.preferred != right.preferred) return left.preferred;
                     if (left.time_ns != right.time_ns) return left.time_ns < right.time_ns;
                     return left.strays < right.strays;
                   });
}

void ModelStrategy::spread_look_alikes() {
  double time_ns = -1.0;
  double number = 0.0;
  for (Timed& timed : timed_) {
    number = timed.time_ns == time_ns ? number + 1.0 : 1.0;
    time_ns = timed.time_ns;
    timed.static_ns *= 1.0 + kLookAlike * std::log2(number);
    timed.time_ns = timed.static_ns;
  }
}

/// Orders what was not proposed yet by what the results say of it.
void ModelStrategy::correct() {
  std::vector<double> errors;
  for (const TimeCorrection& correction : corrections_) {
    const auto some = correction.errors();
    errors.insert(errors.end(), some.begin(), some.end());
  }
  const double level = median(std::move(errors));
  for (TimeCorrection& correction : corrections_) correction.learn(level);
  in_parallel(timed_.size() - next_, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = next_ + begin; i < next_ + end; ++i) {
      Timed& timed = timed_[i];
      const std::span<const std::uint16_t> codes(codes_);
      const std::size_t tunables = timed_spaces_[timed.part].tunables().size();
      timed.time_ns =
          timed.static_ns * corrections_[timed.part].factor(codes.subspan(timed.code, tunables));
    }
  });
  sort();
}

/// Fills in what is known of a candidate by its configuration.
void ModelStrategy::time(Timed& timed, const Config& config) {
  const SearchSpace::Part& part = space_.parts[timed.part];
  timed.static_ns = static_time_ns(*part.kernel_template, config, problem_, profile_).value();
  timed.time_ns = timed.static_ns;
  timed.preferred = preferred_[timed.part].contains(config);
  timed.strays = strays(part.space, config);
  std::ranges::copy(TimeCorrection::code_of(part.space.tunables(), config),
                    codes_.begin() + static_cast<std::ptrdiff_t>(timed.code));
}

Config ModelStrategy::config_of(const Timed& timed) const {
  const std::uint64_t spaced = timed_spaces_[timed.part].count();
  return timed.index < spaced ? timed_spaces_[timed.part].at(timed.index)
                              : found_[timed.part][timed.index - spaced];
}

void ModelStrategy::time_part(std::size_t part) {
  if (space_.parts[part].kernel_template->cost_lines().empty()) return;
  const ParamSpace& configs = timed_spaces_[part];
  const std::uint64_t count = configs.count();
  const std::uint64_t sampled = std::min(count, kMostTimed);
  const std::size_t first = add_timed(part, sampled);
  in_parallel(sampled, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end && !must_end(); ++i) {
      // In floating point, because the product of the two counts may not fit.
      timed_[first + i].index =
          sampled == count
              ? i
              : static_cast<std::uint64_t>(static_cast<double>(count) /
                                           static_cast<double>(sampled) * static_cast<double>(i));
      time(timed_[first + i], configs.at(timed_[first + i].index));
    }
  });
  if (sampled < count) time_neighbours(part, first);
}

/// From the best of a part, whose candidates begin at `first`, to those that are better still.
void ModelStrategy::time_neighbours(std::size_t part, std::size_t first) {
  const ParamSpace& configs = timed_spaces_[part];
  std::set<Config> expanded;
  std::set<Config> known;
  for (int step = 0; step < kRounds; ++step) {
    const auto begin = timed_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto best =
        begin + static_cast<std::ptrdiff_t>(std::min(kBestTimed, timed_.size() - first));
    std::partial_sort(begin, best, timed_.end(), [](const Timed& left, const Timed& right) {
      return left.time_ns < right.time_ns;
    });
    std::vector<Config> fresh;
    for (auto at = begin; at != best; ++at) {
      const Config config = config_of(*at);
      known.insert(config);
      if (!expanded.insert(config).second) continue;
      for (Config& neighbour : configs.neighbours(config)) {
        if (known.insert(neighbour).second) fresh.push_back(std::move(neighbour));
      }
    }
    const std::size_t added = add_timed(part, fresh.size());
    in_parallel(fresh.size(), [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t i = from; i < to && !must_end(); ++i) {
        timed_[added + i].index = configs.count() + found_[part].size() + i;
        time(timed_[added + i], fresh[i]);
      }
    });
    std::ranges::move(fresh, std::back_inserter(found_[part]));
  }
}

/// Room for so many candidates of a part; where they begin.
std::size_t ModelStrategy::add_timed(std::size_t part, std::size_t count) {
  const std::size_t tunables = timed_spaces_[part].tunables().size();
  const std::size_t first = timed_.size();
  for (std::size_t i = 0; i < count; ++i) {
    timed_.push_back({.part = part, .code = codes_.size() + i * tunables});
  }
  codes_.resize(codes_.size() + count * tunables);
  return first;
}

std::optional<Candidate> ModelStrategy::propose() {
  if (proposals_ == 0) time_all();
  if (results_ >= kResultsEach) {
    correct();
    results_ = 0;
  }
  const bool draw = ++proposals_ % kDrawEvery == 0;
  auto candidate = draw ? next_drawn() : next_timed();
  if (!candidate) candidate = draw ? next_timed() : next_drawn();
  if (candidate) gone_.insert(candidate_text(*candidate));
  return candidate;
}

std::optional<Candidate> ModelStrategy::next_timed() {
  while (next_ < timed_.size()) {
    const Timed& timed = timed_[next_++];
    const auto& part = space_.parts[timed.part];
    const std::string& name = part.kernel_template->name();
    if (abandoned_.contains(name)) continue;
    Candidate candidate{name, config_of(timed)};
    if (!gone_.contains(candidate_text(candidate))) return candidate;
  }
  return std::nullopt;
}

std::optional<Candidate> ModelStrategy::next_drawn() {
  while (auto candidate = drawn_.propose()) {
    if (!gone_.contains(candidate_text(*candidate))) return candidate;
  }
  return std::nullopt;
}

void ModelStrategy::observe(const Candidate& candidate, Outcome outcome, double time_ns) {
  gone_.insert(candidate_text(candidate));
  if (outcome != Outcome::ok || !(time_ns > 0.0)) return;
  const SearchSpace::Part* part = space_.find(candidate.template_name);
  if (part == nullptr) return;
  const auto expected =
      static_time_ns(*part->kernel_template, candidate.config, problem_, profile_);
  if (!expected) return;
  corrections_[static_cast<std::size_t>(part - space_.parts.data())].add(
      TimeCorrection::code_of(part->space.tunables(), candidate.config), time_ns, *expected);
  ++results_;
}

void ModelStrategy::abandon(const std::string& template_name) {
  abandoned_.insert(template_name);
  drawn_.abandon(template_name);
}

std::string ModelStrategy::canonical() const {
  return fmt::format("model seed={}", seed_);
}

std::unique_ptr<Strategy> make_model(const StrategyInput& input) {
  const DeviceProfile profile = profile_for(input.limits, input.device);
  return std::make_unique<ModelStrategy>(input.space, input.problem, profile, input.seed,
                                         input.must_end);
}

}  // namespace kiln
