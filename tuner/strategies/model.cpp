// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <thread>

#include "runtime/model/static_model.hpp"

namespace kiln {
namespace {

/// Timing that many takes a second, divided by the machine's processors.
constexpr std::uint64_t kMostTimed = 50000;
constexpr std::uint64_t kDrawEvery = 8;
/// Of candidates with the same time, because a tunable did not matter, each counts as that much
/// slower for every doubling of their number: so others get tried in a short session too.
constexpr double kLookAlike = 0.05;

/// What is timed of a part. A large space is counted beside the part of it that is preferred, which
/// each take a good part of a second.
ParamSpace timed_space(const SearchSpace::Part& part) {
  if (part.kernel_template->cost_lines().empty() || !part.space.has_preferences()) {
    return part.space;
  }
  auto count = std::async(std::launch::async, [&] { return part.space.count(); });
  ParamSpace preferred = part.space.preferred();
  const bool any = preferred.count() > 0;
  return count.get() > kMostTimed && any ? preferred : part.space;
}

std::vector<ParamSpace> timed_spaces(const SearchSpace& space) {
  std::vector<std::future<ParamSpace>> found;
  for (const auto& part : space.parts) {
    found.push_back(std::async(std::launch::async, timed_space, std::cref(part)));
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
    stretches.push_back(
        std::async(std::launch::async, work, count * i / threads, count * (i + 1) / threads));
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
                             const DeviceProfile& profile, std::uint64_t seed)
    : space_(space),
      seed_(seed),
      timed_spaces_(timed_spaces(space)),
      untimed_space_(untimed(space)),
      drawn_(untimed_space_, seed) {
  for (std::size_t part = 0; part < space.parts.size(); ++part) time_part(part, problem, profile);
  sort();
  spread_look_alikes();
  sort();
}

/// Ties in the order of the space, which is the same in every session.
void ModelStrategy::sort() {
  std::stable_sort(timed_.begin(), timed_.end(), [](const Timed& left, const Timed& right) {
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
    timed.time_ns *= 1.0 + kLookAlike * std::log2(number);
  }
}

void ModelStrategy::time_part(std::size_t part, const Problem& problem,
                              const DeviceProfile& profile) {
  const KernelTemplate& kernel_template = *space_.parts[part].kernel_template;
  if (kernel_template.cost_lines().empty()) return;
  const ParamSpace& whole = space_.parts[part].space;
  const ParamSpace preferred = whole.preferred();
  const ParamSpace& configs = timed_spaces_[part];
  const std::uint64_t count = configs.count();
  const std::uint64_t sampled = std::min(count, kMostTimed);
  const std::size_t first = timed_.size();
  timed_.resize(first + sampled);
  in_parallel(sampled, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      // In floating point, because the product of the two counts may not fit.
      const auto index =
          sampled == count
              ? i
              : static_cast<std::uint64_t>(static_cast<double>(count) /
                                           static_cast<double>(sampled) * static_cast<double>(i));
      const Config config = configs.at(index);
      const double time_ns = static_time_ns(kernel_template, config, problem, profile).value();
      const bool is_preferred = !whole.has_preferences() || preferred.contains(config);
      timed_[first + i] = {time_ns, part, index, is_preferred, strays(whole, config)};
    }
  });
}

std::optional<Candidate> ModelStrategy::propose() {
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
    Candidate candidate{name, timed_spaces_[timed.part].at(timed.index)};
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

void ModelStrategy::observe(const Candidate& candidate, Outcome, double) {
  gone_.insert(candidate_text(candidate));
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
  return std::make_unique<ModelStrategy>(input.space, input.problem, profile, input.seed);
}

}  // namespace kiln
