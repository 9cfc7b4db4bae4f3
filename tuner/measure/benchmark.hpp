// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cache/records.hpp"
#include "runtime/device.hpp"
#include "tuner/policy.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {

/// Enqueues one run of the tuned problem on the given operands.
using TimedRun = std::function<DeviceStatus(const OperandSet& operands, void* stream)>;

/// Runs of one candidate, recorded so that one replay takes about the policy's batch length.
/// Consecutive replays cycle through all operand sets, even if a batch has fewer runs than there
/// are sets.
class TimedCandidate {
 public:
  /// Records and calibrates. Check status() before anything else.
  TimedCandidate(Device& device, const RotatingSets& sets, const MeasurementPolicy& policy,
                 TimedRun run);
  [[nodiscard]] const DeviceStatus& status() const { return status_; }
  /// Replays the next batch; nanoseconds per run.
  [[nodiscard]] DeviceStatus sample(double& run_ns);
  /// Nanoseconds per run and per batch, from the calibration.
  [[nodiscard]] double estimate_ns() const { return estimate_ns_; }
  [[nodiscard]] double batch_ns() const { return estimate_ns_ * runs_; }
  [[nodiscard]] int runs_per_batch() const { return runs_; }

 private:
  static constexpr int kMaxRuns = 10000;
  /// A batch of `runs` runs that starts with operand set `first`; null: see status_.
  [[nodiscard]] std::unique_ptr<TimedBatch> record(int first, int runs);
  [[nodiscard]] bool calibrate();

  Device& device_;
  const RotatingSets& sets_;
  const MeasurementPolicy& policy_;
  TimedRun run_;
  DeviceStatus status_;
  std::vector<std::unique_ptr<TimedBatch>> batches_;
  std::size_t next_ = 0;
  int runs_ = 1;
  double estimate_ns_ = 0.0;
};

/// Times one candidate: policy.samples batches, fewer for one that is slow in itself, and three for
/// one that is behind `best_ns` (0: no best yet).
struct Benchmarked {
  DeviceStatus status;
  Timing timing;
};
/// If the policy says so, also its energy, unless it is hopeless; `best_j` (0: none) is the energy
/// to race against.
[[nodiscard]] Benchmarked benchmark(Device& device, const RotatingSets& sets,
                                    const MeasurementPolicy& policy, const TimedRun& run,
                                    double best_ns, double best_j = 0.0);

/// If the best candidate takes that long or longer, the first run of another one tells whether it
/// is worth verifying. Of shorter runs, verification and timing take hardly longer than that.
inline constexpr double kWorthFirstRunNs = 1e6;

/// Runs a candidate once. It is hopeless if that took more than policy.drop_factor times `best_ns`.
struct FirstRun {
  DeviceStatus status;
  bool hopeless = false;
  Timing timing;  ///< one sample, if hopeless
};
[[nodiscard]] FirstRun first_run(Device& device, const RotatingSets& sets,
                                 const MeasurementPolicy& policy, const TimedRun& run,
                                 double best_ns);

/// Adds the current clock, power and temperature.
void add_telemetry(Timing& timing, Device& device);

}  // namespace kiln
