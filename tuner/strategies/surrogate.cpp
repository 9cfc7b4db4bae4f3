// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/surrogate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "kiln/error.hpp"
#include "tuner/strategies/axes.hpp"

namespace kiln {
namespace {

/// Drawn candidates that wait to be looked at; of a smaller space all of them.
constexpr std::size_t kPool = 8192;
/// For each proposal so many of the pool are looked at, and the neighbours of so many of the best.
constexpr std::size_t kLookedAt = 2000;
constexpr std::size_t kElite = 5;
/// The best of them by the mean, and some others, are looked at with their uncertainty.
constexpr std::size_t kClosely = 300;
constexpr std::size_t kOthersClosely = 100;
/// The search begins with so many that are far apart: each the farthest of some random ones.
constexpr std::size_t kSpread = 10;
constexpr std::size_t kSpreadAmong = 16;
/// Scales are adapted when there are that many more results, as a share of those before.
constexpr double kAdaptShare = 0.15;
constexpr std::size_t kAdaptLeast = 4;
/// With more results than that, the times of the best half of so many, and of some others, count.
constexpr std::size_t kMostLearned = 400;
/// A candidate that probably fails keeps that much probability of working.
constexpr double kLeastChance = 0.02;
/// Once no candidate has promised such a gain for so many results, the search has converged.
constexpr double kLeastGain = 0.003;
constexpr std::size_t kPatience = 100;
/// Tunables with so few values may be names: any other value is one step away.
constexpr std::size_t kFewValues = 4;
/// Of so many proposals one is a step from the best.
constexpr std::size_t kStepEvery = 6;
/// The search is stagnant if the last kStagnantAfter results brought no gain of kNotableGain. Every
/// kBoldEvery-th proposal then maximises the expected gain beyond kBoldGain. Gains are in log time.
constexpr std::size_t kStagnantAfter = 20;
constexpr double kNotableGain = 0.01;
constexpr std::size_t kBoldEvery = 2;
constexpr double kBoldGain = 0.1;
/// What fails beside what works is no surprise.
constexpr double kWorksNoise = 0.1;
constexpr double kTimesNoise = 0.02;

/// Threads and blocks of a launch are axes, too: by the logarithm to base 2, in quarters.
constexpr std::size_t kExtentSteps = 256;

std::uint16_t extent_step(double extent) {
  const double step = 4.0 * std::log2(std::max(extent, 1.0));
  return static_cast<std::uint16_t>(std::min(step, double{kExtentSteps - 1}));
}

/// Those of the tunables, of threads and of blocks.
std::vector<std::vector<double>> all_axes(const ParamSpace& space) {
  auto axes = axes_of(space.tunables());
  std::vector<double> extents;
  for (std::size_t i = 0; i < kExtentSteps; ++i) extents.push_back(static_cast<double>(i) / 40.0);
  axes.push_back(extents);
  axes.push_back(std::move(extents));
  return axes;
}

/// How far apart two points are before anything is known: by how many axes, and how much there.
double distance(const Point& left, const Point& right, const ParamSpace& space) {
  double sum = 0.0;
  for (std::size_t i = 0; i < space.tunables().size(); ++i) {
    const auto values = static_cast<double>(space.tunables()[i].values.size());
    if (left[i] != right[i]) sum += 0.5 + std::abs(double(left[i]) - double(right[i])) / values;
  }
  return sum;
}

/// The logarithm of the expected improvement on `best` of a number with that distribution.
double log_expected_improvement(double best, const GaussianProcess::Prediction& of) {
  const double deviation = std::sqrt(of.variance);
  const double z = (best - of.mean) / deviation;
  if (z < -6.0) return -0.5 * z * z - 50.0;  // where the difference below cancels out
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return std::log(std::max(deviation * (z * below + density), 1e-300));
}

}  // namespace

SurrogateStrategy::Part::Part(const SearchSpace::Part& part, const StrategyInput& input)
    : of(&part),
      planner(*part.kernel_template, input.problem, input.limits),
      preferred(part.space.preferred()),
      times(all_axes(part.space), kTimesNoise),
      works(all_axes(part.space), kWorksNoise) {}

/// With the threads and blocks of its launches.
Point SurrogateStrategy::Part::point_of(const Config& config) const {
  Point point = kiln::point_of(of->space.tunables(), config);
  double threads = 1.0;
  double blocks = 1.0;
  try {
    for (const LaunchGeometry& launch : planner.geometry(config)) {
      threads = std::max(threads, static_cast<double>(count_of(launch.block)));
      blocks = std::max(blocks, static_cast<double>(count_of(launch.grid)));
    }
  } catch (const Error&) {
    // The device cannot do it, as will be told when it is tried.
  }
  point.push_back(extent_step(threads));
  point.push_back(extent_step(blocks));
  return point;
}

SurrogateStrategy::SurrogateStrategy(std::string name, const StrategyInput& input)
    : name_(std::move(name)),
      space_(input.space),
      seed_(input.seed),
      cost_s_(input.cost_s),
      random_(input.seed),
      drawn_(input.space, input.seed),
      best_log_time_(std::numeric_limits<double>::infinity()) {
  for (const auto& part : space_.parts) parts_.emplace_back(part, input);
}

std::size_t SurrogateStrategy::part_of(const std::string& template_name) const {
  return static_cast<std::size_t>(space_.find(template_name) - space_.parts.data());
}

bool SurrogateStrategy::is_preferred(const Candidate& candidate) const {
  const Part& part = parts_[part_of(candidate.template_name)];
  return !part.of->space.has_preferences() || part.preferred.contains(candidate.config);
}

/// What no template prefers is drawn after all that one does, and waits until that was proposed.
void SurrogateStrategy::fill_pool() {
  std::erase_if(pool_, [&](const Pooled& one) {
    return parts_[one.part].is_abandoned ||
           gone_.contains(
               candidate_text({space_.parts[one.part].kernel_template->name(), one.config}));
  });
  while (pool_.size() < kPool) {
    auto candidate = held_ ? std::exchange(held_, std::nullopt) : drawn_.propose();
    if (!candidate) return;
    if (gone_.contains(candidate_text(*candidate))) continue;
    const bool preferred = is_preferred(*candidate);
    if (pool_.empty()) pool_is_preferred_ = preferred;
    if (preferred != pool_is_preferred_) {
      held_ = std::move(candidate);
      return;
    }
    const std::size_t part = part_of(candidate->template_name);
    if (parts_[part].is_abandoned) continue;
    Point point = parts_[part].point_of(candidate->config);
    pool_.push_back({part, std::move(candidate->config), std::move(point)});
  }
}

std::optional<Candidate> SurrogateStrategy::propose() {
  if (pool_.size() < kPool / 2 || proposals_ == 0) fill_pool();
  std::erase_if(pool_, [&](const Pooled& one) { return parts_[one.part].is_abandoned; });
  if (pool_.empty()) fill_pool();
  if (pool_.empty()) return std::nullopt;
  ++proposals_;
  const bool begins = begun_.size() < kSpread || results_ < 3;
  if (!begins) learn();
  if (begins) {
    const Pooled picked = spread_pick();
    if (begun_.size() < kSpread) begun_.push_back(picked);
    return taken(picked);
  }
  if (proposals_ % kStepEvery == 0 || !may_promise()) {
    if (const auto step = step_from_best()) return taken(*step);
    // One under way may change what is expected.
    has_converged_ = !may_promise() && std::ranges::none_of(awaited_, &Pooled::is_step);
  }
  const bool is_stagnant = results_ >= improved_at_ + kStagnantAfter;
  return taken(best_pick(is_stagnant && proposals_ % kBoldEvery == 1 ? kBoldGain : 0.0));
}

bool SurrogateStrategy::may_promise() const {
  return !promising_at_ || results_ < *promising_at_ + kPatience;
}

/// The most promising of those that differ from the best in one tunable: a number by one place of
/// its list. Nothing if all were proposed.
std::optional<SurrogateStrategy::Pooled> SurrogateStrategy::step_from_best() {
  if (!best_ || parts_[best_->part].is_abandoned) return std::nullopt;
  const Part& part = parts_[best_->part];
  const auto is_step = [&](const Point& point) {
    for (std::size_t i = 0; i < part.of->space.tunables().size(); ++i) {
      const int apart = std::abs(int{point[i]} - int{best_->point[i]});
      if (apart > 1 && part.of->space.tunables()[i].values.size() > kFewValues) return false;
    }
    return true;
  };
  const bool stays = pool_is_preferred_ && part.preferred.contains(best_->config);
  std::optional<Pooled> found;
  double most = 0.0;
  for (Config& config : (stays ? part.preferred : part.of->space).neighbours(best_->config)) {
    Candidate candidate{part.of->kernel_template->name(), std::move(config)};
    if (gone_.contains(candidate_text(candidate))) continue;
    Point point = part.point_of(candidate.config);
    if (!is_step(point)) continue;
    Pooled step{best_->part, std::move(candidate.config), std::move(point), true};
    const double value = score(step, 0.0).per_second;
    if (found && value <= most) continue;
    most = value;
    found = std::move(step);
  }
  return found;
}

Candidate SurrogateStrategy::taken(const Pooled& one) {
  Candidate candidate{space_.parts[one.part].kernel_template->name(), one.config};
  gone_.insert(candidate_text(candidate));
  std::erase_if(pool_, [&](const Pooled& other) {
    return other.part == one.part && other.config == one.config;
  });
  awaited_.push_back(one);
  Part& part = parts_[one.part];
  if (part.times.known() > 0) part.times.expect(one.point);
  return candidate;
}

/// The one of some random ones that is farthest from all that was proposed.
SurrogateStrategy::Pooled SurrogateStrategy::spread_pick() {
  const Pooled* best = nullptr;
  double best_distance = -1.0;
  for (std::size_t i = 0; i < kSpreadAmong; ++i) {
    const Pooled& one =
        pool_[std::uniform_int_distribution<std::size_t>(0, pool_.size() - 1)(random_)];
    double nearest = std::numeric_limits<double>::max();
    const auto compare = [&](std::size_t part, const Point& point) {
      if (part != one.part) return;
      nearest = std::min(nearest, distance(one.point, point, parts_[part].of->space));
    };
    for (const Pooled& other : begun_) compare(other.part, other.point);
    for (const Point& other : parts_[one.part].tried) compare(one.part, other);
    if (nearest > best_distance) {
      best = &one;
      best_distance = nearest;
    }
  }
  return *best;
}

void SurrogateStrategy::learn() {
  for (Part& part : parts_) {
    if (!part.is_learned && !part.timed.empty()) learn(part);
  }
}

void SurrogateStrategy::learn(Part& part) {
  part.is_learned = true;
  std::vector<Point> points = part.timed;
  std::vector<double> values = part.log_times;
  if (points.size() > kMostLearned) {
    // The best half, and every so many of the others, so that what is slow stays known.
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return part.log_times[i]; });
    points.clear();
    values.clear();
    const std::size_t rest = order.size() - kMostLearned / 2;
    for (std::size_t i = 0; i < kMostLearned; ++i) {
      const std::size_t at =
          i < kMostLearned / 2
              ? i
              : kMostLearned / 2 + (i - kMostLearned / 2) * rest / (kMostLearned / 2);
      points.push_back(part.timed[order[at]]);
      values.push_back(part.log_times[order[at]]);
    }
  }
  part.times.learn(points, values);
  const auto more = static_cast<double>(part.timed.size() - part.adapted_at);
  if (more >= std::max(static_cast<double>(kAdaptLeast),
                       kAdaptShare * static_cast<double>(part.adapted_at)) &&
      part.timed.size() >= kAdaptLeast) {
    part.times.adapt();
    part.adapted_at = part.timed.size();
  }
  if (part.tried.size() > part.timed.size()) {
    part.works.set_scales_of(part.times);
    const std::size_t first = part.tried.size() - std::min(part.tried.size(), kMostLearned);
    part.works.learn(std::span(part.tried).subspan(first), std::span(part.worked).subspan(first));
  }
  for (const Pooled& one : awaited_) {
    if (&parts_[one.part] == &part) part.times.expect(one.point);
  }
}

