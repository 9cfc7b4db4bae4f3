// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "templates/operation/operation.hpp"

namespace kiln {
namespace {

/// Unaligned rows change how D is stored and how each factor is copied; what needs more changes is
/// another configuration, of which nothing was measured.
constexpr int kMostChanges = 3;
/// What was measured keeps its values at launch unless the model sees at least that much in others:
/// it is blind to smaller differences.
constexpr double kWorthwhile = 0.97;
/// Values that bring nothing are passed over: twice the parts may cost more than they gain, and
/// four times as many gain again.
constexpr int kMostWorse = 2;
/// Multiply-adds per clock and multiprocessor of a kernel of which nothing is known.
constexpr double kUsualRate = 500.0;

/// The model sees little of the order of tiles, which decides what is still found in L2 where
/// operands are read so many times: arithmetic operations for each byte. From so many octaves away
/// what was best for another problem is no guide then; a template's default is. (On an H200 the
/// other order cost a kernel of products up to half the speed with 28672 columns, and nothing with
/// 2048.)
constexpr double kReused = 128.0;
constexpr double kFarOctaves = 1.0;

bool is_reused(const Problem& problem) {
  const Operation* const operation = find_operation(problem.operation);
  return operation != nullptr && operation->flops(problem) > kReused * operation->bytes(problem);
}

}  // namespace

double work_ns(const Problem& problem, const DeviceProfile& profile) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr) return 1.0;
  const double flops_per_ns = 2.0 * kUsualRate * profile.limits.sm_count * profile.clock_ghz;
  return operation->flops(problem) / flops_per_ns +
         operation->bytes(problem) / profile.dram_bytes_per_ns + profile.launch_ns;
}

double expected_ns(const KernelTemplate& kernel_template, const Config& config,
                   const Problem& problem, const DeviceProfile& profile) {
  const auto stated = static_time_ns(kernel_template, config, problem, profile);
  return stated ? *stated : work_ns(problem, profile);
}

Transfer::Transfer(const KernelTemplate& kernel_template, const Problem& problem,
                   const DeviceProfile& profile)
    : kernel_template_(kernel_template),
      problem_(problem),
      profile_(profile),
      model_(kernel_template, problem, profile),
      space_(kernel_template.space(problem, profile.limits)) {}

double Transfer::time_ns(const Config& config, const std::vector<std::int64_t>& bindings,
                         LaunchDetail detail) const {
  const auto stated = model_.time_ns(config, bindings, detail);
  return stated ? *stated : work_ns(problem_, profile_);
}

std::optional<Transfer::Result> Transfer::timed(Config config) const {
  auto bindings = space_.find_bindings(config);
  if (!bindings) return std::nullopt;
  const double ns = time_ns(config, *bindings, LaunchDetail::arguments);
  return Result{std::move(config), ns, ns, std::move(*bindings)};
}

std::optional<Transfer::Result> Transfer::timed_with(const Result& result,
                                                     const std::string& tunable,
                                                     std::int64_t value) const {
  auto bindings = space_.rebound(result.bindings, tunable, value);
  if (!bindings) return std::nullopt;
  Config config = result.config;
  config.set(tunable, value);
  const double ns = time_ns(config, *bindings, LaunchDetail::extents);
  return Result{std::move(config), ns, ns, std::move(*bindings)};
}

std::optional<Transfer::Result> Transfer::repair(const Config& config) {
  std::optional<Result> best;
  const auto consider = [&](Config changed) {
    auto result = timed(std::move(changed));
    if (!result) return false;
    if (!best || result->expected_ns < best->expected_ns) best = std::move(result);
    return true;
  };
  if (consider(config)) return best;
  std::vector<Config> nearly;
  for (const Changes& known : repairs_) {
    Config changed = config;
    for (const auto& [name, value] : known) changed.set(name, value);
    if (!consider(changed)) nearly.push_back(std::move(changed));
  }
  if (best) return best;
  for (const Config& changed : nearly) {
    for (Config& valid : space_.repaired(changed, 1)) (void)consider(std::move(valid));
  }
  if (!best) {
    const int changes = repairs_.empty() ? kMostChanges : 1;
    for (Config& valid : space_.repaired(config, changes)) (void)consider(std::move(valid));
  }
  if (!best) return std::nullopt;
  Changes changes;
  for (const auto& [name, value] : best->config.values()) {
    if (config.find(name) != value) changes.emplace_back(name, value);
  }
  repairs_.push_back(std::move(changes));
  return best;
}

std::optional<Transfer::Result> Transfer::carry(const Config& config, double distance,
                                                double most_ns) {
  auto best = repair(config);
  if (!best || best->expected_ns > most_ns) return std::nullopt;
  const double repaired_ns = best->expected_ns;
  for (const Tunable& tunable : kernel_template_.space_spec().tunables) {
    if (kernel_template_.is_at_launch(tunable.name)) {
      set_at_launch(tunable, *best, distance > kFarOctaves);
    }
  }
  if (!std::isfinite(best->expected_ns)) return std::nullopt;
  best->repaired_ns = repaired_ns;
  return best;
}

void Transfer::set_at_launch(const Tunable& tunable, Result& best, bool is_far) {
  Result found = best;
  if (!unseen_.contains(tunable.name) && !seek(tunable, found)) unseen_.insert(tunable.name);
  if (found.expected_ns < kWorthwhile * best.expected_ns) {
    best = std::move(found);
  } else if (is_far && is_reused(problem_)) {
    auto usual = timed_with(best, tunable.name, tunable.default_value);
    if (usual && kWorthwhile * usual->expected_ns <= best.expected_ns) best = std::move(*usual);
  }
}

bool Transfer::seek(const Tunable& tunable, Result& best) const {
  const auto& values = tunable.values;
  const Result start = best;
  bool differs = false;
  Config config = start.config;
  const auto walk = [&](auto value, auto end) {
    for (int worse = 0; value != end && worse < kMostWorse; ++value, ++worse) {
      auto bindings = space_.rebound(start.bindings, tunable.name, *value);
      if (!bindings) continue;
      config.set(tunable.name, *value);
      const double ns = time_ns(config, *bindings, LaunchDetail::extents);
      differs = differs || ns != start.expected_ns;
      if (ns >= best.expected_ns) continue;
      best = {config, ns, ns, std::move(*bindings)};
      worse = -1;
    }
  };
  const auto at = std::find(values.begin(), values.end(), start.config.at(tunable.name));
  walk(std::next(at), values.end());
  walk(std::make_reverse_iterator(at), values.rend());
  return differs;
}

}  // namespace kiln
