// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/comparison.hpp"

#include <algorithm>
#include <map>

#include "cache/statistics.hpp"
#include "tuner/candidate.hpp"
#include "tuner/measure/energy.hpp"

namespace kiln {
namespace {

/// A competitor that is still in the race.
struct Runner {
  std::size_t index;  ///< into the competitors
  ComparisonRow* row;
  std::unique_ptr<TimedCandidate> timed;
};

void disqualify(ComparisonRow& row, const DeviceStatus& status) {
  row.outcome = outcome_of(status);
  row.message = status.message;
  row.timing = {};
}

std::vector<Runner> calibrate(Device& device, const RotatingSets& sets,
                              const MeasurementPolicy& policy,
                              std::vector<Competitor>& competitors) {
  std::vector<Runner> runners;
  for (std::size_t i = 0; i < competitors.size(); ++i) {
    Competitor& competitor = competitors[i];
    auto timed = std::make_unique<TimedCandidate>(device, sets, policy, std::move(competitor.run));
    if (!timed->status().ok()) {
      disqualify(*competitor.row, timed->status());
      // Nothing more can be timed, so nothing in the rows would be comparable.
      if (timed->status().sticky) return {};
      continue;
    }
    runners.push_back({i, competitor.row, std::move(timed)});
  }
  return runners;
}

int affordable_rounds(const std::vector<Runner>& runners, const InterleavePlan& plan) {
  double round_ns = 0.0;
  for (const Runner& runner : runners) round_ns += runner.timed->batch_ns();
  if (round_ns <= 0.0) return plan.rounds;
  const double affordable =
      std::min(plan.most_seconds * 1e9 / round_ns, static_cast<double>(plan.rounds));
  return std::min(plan.rounds, std::max(3, static_cast<int>(affordable)));
}

/// One batch of each. A runner that fails drops out; false if the device is lost.
bool run_round(std::vector<Runner>& runners, std::size_t start) {
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    const std::size_t turn = (start + i) % runners.size();
    double run_ns = 0.0;
    const DeviceStatus status = runners[turn].timed->sample(run_ns);
    if (status.ok()) {
      runners[turn].row->timing.samples_ns.push_back(run_ns);
      continue;
    }
    disqualify(*runners[turn].row, status);
    if (status.sticky) return false;
    failed.push_back(turn);
  }
  std::sort(failed.rbegin(), failed.rend());
  for (const std::size_t turn : failed) {
    runners.erase(runners.begin() + static_cast<std::ptrdiff_t>(turn));
  }
  return true;
}

/// The turns of each, in an order that rotates as that of the rounds. A runner that fails drops
/// out; false if the device is lost.
bool measure_energy(Device& device, const MeasurementPolicy& policy, int turns,
                    std::vector<Runner>& runners) {
  EnergyMeter meter(device);
  std::map<ComparisonRow*, std::vector<EnergyTurn>> measured;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      Runner& runner = runners[(static_cast<std::size_t>(turn) + i) % runners.size()];
      if (runner.row->outcome != Outcome::ok) continue;
      const EnergyTurn result =
          meter.measure(*runner.timed, {policy.energy_turn_s, EnergyMeter::kTurnSteps, 0.0});
      if (!result.status.ok()) {
        disqualify(*runner.row, result.status);
        if (result.status.sticky) return false;
        continue;
      }
      measured[runner.row].push_back(result);
    }
  }
  std::erase_if(runners, [](const Runner& runner) { return runner.row->outcome != Outcome::ok; });
  for (const Runner& runner : runners) summarise_energy(runner.row->timing, measured[runner.row]);
  return true;
}

const ComparisonRow* find_reference(const std::vector<Runner>& runners,
                                    const InterleavePlan& plan) {
  const ComparisonRow* best = nullptr;
  for (const Runner& runner : runners) {
    if (runner.index < plan.first_reference ||
        runner.index >= plan.first_reference + plan.reference_count) {
      continue;
    }
    if (!best || runner.row->timing.median_ns < best->timing.median_ns) best = runner.row;
  }
  return best;
}

}  // namespace

void time_interleaved(Device& device, const RotatingSets& sets, const MeasurementPolicy& policy,
                      std::vector<Competitor> competitors, const InterleavePlan& plan) {
  std::vector<Runner> runners = calibrate(device, sets, policy, competitors);
  const int rounds = affordable_rounds(runners, plan);
  for (int round = 0; round < rounds && !runners.empty(); ++round) {
    if (!run_round(runners, static_cast<std::size_t>(round))) return;
  }
  for (Runner& runner : runners) {
    summarise(runner.row->timing);
    add_telemetry(runner.row->timing, device);
  }
  if (plan.energy_turns > 0 && !measure_energy(device, policy, plan.energy_turns, runners)) return;
  const ComparisonRow* reference = find_reference(runners, plan);
  if (!reference) return;
  // Ratios are formed within each round: clock changes from round to round cancel out.
  for (Runner& runner : runners) {
    std::vector<double> ratios;
    const std::vector<double>& samples = runner.row->timing.samples_ns;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ratios.push_back(reference->timing.samples_ns[i] / samples[i]);
    }
    runner.row->ratio = median(ratios);
    runner.row->ratio_spread = median_spread(ratios);
  }
}

}  // namespace kiln
