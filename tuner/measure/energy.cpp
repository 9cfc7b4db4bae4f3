// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/energy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cache/statistics.hpp"

namespace kiln {
namespace {

/// The counters of all GPUs so far take a step at least every 100 ms; one that takes none for so
/// long stands still.
constexpr double kMostStepNs = 1e9;
/// Batches until which a step must have come, for runs whose time is not known.
constexpr int kMostBatches = 1'000'000;
/// A turn that waits for steps of a slow counter ends after so many times its length.
constexpr double kMostStretch = 4.0;

}  // namespace

/// Batches one after the other: their time by the device's clock, and their runs.
struct EnergyMeter::Stretch {
  double time_ns = 0.0;
  double runs = 0.0;
  double longest_batch_ns = 0.0;
};

bool EnergyMeter::replay(TimedCandidate& candidate, EnergyTurn& turn, Stretch& stretch) {
  double run_ns = 0.0;
  turn.status = candidate.sample(run_ns);
  if (!turn.status.ok()) return false;
  const double runs = candidate.runs_per_batch();
  const double batch_ns = std::max(run_ns * runs, 1.0);
  stretch.time_ns += batch_ns;
  stretch.runs += runs;
  stretch.longest_batch_ns = std::max(stretch.longest_batch_ns, batch_ns);
  return true;
}

/// Runs until the counter grows; its value then.
std::optional<double> EnergyMeter::next_step(TimedCandidate& candidate, EnergyTurn& turn,
                                             Stretch& stretch) {
  const auto before = device_.energy_j();
  const double begin_ns = stretch.time_ns;
  for (int batch = 0; before && batch < kMostBatches; ++batch) {
    if (!replay(candidate, turn, stretch)) return std::nullopt;
    const auto now = device_.energy_j();
    if (now && *now > *before) return now;
    if (stretch.time_ns - begin_ns > kMostStepNs) break;
  }
  return std::nullopt;
}

EnergyTurn EnergyMeter::measure(TimedCandidate& candidate, const EnergyGoal& goal) {
  EnergyTurn turn;
  Stretch warm_up;
  const auto first = next_step(candidate, turn, warm_up);
  if (!turn.status.ok()) return turn;
  if (!first) {
    sample_power(candidate, goal, turn);
    return turn;
  }
  const auto set = [&](const Stretch& stretch, double joules) {
    turn.energy_j = joules / stretch.runs;
    turn.power_w = joules / stretch.time_ns * 1e9;
    turn.error_j = turn.energy_j * stretch.longest_batch_ns / stretch.time_ns;
  };
  Stretch step;
  const auto second = next_step(candidate, turn, step);
  if (!turn.status.ok() || !second) return turn;
  set(step, *second - *first);
  if (goal.most_j > 0.0 && turn.energy_j > goal.most_j) return turn;

  const double wanted_ns = goal.seconds * 1e9;
  const double length_ns =
      std::clamp(goal.steps * step.time_ns, wanted_ns, kMostStretch * wanted_ns);
  Stretch whole;
  // Reading the counter takes time in which the device idles, so it is read only near the end.
  while (whole.time_ns < length_ns) {
    if (!replay(candidate, turn, whole)) return turn;
  }
  if (const auto last = next_step(candidate, turn, whole)) set(whole, *last - *second);
  return turn;
}

/// The driver averages the power over up to a second, so the first half only warms up.
void EnergyMeter::sample_power(TimedCandidate& candidate, const EnergyGoal& goal,
                               EnergyTurn& turn) {
  const double half_ns = goal.seconds * 1e9 / 2.0;
  Stretch warm_up;
  while (warm_up.time_ns < half_ns) {
    if (!replay(candidate, turn, warm_up)) return;
  }
  Stretch stretch;
  std::vector<double> watts;
  while (stretch.time_ns < half_ns) {
    if (!replay(candidate, turn, stretch)) return;
    watts.push_back(device_.telemetry().power_w);
  }
  const double power_w = median(watts);
  if (power_w <= 0.0) return;
  turn.power_w = power_w;
  turn.energy_j = power_w * stretch.time_ns / stretch.runs / 1e9;
  turn.error_j = turn.energy_j * median_spread(watts) / power_w;
}

std::string why_no_energy(Device& device) {
  const DeviceInfo& info = device.info();
  if (info.provenance != Provenance::measured) {
    return fmt::format(
        "{} is an emulated GPU, which does not predict energy. Next: use a GPU, or an objective of "
        "time_ns and resources",
        info.spec);
  }
  if (!info.device_class.mig_profile.empty()) {
    return fmt::format(
        "{} is a MIG partition, and the driver reports only the energy of the whole GPU. Next: use "
        "a GPU without MIG",
        info.spec);
  }
  if (device.energy_j() || device.telemetry().power_w > 0.0) return "";
  return fmt::format(
      "the driver reports neither energy nor power of {}. Next: check that libnvidia-ml.so.1 is "
      "there and that `nvidia-smi -q -d POWER` shows the power (in a container: "
      "NVIDIA_DRIVER_CAPABILITIES=compute,utility)",
      info.spec);
}

void summarise_energy(Timing& timing, const std::vector<EnergyTurn>& turns) {
  std::vector<double> joules;
  double power_w = 0.0;
  double error_j = 0.0;
  for (const EnergyTurn& turn : turns) {
    if (turn.energy_j <= 0.0) continue;
    joules.push_back(turn.energy_j);
    power_w += turn.power_w;
    error_j = std::max(error_j, turn.error_j);
  }
  if (joules.empty()) return;
  timing.energy_j = median(joules);
  timing.energy_spread_j = std::max(error_j, median_spread(joules));
  timing.power_w = power_w / static_cast<double>(joules.size());
}

}  // namespace kiln