/// A random part of the pool, and neighbours of the best.
std::vector<SurrogateStrategy::Pooled> SurrogateStrategy::looked_at() {
  std::vector<Pooled> found;
  if (pool_.size() <= kLookedAt) {
    found = pool_;
  } else {
    std::ranges::sample(pool_, std::back_inserter(found), kLookedAt, random_);
  }
  add_neighbours(found);
  return found;
}

void SurrogateStrategy::add_neighbours(std::vector<Pooled>& found) {
  struct Leader {
    double log_time;
    std::size_t part;
    const Point* point;
  };
  std::vector<Leader> leaders;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].is_abandoned) continue;
    for (std::size_t k = 0; k < parts_[i].timed.size(); ++k) {
      leaders.push_back({parts_[i].log_times[k], i, &parts_[i].timed[k]});
    }
  }
  const std::size_t elite = std::min(kElite, leaders.size());
  std::ranges::partial_sort(leaders, leaders.begin() + static_cast<std::ptrdiff_t>(elite), {},
                            &Leader::log_time);
  leaders.resize(elite);
  for (const Leader& leader : leaders) {
    const Part& part = parts_[leader.part];
    const Config config = config_of(part.of->space.tunables(), *leader.point);
    const bool stays = pool_is_preferred_ && part.preferred.contains(config);
    const ParamSpace& within = stays ? part.preferred : part.of->space;
    for (Config& neighbour : within.neighbours(config)) {
      Candidate candidate{part.of->kernel_template->name(), std::move(neighbour)};
      if (gone_.contains(candidate_text(candidate))) continue;
      Point point = part.point_of(candidate.config);
      found.push_back({leader.part, std::move(candidate.config), std::move(point)});
    }
  }
}

