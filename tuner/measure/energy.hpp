// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/records.hpp"
#include "runtime/device.hpp"
#include "tuner/measure/benchmark.hpp"

namespace kiln {

/// How long one turn lasts.
struct EnergyGoal {
  double seconds = 0.5;  ///< of the device's time, at least
  int steps = 1;         ///< of the device's energy counter, at least
  double most_j = 0.0;   ///< a candidate that takes more per run need not be measured well; 0: none
};

/// What one turn gave. Without energy (0) if the device does not say how much it used.
struct EnergyTurn {
  DeviceStatus status;
  double energy_j = 0.0;  ///< per run, of the whole device
  double power_w = 0.0;   ///< mean
  double error_j = 0.0;   ///< by which the ends of the turn may be off
};

/// Measures a device's energy while one candidate runs again and again.
///
/// The energy counter grows in steps. A turn begins and ends with a step, so that what is between
/// two readings belongs to whole steps; the time from the first step to the second warms up. On a
/// device without the counter, samples of the power stand in.
class EnergyMeter {
 public:
  static constexpr int kProbeSteps = 2;  ///< in the search
  static constexpr int kTurnSteps = 10;  ///< of a finalist

  explicit EnergyMeter(Device& device) : device_(device) {}
  [[nodiscard]] EnergyTurn measure(TimedCandidate& candidate, const EnergyGoal& goal);

 private:
  struct Stretch;
  [[nodiscard]] bool replay(TimedCandidate& candidate, EnergyTurn& turn, Stretch& stretch);
  [[nodiscard]] std::optional<double> next_step(TimedCandidate& candidate, EnergyTurn& turn,
                                                Stretch& stretch);
  void sample_power(TimedCandidate& candidate, const EnergyGoal& goal, EnergyTurn& turn);

  Device& device_;
};

/// Why the device's energy cannot be measured, with the next step; "" if it can. Reads its sensors.
[[nodiscard]] std::string why_no_energy(Device& device);

/// Puts the median of the turns, its spread and their mean power into the timing. Turns without
/// energy do not count; without any the timing stays as it is.
void summarise_energy(Timing& timing, const std::vector<EnergyTurn>& turns);

}  // namespace kiln
