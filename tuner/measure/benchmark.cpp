// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/benchmark.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cache/statistics.hpp"
#include "tuner/measure/energy.hpp"

namespace kiln {
namespace {

/// The most time that timing one candidate may take, so that a slow one does not use up the budget:
/// the longer runs are, the less they scatter, and the finalists are timed once more.
constexpr double kMostNs = 60e6;
constexpr int kFewestSamples = 3;

int affordable_samples(double batch_ns, int wanted) {
  if (batch_ns <= 0.0) return wanted;
  const double affordable = std::min(kMostNs / batch_ns, static_cast<double>(wanted));
  return std::min(wanted, std::max(kFewestSamples, static_cast<int>(affordable)));
}

}  // namespace

TimedCandidate::TimedCandidate(Device& device, const RotatingSets& sets,
                               const MeasurementPolicy& policy, TimedRun run)
    : device_(device), sets_(sets), policy_(policy), run_(std::move(run)) {
  if (!calibrate()) return;
  // One recording per stretch of operand sets, as far as samples will get.
  const int stretches = (sets_.count() + runs_ - 1) / runs_;
  const int wanted = std::min(stretches, affordable_samples(batch_ns(), policy_.samples));
  for (int i = static_cast<int>(batches_.size()); i < wanted; ++i) {
    auto batch = record(i * runs_, runs_);
    if (!batch) return;
    batches_.push_back(std::move(batch));
  }
}

std::unique_ptr<TimedBatch> TimedCandidate::record(int first, int runs) {
  return device_.record([&](int run, void* stream) { return run_(sets_.set(first + run), stream); },
                        runs, status_);
}

// Short batches overestimate a run (events and the graph's start are included), so the length is
// approached from below in a few steps. The very first replay only warms up and does not count,
// unless it is long.
bool TimedCandidate::calibrate() {
  const double target_ns = policy_.batch_ms * 1e6;
  for (;;) {
    auto batch = record(0, runs_);
    if (!batch) return false;
    double total_ns = 0.0;
    status_ = batch->replay(total_ns);
    if (status_.ok() && total_ns < target_ns) status_ = batch->replay(total_ns);
    if (!status_.ok()) return false;
    total_ns = std::max(total_ns, 1.0);
    estimate_ns_ = total_ns / runs_;
    if (total_ns >= 0.7 * target_ns || runs_ == kMaxRuns) {
      batches_.push_back(std::move(batch));
      return true;
    }
    const double growth = std::clamp(target_ns / total_ns, 1.5, 16.0);
    runs_ = std::min(kMaxRuns, static_cast<int>(std::ceil(runs_ * growth)));
  }
}

DeviceStatus TimedCandidate::sample(double& run_ns) {
  double total_ns = 0.0;
  DeviceStatus status = batches_[next_]->replay(total_ns);
  next_ = (next_ + 1) % batches_.size();
  run_ns = total_ns / runs_;
  return status;
}

Benchmarked benchmark(Device& device, const RotatingSets& sets, const MeasurementPolicy& policy,
                      const TimedRun& run, double best_ns, double best_j) {
  Benchmarked result;
  TimedCandidate candidate(device, sets, policy, run);
  result.status = candidate.status();
  if (!result.status.ok()) return result;

  const double hopeless_ns = best_ns * policy.drop_factor;
  int samples = affordable_samples(candidate.batch_ns(), policy.samples);
  if (best_ns > 0.0 && candidate.estimate_ns() > hopeless_ns &&
      kFewestSamples * candidate.batch_ns() > kMostNs) {
    samples = 1;  // even a few more would cost more than they are worth
  }
  double fastest_ns = 0.0;
  for (int i = 0; i < samples; ++i) {
    double run_ns = 0.0;
    result.status = candidate.sample(run_ns);
    if (!result.status.ok()) return result;
    result.timing.samples_ns.push_back(run_ns);
    fastest_ns = i == 0 ? run_ns : std::min(fastest_ns, run_ns);
    const bool is_behind = best_ns > 0.0 && fastest_ns > best_ns * policy.behind_factor;
    if (is_behind && i + 1 >= kFewestSamples) break;
  }
  summarise(result.timing);
  add_telemetry(result.timing, device);
  const bool is_hopeless = best_ns > 0.0 && result.timing.median_ns > hopeless_ns;
  if (policy.energy && !is_hopeless) {
    EnergyMeter meter(device);
    const EnergyTurn turn =
        meter.measure(candidate, {policy.energy_probe_s, EnergyMeter::kProbeSteps,
                                  best_j > 0.0 ? best_j * policy.drop_factor : 0.0});
    result.status = turn.status;
    if (turn.status.ok()) summarise_energy(result.timing, {turn});
  }
  return result;
}

FirstRun first_run(Device& device, const RotatingSets& sets, const MeasurementPolicy& policy,
                   const TimedRun& run, double best_ns) {
  FirstRun first;
  const auto batch = device.record(
      [&](int index, void* stream) { return run(sets.set(index), stream); }, 1, first.status);
  if (!batch) return first;
  double run_ns = 0.0;
  first.status = batch->replay(run_ns);
  if (!first.status.ok() || run_ns <= policy.drop_factor * best_ns) return first;
  first.hopeless = true;
  first.timing.samples_ns.push_back(run_ns);
  summarise(first.timing);
  add_telemetry(first.timing, device);
  return first;
}

void add_telemetry(Timing& timing, Device& device) {
  const DeviceTelemetry telemetry = device.telemetry();
  timing.sm_clock_mhz = telemetry.sm_clock_mhz;
  timing.power_w = telemetry.power_w;
  timing.temperature_c = telemetry.temperature_c;
}

}  // namespace kiln