SurrogateStrategy::Score SurrogateStrategy::score(const Pooled& one, double least_gain) const {
  const Part& part = parts_[one.part];
  double gain =
      log_expected_improvement(best_log_time_ - least_gain, part.times.predict(one.point));
  if (part.works.known() > 0) {
    gain += std::log(std::clamp(part.works.mean(one.point), kLeastChance, 1.0));
  }
  if (!cost_s_) return {gain, gain};
  const double cost_s = cost_s_({part.of->kernel_template->name(), one.config});
  return {gain, gain - std::log(std::max(cost_s, 1e-6))};
}

SurrogateStrategy::Pooled SurrogateStrategy::best_pick(double least_gain) {
  std::vector<Pooled> candidates = looked_at();
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Part& part = parts_[candidates[i].part];
    // A template without a result is looked at first.
    if (part.times.known() == 0 && part.tried.empty()) return candidates[i];
    if (part.times.known() == 0) continue;
    scored.push_back({part.times.mean(candidates[i].point), i});
  }
  if (scored.empty()) return candidates.front();
  if (scored.size() > kClosely + kOthersClosely) {
    std::ranges::nth_element(scored, scored.begin() + kClosely, {}, &Scored::mean);
    std::shuffle(scored.begin() + kClosely, scored.end(), random_);
    scored.resize(kClosely + kOthersClosely);
  }
  double best = -std::numeric_limits<double>::infinity();
  double log_gain = best;
  std::size_t picked = scored.front().index;
  for (const Scored& one : scored) {
    const Score value = score(candidates[one.index], least_gain);
    log_gain = std::max(log_gain, value.log_gain);
    if (value.per_second > best) {
      best = value.per_second;
      picked = one.index;
    }
  }
  // What a bold pick promises says nothing about small gains.
  if (least_gain > 0.0) return candidates[picked];
  if (!promising_at_ || log_gain >= std::log(kLeastGain)) promising_at_ = results_;
  return candidates[picked];
}

