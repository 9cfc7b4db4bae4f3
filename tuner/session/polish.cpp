// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/polish.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "templates/front_matter/compile_line.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/space/compile_settings.hpp"
#include "templates/space/tunable_value.hpp"
#include "tuner/compile/pool.hpp"

namespace kiln {
namespace {

/// So many candidates are polished, if they are not further behind than settings can make up for.
constexpr std::size_t kPolished = 3;
constexpr double kMostBehindBest = 1.15;
/// A setting that saves less than this does not count as better.
constexpr double kBetter = 0.995;
constexpr std::size_t kRegisterSteps = 2;
/// How soon a wait for the compiler notices the session's end.
constexpr std::chrono::milliseconds kPolishSlice{50};

bool is_polished(const KernelTemplate& kernel_template) {
  return kernel_template.takes_settings() && kernel_template.cost_lines().empty();
}

}  // namespace

bool has_polish(const SearchSpace& space) {
  return std::ranges::any_of(space.parts, [](const SearchSpace::Part& part) {
    return is_polished(*part.kernel_template);
  });
}

std::vector<int> register_limits(const DeviceLimits& limits, int threads, int registers,
                                 std::int64_t smem_bytes) {
  const auto blocks_with = [&](int limit) {
    return occupancy(limits, threads, limit, smem_bytes).blocks_per_sm;
  };
  std::vector<int> steps;
  int blocks = blocks_with(registers);
  const auto least = static_cast<int>(find_compile_option(kRegistersOption)->least);
  for (int limit = registers - 1; limit >= std::max(registers / 2, least); --limit) {
    if (blocks_with(limit) <= blocks) continue;
    blocks = blocks_with(limit);
    steps.push_back(limit);
    if (steps.size() == kRegisterSteps) break;
  }
  return steps;
}

/// The best candidates, each code once, as the search found them.
std::vector<Trial> Polish::bases() const {
  std::vector<Trial> chosen;
  for (Trial& trial : ledger_.leaders(std::numeric_limits<std::size_t>::max())) {
    if (chosen.size() == kPolished) break;
    if (ledger_.value_of(trial) > kMostBehindBest * ledger_.best_value()) break;
    if (has_settings(trial.key.config)) continue;
    if (is_polished(context_.catalog.at(trial.key.template_name))) {
      chosen.push_back(std::move(trial));
    }
  }
  return chosen;
}

/// Configurations with one setting each, the most promising first.
std::vector<Config> Polish::single_settings(const Trial& base) const {
  std::vector<Config> configs;
  const KernelTemplate& kernel_template = context_.catalog.at(base.key.template_name);
  const auto is_given = [&](std::string_view option) {
    return gives_option(kernel_template.compile_items(), option);
  };
  const auto add = [&](std::string_view setting, std::int64_t value) {
    configs.push_back(base.key.config);
    configs.back().set(setting, value);
  };
  add(kRouteSetting, *value_of_name("ptx"));
  if (base.resources && base.resources->registers > 0 && !is_given(kRegistersOption)) {
    const KernelResources& resources = *base.resources;
    const LaunchPlanner planner(kernel_template, context_.problem, context_.limits);
    std::set<int, std::greater<>> steps;
    for (const LaunchGeometry& launch : planner.geometry(base.key.config)) {
      if (launch.left_out()) continue;
      for (const int limit : register_limits(
               context_.limits, static_cast<int>(count_of(launch.block)), resources.registers,
               std::int64_t{launch.smem_bytes} + resources.smem_static_bytes)) {
        steps.insert(limit);
      }
    }
    std::size_t left = kRegisterSteps;
    for (const int limit : steps) {
      if (left-- == 0) break;
      add(kRegistersSetting, limit);
    }
  }
  if (!is_given(kVectorizeOption)) add(kVectorizeSetting, value_of_bool(true));
  return configs;
}

/// Each base with all settings that made it better, if there are several; of several values of one
/// setting the best.
std::vector<Candidate> Polish::combined(const std::vector<Trial>& bases) const {
  const std::vector<Trial> all = ledger_.leaders(std::numeric_limits<std::size_t>::max());
  std::vector<Candidate> candidates;
  for (const Trial& base : bases) {
    // By setting: what the session minimises, and the setting's value.
    std::map<std::string, std::pair<double, std::int64_t>> best;
    for (const Config& config : single_settings(base)) {
      CandidateKey key = base.key;
      key.config = config;
      const auto tried = std::ranges::find(all, key, &Trial::key);
      if (tried == all.end()) continue;
      const double cost = ledger_.value_of(*tried);
      if (cost > kBetter * ledger_.value_of(base)) continue;
      for (const auto& [name, value] : config.values()) {
        if (!is_setting(name)) continue;
        const auto known = best.find(name);
        if (known == best.end() || cost < known->second.first) {
          best.insert_or_assign(name, std::pair(cost, value));
        }
      }
    }
    if (best.size() < 2) continue;
    Config config = base.key.config;
    for (const auto& [name, found] : best) config.set(name, found.second);
    candidates.push_back({base.key.template_name, std::move(config)});
  }
  return candidates;
}

/// False if the session's end came first.
bool Polish::try_all(const std::vector<Candidate>& candidates, const Steps& steps) const {
  CompilePool pool(compile_threads(context_.request.compile_threads));
  for (const Candidate& candidate : candidates) {
    if (steps.must_end()) return false;
    if (!steps.take(candidate)) continue;
    pool.submit([&steps, candidate] { return steps.prepare(candidate); });
  }
  while (pool.pending() > 0) {
    while (!pool.wait_for_next(kPolishSlice)) {
      if (steps.must_end()) return false;
    }
    if (steps.must_end()) return false;
    const PreparedCandidate prepared = pool.take();
    if (prepared.compiled.given_up) continue;
    if (!steps.decide(prepared.candidate, prepared)) return false;
  }
  return true;
}

void Polish::run(const Steps& steps) {
  const std::vector<Trial> polished = bases();
  std::vector<Candidate> candidates;
  for (const Trial& base : polished) {
    for (Config& config : single_settings(base)) {
      candidates.push_back({base.key.template_name, std::move(config)});
    }
  }
  if (try_all(candidates, steps)) (void)try_all(combined(polished), steps);
}

}  // namespace kiln