void SurrogateStrategy::observe(const Candidate& candidate, Outcome outcome, double time_ns) {
  gone_.insert(candidate_text(candidate));
  const std::size_t index = part_of(candidate.template_name);
  if (index >= parts_.size()) return;
  Part& part = parts_[index];
  std::erase_if(awaited_, [&](const Pooled& one) {
    return one.part == index && one.config == candidate.config;
  });
  if (!part.of->space.contains(candidate.config)) return;
  ++results_;
  part.is_learned = false;
  const bool is_timed = outcome == Outcome::ok && time_ns > 0.0;
  const Point point = part.point_of(candidate.config);
  part.tried.push_back(point);
  part.worked.push_back(is_timed ? 1.0 : 0.0);
  if (!is_timed) return;
  part.timed.push_back(point);
  part.log_times.push_back(std::log(time_ns));
  const double log_time = std::log(time_ns);
  if (log_time >= best_log_time_) return;
  if (promising_at_ && log_time < best_log_time_ - kLeastGain) {
    promising_at_ = results_;
    has_converged_ = false;
  }
  if (log_time < best_log_time_ - kNotableGain) improved_at_ = results_;
  best_log_time_ = log_time;
  best_ = Pooled{index, candidate.config, point};
}

void SurrogateStrategy::abandon(const std::string& template_name) {
  drawn_.abandon(template_name);
  const std::size_t index = part_of(template_name);
  if (index < parts_.size()) parts_[index].is_abandoned = true;
}

std::string SurrogateStrategy::canonical() const {
  return fmt::format("{} seed={}", name_, seed_);
}

std::unique_ptr<Strategy> make_surrogate(const StrategyInput& input) {
  return std::make_unique<SurrogateStrategy>("surrogate", input);
}

}  // namespace kiln
